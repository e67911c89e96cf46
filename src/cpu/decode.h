/* Instructions from their bytes. One row and one file for each instruction set. Only what a core model needs
 * is decoded: unit, registers, jumps. What memory is accessed is known from the execution. */
#ifndef CPU_DECODE_H
#define CPU_DECODE_H

#include "cpu/insn.h"

#include <stddef.h>

/* Decodes one instruction of this many bytes; `insn` has its pc and length, and no registers. */
typedef void decode_fn(const uint8_t *bytes, uint32_t count, struct cpu_insn *insn);

decode_fn decode_x86_64, decode_riscv64, decode_aarch64, decode_unknown;

/* By QEMU's name of the instruction set: "x86_64". One that is not known has decode_unknown: every
 * instruction is integer arithmetic without registers. */
decode_fn *decode_for(const char *target);

/* An instruction and the one before it (or NULL), which it may be fused with. */
void decode_insn(decode_fn *decode, const uint8_t *bytes, uint32_t count, uint64_t pc,
                 const struct cpu_insn *before, struct cpu_insn *insn);

/* ---- for decoders ---- */

static inline void decode_add(uint8_t *list, uint32_t most, uint32_t number)
{
    for (uint32_t i = 0; i < most; i++) {
        if (list[i] == number)
            return;
        if (list[i] == CPU_NO_REG) {
            list[i] = (uint8_t)number;
            return;
        }
    }
}

static inline void decode_reads(struct cpu_insn *insn, uint32_t number)
{
    decode_add(insn->sources, CPU_SOURCES, number);
}

static inline void decode_writes(struct cpu_insn *insn, uint32_t number)
{
    decode_add(insn->destinations, CPU_DESTINATIONS, number);
}

static inline void decode_base(struct cpu_insn *insn, uint32_t number)
{
    decode_add(insn->bases, CPU_BASES, number);
}

#endif
