/* The leader's side: each call is told to the others, and made here, too. */
#include "ranked/ranked.h"
#include "base/bits.h"
#include "base/file.h"
#include "base/mem.h"
#include "mailbox/images.h"
#include "ranked/orders.h"
#include "system/loads.h"
#include "system/owned.h"

#include <pthread.h>

struct changed { /* virtual addresses */
    uint64_t at, bytes;
};

struct leader {
    struct machine base;
    struct ranks *ranks;
    struct machine *machine; /* this rank's part of it */
    pthread_mutex_t lock;    /* of: */
    struct text queued;      /* orders of images, which change by any thread at any time */
    struct err err;          /* when a rank was lost; the next machine_pass tells it */
    bool is_lost;
    bool is_altered;         /* by a listener, which came too late: nothing goes on */
    struct changed *changed; /* that the host has changed, or may have, and the others were not given yet */
    size_t changed_count, changed_capacity;
    struct watched_image *images; /* by GPU */
    uint32_t gpu_count;
    struct text placed_by; /* what is in the file of the placement */
    uint64_t objects, tasks;
};

static struct leader *leader_of(const struct machine *machine)
{
    return (struct leader *)(uintptr_t)machine;
}

/* ---- orders ---- */

static void add_order(struct text *orders, enum order kind, const struct archive *body)
{
    struct text order = {0};
    uint64_t number = kind;
    struct archive out = archive_writer();
    text_add_bytes(&order, (const char *)&number, sizeof number);
    if (body)
        text_add_bytes(&order, body->text.at ? body->text.at : "", body->text.length);
    archive_text(&out, &order);
    text_add_bytes(orders, out.text.at, out.text.length);
    text_fini(&order);
    text_fini(&out.text);
}

/* What is to be told when the machine is called next. The body is freed. */
static void queue(struct leader *leader, enum order kind, struct archive *body)
{
    pthread_mutex_lock(&leader->lock);
    add_order(&leader->queued, kind, body);
    pthread_mutex_unlock(&leader->lock);
    text_fini(&body->text);
}

/* What is queued, and this. The body may be NULL; it is freed. */
static void tell(struct leader *leader, enum order kind, struct archive *body)
{
    pthread_mutex_lock(&leader->lock);
    struct text orders = leader->queued;
    leader->queued = (struct text){0};
    pthread_mutex_unlock(&leader->lock);
    add_order(&orders, kind, body);
    if (!leader->is_lost && !ranks_broadcast(leader->ranks, 0, &orders, &leader->err))
        leader->is_lost = true;
    text_fini(&orders);
    if (body)
        text_fini(&body->text);
}

/* ---- bytes ---- */

static void note_known(void *user, const struct machine_piece *piece)
{
    (void)piece;
    *(bool *)user = true;
}

/* The driver tells where memory is once a task needs it. What is not known yet is brought then. */
static void bring_changed(struct leader *leader)
{
    size_t kept = 0;
    for (size_t i = 0; i < leader->changed_count; i++) {
        struct changed one = leader->changed[i];
        bool is_known = false;
        machine_each_piece(leader->machine, one.at, one.bytes, note_known, &is_known);
        if (!is_known) {
            leader->changed[kept++] = one;
            continue;
        }
        struct archive body = archive_writer();
        letter_open_archive(&(struct letter_open){one.at, one.bytes}, &body);
        tell(leader, ORDER_BRING, &body);
        if (!leader->is_lost && !owned_bring(leader->ranks, leader->machine, one.at, one.bytes, &leader->err))
            leader->is_lost = true;
    }
    leader->changed_count = kept;
}

static void note_changed(struct leader *leader, uint64_t at, uint64_t bytes)
{
    mem_grow(leader->changed, leader->changed_count, leader->changed_capacity);
    leader->changed[leader->changed_count++] = (struct changed){at, bytes};
}

static void sync_memory(struct machine *base, uint64_t at, uint64_t bytes, enum memory_use use)
{
    struct leader *leader = leader_of(base);
    struct archive body = archive_writer();
    bool is_fetched = use != MEMORY_GIVEN_BACK && use != MEMORY_DROPPED;
    bring_changed(leader);
    letter_sync_archive(&(struct letter_sync){at, bytes, use}, &body);
    tell(leader, ORDER_SYNC, &body);
    machine_sync_memory(leader->machine, at, bytes, use);
    if (is_fetched && !leader->is_lost &&
        !owned_fetch(leader->ranks, leader->machine, at, bytes, &leader->err))
        leader->is_lost = true;
    if (use != MEMORY_READ)
        note_changed(leader, at, bytes);
}

static void set_memory(struct machine *base, const struct memory_range *ranges, uint32_t count)
{
    struct leader *leader = leader_of(base);
    struct archive body = archive_writer();
    struct letter_memory letter = {0};
    text_add_bytes(&letter.ranges, (const char *)ranges, count * sizeof *ranges);
    letter_memory_archive(&letter, &body);
    text_fini(&letter.ranges);
    tell(leader, ORDER_MEMORY, &body);
    machine_set_memory(leader->machine, ranges, count);
    bring_changed(leader);
    leader->changed_count = 0; /* the rest is in no memory of the machine's, or in none any more */
}

/* ---- code and images ---- */

static uint64_t load(struct machine *base, const struct code_object *object)
{
    struct leader *leader = leader_of(base);
    struct archive body = archive_writer();
    struct letter_load letter = {.object = ++leader->objects};
    text_add(&letter.isa, "%s", object->isa);
    text_add_bytes(&letter.bytes, object->bytes, object->count);
    letter_load_archive(&letter, &body);
    letter_load_fini(&letter);
    tell(leader, ORDER_LOAD, &body);
    return leader->objects;
}

static void unload(struct machine *base, uint64_t object)
{
    struct archive body = archive_writer();
    ARCHIVE_VALUE(&body, object);
    tell(leader_of(base), ORDER_UNLOAD, &body);
}

static void post_image(void *user, enum letter_kind kind, struct archive *body)
{
    static const enum order orders[LETTER_KIND_COUNT] = {[LETTER_RANGE] = ORDER_RANGE,
                                                         [LETTER_RANGE_GONE] = ORDER_RANGE_GONE,
                                                         [LETTER_SPARE] = ORDER_SPARE,
                                                         [LETTER_TEXTURE] = ORDER_TEXTURE,
                                                         [LETTER_TEXTURE_GONE] = ORDER_TEXTURE_GONE};
    queue(user, orders[kind], body);
}

static void set_image(struct machine *base, uint32_t gpu, struct image *image)
{
    struct leader *leader = leader_of(base);
    watched_image_begin(&leader->images[gpu], image, gpu, post_image, leader);
}

static void set_heap(struct machine *base, uint32_t gpu, struct heap *heap)
{
    struct leader *leader = leader_of(base);
    struct archive body = archive_writer();
    struct letter_heap letter = {.gpu = gpu};
    if (heap)
        heap_shape(heap, &letter.at, &letter.part_bytes, &letter.part_count);
    letter_heap_archive(&letter, &body);
    tell(leader, ORDER_HEAP, &body);
    machine_set_heap(leader->machine, gpu, heap);
}

/* ---- tasks and time ---- */

static void begin(struct machine *base, struct task *task)
{
    struct leader *leader = leader_of(base);
    struct archive body = archive_writer();
    struct letter_begin letter = {.number = leader->tasks++, .task = *task};
    if (task->launch)
        letter_fill_kernel(&letter, task->launch);
    letter_begin_archive(&letter, &body);
    letter_begin_fini(&letter);
    tell(leader, ORDER_BEGIN, &body);
    machine_begin(leader->machine, task);
}

static bool pass(struct machine *base, uint64_t ps, struct err *err)
{
    struct leader *leader = leader_of(base);
    struct archive body = archive_writer();
    bring_changed(leader);
    ARCHIVE_VALUE(&body, ps);
    tell(leader, ORDER_PASS, &body);
    bool good = machine_pass(leader->machine, ps, err);
    leader->is_altered |= machine_was_altered(leader->machine);
    if (leader->is_altered)
        good = err_set(
            err, "a listener changed data that passes: over ranks it can only look at it; run it on one "
                 "rank");
    if (leader->is_lost)
        *err = leader->err;
    return good && !leader->is_lost;
}

static void set_limit(struct machine *base, uint64_t max_cycles)
{
    struct leader *leader = leader_of(base);
    struct archive body = archive_writer();
    ARCHIVE_VALUE(&body, max_cycles);
    tell(leader, ORDER_LIMIT, &body);
    machine_set_limit(leader->machine, max_cycles);
}

static void manage(struct machine *base, const struct managed_order *order)
{
    struct leader *leader = leader_of(base);
    struct archive body = archive_writer();
    struct managed_order copy = *order;
    ARCHIVE_VALUE(&body, copy);
    tell(leader, ORDER_MANAGE, &body);
    machine_manage(leader->machine, order);
}

static size_t links(const struct machine *base, struct machine_link *list, size_t most)
{
    struct leader *leader = leader_of(base);
    tell(leader, ORDER_LINKS, NULL);
    return machine_links(leader->machine, list, most);
}

static bool write_load(struct machine *base, const char *path, struct err *err)
{
    struct leader *leader = leader_of(base);
    tell(leader, ORDER_WRITE_LOAD, NULL);
    if (leader->is_lost)
        *err = leader->err;
    return !leader->is_lost && machine_write_load(leader->machine, path, err);
}

static bool interrupted(struct machine *base, struct err *err)
{
    struct leader *leader = leader_of(base);
    tell(leader, ORDER_INTERRUPTED, NULL);
    return machine_interrupted(leader->machine, err);
}

static bool listen(struct machine *base, const struct probe *probe, struct err *err)
{
    struct leader *leader = leader_of(base);
    struct archive body = archive_writer();
    uint64_t kinds = probe->kinds;
    ARCHIVE_VALUE(&body, kinds);
    tell(leader, ORDER_LISTEN, &body);
    return machine_listen(leader->machine, probe, err);
}

static uint64_t time_of(const struct machine *base)
{
    return machine_time(leader_of(base)->machine);
}

static enum machine_end end_of(const struct machine *base)
{
    const struct leader *leader = leader_of(base);
    return leader->is_lost || leader->is_altered ? MACHINE_BROKEN : machine_end(leader->machine);
}

static bool has_written(const struct machine *base)
{
    return machine_has_written(leader_of(base)->machine);
}

static bool is_replaying(const struct machine *base)
{
    return machine_is_replaying(leader_of(base)->machine);
}

void ranked_leave(struct machine *base)
{
    struct leader *leader = leader_of(base);
    if (leader->is_lost) {
        ranks_kill(leader->ranks, 1);
        return;
    }
    tell(leader, ORDER_END, NULL);
    ranked_dismiss(leader->ranks);
    ranks_end(leader->ranks);
    leader->is_lost = true;
}

static void fini(struct machine *base)
{
    struct leader *leader = leader_of(base);
    for (uint32_t i = 0; i < leader->gpu_count; i++)
        watched_image_end(&leader->images[i]);
    tell(leader, ORDER_END, NULL);
    machine_free(leader->machine);
    pthread_mutex_destroy(&leader->lock);
    text_fini(&leader->queued);
    text_fini(&leader->placed_by);
    mem_free(leader->changed);
    mem_free(leader->images);
    mem_free(leader);
}

static const struct machine_ops leader_ops = {.fini = fini,
                                              .set_memory = set_memory,
                                              .sync_memory = sync_memory,
                                              .manage = manage,
                                              .load = load,
                                              .unload = unload,
                                              .set_image = set_image,
                                              .set_heap = set_heap,
                                              .set_limit = set_limit,
                                              .listen = listen,
                                              .begin = begin,
                                              .pass = pass,
                                              .write_load = write_load,
                                              .links = links,
                                              .time = time_of,
                                              .end = end_of,
                                              .has_written = has_written,
                                              .is_replaying = is_replaying,
                                              .interrupted = interrupted};

/* ---- the beginning and the end ---- */

static bool tell_machine(struct leader *leader, const struct system *system,
                         const struct machine_options *options, struct err *err)
{
    struct archive body = archive_writer();
    struct told_machine order = {.layout = letters_layout(),
                                 .threads = options->threads,
                                 .wishes = options->wishes,
                                 .checkpoint_at = options->checkpoint.at_cycles,
                                 .checkpoint_every = options->checkpoint.every_cycles,
                                 .writes = options->checkpoint.write,
                                 .stops = options->checkpoint.stop,
                                 .resumes = options->checkpoint.resume,
                                 .measures = options->measures,
                                 .is_placed = options->placed_by};
    if (options->checkpoint.resume &&
        !machine_read_checkpoint(options->checkpoint.resume, &order.resumed, err))
        return false;
    config_dump_marked(&system->config, system->inherited, &order.config);
    if (options->placed_by) {
        text_add(&order.placement, "%s", options->placement);
        text_add_bytes(&order.placed_by, options->placed_by->at, options->placed_by->length);
    }
    told_machine_archive(&order, &body);
    told_machine_fini(&order);
    tell(leader, ORDER_MACHINE, &body);
    if (leader->is_lost)
        *err = leader->err;
    return !leader->is_lost;
}

struct machine *ranked_new(struct ranks *ranks, const struct system *system,
                           const struct machine_options *options, struct err *err)
{
    struct leader *leader = mem_alloc(1, sizeof *leader);
    struct machine_options own = *options;
    leader->base.ops = &leader_ops;
    leader->ranks = own.ranks = ranks;
    leader->gpu_count = system_devices(system);
    leader->images = mem_alloc(leader->gpu_count, sizeof *leader->images);
    pthread_mutex_init(&leader->lock, NULL);
    bool good = !own.placement || file_read(own.placement, LOADS_BYTES_MOST, &leader->placed_by, err);
    own.placed_by = own.placement ? &leader->placed_by : NULL;
    if (good && tell_machine(leader, system, &own, err) && (leader->machine = machine_new(system, &own, err)))
        return &leader->base;
    text_fini(&leader->placed_by);
    pthread_mutex_destroy(&leader->lock);
    mem_free(leader->images);
    mem_free(leader);
    return NULL;
}

void ranked_dismiss(struct ranks *ranks)
{
    struct text order = {0};
    struct err unused; /* they end anyway */
    add_order(&order, ORDER_DISMISS, NULL);
    if (ranks_count(ranks) > 1)
        ranks_broadcast(ranks, 0, &order, &unused);
    text_fini(&order);
}
