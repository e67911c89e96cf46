#include "cpu/runs/blocks.h"
#include "base/err.h"
#include "base/mem.h"

#include <string.h>

void blocks_init(struct blocks *blocks, const struct cpurun_shared *shared)
{
    *blocks = (struct blocks){.shared = shared};
    blocks->at = mem_alloc_pages(CPURUN_BLOCKS, sizeof(struct decoded *));
}

void blocks_fini(struct blocks *blocks)
{
    uint32_t count = atomic_load(&blocks->shared->block_count);
    for (uint32_t i = 0; i < count; i++)
        mem_free(blocks->at[i]);
    mem_free_pages((void *)blocks->at);
}

const struct decoded *blocks_decode(struct blocks *blocks, uint32_t number)
{
    const struct cpurun_shared *shared = blocks->shared;
    struct cpurun_block head;
    if (number >= atomic_load(&shared->block_count)) /* nobody but the program itself could have done that */
        BUG("the program wrote over what it shares with its simulation");
    if (!blocks->decode)
        blocks->decode = decode_for(shared->target);
    const uint8_t *at = shared->code + (size_t)shared->blocks[number] * 8;
    memcpy(&head, at, sizeof head);
    struct decoded *block = mem_alloc(1, sizeof *block + head.count * sizeof(struct cpu_insn));
    *block = (struct decoded){.pc = head.pc,
                              .end = head.pc + head.bytes,
                              .count = head.count,
                              .insns = (struct cpu_insn *)(void *)(block + 1)};
    const uint8_t *lengths = at + sizeof head, *code = lengths + head.count;
    uint64_t pc = head.pc;
    for (uint32_t i = 0; i < head.count; i++) {
        decode_insn(blocks->decode, code, lengths[i], pc, i ? &block->insns[i - 1] : NULL, &block->insns[i]);
        code += lengths[i];
        pc += lengths[i];
    }
    blocks->at[number] = block;
    return block;
}
