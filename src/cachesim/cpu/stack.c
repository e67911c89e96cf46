#include "base/bits.h"
#include "base/mem.h"
#include "base/workers.h"
#include "cachesim/cpu/level.h"
#include "cachesim/cpu/stack_parts.h"

struct member { /* one of the caches that are simulated */
    uint32_t level, ways, tiles;
};

struct stacks {
    struct workers *workers;
    struct member *members;
    size_t member_count;
    struct stack_level *levels;
    struct stack_chain *chains;
    uint32_t level_count, chain_count, tiles, parts;
    char **sets;                 /* of each tile: of each level */
    struct stack_counts *counts; /* of each part: of each tile: of each level */
    const struct caches_batch *batch;
};

bool stacks_can(const struct caches_spec *spec)
{
    return spec->machine == CACHES_L1 && spec->policy == REPLACE_LRU && spec->snoop == 1;
}

/* ---- making ---- */

struct kind { /* of a member, while levels are made of them */
    uint32_t line_shift, sets, ways, number;
};

static int compare_kinds(const void *a, const void *b)
{
    const struct kind *x = a, *y = b;
    if (x->line_shift != y->line_shift)
        return x->line_shift < y->line_shift ? -1 : 1;
    if (x->sets != y->sets)
        return x->sets < y->sets ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

static void plan_level(struct stack_level *level)
{
    level->rows = (level->depth + ROW - 1) / ROW;
    level->set_bytes = STACK_LAST_BYTES + 3 * level->rows * ROW + (level->depth + 1) / 2 * 16;
}

/* Levels, and chains of those whose sets are cut further and further. */
static void make_levels(struct stacks *stacks, const struct kind *kinds, size_t count)
{
    stacks->levels = mem_alloc(count, sizeof *stacks->levels);
    stacks->chains = mem_alloc(count, sizeof *stacks->chains);
    for (size_t i = 0; i < count; i++) {
        const struct kind *kind = &kinds[i], *before = i ? &kinds[i - 1] : NULL;
        bool new_chain = !before || before->line_shift != kind->line_shift || kind->sets % before->sets;
        if (new_chain)
            stacks->chains[stacks->chain_count++] =
                (struct stack_chain){kind->line_shift, stacks->level_count, 0};
        if (new_chain || before->sets != kind->sets) {
            stacks->levels[stacks->level_count++] = (struct stack_level){.sets = kind->sets};
            stacks->chains[stacks->chain_count - 1].count++;
        }
        struct stack_level *level = &stacks->levels[stacks->level_count - 1];
        level->depth = (uint32_t)max_u64(level->depth, kind->ways);
        stacks->members[kind->number].level = stacks->level_count - 1;
    }
    for (uint32_t i = 0; i < stacks->level_count; i++)
        plan_level(&stacks->levels[i]);
}

/* Each way stands in its place, without a line. */
static char *new_sets(const struct stack_level *level)
{
    char *sets = mem_alloc_pages(level->sets, level->set_bytes);
    for (uint32_t set = 0; set < level->sets; set++) {
        uint8_t *ways = stack_ways(level, sets + (size_t)set * level->set_bytes);
        for (uint32_t i = 0; i < level->depth; i++)
            ways[i] = (uint8_t)i;
    }
    return sets;
}

/* Parts of the sets, where there are not enough tiles and chains for all threads: as many as all chains can
 * be cut into. */
static uint32_t count_parts(const struct stacks *stacks, unsigned threads)
{
    uint32_t most = 1 << 10, parts = 1;
    for (uint32_t i = 0; i < stacks->chain_count; i++)
        most = (uint32_t)min_u64(most, 1u << lowest_bit(stacks->levels[stacks->chains[i].first].sets));
    while (parts < most && stacks->tiles * stacks->chain_count * parts < threads)
        parts *= 2;
    return parts;
}

struct stacks *stacks_new(const struct caches_spec *const *specs, size_t count, unsigned threads)
{
    struct stacks *stacks = mem_alloc(1, sizeof *stacks);
    struct kind *kinds = mem_alloc(count, sizeof *kinds);
    stacks->members = mem_alloc(count, sizeof *stacks->members);
    stacks->member_count = count;
    for (size_t i = 0; i < count; i++) {
        const struct cache_shape *l1 = &specs[i]->l1;
        REQUIRE(stacks_can(specs[i]));
        kinds[i] = (struct kind){lowest_bit(l1->line_bytes),
                                 (uint32_t)(l1->bytes / l1->line_bytes / l1->ways), l1->ways, (uint32_t)i};
        stacks->members[i] = (struct member){.ways = l1->ways, .tiles = specs[i]->tiles};
        stacks->tiles = (uint32_t)max_u64(stacks->tiles, specs[i]->tiles);
    }
    qsort(kinds, count, sizeof *kinds, compare_kinds);
    make_levels(stacks, kinds, count);
    mem_free(kinds);
    stacks->workers = workers_new(threads);
    stacks->parts = count_parts(stacks, threads);
    size_t each = (size_t)stacks->tiles * stacks->level_count;
    stacks->sets = mem_alloc(each, sizeof *stacks->sets);
    stacks->counts = mem_alloc_lines(stacks->parts * each, sizeof *stacks->counts);
    for (size_t i = 0; i < each; i++)
        stacks->sets[i] = new_sets(&stacks->levels[i % stacks->level_count]);
    return stacks;
}

void stacks_free(struct stacks *stacks)
{
    if (!stacks)
        return;
    for (size_t i = 0; i < (size_t)stacks->tiles * stacks->level_count; i++)
        mem_free_pages(stacks->sets[i]);
    workers_free(stacks->workers);
    mem_free(stacks->members);
    mem_free(stacks->levels);
    mem_free(stacks->chains);
    mem_free(stacks->sets);
    mem_free(stacks->counts);
    mem_free(stacks);
}

/* ---- running ---- */

static void run_piece(void *user, uint32_t piece, unsigned worker)
{
    (void)worker;
    struct stacks *stacks = user;
    uint32_t part = piece % stacks->parts, chain = piece / stacks->parts % stacks->chain_count;
    uint32_t tile = piece / stacks->parts / stacks->chain_count, first = stacks->chains[chain].first;
    size_t place = (size_t)tile * stacks->level_count + first;
    struct stack_walk walk = {
        .chain = &stacks->chains[chain],
        .levels = stacks->levels + first,
        .sets = stacks->sets + place,
        .counts = stacks->counts + (size_t)part * stacks->tiles * stacks->level_count + place,
        .part_mask = stacks->parts - 1,
        .part = part,
        .at = stacks->batch->at[tile],
        .count = stacks->batch->count[tile],
    };
    LEVEL_BEST(stack_walk)(&walk);
}

void stacks_run(struct stacks *stacks, const struct caches_batch *batch)
{
    stacks->batch = batch;
    workers_run(stacks->workers, stacks->tiles * stacks->chain_count * stacks->parts, run_piece, stacks);
}

/* ---- counting ---- */

void stack_add_recent(struct stack_counts *counts, uint32_t rows)
{
    for (uint32_t i = 0; i < rows * ROW; i++)
        counts->write_backs[i] += counts->recent[i / ROW][i % ROW];
    memset(counts->recent, 0, sizeof counts->recent);
    counts->recent_accesses = 0;
}

/* What these counts come to in a cache of so many ways. */
static void add_counts(struct coherent_counters *sum, struct stack_counts counts,
                       const struct stack_level *level, uint32_t ways)
{
    stack_add_recent(&counts, level->rows);
    sum->write_backs += counts.write_backs[ways - 1];
    for (uint32_t place = 0; place <= level->depth; place++) {
        uint64_t reads = counts.found[0][place], writes = counts.found[1][place];
        sum->reads += reads;
        sum->writes += writes;
        if (place < ways)
            continue;
        sum->read_misses += reads;
        sum->write_misses += writes;
        if (place < level->depth)
            sum->evictions += reads + writes;
        sum->evictions += counts.cold[place]; /* there were at least as many lines as ways */
    }
}

static struct coherent_counters count_tile(const struct stacks *stacks, const struct member *member,
                                           uint32_t tile)
{
    struct coherent_counters sum = {0};
    uint32_t chain = 0;
    while (member->level >= stacks->chains[chain].first + stacks->chains[chain].count)
        chain++;
    for (uint32_t part = 0; part < stacks->parts; part++) {
        const struct stack_counts *counts =
            stacks->counts + ((size_t)part * stacks->tiles + tile) * stacks->level_count;
        add_counts(&sum, counts[member->level], &stacks->levels[member->level], member->ways);
        for (uint32_t level = stacks->chains[chain].first; level <= member->level; level++) {
            sum.reads += counts[level].stopped[0];
            sum.writes += counts[level].stopped[1];
        }
    }
    return sum;
}

void stacks_count(const struct stacks *stacks, size_t number, struct caches_result *result)
{
    const struct member *member = &stacks->members[number];
    REQUIRE(number < stacks->member_count);
    result->l1 = result->l2 = (struct coherent_counters){0};
    for (uint32_t tile = 0; tile < member->tiles; tile++) {
        struct coherent_counters one = count_tile(stacks, member, tile);
        counters_add(&result->l1, &one);
        if (result->l1_of)
            result->l1_of[tile] = one;
        if (result->l2_of)
            result->l2_of[tile] = (struct coherent_counters){0};
    }
    result->accesses = result->l1.reads + result->l1.writes;
}
