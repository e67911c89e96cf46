/* Caches of many sizes at once, by stacks, against each of them alone. */
#include "check.h"
#include "base/bits.h"
#include "base/mem.h"
#include "random_caches.h"
#include "cachesim/cpu/stack.h"

enum { MEMBERS_MOST = 12, TRIALS = 400 };

static void random_member(struct caches_spec *spec, struct rng *rng, uint32_t tiles)
{
    *spec = (struct caches_spec){.machine = CACHES_L1, .snoop = 1, .policy = REPLACE_LRU};
    spec->tiles = tiles - (uint32_t)rng_below(rng, tiles);
    spec->l1.ways = (uint32_t)ONE_OF(rng, 1, 2, 3, 4, 8, 15, 16, 17, 33, 64);
    spec->l1.line_bytes = (uint32_t)ONE_OF(rng, 16, 32, 64, 64, 64);
    spec->l1.bytes =
        (uint64_t)spec->l1.ways * spec->l1.line_bytes * ONE_OF(rng, 1, 2, 3, 4, 6, 8, 16, 24, 64);
}

/* In batches of so many accesses of each tile. */
static void run_stacks(struct stacks *stacks, const struct made *made, uint32_t tiles, size_t batch)
{
    const struct trace_access *at[TILES_MOST];
    size_t count[TILES_MOST], more = 1;
    for (size_t from = 0; more; from += batch) {
        more = 0;
        for (uint32_t i = 0; i < tiles; i++) {
            at[i] = made->accesses[i] + from;
            count[i] = from < made->count[i] ? min_u64(made->count[i] - from, batch) : 0;
            more += count[i];
        }
        stacks_run(stacks, &(struct caches_batch){at, count});
    }
}

static void as_one_by_one(void **state)
{
    (void)state;
    struct made *made = mem_alloc(1, sizeof *made);
    struct rng rng;
    struct err err;
    rng_init(&rng, 8, "stacks");
    for (unsigned trial = 0; trial < TRIALS; trial++) {
        struct caches_spec specs[MEMBERS_MOST], some = {.tiles = 1 + (uint32_t)rng_below(&rng, 3)};
        const struct caches_spec *members[MEMBERS_MOST];
        size_t count = 1 + rng_below(&rng, MEMBERS_MOST);
        some.l1.line_bytes = (uint32_t)ONE_OF(&rng, 16, 64);
        random_accesses(made, &some, &rng);
        for (size_t i = 0; i < count; i++) {
            random_member(&specs[i], &rng, some.tiles);
            members[i] = &specs[i];
        }
        specs[rng_below(&rng, count)].tiles = some.tiles;
        struct stacks *stacks = stacks_new(members, count, 1 + trial % 4);
        run_stacks(stacks, made, some.tiles, 1 + rng_below(&rng, ACCESSES_MOST));
        for (size_t i = 0; i < count; i++) {
            struct coherent_counters of[2][8] = {{{0}}}, l2_of[8];
            struct caches_result result = {.l1_of = of[0]};
            stacks_count(stacks, i, &result);
            assert_true(run_made(&caches_cpu, &specs[i], made, &(struct caches_host){.threads = 1},
                                 UINT64_MAX / 2, of[1], l2_of, &err));
            assert_memory_equal(of[0], of[1], specs[i].tiles * sizeof of[0][0]);
            uint64_t accesses = 0;
            for (uint32_t k = 0; k < specs[i].tiles; k++)
                accesses += of[1][k].reads + of[1][k].writes;
            assert_int_equal(result.accesses, accesses);
        }
        stacks_free(stacks);
    }
    mem_free(made);
}

/* The example of an age: written, then pushed down, back on top by a read, and pushed out. */
static void dirty_where_it_stayed(void **state)
{
    (void)state;
    enum { A = 0, B = 64, C = 128 };
    const struct trace_access accesses[] = {
        trace_access(A, 1, 4, true),  trace_access(B, 2, 4, false), /* A leaves a cache of one way: dirty */
        trace_access(A, 3, 4, false), trace_access(B, 4, 4, false), /* ... and again, but clean */
        trace_access(C, 5, 4, false),                               /* A leaves one of two ways: dirty */
    };
    const struct caches_spec one = {.tiles = 1, .snoop = 1, .l1 = {64, 1, 64}},
                             two = {.tiles = 1, .snoop = 1, .l1 = {128, 2, 64}},
                             three = {.tiles = 1, .snoop = 1, .l1 = {192, 3, 64}};
    const struct trace_access *at = accesses;
    const size_t count = COUNT_OF(accesses);
    struct stacks *stacks = stacks_new((const struct caches_spec *const[]){&one, &two, &three}, 3, 1);
    stacks_run(stacks, &(struct caches_batch){&at, &count});
    const struct {
        uint64_t misses, evictions, write_backs;
    } wanted[] = {{5, 4, 1}, {3, 1, 1}, {3, 0, 0}};
    for (size_t i = 0; i < COUNT_OF(wanted); i++) {
        struct caches_result result = {0};
        stacks_count(stacks, i, &result);
        assert_int_equal(result.l1.read_misses + result.l1.write_misses, wanted[i].misses);
        assert_int_equal(result.l1.evictions, wanted[i].evictions);
        assert_int_equal(result.l1.write_backs, wanted[i].write_backs);
    }
    stacks_free(stacks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_one_by_one),
        cmocka_unit_test(dirty_where_it_stayed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
