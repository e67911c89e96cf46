/* Rewrites a function: instructions are copied, left out or added, and labels follow. */
#ifndef PTXAS_REWRITE_H
#define PTXAS_REWRITE_H

#include "ptx/list.h"
#include "ptx/ptx.h"

struct rewrite {
    struct ptx_module *module;
    struct ptx_function *f; /* as it was, until rewrite_finish */
    LIST_OF(struct ptx_inst) insts;
    LIST_OF(struct ptx_operand) operands;
    LIST_OF(struct ptx_register) registers;
    LIST_OF(struct ptx_label) labels;
    uint32_t *place; /* by instruction as it was, and one behind the last: where it is now */
    uint32_t next;   /* the first that was not passed on yet */
};

void rewrite_init(struct rewrite *rewrite, struct ptx_module *module, struct ptx_function *f);
void rewrite_finish(struct rewrite *rewrite); /* the rest is copied, and the function changed */

/* Copies or leaves out the instructions up to `end`, not with it. */
void rewrite_copy(struct rewrite *rewrite, uint32_t end);
void rewrite_drop(struct rewrite *rewrite, uint32_t end);

/* Adds an instruction, which stands for `like` in the source. The result is good until the next is added. */
struct ptx_inst *rewrite_add(struct rewrite *rewrite, const char *opcode, const struct ptx_inst *like);
void rewrite_operand(struct rewrite *rewrite, struct ptx_operand operand); /* of the one added last */

uint32_t rewrite_register(struct rewrite *rewrite, const char *name, enum ptx_type type);
uint32_t rewrite_label(struct rewrite *rewrite);             /* at no place yet */
void rewrite_place(struct rewrite *rewrite, uint32_t label); /* before what is added next */
void rewrite_place_old(struct rewrite *rewrite, uint32_t label, uint32_t inst); /* before one as it was */

static inline struct ptx_operand operand_register(uint32_t index)
{
    return (struct ptx_operand){.kind = PTX_OP_REGISTER, .part = -1, .index = index};
}

static inline struct ptx_operand operand_integer(uint64_t value)
{
    return (struct ptx_operand){.kind = PTX_OP_INTEGER, .part = -1, .value = value};
}

static inline struct ptx_operand operand_label(uint32_t index)
{
    return (struct ptx_operand){.kind = PTX_OP_LABEL, .part = -1, .index = index};
}

#endif
