#include "system/asides.h"
#include "base/archive.h"
#include "base/bits.h"
#include "base/mem.h"
#include "ranks/ranks.h"
#include "system/over_ranks.h"

struct told_progress { /* of a rank's part of a GPU */
    uint64_t blocks_done, instructions;
};

struct asides {
    struct local_machine *machine;
    struct engine_asides of_run;
    struct told_progress *progress; /* on the leading rank: [rank][gpu] */
};

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

static void tell(void *user, bool asked, struct text *bytes)
{
    struct asides *asides = user;
    uint32_t self = ranks_number(asides->machine->options.ranks);
    if (!asked)
        return;
    struct archive archive = archive_writer();
    look_at_progress(asides, self);
    archive_progress(asides, self, &archive);
    text_add_bytes(bytes, archive.text.at, archive.text.length);
    text_fini(&archive.text);
}

static bool take(void *user, uint32_t rank, const char *bytes, size_t count)
{
    struct asides *asides = user;
    struct archive archive = archive_reader(bytes, count);
    archive_progress(asides, rank, &archive);
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
    return asides;
}

void asides_free(struct asides *asides)
{
    if (asides)
        mem_free(asides->progress);
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
