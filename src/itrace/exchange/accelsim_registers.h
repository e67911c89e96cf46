/* Registers of an exported kernel. Accel-Sim's lines have one destination, four sources, and registers up to
 * R254: those that an instruction writes together become one, and numbers come again where there are too
 * many. An instruction that becomes no machine instruction only hands on what it waits for. */
#ifndef EXCHANGE_ACCELSIM_REGISTERS_H
#define EXCHANGE_ACCELSIM_REGISTERS_H

#include "itrace/itrace.h"

enum { ACCELSIM_SOURCES = 4, ACCELSIM_REGISTERS = 240, ACCELSIM_TEMPORARY_END = 255 };

struct accelsim_sources {
    uint16_t count, at[ACCELSIM_SOURCES];
};

struct accelsim_registers {
    uint32_t count;
    uint16_t *number;                /* of each register: that of the trace's lines */
    struct accelsim_sources *behind; /* of each register, in this warp: what its value waits for */
    uint16_t temporary;              /* the last that was given */
};

void accelsim_registers_init(struct accelsim_registers *own, const struct itrace_kernel *kernel);
void accelsim_registers_fini(struct accelsim_registers *own);
void accelsim_registers_begin(struct accelsim_registers *own); /* a warp begins */

/* What the instruction waits for. */
void accelsim_sources(const struct accelsim_registers *own, const struct isa_code *code,
                      const struct isa_timing *row, struct accelsim_sources *sources);
/* Its result is written by its own steps; or (steps 0) is there when `sources` are. Gives the destination, or
 * -1. */
int accelsim_destination(struct accelsim_registers *own, const struct isa_code *code,
                         const struct isa_timing *row, const struct accelsim_sources *sources);
void accelsim_sources_add(struct accelsim_sources *sources, uint16_t number);
uint16_t accelsim_temporary(struct accelsim_registers *own);

#endif
