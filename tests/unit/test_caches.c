/* Many caches against a plain simulator that does one access after the other, in the order of all. */
#include "check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "cachesim/lines.h"
#include "cachesim/plan.h"
#include "random_caches.h"

/* ---- the plain one ---- */

struct plain_line {
    uint64_t line, used; /* used: 0 when empty */
    bool dirty;
};

struct plain_cache {
    struct plain_line *lines;
    uint32_t sets, ways;
    struct coherent_counters count;
};

struct plain {
    const struct caches_spec *spec;
    struct plain_cache *l1, *l2;
    uint64_t now;
};

static struct plain_cache *plain_caches(uint32_t tiles, const struct cache_shape *shape)
{
    struct plain_cache *caches = mem_alloc(tiles, sizeof *caches);
    for (uint32_t i = 0; i < tiles; i++) {
        caches[i].ways = shape->ways;
        caches[i].sets = (uint32_t)(shape->bytes / shape->line_bytes / shape->ways);
        caches[i].lines = mem_alloc((size_t)caches[i].sets * shape->ways, sizeof *caches[i].lines);
    }
    return caches;
}

static void plain_free(struct plain_cache *caches, uint32_t tiles)
{
    for (uint32_t i = 0; i < tiles; i++)
        mem_free(caches[i].lines);
    mem_free(caches);
}

static struct plain_line *plain_find(struct plain_cache *cache, uint64_t line, uint64_t number)
{
    struct plain_line *set = cache->lines + number % cache->sets * cache->ways;
    for (uint32_t i = 0; i < cache->ways; i++) {
        if (set[i].used && set[i].line == line)
            return &set[i];
    }
    return NULL;
}

/* A place for the line; true when a dirty one left for it. */
static bool plain_place(struct plain *plain, struct plain_cache *cache, uint64_t line, uint64_t number,
                        bool dirty, uint64_t *left)
{
    struct plain_line *set = cache->lines + number % cache->sets * cache->ways, *oldest = set;
    for (uint32_t i = 0; i < cache->ways; i++) {
        if (set[i].used < oldest->used)
            oldest = &set[i];
    }
    bool put_back = oldest->used && oldest->dirty;
    *left = oldest->line;
    cache->count.evictions += oldest->used != 0;
    cache->count.write_backs += put_back;
    *oldest = (struct plain_line){line, ++plain->now, dirty};
    return put_back;
}

static void plain_put_back(struct plain *plain, uint32_t tile, uint64_t l1_line);

/* All others of the group: they lose it, or it becomes clean. Gives who had it dirty. */
static uint32_t plain_snoop(struct plain *plain, struct plain_cache *caches, uint32_t tile, uint64_t line,
                            bool take)
{
    uint32_t first = tile / plain->spec->snoop * plain->spec->snoop, gave = UINT32_MAX;
    for (uint32_t i = first; i < first + plain->spec->snoop; i++) {
        struct plain_line *it = i == tile ? NULL : plain_find(&caches[i], line, line);
        if (!it)
            continue;
        if (it->dirty) {
            gave = i;
            caches[i].count.write_backs++;
        }
        it->dirty = false;
        if (take) {
            it->used = 0;
            caches[i].count.invalidations++;
        }
    }
    return gave;
}

static struct plain_cache *plain_l2(struct plain *plain, uint32_t tile, uint64_t l1_line, uint64_t *line,
                                    uint64_t *number)
{
    const struct caches_spec *spec = plain->spec;
    *number = *line = l1_line * spec->l1.line_bytes / spec->l2.line_bytes;
    if (spec->machine == CACHES_PRIVATE)
        return &plain->l2[tile];
    uint32_t slice = (uint32_t)(*line % spec->tiles);
    *number = *line / spec->tiles;
    *line |= (uint64_t)(tile / spec->snoop) << 52; /* address spaces differ */
    return &plain->l2[slice];
}

static void plain_l2_read(struct plain *plain, uint32_t tile, uint64_t l1_line, bool to_write)
{
    uint64_t line, number, left;
    struct plain_cache *cache = plain_l2(plain, tile, l1_line, &line, &number);
    struct plain_line *it = plain_find(cache, line, number);
    bool is_private = plain->spec->machine == CACHES_PRIVATE;
    cache->count.reads++;
    if (is_private && (!it || (to_write && !it->dirty)))
        plain_snoop(plain, plain->l2, tile, line, to_write);
    if (it) {
        it->used = ++plain->now;
        return;
    }
    cache->count.read_misses++;
    plain_place(plain, cache, line, number, false, &left);
}

static void plain_put_back(struct plain *plain, uint32_t tile, uint64_t l1_line)
{
    uint64_t line, number, left;
    if (plain->spec->machine == CACHES_L1)
        return;
    struct plain_cache *cache = plain_l2(plain, tile, l1_line, &line, &number);
    struct plain_line *it = plain_find(cache, line, number);
    bool is_wide =
        plain->spec->l2.line_bytes > plain->spec->l1.line_bytes; /* another may have the other half */
    if (plain->spec->machine == CACHES_PRIVATE && is_wide && !(it && it->dirty))
        plain_snoop(plain, plain->l2, tile, line, true);
    cache->count.put_backs++;
    if (it) {
        it->used = ++plain->now;
        it->dirty = true;
    } else {
        plain_place(plain, cache, line, number, true, &left);
    }
}

static void plain_access(struct plain *plain, uint32_t tile, uint64_t line, bool writes)
{
    struct plain_cache *cache = &plain->l1[tile];
    struct plain_line *it = plain_find(cache, line, line);
    bool has_l2 = plain->spec->machine != CACHES_L1, was_hit = it;
    uint32_t gave = UINT32_MAX;
    uint64_t left;
    *(writes ? &cache->count.writes : &cache->count.reads) += 1;
    if (it && (!writes || it->dirty)) {
        it->used = ++plain->now;
        return;
    }
    gave = plain_snoop(plain, plain->l1, tile, line, writes);
    if (it) {
        it->used = ++plain->now;
        it->dirty = true;
    } else {
        *(writes ? &cache->count.write_misses : &cache->count.read_misses) += 1;
        if (plain_place(plain, cache, line, line, writes, &left))
            plain_put_back(plain, tile, left);
    }
    if (gave != UINT32_MAX)
        plain_put_back(plain, gave, line);
    if (!has_l2)
        return;
    if (!was_hit) {
        plain_l2_read(plain, tile, line, writes);
    } else if (plain->spec->machine == CACHES_PRIVATE) {
        uint64_t l2_line = line * plain->spec->l1.line_bytes / plain->spec->l2.line_bytes;
        plain_snoop(plain, plain->l2, tile, l2_line, true);
    }
}

static void run_plain(struct plain *plain, const struct made *made)
{
    const struct caches_spec *spec = plain->spec;
    size_t at[TILES_MOST] = {0};
    for (;;) {
        uint32_t next = UINT32_MAX;
        for (uint32_t i = 0; i < spec->tiles; i++) {
            if (at[i] < made->count[i] &&
                (next == UINT32_MAX || trace_instruction(made->accesses[i][at[i]]) <
                                           trace_instruction(made->accesses[next][at[next]])))
                next = i;
        }
        if (next == UINT32_MAX)
            return;
        struct trace_access access = made->accesses[next][at[next]++];
        uint64_t first = access.address / spec->l1.line_bytes,
                 last = (access.address + trace_bytes(access) - 1) / spec->l1.line_bytes;
        for (; first <= last; first++)
            plain_access(plain, next, first, trace_writes(access));
    }
}

static void run_cpu(const struct caches_spec *spec, const struct made *made, unsigned threads, uint64_t batch,
                    struct coherent_counters *l1_of, struct coherent_counters *l2_of)
{
    struct err err;
    assert_true(run_made(&caches_cpu, spec, made, &(struct caches_host){.threads = threads}, batch, l1_of,
                         l2_of, &err));
}

enum { TRIALS = 1000 };

static void as_a_plain_one(void **state)
{
    (void)state;
    struct made *made = mem_alloc(1, sizeof *made);
    struct rng rng;
    rng_init(&rng, 5, "caches");
    for (unsigned trial = 0; trial < TRIALS; trial++) {
        struct caches_spec spec;
        random_spec(&spec, &rng);
        random_accesses(made, &spec, &rng);
        struct plain plain = {&spec, plain_caches(spec.tiles, &spec.l1), plain_caches(spec.tiles, &spec.l2),
                              0};
        run_plain(&plain, made);
        struct coherent_counters l1_of[TILES_MOST] = {0}, l2_of[TILES_MOST] = {0};
        run_cpu(&spec, made, 1 + trial % 3, trial % 2 ? UINT64_MAX / 2 : 50, l1_of, l2_of);
        for (uint32_t i = 0; i < spec.tiles; i++) {
            assert_memory_equal(&l1_of[i], &plain.l1[i].count, sizeof l1_of[i]);
            assert_memory_equal(&l2_of[i], &plain.l2[i].count, sizeof l2_of[i]);
        }
        plain_free(plain.l1, spec.tiles);
        plain_free(plain.l2, spec.tiles);
    }
    mem_free(made);
}

/* Every policy, against one access after the other without any short way: where an access says nothing new
 * to a policy is for backends to know. */
static void every_policy_access_by_access(void **state)
{
    (void)state;
    struct made *made = mem_alloc(1, sizeof *made);
    struct rng rng;
    rng_init(&rng, 8, "caches");
    for (unsigned trial = 0; trial < TRIALS / 4; trial++) {
        struct caches_spec spec;
        struct caches_plan plan;
        random_spec(&spec, &rng);
        spec.machine = CACHES_L1;
        spec.policy = trial % POLICIES;
        spec.tiles = spec.snoop = 1;
        random_accesses(made, &spec, &rng);
        caches_plan(&plan, &spec);
        char *sets = mem_alloc_pages(1, plan.l1_bytes);
        struct coherent_counters wanted = {0}, l1[TILES_MOST] = {0}, l2[TILES_MOST] = {0};
        for (size_t i = 0; i < made->count[0]; i++) {
            struct lines lines = lines_of(plan.l1_shift, made->accesses[0][i]);
            uint32_t kind = trace_writes(made->accesses[0][i]) ? COHERENT_WRITE : COHERENT_READ;
            for (uint64_t line = lines.first, tag; line <= lines.last; line++) {
                uint32_t set = set_of(&plan.l1, line, &tag);
                struct coherent_group group = {sets + (size_t)set * plan.l1.set_bytes, 0, 1, &wanted};
                coherent_count(
                    &wanted, kind,
                    coherent_access(&plan.l1, &group, 0, tag, kind, set_seed(spec.seed, 0, 0, set)));
            }
        }
        run_cpu(&spec, made, 1 + trial % 3, UINT64_MAX / 2, l1, l2);
        assert_memory_equal(&l1[0], &wanted, sizeof wanted);
        mem_free_pages(sets);
    }
    mem_free(made);
}

/* Every policy, exact and by quanta: one thread in one batch, and several in small ones. */
static void the_same_for_any_threads_and_batches(void **state)
{
    (void)state;
    struct made *made = mem_alloc(1, sizeof *made);
    struct rng rng;
    rng_init(&rng, 6, "caches");
    for (unsigned trial = 0; trial < TRIALS / 2; trial++) {
        struct caches_spec spec;
        random_spec(&spec, &rng);
        spec.policy = (uint32_t)rng_below(&rng, POLICIES);
        spec.quantum = trial % 4 ? 0 : 1 + rng_below(&rng, 50);
        random_accesses(made, &spec, &rng);
        struct coherent_counters l1[2][TILES_MOST] = {{{0}}}, l2[2][TILES_MOST] = {{{0}}};
        uint64_t batch = spec.quantum ? UINT64_MAX / 2 : 1 + rng_below(&rng, 300);
        run_cpu(&spec, made, 1, UINT64_MAX / 2, l1[0], l2[0]);
        run_cpu(&spec, made, 4, batch, l1[1], l2[1]);
        assert_memory_equal(l1[0], l1[1], sizeof l1[0]);
        assert_memory_equal(l2[0], l2[1], sizeof l2[0]);
    }
    mem_free(made);
}

static void impossible_ones_are_refused(void **state)
{
    (void)state;
    static const struct {
        struct caches_spec spec;
        const char *says;
    } cases[] = {
        {{.tiles = 0, .snoop = 1, .l1 = {65536, 16, 64}}, "0 tiles"},
        {{.tiles = 6, .snoop = 4, .l1 = {65536, 16, 64}}, "groups of 4"},
        {{.tiles = 1, .snoop = 1, .l1 = {65536, 0, 64}}, "0 ways"},
        {{.tiles = 1, .snoop = 1, .l1 = {65536, 65, 64}}, "65 ways"},
        {{.tiles = 1, .snoop = 1, .l1 = {65536, 16, 48}}, "lines of 48 bytes"},
        {{.tiles = 1, .snoop = 1, .l1 = {65537, 16, 64}}, "not whole lines"},
        {{.tiles = 1, .snoop = 1, .l1 = {65536, 3, 64}}, "sets of 3 ways"},
        {{CACHES_SHARED, .tiles = 1, .snoop = 1, .l1 = {65536, 16, 64}, .l2 = {65536, 16, 32}}, "smaller"},
    };
    for (unsigned i = 0; i < COUNT_OF(cases); i++) {
        struct err err = {""};
        assert_false(caches_check(&cases[i].spec, &err));
        assert_non_null(strstr(err.text, cases[i].says));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_a_plain_one),
        cmocka_unit_test(every_policy_access_by_access),
        cmocka_unit_test(the_same_for_any_threads_and_batches),
        cmocka_unit_test(impossible_ones_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
