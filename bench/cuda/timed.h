/* A workload over the driver, in simulated time: what run.c calls when there is such a thing. Each returns
 * NULL, or what went wrong. */
#ifndef BENCH_CUDA_TIMED_H
#define BENCH_CUDA_TIMED_H

#include "workloads/run.h"

struct timed;

struct timed *timed_new(const struct workload *workload, const struct driver_options *options,
                        struct err *err);
void timed_free(struct timed *timed);
unsigned timed_count(const struct timed *timed); /* GPUs */
void timed_select(struct timed *timed, unsigned index);
const char *timed_wait(struct timed *timed); /* for all GPUs */
const char *timed_alloc(struct timed *timed, size_t bytes, void **memory);
const char *timed_copy(struct timed *timed, void *to, const void *from, size_t bytes);
const char *timed_fill(struct timed *timed, void *at, int byte, size_t bytes);
const char *timed_launch(struct timed *timed, const char *kernel, struct dev_dim grid, struct dev_dim block,
                         size_t shared_bytes, void **arguments);

unsigned timed_members(const struct timed *timed); /* of the selected GPU */
const char *timed_place_memory(struct timed *timed, const void *at, size_t bytes, unsigned member);
const char *timed_place_blocks(struct timed *timed, const struct dev_blocks *ranges, size_t count);

/* Waits for all, and tells how long the last launch took in simulated time; 0: it was not timed. */
const char *timed_seconds(struct timed *timed, double *seconds);
/* The same of several: from the first start to the last end. */
const char *timed_span(struct timed *timed, unsigned launches, double *seconds);

/* Waits for all, and sums up what was launched. */
const char *timed_finish(struct timed *timed, struct workload_result *result);
bool timed_is_machine_code(const struct timed *timed); /* else PTX runs */
unsigned timed_lanes(const struct timed *timed);       /* of a warp */
struct driver *timed_driver(struct timed *timed);

#endif
