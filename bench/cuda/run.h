/* Runs workloads in Heddle, by the code that is bundled with them. */
#ifndef BENCH_CUDA_RUN_H
#define BENCH_CUDA_RUN_H

#include "base/err.h"
#include "exec/exec.h"
#include "workloads/workload.h"

extern const struct workload *const workloads[]; /* ends in NULL */

enum { WORKLOAD_OPTIONS_MOST = 16, WORKLOAD_FIGURES_MOST = 32 };

const struct workload *workload_find(const char *name); /* or NULL */

/* Values of its options by a text of ours, "n=144 block=64"; those that it does not name are as they are
 * unless told. A BUG if the text is wrong. */
void workload_options_of(const struct workload *workload, const char *text,
                         uint64_t values[WORKLOAD_OPTIONS_MOST]);

struct workload_figure { /* see dev_figure */
    char name[48];
    double value;
};

struct workload_result {
    struct launch_result counts; /* of all launches */
    uint64_t launches;
    bool is_machine_code; /* that ran, not PTX */
    double seconds;       /* in kernels */
    bool interrupted;     /* in simulated time, before the end of a kernel */
    struct workload_figure figures[WORKLOAD_FIGURES_MOST];
    size_t figure_count;
};

/* Runs it with these values of its options. False and a reason: it failed, or its result differs from the
 * CPU's. */
bool workload_run(const struct workload *workload, const uint64_t *options, unsigned threads,
                  const _Atomic int *interrupt, struct workload_result *result, struct err *err);

/* The same over a driver, in simulated time if its options say so (driver/driver.h). look (or NULL): is
 * called with the driver when all has been done, also after a failure, to see what was launched. */
struct driver;
struct driver_options;
bool workload_run_driven(const struct workload *workload, const uint64_t *options,
                         const struct driver_options *how, void (*look)(void *user, struct driver *driver),
                         void *user, struct workload_result *result, struct err *err);

/* The code bundled with it for a target, as gpu.target names it: "gfx803" or "gfx906", a code object (ELF);
 * or "" for PTX as text. NULL: it has none for that. */
const char *workload_code(const struct workload *workload, const char *target, size_t *bytes);

#endif
