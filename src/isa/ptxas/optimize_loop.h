/* A loop that is unrolled: optimize_loop.c finds it, optimize_unroll.c writes it. */
#ifndef PTXAS_OPTIMIZE_LOOP_H
#define PTXAS_OPTIMIZE_LOOP_H

#include "ptxas/optimize_parts.h"

enum compare { COMPARE_lt, COMPARE_le, COMPARE_gt, COMPARE_ge, COMPARE_ne };

struct loop {
    uint32_t first, test, last; /* instructions: of the round; the comparison; the branch back */
    uint32_t counter;           /* register */
    int64_t step;
    enum compare compare; /* it goes on while counter compare limit */
    bool is_signed, is_wide;
    struct ptx_operand limit;
    int32_t guard;
};

struct unroll {
    struct pass *pass;
    struct rewrite rewrite;
    bool rewriting;
    uint32_t *writes;  /* by register: in the loop at hand */
    uint32_t *touched; /* registers with writes, to clear them */
    uint32_t touched_count, touched_capacity;
    uint32_t *name;         /* by register: what it is called in the round at hand */
    uint32_t *fresh, stamp; /* by register: the round in which it got its name; the one at hand */
    bool *local;            /* by register, written in the loop: nobody needs it behind the round */
    bool *product;          /* by register: some product writes it (contract.c) */
    int64_t *jump;          /* by register: what a round adds to it; 0: not so simple */
    uint32_t inst, round, rounds;
    int32_t guard; /* of the instructions that are copied; -1: their own */
    struct loop loop;
};

extern const char *const compare_names[], *const opposite_names[]; /* by enum compare */

/* What add r, r, number adds; 0: it is something else. */
int64_t unroll_jump(const struct unroll *u, uint32_t inst);

void unroll_loop(struct unroll *u);

#endif
