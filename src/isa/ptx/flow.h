/* Control flow and lifetimes of a function's registers: basic blocks, where diverged threads reconverge
 * (immediate post-dominators), and where each register is live. */
#ifndef PTX_FLOW_H
#define PTX_FLOW_H

#include "ptx/ptx.h"

enum { FLOW_NONE = -1 };

struct flow_block {
    uint32_t first, count;     /* instructions */
    uint32_t next, next_count; /* successors: in flow.edges */
    int32_t join; /* the block where all paths from its end meet, or FLOW_NONE: only at the exit */
};

struct flow_span { /* of instructions: the register holds a value from before `from` until `to` reads it */
    uint32_t from, to;
    uint32_t writes; /* instructions that write it */
    bool used;
    bool at_entry; /* may be read before it was written: must start with a defined value */
};

struct flow {
    struct flow_block *blocks;
    uint32_t block_count;
    uint32_t *edges, edge_count, edge_capacity;
    uint32_t *block_of;      /* by instruction */
    struct flow_span *spans; /* by register */
    uint32_t pressure; /* the most 32-bit registers that hold values at one time: what a compiler needs */
};

void flow_init(struct flow *flow, const struct ptx_function *function);
void flow_fini(struct flow *flow);

/* How many of the leading operands an instruction writes. Every instruction that writes a register must be
 * right here: a register that seems to be written once may be taken for a constant (fold_constant of
 * run/lower.c). */
uint32_t ptx_written_operands(const struct ptx_function *function, const struct ptx_inst *inst);

/* The part of the opcode before the first dot is `base`. */
bool ptx_is(const struct ptx_inst *inst, const char *base);

/* Calls `see` for each register that an instruction names, first those it reads, then those it writes. */
typedef void ptx_register_fn(void *context, uint32_t index, bool written);
void ptx_each_register(const struct ptx_function *function, const struct ptx_inst *inst, ptx_register_fn *see,
                       void *context);

/* The targets of an indirect branch: labels, as operands; NULL and 0 when it has no table. */
const struct ptx_operand *ptx_branch_targets(const struct ptx_function *function, const struct ptx_inst *inst,
                                             uint32_t *count);

#endif
