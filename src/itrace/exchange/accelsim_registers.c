#include "exchange/accelsim_registers.h"
#include "base/bits.h"
#include "base/mem.h"

static uint32_t root(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

static void join_written(uint32_t *parent, const struct isa_code *code, const struct isa_timing *row)
{
    const uint16_t *written = code->registers + row->registers + row->reads;
    for (uint32_t i = 1; i < row->writes && row->steps; i++)
        parent[root(parent, code->slots_at + written[i])] = root(parent, code->slots_at + written[0]);
}

/* By first appearance in the code: so numbers that come again are far from each other. */
void accelsim_registers_init(struct accelsim_registers *own, const struct itrace_kernel *kernel)
{
    uint32_t *parent = mem_alloc(kernel->slots + 1, sizeof *parent), next = 0;
    *own = (struct accelsim_registers){.count = kernel->slots};
    own->number = mem_alloc(own->count + 1, sizeof *own->number);
    own->behind = mem_alloc(own->count + 1, sizeof *own->behind);
    for (uint32_t i = 0; i < own->count; i++) {
        parent[i] = i;
        own->number[i] = UINT16_MAX;
    }
    for (uint32_t c = 0; c < kernel->code_count; c++)
        for (uint32_t i = 0; i < kernel->codes[c].code.count; i++)
            join_written(parent, &kernel->codes[c].code, &kernel->codes[c].code.timing[i]);
    for (uint32_t c = 0; c < kernel->code_count; c++)
        for (uint32_t i = 0; i < kernel->codes[c].register_count; i++) {
            uint32_t r = root(parent, kernel->codes[c].code.slots_at + kernel->codes[c].code.registers[i]);
            if (own->number[r] == UINT16_MAX)
                own->number[r] = (uint16_t)(next++ % ACCELSIM_REGISTERS);
        }
    for (uint32_t i = 0; i < own->count; i++)
        own->number[i] = own->number[root(parent, i)];
    mem_free(parent);
}

void accelsim_registers_fini(struct accelsim_registers *own)
{
    mem_free(own->number);
    mem_free(own->behind);
}

void accelsim_registers_begin(struct accelsim_registers *own)
{
    own->temporary = ACCELSIM_REGISTERS;
    memset(own->behind, 0, own->count * sizeof *own->behind);
}

void accelsim_sources_add(struct accelsim_sources *sources, uint16_t number)
{
    for (uint32_t i = 0; i < sources->count; i++)
        if (sources->at[i] == number)
            return;
    if (sources->count < ACCELSIM_SOURCES)
        sources->at[sources->count++] = number;
}

void accelsim_sources(const struct accelsim_registers *own, const struct isa_code *code,
                      const struct isa_timing *row, struct accelsim_sources *sources)
{
    sources->count = 0;
    for (uint32_t i = 0; i < row->reads; i++) {
        const struct accelsim_sources *behind =
            &own->behind[code->slots_at + code->registers[row->registers + i]];
        for (uint32_t k = 0; k < behind->count; k++)
            accelsim_sources_add(sources, behind->at[k]);
    }
}

int accelsim_destination(struct accelsim_registers *own, const struct isa_code *code,
                         const struct isa_timing *row, const struct accelsim_sources *sources)
{
    int first = -1;
    for (uint32_t i = 0; i < row->writes; i++) {
        uint32_t slot = code->slots_at + code->registers[row->registers + row->reads + i];
        struct accelsim_sources *behind = &own->behind[slot];
        first = first < 0 ? own->number[slot] : first;
        if (row->steps)
            *behind = (struct accelsim_sources){1, {own->number[slot]}};
        else
            *behind = *sources;
    }
    return row->steps ? first : -1;
}

uint16_t accelsim_temporary(struct accelsim_registers *own)
{
    own->temporary =
        (uint16_t)(own->temporary + 1 < ACCELSIM_TEMPORARY_END ? own->temporary + 1 : ACCELSIM_REGISTERS);
    return own->temporary;
}
