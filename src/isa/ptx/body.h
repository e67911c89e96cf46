/* The function being parsed: growing lists, and names that are not resolved yet. */
#ifndef PTX_BODY_H
#define PTX_BODY_H

#include "list.h"
#include "scope.h"

/* A symbol that operands refer to, until the whole function is known. */
struct slot {
    struct ptx_symbol symbol; /* of kind PTX_SYM_COUNT: a name of the module */
    uint32_t label;           /* it is this label, or NOTHING */
    uint32_t same;            /* it is the same as this slot, or NOTHING */
    uint32_t place;           /* in the finished function's symbols */
};

/* A name that no scope of the function had bound when an operand named it. Labels may come later, so it waits
 * until its scope ends, then in the scope around it; what is left in the end is a name of the module. */
struct waiting {
    struct name *name;
    uint32_t slot;
    uint32_t outer; /* + 1: the same name, waiting in a scope around; it was the name's latest */
};

struct body {
    LIST_OF(struct ptx_inst) insts;
    LIST_OF(struct ptx_operand) operands;
    LIST_OF(struct ptx_operand) stack; /* operands of lists that are not finished */
    LIST_OF(struct ptx_label) labels;
    LIST_OF(struct slot) slots;
    LIST_OF(struct waiting) waiting;
    LIST_OF(struct ptx_register) registers;
    LIST_OF(struct ptx_variable) variables;
    LIST_OF(struct ptx_loc) locs;
    LIST_OF(struct ptx_branch_table) tables;
    LIST_OF(struct ptx_prototype) prototypes;
};

/* Lists are used again for the next function. */
void body_reset(struct body *body);
void body_fini(struct body *body);

/* The register's index, made at its first use. */
uint32_t body_register(struct body *body, struct ptx_store *store, struct binding *binding);

/* The slot of a name that is bound in the function; and of one that is not, or not yet. */
uint32_t body_symbol(struct body *body, struct binding *binding, uint32_t line);
uint32_t body_wait(struct body *body, const struct scopes *scopes, struct name *name, uint32_t line);

/* Before a scope is opened and closed: names that wait. */
void body_open(struct body *body, struct scopes *scopes);
void body_close(struct body *body, struct scopes *scopes);

/* Copies all to the function; symbols of the module still have the kind PTX_SYM_COUNT. */
void body_finish(struct body *body, struct ptx_store *store, struct ptx_function *function);

#endif
