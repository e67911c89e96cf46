#include "exchange/accesses.h"
#include "exec/watch.h"
#include "itrace/iwalk.h"

struct accesses {
    struct source source; /* first */
    struct itrace_reader *reader;
    const struct itrace *trace;
    struct itrace_part part;
    size_t launch; /* the one under way, or to begin */
    bool has_launch;
    uint64_t block, end_block;
    struct iwalk **walks; /* of the warps of a block; NULL: ended */
    uint32_t warp_count, running, turn;
    uint64_t instructions;
    struct trace_access *found; /* of an instruction, from `given` on */
    size_t found_count, found_capacity, given;
};

static void found_one(void *user, uint64_t at, uint32_t bytes, bool writes)
{
    struct accesses *a = user;
    mem_grow(a->found, a->found_count, a->found_capacity);
    a->found[a->found_count++] = trace_access(at, a->instructions, bytes, writes);
}

static void free_walks(struct accesses *a)
{
    for (uint32_t i = 0; i < a->warp_count; i++)
        iwalk_free(a->walks[i]);
    mem_free(a->walks);
    a->walks = NULL;
    a->warp_count = 0;
}

static bool begin_block(struct accesses *a, struct err *err)
{
    for (a->running = 0; a->running < a->warp_count; a->running++)
        if (!iwalk_begin(a->walks[a->running], a->block, a->running, err))
            return false;
    a->turn = 0;
    return true;
}

/* The next block of the part. 1: it has begun; 0: there is none; -1: damaged. */
static int next_block(struct accesses *a, struct err *err)
{
    if (a->has_launch && ++a->block < a->end_block)
        return begin_block(a, err) ? 1 : -1;
    a->launch += a->has_launch;
    a->has_launch = false;
    free_walks(a);
    while (a->launch < a->trace->launch_count && !itrace_part_has(&a->part, &a->trace->launches[a->launch]))
        a->launch++;
    if (a->launch == a->trace->launch_count)
        return 0;
    itrace_part_blocks(&a->part, &a->trace->launches[a->launch], &a->block, &a->end_block);
    struct iwalk *first = iwalk_new(a->reader, a->launch);
    a->warp_count = iwalk_warps(first);
    a->walks = mem_alloc(a->warp_count, sizeof *a->walks);
    a->walks[0] = first;
    for (uint32_t i = 1; i < a->warp_count; i++)
        a->walks[i] = iwalk_new(a->reader, a->launch);
    a->has_launch = true;
    return begin_block(a, err) ? 1 : -1;
}

/* One instruction of the warp whose turn it is. A warp that has ended says so each time. */
static int next_instruction(struct accesses *a, struct err *err)
{
    struct iwalk_step step;
    if (!a->running)
        return next_block(a, err);
    int got = iwalk_next(a->walks[a->turn], &step, err);
    if (got > 0) {
        if (step.request)
            watch_sectors(step.request, found_one, a);
        a->instructions++;
    } else if (!got) {
        a->running--;
    }
    do
        a->turn = (a->turn + 1) % a->warp_count;
    while (a->running && iwalk_has_ended(a->walks[a->turn]));
    return got < 0 ? -1 : 1;
}

static long read_accesses(struct source *source, struct trace_access *into, size_t most, struct err *err)
{
    struct accesses *a = (struct accesses *)source;
    size_t count = 0;
    while (count < most) {
        if (a->given < a->found_count) {
            into[count++] = a->found[a->given++];
            continue;
        }
        a->given = a->found_count = 0;
        int got = next_instruction(a, err);
        if (got < 0)
            return -1;
        if (!got)
            break;
    }
    return (long)count;
}

static void close_accesses(struct source *source)
{
    struct accesses *a = (struct accesses *)source;
    free_walks(a);
    itrace_reader_free(a->reader);
    mem_free(a->found);
    mem_free(a);
}

static const struct source_ops accesses_ops = {read_accesses, close_accesses, NULL};

struct source *exchange_accesses(const char *folder, const struct itrace_part *part, struct err *err)
{
    struct itrace_reader *reader = itrace_reader_new(folder, err);
    if (!reader)
        return NULL;
    struct accesses *a = mem_alloc(1, sizeof *a);
    a->source.ops = &accesses_ops;
    a->reader = reader;
    a->trace = itrace_reader_trace(reader);
    a->part = *part;
    return &a->source;
}
