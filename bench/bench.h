/* Benchmarks of Heddle itself, and the models that its engine is tested with. A benchmark is a file with one
 * struct bench and a row in bench.c: it describes its parameters and builds a model; running, timing,
 * checkpoints and results are the same for all (run.c). */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include "base/config.h"
#include "engine/engine.h"

struct ranks;

struct bench_model {
    struct engine *engine;
    uint64_t until; /* ps, or TIME_NEVER */
    void *specs;    /* freed with the model */
};

struct bench {
    const char *name, *help;
    const struct param_group *const *groups;  /* its sections; the keys of the first are options too */
    const struct component_ops *const *types; /* of components it has; ends in NULL */
    bool (*build)(struct bench_model *model, const struct config *config, struct err *err);
    double (*share)(const struct bench_model *model); /* how much is done, 0 to 1; NULL: by simulated time */
    bool described; /* the model comes from a description: without --config there is nothing to run */
};

extern const struct bench *const benches[]; /* ends in NULL */
extern const struct param_group bench_engine_params;

const struct bench *bench_find(const char *name);
const char *bench_nearest(const char *name); /* the name that may have been meant, or NULL */

/* All sections that a configuration of this benchmark has: the engine's and its own. The caller frees the
 * array. */
const struct param_group **bench_groups(const struct bench *bench);

/* Makes the model, ready to run and watched. */
bool bench_model_init(struct bench_model *model, const struct bench *bench, const struct config *config,
                      struct ranks *ranks, struct err *err);
void bench_model_fini(struct bench_model *model);

/* Over all events, the final state and the statistics: the same for every number of threads. */
uint64_t bench_checksum(const struct engine *engine);

struct bench_options {
    unsigned threads;
    uint64_t until;   /* ps: stop here, whatever the model says; TIME_NEVER: as the model says */
    const char *save; /* a checkpoint to write, or NULL: at `save_at`, or at the end, or after an interrupt */
    uint64_t save_at; /* ps; TIME_NEVER: at the end */
    const char *resume; /* a checkpoint to go on from, or NULL */
    const char *json;   /* where results go, or NULL */
    const _Atomic int *interrupt;
    struct ranks *ranks; /* that all of this runs on, or NULL; rank 0 has the results and writes files */
};

enum bench_outcome { BENCH_DONE, BENCH_INTERRUPTED, BENCH_FAILED };

/* Runs and writes the closing line to `out`. After an interrupt, what is known so far is written all the
 * same. */
enum bench_outcome bench_run(const struct bench *bench, const struct config *config,
                             const struct bench_options *options, FILE *out, struct err *err);

#endif
