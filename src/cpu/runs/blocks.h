/* Blocks of instructions as they were translated, decoded when they are first executed. */
#ifndef CPU_RUNS_BLOCKS_H
#define CPU_RUNS_BLOCKS_H

#include "cpu/decode.h"
#include "cpu/runs/shared.h"

struct decoded {
    uint64_t pc, end;
    uint32_t count;
    struct cpu_insn *insns;
};

struct blocks {
    const struct cpurun_shared *shared;
    decode_fn *decode;
    struct decoded **at; /* by number; NULL: not decoded */
};

void blocks_init(struct blocks *blocks, const struct cpurun_shared *shared);
void blocks_fini(struct blocks *blocks);
const struct decoded *blocks_decode(struct blocks *blocks, uint32_t number);

static inline const struct decoded *blocks_get(struct blocks *blocks, uint32_t number)
{
    const struct decoded *block = blocks->at[number];
    return __builtin_expect(block != NULL, 1) ? block : blocks_decode(blocks, number);
}

#endif
