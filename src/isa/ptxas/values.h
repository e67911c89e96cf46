/* The writers and readers of each register of a function. */
#ifndef PTXAS_VALUES_H
#define PTXAS_VALUES_H

#include "ptxas/opcodes.h"
#include "ptx/flow.h"

#define VALUES_NONE UINT32_MAX

struct value {
    uint32_t writes, maker; /* how many instructions write it; the first that does, or VALUES_NONE */
    uint32_t first, count;  /* the instructions that read it: in readers, each as often as it reads */
    bool guarded;           /* one of the writes has a guard */
};

struct values {
    const struct ptx_function *f;
    struct value *at; /* by register */
    uint32_t *readers;
    uint32_t *number; /* by instruction: of its opcode */
    struct opcodes opcodes;
};

void values_init(struct values *values, const struct ptx_function *f);
void values_fini(struct values *values);

static inline const struct opcode *values_opcode(const struct values *values, uint32_t inst)
{
    return &values->opcodes.at[values->number[inst]];
}

/* Operand i of an instruction; one that is not there is a sink. */
const struct ptx_operand *values_operand(const struct values *values, uint32_t inst, uint32_t i);

/* The one instruction that gives a register its value, wherever it is read; or VALUES_NONE. */
uint32_t values_maker(const struct values *values, const struct ptx_operand *operand);

/* The register an instruction writes, when it writes one and no other does; or VALUES_NONE. */
uint32_t values_result(const struct values *values, uint32_t inst);

#endif
