/* wgmma: products of a group of four warps, with B, and A if it is not in registers, in shared memory, where
 * descriptors tell of them. Pure. */
#ifndef PTX_RUN_MATRIX_GROUP_H
#define PTX_RUN_MATRIX_GROUP_H

#include "ptx_run/matrix.h"

enum { GROUP_WARPS = 4, GROUP_COLUMNS = 256, GROUP_REGISTERS = GROUP_COLUMNS / 2, GROUP_A = 4 };

/* A matrix in shared memory, in pieces of 8 lines (rows of A or columns of B) and 16 bytes. */
struct matrix_descriptor {
    uint32_t start, leading, stride; /* bytes */
    uint8_t swizzle;                 /* 0: none, 1: of 128 bytes, 2: of 64, 3: of 32 */
};
struct matrix_descriptor matrix_descriptor(uint64_t bits);

/* Shared memory; what was read outside of it. */
struct matrix_memory {
    const char *at;
    uint64_t bytes;
    bool outside;
    uint32_t outside_at;
};

struct matrix_group {
    struct matrix_form tile;
    struct matrix_plan plan;
    unsigned tiles; /* of 8 columns */
    bool a_in_registers, transpose_a, transpose_b, negate_a, negate_b;
};

/* What a warp of the group computes. d is C as well, or else zero. False: memory->outside. */
struct matrix_group_call {
    unsigned warp; /* of the group */
    bool has_c;
    const void *a[GROUP_A]; /* or in memory */
    struct matrix_descriptor of_a, of_b;
    const uint32_t *metadata; /* of a sparse A */
    unsigned selector;
};
bool matrix_group_multiply(const struct matrix_group *group, const struct matrix_group_call *call,
                           struct matrix_memory *memory, void *const d[]);

#endif
