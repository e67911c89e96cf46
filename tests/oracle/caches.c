/* Caches on a GPU against those on the CPU: random machines and accesses; every count of every cache must be
 * the same. On a real GPU, or on Heddle's (`heddle run`): caches [TRIALS [SEED]] */
#include "random_caches.h" /* tests/unit */

#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void tell_spec(unsigned trial, const struct caches_spec *spec)
{
    fprintf(stderr,
            "trial %u: machine %d, %u tiles, snoop %u, L1 %" PRIu64 ",%u,%u, L2 %" PRIu64
            ",%u,%u, policy %u, quantum %" PRIu64 "\n",
            trial, spec->machine, spec->tiles, spec->snoop, spec->l1.bytes, spec->l1.ways,
            spec->l1.line_bytes, spec->l2.bytes, spec->l2.ways, spec->l2.line_bytes, spec->policy,
            spec->quantum);
}

static bool same(const char *level, uint32_t tiles, const struct coherent_counters *cpu,
                 const struct coherent_counters *cuda)
{
    bool is_same = true;
    for (uint32_t i = 0; i < tiles; i++) {
#define X(name, help)                                                                                        \
    if (cpu[i].name != cuda[i].name) {                                                                       \
        fprintf(stderr, "%s of tile %u: " #name " are %" PRIu64 " on the CPU, %" PRIu64 " on the GPU\n",     \
                level, i, cpu[i].name, cuda[i].name);                                                        \
        is_same = false;                                                                                     \
    }
        COHERENT_COUNTERS(X)
#undef X
    }
    return is_same;
}

int main(int count, char **words)
{
    unsigned trials = count > 1 ? (unsigned)strtoul(words[1], NULL, 10) : 1000, failed = 0;
    struct made *made = mem_alloc(1, sizeof *made);
    struct caches_spec one = {.tiles = 1, .snoop = 1, .l1 = {1024, 1, 64}};
    struct err err;
    struct caches *open =
        caches_cuda.make(&one, &(struct caches_host){.threads = 1}, &err); /* opening takes time */
    if (!open) {
        fprintf(stderr, "caches: %s\n", err.text);
        return 1;
    }
    struct rng rng;
    rng_init(&rng, count > 2 ? strtoul(words[2], NULL, 10) : 7, "caches");
    for (unsigned trial = 0; trial < trials && failed < 5; trial++) {
        struct caches_spec spec;
        random_spec(&spec, &rng);
        spec.policy = rng_below(&rng, 2) ? REPLACE_LRU : (uint32_t)rng_below(&rng, POLICIES);
        spec.quantum = trial % 4 ? 0 : 1 + rng_below(&rng, 50);
        random_accesses(made, &spec, &rng);
        struct caches_host host = {.threads = 1,
                                   .per_block = (uint32_t)rng_below(&rng, 4),
                                   .no_overlap = rng_below(&rng, 4) == 0,
                                   .resident = rng_below(&rng, 4) == 0};
        struct coherent_counters l1[2][TILES_MOST] = {{{0}}}, l2[2][TILES_MOST] = {{{0}}};
        uint64_t batch = spec.quantum ? UINT64_MAX / 2 : 100 + rng_below(&rng, 3000);
        if (!run_made(&caches_cpu, &spec, made, &host, batch, l1[0], l2[0], &err) ||
            !run_made(&caches_cuda, &spec, made, &host, batch, l1[1], l2[1], &err)) {
            tell_spec(trial, &spec);
            fprintf(stderr, "caches: %s\n", err.text);
            return 1;
        }
        bool l1_same = same("L1", spec.tiles, l1[0], l1[1]), l2_same = same("L2", spec.tiles, l2[0], l2[1]);
        if (!l1_same || !l2_same) {
            tell_spec(trial, &spec);
            failed++;
        }
    }
    caches_cuda.close(open);
    mem_free(made);
    if (!failed)
        printf("caches: ok; %u random machines\n", trials);
    return failed != 0;
}
