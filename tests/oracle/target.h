/* Where PTX runs: on Heddle, or on this computer's GPU through libcuda.so.1. A kernel here has two
 * parameters, the addresses of its input and of its output.
 *
 *   struct target *target = gpu ? target_gpu(&err) : target_heddle(2);
 *   if (target_load(target, ptx, &err)) target_run(target, &launch, &err); */
#ifndef ORACLE_TARGET_H
#define ORACLE_TARGET_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct target;

struct target_launch {
    const char *kernel;
    uint32_t grid[3], block[3];
    const void *in;
    void *out; /* its content is there before the kernel runs, too */
    size_t in_bytes, out_bytes;
};

struct target *target_heddle(unsigned threads);
struct target *target_timed(unsigned threads, struct err *err); /* with the timing model; or NULL */
struct target *target_cut(struct err *err); /* the same, each kernel also from a checkpoint on; or NULL */
uint64_t target_digest(const struct target *target); /* of all it counted */
struct target *target_gpu(struct err *err);          /* or NULL */
void target_free(struct target *target);

/* The module takes the place of the last one. */
bool target_load(struct target *target, const char *ptx, struct err *err);
bool target_run(struct target *target, const struct target_launch *launch, struct err *err);

#endif
