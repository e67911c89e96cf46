/* The parts of the printer. */
#ifndef GCN3_PRINT_H
#define GCN3_PRINT_H

#include "gcn3/gcn3.h"

#include "base/text.h"

/* An operand with its signs; none prints nothing. */
void gcn3_print_operand(const struct gcn3_inst *inst, const struct gcn3_operand *operand, struct text *text);
/* ", " before it, unless it is the first. */
void gcn3_print_next(const struct gcn3_inst *inst, const struct gcn3_operand *operand, struct text *text);
void gcn3_print_comma(struct text *text);
/* Removes the blank behind a name that has no operands. */
void gcn3_print_trim(struct text *text);
void gcn3_print_flag(bool set, const char *name, struct text *text);
/* 32 bits as LLVM shows them: as a constant that has a short form, or in hexadecimal. */
void gcn3_print_bits(uint32_t bits, struct text *text);

void gcn3_print_scalar(const struct gcn3_inst *inst, struct text *text); /* SOP*, behind the name */
void gcn3_print_vector(const struct gcn3_inst *inst, struct text *text);
void gcn3_print_memory(const struct gcn3_inst *inst, struct text *text);
void gcn3_print_exp(const struct gcn3_inst *inst, struct text *text);

#endif
