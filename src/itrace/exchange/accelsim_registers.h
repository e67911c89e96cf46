/* Registers of an exported kernel. Accel-Sim's lines have one destination, four sources, and registers up to
 * R254. Registers that an instruction writes together are one more register, of its own. An instruction that
 * becomes no machine instruction only hands on what it waits for. An operand of several registers has their
 * numbers to itself. Where there are too many registers, numbers come again. */
#ifndef EXCHANGE_ACCELSIM_REGISTERS_H
#define EXCHANGE_ACCELSIM_REGISTERS_H

#include "itrace/itrace.h"

enum { ACCELSIM_SOURCES = 4, ACCELSIM_REGISTERS = 240, ACCELSIM_TEMPORARY_END = 255 };

struct accelsim_sources {
    uint16_t count, at[ACCELSIM_SOURCES];
};

struct accelsim_registers {
    uint32_t count, code_count;
    uint16_t *number;                /* of each register: that of the trace's lines */
    uint16_t **vectors;              /* by function and instruction, of those that write several: its own */
    struct accelsim_sources *behind; /* of each register, in this warp: what its value waits for */
};

void accelsim_registers_init(struct accelsim_registers *own, const struct itrace_kernel *kernel);
void accelsim_registers_fini(struct accelsim_registers *own);
void accelsim_registers_begin(struct accelsim_registers *own); /* a warp begins */

/* What the instruction waits for. */
void accelsim_sources(const struct accelsim_registers *own, const struct isa_code *code,
                      const struct isa_timing *row, struct accelsim_sources *sources);
/* Its result is written by its own steps; or (it has none) is there when `sources` are. Gives the
 * destination, or -1. function: the number of the one that it is of. */
int accelsim_destination(struct accelsim_registers *own, const struct itrace_kernel *kernel,
                         uint32_t function, const struct isa_timing *row,
                         const struct accelsim_sources *sources);
void accelsim_sources_add(struct accelsim_sources *sources, uint16_t number);
uint16_t accelsim_temporary(uint32_t step); /* between the steps of an instruction: of this one */

#endif
