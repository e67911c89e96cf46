/* Runs workloads in Heddle, by the PTX that is bundled with them. */
#ifndef BENCH_CUDA_RUN_H
#define BENCH_CUDA_RUN_H

#include "base/err.h"
#include "exec/exec.h"
#include "workloads/workload.h"

extern const struct workload *const workloads[]; /* ends in NULL */

enum { WORKLOAD_OPTIONS_MOST = 16 };

const struct workload *workload_find(const char *name); /* or NULL */

struct workload_result {
    struct launch_result counts; /* of all launches */
    uint64_t launches;
    double seconds; /* in kernels */
};

/* Runs it with these values of its options. False and a reason: it failed, or its result differs from the
 * CPU's. */
bool workload_run(const struct workload *workload, const uint64_t *options, unsigned threads,
                  const _Atomic int *interrupt, struct workload_result *result, struct err *err);

/* The PTX bundled with it. */
const char *workload_ptx(const struct workload *workload, size_t *bytes);

#endif
