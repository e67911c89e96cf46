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
#include "base/bits.h"

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

/* The version of one level: 0 for any host, then better ones. NULL where this machine cannot run it. For
 * tests: all levels give the same bits. */
enum { GCN3_LEVELS = 3 };
gcn3_vector_fn *gcn3_vector_executor_at(int level, enum gcn3_op op);

/* How an instruction of arithmetic runs, or NULL. (vector.c, scalar.c) */
gcn3_run_fn *gcn3_alu(struct gcn3_lowered *op);
gcn3_run_fn *gcn3_scalar_alu(struct gcn3_lowered *op);

gcn3_run_fn *gcn3_packed(const struct gcn3_inst *inst); /* VOP3P (packed.c) */

/* Moves by M0, and what sets the mode that adds an index to VGPRs' numbers; or NULL. (index.c) */
gcn3_run_fn *gcn3_index(const struct gcn3_inst *inst);
void gcn3_run_with_index(struct gcn3_wave *w, const struct gcn3_lowered *op);

enum { GCN3_GPR_IDX_EN = 1 << 27 }; /* that mode: a bit of MODE */

/* Runs a vector instruction in that mode; false: the mode is off, and nothing was done. */
static inline bool gcn3_run_indexed(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    if (LIKELY(!(w->mode & GCN3_GPR_IDX_EN)))
        return false;
    gcn3_run_with_index(w, op);
    return true;
}

#endif
