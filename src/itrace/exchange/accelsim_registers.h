/* Registers of an exported kernel. Accel-Sim's lines have one destination, four sources, and registers up to
 * R254: those that an instruction writes together become one, and numbers come again where there are too
 * many. An instruction that becomes no machine instruction only hands on what it waits for. */
#ifndef EXCHANGE_ACCELSIM_REGISTERS_H
#define EXCHANGE_ACCELSIM_REGISTERS_H

#include "itrace/itrace.h"

enum { EXPORT_SOURCES = 4, EXPORT_REGISTERS = 240, EXPORT_TEMPORARY_END = 255 };

struct export_sources {
    uint16_t count, at[EXPORT_SOURCES];
};

struct export_registers {
    uint32_t count;
    uint16_t *number;              /* of each register: that of the trace's lines */
    struct export_sources *behind; /* of each register, in this warp: what its value waits for */
    uint16_t temporary;            /* the last that was given */
};

void export_registers_init(struct export_registers *own, const struct itrace_kernel *kernel);
void export_registers_fini(struct export_registers *own);
void export_registers_begin(struct export_registers *own); /* a warp begins */

/* What the instruction waits for. */
void export_sources(const struct export_registers *own, const struct isa_code *code,
                    const struct isa_timing *row, struct export_sources *sources);
/* Its result is written by its own steps; or (steps 0) is there when `sources` are. Gives the destination, or
 * -1. */
int export_destination(struct export_registers *own, const struct isa_code *code,
                       const struct isa_timing *row, const struct export_sources *sources);
void export_sources_add(struct export_sources *sources, uint16_t number);
uint16_t export_temporary(struct export_registers *own);

#endif
