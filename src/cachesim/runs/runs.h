/* Runs of many caches: what was asked for, the configurations that come of it, and the forms that their
 * counts are written in. */
#ifndef CACHESIM_RUNS_H
#define CACHESIM_RUNS_H

#include "cachesim/caches.h"
#include "cachesim/feed.h"
#include "cachesim/runs/sweep.h"
#include "report/cell.h"

#include <stdio.h>

/* Where caches are simulated. */
struct caches_device {
    const struct caches_backend *backend;
    bool shares_cores;     /* several may run at once, on a thread of the host each */
    size_t batch_accesses; /* of all tiles together: what suits it */
    size_t batch_least;    /* but of each tile at least */
};

extern const struct caches_device caches_devices[]; /* ends with a NULL backend; the first is the default */

/* Accesses of a tile at a time that suit it. */
size_t caches_device_batch(const struct caches_device *device, uint32_t tiles);

struct caches_request {
    struct caches_spec spec; /* in a sweep: of what it leaves alone */
    bool tiles_told, snoop_told;
    const char **traces;
    uint32_t trace_count, trace_capacity;
    const char *generate;
    uint64_t offset, accesses, batch;
    const struct caches_device *device;
    struct caches_host host;
    const char *sweep_text;
    const char
        *results; /* of a sweep: counts go to this file as they come, and are taken from it with resume */
    bool resume;
    uint64_t build;      /* a digest of the program, which counts may depend on */
    struct ranks *ranks; /* that share a sweep; NULL: one process */
    bool per_cache, compare_exact, no_progress;
    const _Atomic int *interrupt; /* when it is set, the run ends soon */
    struct sweep sweep;
};

/* One of those that are simulated, and what came of it. */
struct configuration {
    struct caches_spec spec;
    struct caches_result result;
    struct caches *caches; /* while it runs */
    char *wrong;
    bool is_known; /* from a file: not simulated */
};

struct configurations {
    struct configuration *at;
    size_t count;
    uint32_t left_out;        /* of a sweep: that cannot be */
    struct text left_out_why; /* of each, a line */
    size_t known;             /* from a file */
    double wall_s;
    double transfer_s, l1_s, l2_s; /* of a device */
};

/* All that can be wrong before the time is spent; what nobody told is filled in. */
bool caches_prepare(struct caches_request *r, struct configurations *all, struct err *err);
void configurations_fini(struct configurations *all);

/* Simulates them, reading the traces as seldom as can be: once, where one order of accesses suits all. */
bool caches_simulate(const struct caches_request *r, struct configurations *all, struct err *err);

/* The same for a sweep on all ranks, which all call it; rank 0 gets the counts, and adds them to `kept` (or
 * NULL: kept.h). What is known is left out. Fails as deal_run does, and when it is interrupted. */
struct kept;
bool caches_deal(const struct caches_request *r, struct kept *kept, struct configurations *all,
                 struct err *err);

/* Whether both take accesses in the same order. */
bool configurations_share_pass(const struct caches_request *r, const struct configuration *a,
                               const struct configuration *b);

/* ---- told ---- */

uint64_t caches_accesses(const struct coherent_counters *count);
uint64_t misses_of(const struct coherent_counters *count);
double miss_rate(const struct coherent_counters *count); /* in percent */

/* A key of sweeps, as this description has it. */
void setting_print(const char *key, const struct caches_spec *spec, struct text *text);

void caches_print(const struct caches_request *r, const struct configurations *all, FILE *out);
void caches_json(const struct caches_request *r, const struct configurations *all, FILE *out);
void sweep_print(const struct caches_request *r, const struct configurations *all, FILE *out);
void sweep_svg(const struct caches_request *r, const struct configurations *all, FILE *out);

#endif
