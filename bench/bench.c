#include "bench/bench.h"
#include "bench/models.h"
#include "base/bits.h"
#include "base/mem.h"

const struct bench *const benches[] = {&bench_phold, &bench_gpu_traffic, &bench_network, NULL};

#define ENGINE_PARAMS(P, S)                                                                                  \
    P(S, count, seed, "1", "", "of all random numbers")                                                      \
    P(S, count, same_time_limit, "10000000", "1..", "events at one moment before time is said to stand still")

struct bench_engine_spec {
    ENGINE_PARAMS(PARAM_FIELD, bench_engine_spec)
};
PARAM_GROUP(bench_engine_params, "engine", "the simulation engine", bench_engine_spec, ENGINE_PARAMS);

const struct bench *bench_find(const char *name)
{
    for (size_t i = 0; benches[i]; i++) {
        if (strcmp(benches[i]->name, name) == 0)
            return benches[i];
    }
    return NULL;
}

const char *bench_nearest(const char *name)
{
    struct nearest nearest;
    nearest_init(&nearest, name);
    for (size_t i = 0; benches[i]; i++)
        nearest_try(&nearest, benches[i]->name);
    return nearest.best;
}

const struct param_group **bench_groups(const struct bench *bench)
{
    size_t count = 0;
    while (bench->groups[count])
        count++;
    const struct param_group **groups = mem_alloc(count + 2, sizeof *groups);
    groups[0] = &bench_engine_params;
    memcpy(groups + 1, bench->groups, count * sizeof *groups);
    return groups;
}

bool bench_model_init(struct bench_model *model, const struct bench *bench, const struct config *config,
                      struct ranks *ranks, struct err *err)
{
    struct bench_engine_spec spec;
    config_fill(config, &bench_engine_params, "engine", &spec);
    *model =
        (struct bench_model){.engine = engine_new(&(struct engine_spec){
                                 .seed = spec.seed, .same_time_limit = spec.same_time_limit, .ranks = ranks}),
                             .until = TIME_NEVER};
    bool good = bench->build(model, config, err);
    if (good)
        engine_spread(model->engine);
    if (good && engine_ready(model->engine, err)) {
        engine_watch(model->engine);
        return true;
    }
    bench_model_fini(model);
    return false;
}

void bench_model_fini(struct bench_model *model)
{
    engine_free(model->engine);
    mem_free(model->specs);
    *model = (struct bench_model){0};
}

uint64_t bench_checksum(const struct engine *engine)
{
    uint64_t digest = digest_word(engine_watch_digest(engine), engine_state_digest(engine));
    return digest_word(digest, engine_events(engine));
}
