#include "system/asides.h"
#include "base/archive.h"
#include "base/bits.h"
#include "base/mem.h"
#include "exec/observer.h"
#include "exec/watch_afar.h"
#include "ranks/ranks.h"
#include "system/heard.h"
#include "system/over_ranks.h"

struct told_progress { /* of a rank's part of a GPU */
    uint64_t blocks_done, instructions;
};

struct watched {         /* a GPU */
    struct watch *watch; /* on the leading rank: the program's; or NULL */
    uint32_t sms;
    struct watch_afar *afar; /* on others; or NULL */
};

struct asides {
    struct local_machine *machine;
    struct engine_asides of_run;
    struct told_progress *progress; /* on the leading rank: [rank][gpu] */
    struct watched *watched;        /* by GPU */
    struct heard *heard; /* events that nobody was told of yet: of this rank; on the leading one [rank] */
};

/* What follows in a message. */
enum told { TOLD_NO_MORE, TOLD_PROGRESS, TOLD_EVENTS, TOLD_BY_WATCH, TOLD_BY_OBSERVER };

static struct told_progress *progress_of(const struct asides *asides, uint32_t rank, uint32_t gpu)
{
    return &asides->progress[(size_t)rank * asides->machine->gpu_count + gpu];
}

/* ---- both sides ---- */

static void archive_progress(struct asides *asides, uint32_t rank, struct archive *archive)
{
    for (uint32_t i = 0; i < asides->machine->gpu_count; i++) {
        struct told_progress *one = progress_of(asides, rank, i);
        one->blocks_done = archive_number(archive, one->blocks_done, UINT64_MAX);
        one->instructions = archive_number(archive, one->instructions, UINT64_MAX);
    }
}

static void look_at_progress(struct asides *asides, uint32_t rank)
{
    for (uint32_t i = 0; i < asides->machine->gpu_count; i++) {
        struct gpu_progress now;
        gpu_progress(asides->machine->gpus[i].gpu, &now);
        *progress_of(asides, rank, i) = (struct told_progress){now.blocks_done, now.instructions};
    }
}

static uint32_t gpu_count(const struct asides *asides)
{
    return asides->machine->gpu_count;
}

/* Which GPU and which of its kernels saw what; nothing where that is nothing. The text is freed. */
static void tell_seen(struct archive *archive, enum told told, uint32_t gpu, uint32_t slot, struct text *seen)
{
    if (seen->length) {
        archive_number(archive, told, UINT32_MAX);
        archive_number(archive, gpu, UINT32_MAX);
        archive_number(archive, slot, UINT32_MAX);
        archive_text(archive, seen);
    }
    text_fini(seen);
}

/* NULL: nobody observes the kernel there, or there is none. */
static struct observer *observer_of(const struct asides *asides, uint32_t gpu, uint32_t slot)
{
    const struct task *task = asides->machine->gpus[gpu].kernels[slot];
    return task ? task->launch->observer : NULL;
}

static void tell_all_seen(const struct asides *asides, struct archive *archive)
{
    for (uint32_t i = 0; i < gpu_count(asides); i++) {
        struct text seen = {0};
        if (asides->watched[i].afar)
            watch_afar_tell(asides->watched[i].afar, &seen);
        tell_seen(archive, TOLD_BY_WATCH, i, 0, &seen);
        for (uint32_t slot = 0; slot < SM_KERNELS; slot++) {
            struct observer *observer = observer_of(asides, i, slot);
            if (observer && observer->tell)
                observer->tell(observer, &seen);
            tell_seen(archive, TOLD_BY_OBSERVER, i, slot, &seen);
        }
    }
}

static bool take_seen(const struct asides *asides, enum told told, struct archive *archive)
{
    struct text seen = {0};
    uint32_t gpu = (uint32_t)archive_number(archive, 0, UINT32_MAX),
             slot = (uint32_t)archive_number(archive, 0, UINT32_MAX);
    archive_text(archive, &seen);
    bool good = archive->good && seen.length && gpu < gpu_count(asides) && slot < SM_KERNELS;
    const struct watched *watched = &asides->watched[good ? gpu : 0];
    struct observer *observer = good ? observer_of(asides, gpu, slot) : NULL;
    if (good && told == TOLD_BY_WATCH)
        good = watched->watch && watch_afar_take(watched->watch, watched->sms, seen.at, seen.length);
    else if (good)
        good = observer && observer->take && observer->take(observer, seen.at, seen.length);
    text_fini(&seen);
    return good;
}

static void tell(void *user, bool asked, struct text *bytes)
{
    struct asides *asides = user;
    uint32_t self = ranks_number(asides->machine->options.ranks);
    struct archive archive = archive_writer();
    tell_all_seen(asides, &archive);
    struct text *events = heard_of(asides->heard, self);
    if (events->length) {
        archive_number(&archive, TOLD_EVENTS, UINT32_MAX);
        archive_text(&archive, events);
        events->length = 0;
    }
    if (asked) {
        archive_number(&archive, TOLD_PROGRESS, UINT32_MAX);
        look_at_progress(asides, self);
        archive_progress(asides, self, &archive);
    }
    if (archive.text.length) {
        archive_number(&archive, TOLD_NO_MORE, UINT32_MAX);
        text_add_bytes(bytes, archive.text.at, archive.text.length);
    }
    text_fini(&archive.text);
}

static void take_events(const struct asides *asides, uint32_t rank, struct archive *archive)
{
    struct text events = {0}, *kept = heard_of(asides->heard, rank);
    archive_text(archive, &events);
    text_add_bytes(kept, events.at ? events.at : "", events.length);
    text_fini(&events);
}

static void passed(void *user, uint64_t time)
{
    const struct asides *asides = user;
    heard_tell(asides->heard, time);
}

static bool take(void *user, uint32_t rank, const char *bytes, size_t count)
{
    struct asides *asides = user;
    struct archive archive = archive_reader(bytes, count);
    for (uint64_t told; archive.good && (told = archive_number(&archive, 0, TOLD_BY_OBSERVER));) {
        if (told == TOLD_PROGRESS)
            archive_progress(asides, rank, &archive);
        else if (told == TOLD_EVENTS)
            take_events(asides, rank, &archive);
        else if (!take_seen(asides, (enum told)told, &archive))
            return false;
    }
    return archive.good;
}

struct asides *asides_new(struct local_machine *machine)
{
    if (!machine_is_spread(machine))
        return NULL;
    struct asides *asides = mem_alloc(1, sizeof *asides);
    asides->machine = machine;
    asides->of_run = (struct engine_asides){tell, take, passed, asides};
    asides->progress =
        mem_alloc((size_t)ranks_count(machine->options.ranks) * machine->gpu_count, sizeof *asides->progress);
    asides->heard = heard_new(ranks_count(machine->options.ranks), ranks_number(machine->options.ranks));
    asides->watched = mem_alloc(machine->gpu_count, sizeof *asides->watched);
    return asides;
}

void asides_free(struct asides *asides)
{
    for (uint32_t i = 0; asides && i < gpu_count(asides); i++)
        watch_afar_free(asides->watched[i].afar);
    if (asides) {
        heard_free(asides->heard);
        mem_free(asides->progress);
        mem_free(asides->watched);
    }
    mem_free(asides);
}

const struct engine_asides *asides_of_run(const struct asides *asides)
{
    return asides ? &asides->of_run : NULL;
}

/* ---- progress ---- */

void asides_add_progress(const struct asides *asides, uint32_t gpu, struct gpu_progress *progress)
{
    uint32_t ranks = asides ? ranks_count(asides->machine->options.ranks) : 1;
    for (uint32_t i = 1; i < ranks; i++) { /* one rank alone counts the blocks */
        const struct told_progress *told = progress_of(asides, i, gpu);
        progress->blocks_done = max_u64(progress->blocks_done, told->blocks_done);
        progress->instructions += told->instructions;
    }
}

void asides_forget_progress(struct asides *asides, uint32_t gpu)
{
    uint32_t ranks = asides ? ranks_count(asides->machine->options.ranks) : 0;
    for (uint32_t i = 0; i < ranks; i++)
        *progress_of(asides, i, gpu) = (struct told_progress){0};
}

/* ---- watches ---- */

void asides_begin(struct asides *asides, const struct task *task)
{
    if (!asides)
        return;
    asides_forget_progress(asides, task->gpu);
    if (machine_leads(asides->machine) && task->launch->watch) {
        asides->watched[task->gpu].watch = task->launch->watch;
        asides->watched[task->gpu].sms = task->launch->sm_count;
    }
}

struct watch *machine_watch_afar(struct machine *base, uint32_t gpu, uint32_t sms)
{
    struct watched *watched = &machine_local(base)->asides->watched[gpu];
    if (!watched->afar)
        watched->afar = watch_afar_new(sms);
    return watch_afar_watch(watched->afar);
}

/* ---- listeners ---- */

/* Inside a run it is noted, with its place in the order of all events. */
static void note(void *user, struct probe_event *event)
{
    struct asides *asides = user;
    uint64_t time, place;
    if (engine_moment(asides->machine->engine, &time, &place))
        heard_note(asides->heard, time, place, event);
    else if (machine_leads(asides->machine))
        probe_tell(heard_listener(asides->heard), *event);
}

struct probe asides_listen(struct asides *asides, const struct probe *listener)
{
    heard_set_listener(asides->heard, listener);
    return (struct probe){.kinds = listener->kinds, .call = note, .user = asides};
}

const struct probe *asides_listener(const struct asides *asides, const struct probe *otherwise)
{
    return asides ? heard_listener(asides->heard) : otherwise;
}

void asides_flush(struct asides *asides)
{
    if (asides && machine_leads(asides->machine))
        heard_tell(asides->heard, TIME_NEVER);
}

bool asides_were_altered(const struct asides *asides)
{
    return asides && heard_was_altered(asides->heard);
}
