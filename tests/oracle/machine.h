/* Where PTX runs: on Heddle, or on this computer's GPU through libcuda.so.1. A kernel here has two
 * parameters, the addresses of its input and of its output.
 *
 *   struct machine *machine = gpu ? machine_gpu(&err) : machine_heddle(2);
 *   if (machine_load(machine, ptx, &err)) machine_run(machine, &launch, &err); */
#ifndef ORACLE_MACHINE_H
#define ORACLE_MACHINE_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct machine;

struct machine_launch {
    const char *kernel;
    uint32_t grid[3], block[3];
    const void *in;
    void *out; /* its content is there before the kernel runs, too */
    size_t in_bytes, out_bytes;
};

struct machine *machine_heddle(unsigned threads);
struct machine *machine_gpu(struct err *err); /* or NULL */
void machine_free(struct machine *machine);

/* The module takes the place of the last one. */
bool machine_load(struct machine *machine, const char *ptx, struct err *err);
bool machine_run(struct machine *machine, const struct machine_launch *launch, struct err *err);

#endif
