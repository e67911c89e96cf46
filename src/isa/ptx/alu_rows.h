/* The rows of alu.def: instructions that compute each lane's result from the same lane's operands. */
#ifndef PTX_ALU_ROWS_H
#define PTX_ALU_ROWS_H

#include "isa/isa.h"

struct alu_row {
    const char *texts; /* opcodes, divided by | */
    enum isa_type d, s[4];
};

extern const struct alu_row alu_rows[];
extern const int alu_row_count;

/* The row of this full opcode ("add.s32"), or -1. */
int alu_find(const char *opcode);

#endif
