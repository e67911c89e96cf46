/* The interface of an assembler: what the machine's assembler (ptxas) generates from PTX. It is a table of
 * functions, so that the language does not depend on a model of an assembler. isa/ptxas has the only one. */
#ifndef PTX_ASSEMBLER_H
#define PTX_ASSEMBLER_H

#include "ptx/flow.h"

/* The product that a sum takes, so that both are one operation, rounded once. */
struct ptx_taken {
    uint32_t product; /* instruction, plus 1; 0: none */
    bool second;      /* it is the second of the operands that are added */
};

/* The machine instructions of a function. An instruction without steps is part of others, or only a name: its
 * result is there when its sources are. */
struct ptx_machine_code {
    struct isa_step *steps; /* of all instructions, one after another */
    uint32_t *first;    /* by instruction, and one behind the last: steps[first[i]] to [first[i + 1] - 1] */
    uint32_t registers; /* that a thread needs */
};

struct ptx_assembler {
    /* Changes the functions of a module in place to what means the same, in the order and form that the
     * assembler gives it; before it is linked. For models that keep time. */
    void (*optimize)(struct ptx_module *module);
    /* By instruction: which sums take which products. Changes results, so it is for all. */
    void (*contract)(const struct ptx_function *function, const struct flow *flow, struct ptx_taken *taken);
    /* `taken`: by instruction, or NULL: no sum takes a product. */
    void (*assemble)(struct ptx_machine_code *code, const struct ptx_function *function,
                     const struct flow *flow, const struct ptx_taken *taken);
};

void ptx_machine_code_fini(struct ptx_machine_code *code);

#endif
