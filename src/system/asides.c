#include "system/asides.h"
#include "base/archive.h"
#include "base/bits.h"
#include "base/mem.h"
#include "exec/watch_afar.h"
#include "ranks/ranks.h"
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
};

/* What there is of whom, in a message: progress, or what watches have seen. */
enum { TOLD_PROGRESS = UINT32_MAX, TOLD_NO_MORE = UINT32_MAX - 1 };

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

static void tell_watched(const struct asides *asides, struct archive *archive)
{
    for (uint32_t i = 0; i < gpu_count(asides); i++) {
        struct text seen = {0};
        if (asides->watched[i].afar)
            watch_afar_tell(asides->watched[i].afar, &seen);
        if (seen.length) {
            archive_number(archive, i, UINT32_MAX);
            archive_text(archive, &seen);
        }
        text_fini(&seen);
    }
}

static bool take_watched(const struct asides *asides, uint32_t gpu, struct archive *archive)
{
    struct text seen = {0};
    archive_text(archive, &seen);
    const struct watched *watched = gpu < gpu_count(asides) ? &asides->watched[gpu] : NULL;
    bool good = archive->good && watched && watched->watch &&
                watch_afar_take(watched->watch, watched->sms, seen.at ? seen.at : "", seen.length);
    text_fini(&seen);
    return good;
}

static void tell(void *user, bool asked, struct text *bytes)
{
    struct asides *asides = user;
    uint32_t self = ranks_number(asides->machine->options.ranks);
    struct archive archive = archive_writer();
    tell_watched(asides, &archive);
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

static bool take(void *user, uint32_t rank, const char *bytes, size_t count)
{
    struct asides *asides = user;
    struct archive archive = archive_reader(bytes, count);
    for (uint64_t of; (of = archive_number(&archive, 0, UINT32_MAX)) != TOLD_NO_MORE;) {
        if (of == TOLD_PROGRESS)
            archive_progress(asides, rank, &archive);
        else if (!take_watched(asides, (uint32_t)of, &archive))
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
    asides->of_run = (struct engine_asides){tell, take, asides};
    asides->progress =
        mem_alloc((size_t)ranks_count(machine->options.ranks) * machine->gpu_count, sizeof *asides->progress);
    asides->watched = mem_alloc(machine->gpu_count, sizeof *asides->watched);
    return asides;
}

void asides_free(struct asides *asides)
{
    for (uint32_t i = 0; asides && i < gpu_count(asides); i++)
        watch_afar_free(asides->watched[i].afar);
    if (asides) {
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
    struct watched *watched = &((struct local_machine *)base)->asides->watched[gpu];
    if (!watched->afar)
        watched->afar = watch_afar_new(sms);
    return watch_afar_watch(watched->afar);
}
