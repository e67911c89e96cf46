/* Arithmetic: the contract between those who prepare operands (vector.c, scalar.c) and the executors that are
 * made from the rows (alu*.c), for several levels of x86-64.
 *
 * A vector executor computes all 64 lanes, whatever EXEC says, in plain loops that compilers vectorize.
 * Sources are arrays of 64 words: VGPRs, or copies in which scalars were repeated, and abs, neg, SDWA, DPP
 * and f32/f64 inline constants were applied. The destination is the VGPR itself if all lanes are on, else a
 * buffer that is blended by EXEC afterwards; it may be the same array as a source. omod and clamp of float
 * results, SDWA of destinations and the blending are vector.c's; clamp of integers (GCN3_CLAMP) is the
 * executor's. */
#ifndef GCN3_RUN_ALU_H
#define GCN3_RUN_ALU_H

#include "gcn3_run/wave.h"

/* Values of 64 bits are two arrays: low words, high words. Of shorter ones only [0] is used. */
struct gcn3_lanes {
    uint32_t *d[2];
    const uint32_t *a[2], *b[2], *c[2];
    uint64_t exec;     /* which lanes are on, for v_readfirstlane and the like */
    uint64_t mask_in;  /* a bit for each lane: carry in, VCC of v_div_fmas, the condition of v_cndmask */
    uint64_t mask_out; /* the result of a comparison, carry out, VCC of v_div_scale */
    uint32_t mode;     /* MODE: rounding [3:0], denormals [7:4], dx10_clamp 8, ieee 9 */
    bool clamp;
};
typedef void gcn3_vector_fn(struct gcn3_lanes *lanes);

/* Scalar: values of 32 bits are the low halves. */
struct gcn3_scalar {
    uint64_t d, a, b;
    uint64_t exec, vcc; /* read and written by those whose rows say so */
    uint32_t m0, mode;
    bool scc;
};
typedef void gcn3_scalar_fn(struct gcn3_scalar *scalar);

/* The executor of a row for this host; NULL: it has none. (alu.c) */
gcn3_vector_fn *gcn3_vector_executor(enum gcn3_op op);
gcn3_scalar_fn *gcn3_scalar_executor(enum gcn3_op op);

/* How an instruction of arithmetic runs, or NULL. (vector.c, scalar.c) */
gcn3_run_fn *gcn3_alu(struct gcn3_lowered *op);
gcn3_run_fn *gcn3_scalar_alu(struct gcn3_lowered *op);

#endif
