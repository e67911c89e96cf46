/* Random machines of caches, and accesses for them: one thing that all backends are tried with. */
#ifndef TESTS_RANDOM_CACHES_H
#define TESTS_RANDOM_CACHES_H

#include "base/rng.h"
#include "cachesim/caches.h"

static inline uint64_t one_of(struct rng *rng, const uint64_t *from, size_t count)
{
    return from[rng_below(rng, count)];
}
#define ONE_OF(rng, ...)                                                                                     \
    one_of(rng, (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

/* What the rows have, so that a new one is tried, too. */
#define PLUS_ONE(...) +1
enum { MACHINES = 0 CACHES_MACHINES(PLUS_ONE), POLICIES = 0 REPLACE_POLICIES(PLUS_ONE) };
#undef PLUS_ONE

static inline void random_spec(struct caches_spec *spec, struct rng *rng)
{
    *spec =
        (struct caches_spec){.machine = (enum caches_machine)rng_below(rng, MACHINES), .seed = rng_next(rng)};
    spec->snoop = (uint32_t)ONE_OF(rng, 1, 1, 2, 3, 4, 8, 8, rng_below(rng, 8) ? 4 : 150);
    spec->tiles = spec->snoop * (uint32_t)(spec->snoop > 8 ? 1 : ONE_OF(rng, 1, 2, 3, 5));
    spec->l1.ways = (uint32_t)ONE_OF(rng, 1, 2, 4, 7, 16, 20);
    spec->l1.line_bytes = (uint32_t)ONE_OF(rng, 16, 32, 64);
    spec->l1.bytes = (uint64_t)spec->l1.ways * spec->l1.line_bytes *
                     ONE_OF(rng, 1, 2, 3, 4, 16, 16, rng_below(rng, 4) ? 5 : 2048);
    spec->l2.ways = (uint32_t)ONE_OF(rng, 1, 4, 8, 16, 17, 64);
    spec->l2.line_bytes = spec->l1.line_bytes * (uint32_t)ONE_OF(rng, 1, 1, 1, 2);
    spec->l2.bytes = (uint64_t)spec->l2.ways * spec->l2.line_bytes * ONE_OF(rng, 1, 2, 6, 8, 32);
}

enum { ACCESSES_MOST = 3000, TILES_MOST = 192 };

struct made {
    struct trace_access accesses[TILES_MOST][ACCESSES_MOST];
    size_t count[TILES_MOST];
};

static inline void random_accesses(struct made *made, const struct caches_spec *spec, struct rng *rng)
{
    uint64_t lines = ONE_OF(rng, 8, 40, 300), pace = ONE_OF(rng, 1, 3, 10);
    uint64_t end = UINT64_C(1) << CACHES_ADDRESS_BITS, size = lines * spec->l1.line_bytes;
    uint64_t base = ONE_OF(rng, 0, 0, end / 2, end - size); /* the last accesses cross the end */
    for (uint32_t tile = 0; tile < spec->tiles; tile++) {
        made->count[tile] = rng_below(rng, spec->tiles < 8 ? ACCESSES_MOST : spec->tiles < 64 ? 400 : 30);
        uint64_t instruction = 0;
        for (size_t i = 0; i < made->count[tile]; i++) {
            instruction += rng_below(rng, pace + 1);
            uint64_t address = base + rng_below(rng, lines) * spec->l1.line_bytes + rng_below(rng, 16);
            made->accesses[tile][i] = trace_access(address, instruction, (uint32_t)ONE_OF(rng, 1, 4, 8, 16),
                                                   rng_below(rng, 3) == 0);
        }
    }
}

/* In batches that end at these instruction counts; false where the backend failed. */
static inline bool run_made(const struct caches_backend *backend, const struct caches_spec *spec,
                            const struct made *made, const struct caches_host *host, uint64_t batch,
                            struct coherent_counters *l1_of, struct coherent_counters *l2_of, struct err *err)
{
    struct caches *caches = backend->make(spec, host, err);
    const struct trace_access *at[TILES_MOST];
    size_t count[TILES_MOST], done[TILES_MOST] = {0}, more = 1;
    bool good = caches;
    for (uint64_t until = batch; good && more; until += batch) {
        more = 0;
        for (uint32_t i = 0; i < spec->tiles; i++) {
            at[i] = made->accesses[i] + done[i];
            count[i] = 0;
            while (done[i] + count[i] < made->count[i] && trace_instruction(at[i][count[i]]) < until)
                count[i]++;
            done[i] += count[i];
            more += made->count[i] - done[i];
        }
        good = backend->run(caches, &(struct caches_batch){at, count}, err);
    }
    struct caches_result result = {.l1_of = l1_of, .l2_of = l2_of};
    good = good && backend->count(caches, &result, err);
    backend->close(caches);
    return good;
}

#endif
