#include "cachesim/cpu/split.h"
#include "base/bits.h"
#include "cachesim/cpu/last_line.h"

/* More than are needed, so that those that take long do not hold up all. */
enum { PIECES_OF_WORKER = 4 };

void split_init(struct split *split, const struct caches_plan *plan, unsigned workers)
{
    uint32_t groups = plan->groups, rounds = (groups + workers - 1) / workers;
    *split = (struct split){.parts = 1, .chunks = 1};
    if (plan->spec.quantum || workers == 1 || 5 * groups >= 4 * rounds * workers) /* all are busy anyway */
        return;
    while (split->parts < plan->parts && groups * split->parts < PIECES_OF_WORKER * workers)
        split->parts *= 2;
    if (split->parts > 1)
        split->chunks = (PIECES_OF_WORKER * workers + groups - 1) / groups;
    split->lists = mem_alloc_lines((size_t)groups * split->chunks * split->parts, sizeof *split->lists);
    split->repeats = mem_alloc((size_t)groups * split->chunks, sizeof *split->repeats);
}

void split_fini(struct split *split, const struct caches_plan *plan)
{
    size_t count = split->lists ? (size_t)plan->groups * split->chunks * split->parts : 0;
    for (size_t i = 0; i < count; i++)
        mem_free(split->lists[i].at);
    mem_free(split->lists);
    mem_free(split->repeats);
}

/* How many come before this instruction count. */
static size_t count_before(const struct trace_access *at, size_t count, uint64_t instruction)
{
    size_t low = 0;
    while (count) {
        size_t half = count / 2;
        bool is_before = trace_instruction(at[low + half]) < instruction;
        low += is_before ? half + 1 : 0;
        count = is_before ? count - half - 1 : half;
    }
    return low;
}

/* The instruction count that a chunk begins with: chunks are alike for the tile that has the most. */
static uint64_t first_of(const struct split *split, const struct caches_batch *batch, uint32_t busiest,
                         uint32_t chunk)
{
    if (!chunk)
        return 0;
    if (chunk == split->chunks)
        return TRACE_INSTRUCTIONS_MOST + 1;
    size_t count = batch->count[busiest];
    return count ? trace_instruction(batch->at[busiest][count * chunk / split->chunks]) : 0;
}

/* Of one tile, chunks are alike; those of several end at the same instruction count. */
static void cut_chunk(const struct split *split, const struct caches_batch *batch, uint32_t first,
                      uint32_t tiles, uint32_t chunk, struct cursor *cursors)
{
    uint32_t busiest = first;
    for (uint32_t i = first; i < first + tiles; i++)
        busiest = batch->count[i] > batch->count[busiest] ? i : busiest;
    uint64_t from = first_of(split, batch, busiest, chunk), to = first_of(split, batch, busiest, chunk + 1);
    for (uint32_t i = 0; i < tiles; i++) {
        const struct trace_access *at = batch->at[first + i];
        size_t count = batch->count[first + i];
        cursors[i].at = at + (tiles == 1 ? count * chunk / split->chunks : count_before(at, count, from));
        cursors[i].end =
            at + (tiles == 1 ? count * (chunk + 1) / split->chunks : count_before(at, count, to));
    }
}

static inline void put(struct items *lists, uint32_t mask, struct lines lines, uint32_t tile,
                       struct trace_access access)
{
    uint64_t rest = (trace_instruction(access) << MERGE_TILE_BITS | tile) << 1 | trace_writes(access);
    for (uint64_t line = lines.first; line <= lines.last; line++) {
        struct items *list = &lists[(uint32_t)line & mask];
        mem_grow(list->at, list->count, list->capacity);
        list->at[list->count++] = (struct item){line, rest};
    }
}

/* Of one tile. */
static struct repeats put_all(struct items *lists, uint32_t mask, const struct caches_plan *plan,
                              struct cursor cursor)
{
    struct repeats repeats = {0, 0};
    struct last_line last = LAST_LINE_NONE;
    for (; cursor.at < cursor.end; cursor.at++) {
        struct trace_access access = *cursor.at;
        struct lines lines = lines_of(plan->l1_shift, access);
        bool writes = trace_writes(access);
        if (last_line_again(last, lines, writes)) {
            repeats.reads += !writes;
            repeats.writes += writes;
            continue;
        }
        put(lists, mask, lines, 0, access);
        last = last_line_after(plan->spec.policy, lines.last, writes);
    }
    return repeats;
}

void split_chunk(struct split *split, const struct caches_plan *plan, const struct caches_batch *batch,
                 uint32_t group, uint32_t chunk)
{
    uint32_t tiles = plan->spec.snoop, tile = 0;
    struct items *lists = split_list(split, group, chunk, 0);
    struct cursor *cursors = mem_alloc(tiles, sizeof *cursors);
    struct trace_access access;
    cut_chunk(split, batch, group * tiles, tiles, chunk, cursors);
    for (uint32_t i = 0; i < split->parts; i++)
        lists[i].count = 0;
    if (tiles == 1) {
        split->repeats[group * split->chunks + chunk] = put_all(lists, split->parts - 1, plan, *cursors);
    } else {
        struct merge merge;
        merge_init(&merge, cursors, tiles);
        while (merge_next(&merge, &access, &tile))
            put(lists, split->parts - 1, lines_of(plan->l1_shift, access), tile, access);
        merge_fini(&merge);
    }
    mem_free(cursors);
}
