#include "attach/parts.h"
#include "base/mem.h"

#include <sys/socket.h>
#include <unistd.h>

void attach_post(struct attach *attach, enum letter_kind kind, struct archive *body)
{
    pthread_mutex_lock(&attach->lock);
    if (!attach->gone && !letter_send(&attach->seat.mailbox->to_machine, kind, body, &attach->posting))
        attach->gone = true;
    text_fini(&body->text); /* where nothing was sent */
    pthread_mutex_unlock(&attach->lock);
}

static bool machine_is_there(void *user)
{
    const struct attach *attach = user;
    return seat_is_alive(&attach->seat);
}

/* While an answer is waited for: an interruption is passed on, so that the answer comes soon. */
static bool waits_on(void *user)
{
    struct attach *attach = user;
    if (attach->options.interrupt && *attach->options.interrupt)
        atomic_store(&attach->seat.mailbox->stop, 1);
    return machine_is_there(attach);
}

struct attach *attach_new(const char *path, const struct seat_wish *wish, struct err *err)
{
    struct attach *attach = mem_alloc(1, sizeof *attach);
    if (!door_enter(path, wish, &attach->seat, err)) {
        mem_free(attach);
        return NULL;
    }
    attach->path = mem_text(path);
    attach->now_ps = attach->seat.now_ps;
    attach->posting = (struct ring_patience){machine_is_there, attach};
    attach->waiting = (struct ring_patience){waits_on, attach};
    pthread_mutex_init(&attach->lock, NULL);
    return attach;
}

void attach_free(struct attach *attach)
{
    if (!attach)
        return;
    close(attach->seat.host.file);
    for (uint32_t i = 0; i < attach->seat.gpu_count; i++)
        close(attach->seat.gpus[i].file);
    seat_leave(&attach->seat);
    pthread_mutex_destroy(&attach->lock);
    mem_free(attach->path);
    mem_free(attach);
}

const struct seat *attach_seat(const struct attach *attach)
{
    return &attach->seat;
}

uint32_t attach_process(const struct attach *attach)
{
    struct ucred who = {0};
    socklen_t bytes = sizeof who;
    getsockopt(attach->seat.socket, SOL_SOCKET, SO_PEERCRED, &who, &bytes);
    return (uint32_t)who.pid;
}

/* ---- machine_ops ---- */

static struct attach *attach_of(const struct machine *machine)
{
    return (struct attach *)(uintptr_t)machine;
}

static void leave(struct machine *machine)
{
    struct archive body = archive_writer();
    struct attach *attach = attach_of(machine);
    for (uint32_t i = 0; i < attach->seat.gpu_count; i++)
        watched_image_end(&attach->images[i]);
    attach_post(attach, LETTER_BYE, &body);
    attach_free(attach);
}

void attach_open_memory(struct machine *machine, uint64_t at, uint64_t bytes)
{
    struct archive body = archive_writer();
    letter_open_archive(&(struct letter_open){at, bytes}, &body);
    attach_post(attach_of(machine), LETTER_OPEN, &body);
}

void attach_close_memory(struct machine *machine, uint64_t at)
{
    struct archive body = archive_writer();
    ARCHIVE_VALUE(&body, at);
    attach_post(attach_of(machine), LETTER_CLOSE, &body);
}

void attach_signal(struct machine *machine)
{
    struct archive body = archive_writer();
    attach_post(attach_of(machine), LETTER_SIGNAL, &body);
}

void attach_message(struct machine *machine)
{
    atomic_fetch_add(&attach_of(machine)->seat.mailbox->messages, 1);
}

void attach_set_away(struct machine *machine, bool away)
{
    atomic_store(&attach_of(machine)->seat.mailbox->is_away, away);
}

uint32_t attach_wait_for_ends(struct machine *machine, uint32_t seen, double seconds)
{
    struct gate *ended = &attach_of(machine)->seat.mailbox->ended;
    gate_wait_for(ended, seen, 0, seconds);
    return gate_number(ended);
}

void attach_has_followed(struct machine *machine, uint32_t ends)
{
    gate_set(&attach_of(machine)->seat.mailbox->followed, ends);
}

static void set_memory(struct machine *machine, const struct memory_range *ranges, uint32_t count)
{
    struct archive body = archive_writer();
    struct letter_memory letter = {0};
    text_add_bytes(&letter.ranges, (const char *)ranges, count * sizeof *ranges);
    letter_memory_archive(&letter, &body);
    text_fini(&letter.ranges);
    attach_post(attach_of(machine), LETTER_MEMORY, &body);
}

static void sync_memory(struct machine *machine, uint64_t at, uint64_t bytes, enum memory_use use)
{
    struct attach *attach = attach_of(machine);
    struct archive body = archive_writer();
    struct text answer = {0};
    enum letter_kind kind;
    if (use == MEMORY_DROPPED)
        use = MEMORY_CHANGED;
    letter_sync_archive(&(struct letter_sync){at, bytes, use}, &body);
    attach_post(attach, LETTER_SYNC, &body);
    if (!attach->gone && !letter_receive(&attach->seat.mailbox->to_program, &kind, &answer, &attach->waiting))
        attach->gone = true;
    text_fini(&answer);
}

static uint64_t load(struct machine *machine, const struct code_object *object)
{
    struct attach *attach = attach_of(machine);
    struct archive body = archive_writer();
    struct letter_load letter = {.object = ++attach->objects};
    text_add(&letter.isa, "%s", object->isa);
    text_add_bytes(&letter.bytes, object->bytes, object->count);
    letter_load_archive(&letter, &body);
    letter_load_fini(&letter);
    attach_post(attach, LETTER_LOAD, &body);
    sync_memory(machine, 0, 0,
                MEMORY_READ); /* until its variables are set, which the program may change then */
    return letter.object;
}

static void unload(struct machine *machine, uint64_t object)
{
    struct archive body = archive_writer();
    ARCHIVE_VALUE(&body, object);
    attach_post(attach_of(machine), LETTER_UNLOAD, &body);
}

static void post_image(void *user, enum letter_kind kind, struct archive *body)
{
    attach_post(user, kind, body);
}

static void set_image(struct machine *machine, uint32_t gpu, struct image *image)
{
    struct attach *attach = attach_of(machine);
    watched_image_begin(&attach->images[gpu], image, gpu, post_image, attach);
}

static void set_heap(struct machine *machine, uint32_t gpu, struct heap *heap)
{
    struct archive body = archive_writer();
    struct letter_heap letter = {.gpu = gpu};
    if (heap)
        heap_shape(heap, &letter.at, &letter.part_bytes, &letter.part_count);
    letter_heap_archive(&letter, &body);
    attach_post(attach_of(machine), LETTER_HEAP, &body);
}

static void set_limit(struct machine *machine, uint64_t max_cycles)
{
    attach_of(machine)->options.wishes.max_cycles = max_cycles;
}

static bool refuse_listener(struct machine *machine, const struct probe *probe, struct err *err)
{
    (void)machine;
    return !probe->kinds ||
           err_set(err, "a machine in another process has no listeners: run the program with its "
                        "own machine");
}

static uint64_t time_of(const struct machine *machine)
{
    return attach_of(machine)->now_ps;
}

static enum machine_end end_of(const struct machine *machine)
{
    return attach_of(machine)->end;
}

static bool no_checkpoint(const struct machine *machine)
{
    (void)machine;
    return false;
}

/* There is no checkpoint to write; but what the running tasks' counts are is asked for. */
static bool interrupted(struct machine *machine, struct err *err)
{
    struct attach *attach = attach_of(machine);
    if (attach->running && attach->end == MACHINE_GOES_ON && !atomic_exchange(&attach->seat.mailbox->stop, 1))
        attach_pass(machine, 0, err);
    return true;
}

static const struct machine_ops attached_ops = {.fini = leave,
                                                .set_memory = set_memory,
                                                .sync_memory = sync_memory,
                                                .load = load,
                                                .unload = unload,
                                                .set_image = set_image,
                                                .set_heap = set_heap,
                                                .set_limit = set_limit,
                                                .listen = refuse_listener,
                                                .begin = attach_begin,
                                                .pass = attach_pass,
                                                .time = time_of,
                                                .end = end_of,
                                                .has_written = no_checkpoint,
                                                .is_replaying = no_checkpoint,
                                                .interrupted = interrupted};

struct machine *attach_machine(struct attach *attach, const struct machine_options *options, struct err *err)
{
    if (options->checkpoint.write || options->checkpoint.resume) {
        err_set(err, "a machine in another process writes no checkpoints, and goes on from none");
        return NULL;
    }
    attach->base.ops = &attached_ops;
    attach->options = *options;
    return &attach->base;
}
