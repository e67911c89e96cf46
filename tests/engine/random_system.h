/* Descriptions of random networks: any topology, any traffic, some of which end in a dead-lock, which is a
 * result too. */
#ifndef TESTS_ENGINE_RANDOM_SYSTEM_H
#define TESTS_ENGINE_RANDOM_SYSTEM_H

#include "check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/text.h"
#include "bench/bench.h"

static inline uint64_t one_of(struct rng *rng, const uint64_t *values, size_t count)
{
    return values[rng_below(rng, count)];
}

#define ONE_OF(rng, ...) one_of(rng, (const uint64_t[]){__VA_ARGS__}, sizeof((uint64_t[]){__VA_ARGS__}) / 8)

static inline void describe_network(struct text *text, struct rng *rng, uint64_t nodes)
{
    /* where messages are passed on and room is scarce, most networks dead-lock: not all are to have both */
    bool passing = rng_below(rng, 2), scarce = !passing || rng_below(rng, 3) == 0;
    uint64_t ports[64] = {0}; /* of each node, so far */
    uint64_t links = 1 + rng_below(rng, 2 * nodes);
    for (uint64_t i = 0; i < links; i++) {
        uint64_t plugs = rng_below(rng, 3) ? 2 : 2 + rng_below(rng, 5);
        text_add(text, "[link.l%llu]\nends =", (unsigned long long)i);
        for (uint64_t k = 0; k < plugs; k++) {
            uint64_t node =
                i == 0 && k == 0 ? 0 : rng_below(rng, nodes); /* node 0 sends: it must have a port */
            text_add(text, " n%llu.p%llu", (unsigned long long)node, (unsigned long long)ports[node]++);
        }
        /* few have nearly the same latency, most have very different ones */
        uint64_t latency = ONE_OF(rng, 1, 7, 100, 1000, 50505, 50505, 1000000) + rng_below(rng, 3);
        text_add(text, "\nlatency = %llups\n", (unsigned long long)latency);
        text_add(text, "bandwidth = %lluMB/s\n", (unsigned long long)ONE_OF(rng, 0, 0, 100, 7777, 1000000));
        text_add(text, "overhead = %llu\n", (unsigned long long)rng_below(rng, 20));
        text_add(text, "credits = %llu\n", (unsigned long long)(scarce ? ONE_OF(rng, 0, 1, 2, 9) : 0));
    }
    for (uint64_t i = 0; i < nodes; i++) {
        text_add(text, "[node.n%llu]\n", (unsigned long long)i);
        if (rng_below(rng, 3) == 0)
            text_add(text, "island = shared%llu\n", (unsigned long long)rng_below(rng, 3));
        text_add(text, "sends = %llu\n",
                 (unsigned long long)(ports[i] ? ONE_OF(rng, 0, 1, 30, 100) + (i == 0) : 0));
        text_add(text, "interval = %llups\n", (unsigned long long)ONE_OF(rng, 1, 50, 3000, 200000));
        text_add(text, "hops = %llu\n", (unsigned long long)(passing ? rng_below(rng, 6) : 0));
        text_add(text, "payload = %llu\n", (unsigned long long)(8 + rng_below(rng, 17)));
        text_add(text, "service = %llups\n", (unsigned long long)ONE_OF(rng, 0, 0, 10, 505, 9999));
    }
}

static inline void describe_random_system(struct text *text, uint64_t seed)
{
    struct rng rng;
    rng_init(&rng, seed, "random system");
    text_add(text, "[engine]\nseed = %llu\n[network]\ntime = 1ms\n", (unsigned long long)seed);
    /* there are never more threads than islands: a third of the systems have enough for sixteen */
    describe_network(text, &rng, rng_below(&rng, 3) ? 2 + rng_below(&rng, 20) : 26 + rng_below(&rng, 30));
}

struct system {
    struct config config;
    const struct param_group **groups;
    struct bench_model model;
};

static inline void system_init_over(struct system *system, const struct text *text, struct ranks *ranks)
{
    const struct bench *bench = bench_find("network");
    system->groups = bench_groups(bench);
    config_init(&system->config, system->groups);
    must(config_read_text(&system->config, "random.ini", text->at, text->length, err));
    must(bench_model_init(&system->model, bench, &system->config, ranks, err));
}

static inline void system_init(struct system *system, const struct text *text)
{
    system_init_over(system, text, NULL);
}

static inline void system_fini(struct system *system)
{
    bench_model_fini(&system->model);
    config_fini(&system->config);
    mem_free(system->groups);
}

#endif
