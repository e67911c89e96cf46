/* Random kernels: from a seed the text of a PTX module and how to launch it. The same seed gives the same
 * kernel for ever, as digests of what a GPU made of it are kept. */
#ifndef ORACLE_GENERATE_H
#define ORACLE_GENERATE_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    KERNEL_IN_BYTES = 4096,
    KERNEL_CELLS = 64,         /* words of 8 bytes at the start of the output that all threads work on */
    KERNEL_THREAD_BYTES = 160, /* of output for each thread, behind the cells */
};

struct generated {
    struct text ptx; /* with one kernel, named k */
    uint32_t grid[3], block[3];
    size_t out_bytes;
};

/* A careful one means the same: it has more bar.warp.sync, wherever lanes come together, and no barriers that
 * want them to be. It is for the GPU: ptxas leaves out what brings lanes together where it thinks that they
 * are, and after calls and indirect branches by diverged warps they are not always. */
void generate(uint64_t seed, bool careful, struct generated *generated);
void generated_fini(struct generated *generated);

/* What is in memory before it runs. */
void generate_memory(uint64_t seed, uint64_t *in, uint64_t *cells);

#endif
