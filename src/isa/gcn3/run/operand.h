/* Values of scalar operands. For this room only. */
#ifndef GCN3_RUN_OPERAND_H
#define GCN3_RUN_OPERAND_H

#include "gcn3_run/wave.h"

/* 64 bits; an operand of 32 bits is the lower half. */
uint64_t gcn3_value(const struct gcn3_wave *w, const struct gcn3_operand *operand);

#endif
