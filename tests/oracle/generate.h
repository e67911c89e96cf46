/* Random kernels: from a seed the text of a PTX module and how to launch it. The same seed gives the same
 * kernel for ever, as digests of what a GPU made of it are kept. */
#ifndef ORACLE_GENERATE_H
#define ORACLE_GENERATE_H

#include "base/text.h"

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

void generate(uint64_t seed, struct generated *generated);
void generated_fini(struct generated *generated);

/* What is in memory before it runs. */
void generate_memory(uint64_t seed, uint64_t *in, uint64_t *cells);

#endif
