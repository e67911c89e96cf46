#include "exchange/accelsim_registers.h"
#include "base/bits.h"
#include "base/mem.h"

/* ---- numbers ---- */

static void need(uint8_t *words, const struct isa_code *code, uint32_t at, uint8_t count)
{
    uint8_t *own = &words[code->slots_at + code->registers[at]];
    *own = *own < count ? count : *own;
}

static bool has_unit(const struct isa_code *code, const struct isa_timing *row, uint32_t units)
{
    for (uint32_t i = 0; i < row->steps; i++)
        if (units >> code->steps[row->first_step + i].unit & 1)
            return true;
    return false;
}

/* The opcode of a line says how many registers its operands are, at most so many: of addresses and of double
 * precision two, of vectors four. */
static void need_row(uint8_t *words, const struct isa_code *code, const struct isa_timing *row)
{
    const uint32_t pairs = 1u << UNIT_WIDE | 1u << UNIT_FP64 | 1u << UNIT_CVT64,
                   matrices = 1u << UNIT_TENSOR | 1u << UNIT_IMMA;
    uint32_t first = row->registers + row->guards, end = row->registers + row->reads;
    bool is_memory = has_unit(code, row, 1u << UNIT_LSU | 1u << UNIT_CONST);
    uint8_t each = has_unit(code, row, matrices) ? 4 : has_unit(code, row, pairs) || is_memory ? 2 : 1;
    for (uint32_t i = first; i < end; i++)
        need(words, code, i, each);
    if (is_memory && end - first > 2) /* a vector that is written */
        need(words, code, first + 1, 4);
    if (row->writes == 1)
        need(words, code, end, each);
}

/* The next of so many registers. Numbers that come again are far from each other in the code. */
static uint16_t take(uint32_t *next, uint32_t count)
{
    uint32_t first = (*next + count - 1) / count * count;
    first = first + count > ACCELSIM_REGISTERS ? 0 : first;
    *next = first + count;
    return (uint16_t)first;
}

static void number_code(struct accelsim_registers *own, const struct isa_code *code, const uint8_t *words,
                        uint16_t *vectors, uint32_t *next)
{
    for (uint32_t i = 0; i < code->count; i++) {
        const struct isa_timing *row = &code->timing[i];
        for (uint32_t k = 0; k < (uint32_t)row->reads + row->writes; k++) {
            uint32_t slot = code->slots_at + code->registers[row->registers + k];
            if (own->number[slot] == UINT16_MAX)
                own->number[slot] = take(next, words[slot] ? words[slot] : 1);
        }
        if (row->writes > 1 && row->steps)
            vectors[i] = take(next, 4);
    }
}

void accelsim_registers_init(struct accelsim_registers *own, const struct itrace_kernel *kernel)
{
    uint32_t next = 0;
    uint8_t *words = mem_alloc(kernel->slots + 1, sizeof *words);
    *own = (struct accelsim_registers){.count = kernel->slots, .code_count = kernel->code_count};
    own->number = mem_alloc(own->count + 1, sizeof *own->number);
    own->behind = mem_alloc(own->count + 1, sizeof *own->behind);
    own->vectors = mem_alloc(own->code_count + 1, sizeof *own->vectors);
    for (uint32_t c = 0; c < kernel->code_count; c++)
        for (uint32_t i = 0; i < kernel->codes[c].code.count; i++)
            need_row(words, &kernel->codes[c].code, &kernel->codes[c].code.timing[i]);
    for (uint32_t i = 0; i < own->count; i++)
        own->number[i] = UINT16_MAX;
    for (uint32_t c = 0; c < kernel->code_count; c++) {
        own->vectors[c] = mem_alloc(kernel->codes[c].code.count + 1, sizeof **own->vectors);
        number_code(own, &kernel->codes[c].code, words, own->vectors[c], &next);
    }
    mem_free(words);
}

void accelsim_registers_fini(struct accelsim_registers *own)
{
    for (uint32_t c = 0; c < own->code_count; c++)
        mem_free(own->vectors[c]);
    mem_free(own->vectors);
    mem_free(own->number);
    mem_free(own->behind);
}

void accelsim_registers_begin(struct accelsim_registers *own)
{
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
    for (uint32_t i = 0; i < row->reads;
         i++) { /* guards last: the first source of an access is its address */
        uint32_t at = row->registers + (i + row->guards) % row->reads;
        const struct accelsim_sources *behind = &own->behind[code->slots_at + code->registers[at]];
        for (uint32_t k = 0; k < behind->count; k++)
            accelsim_sources_add(sources, behind->at[k]);
    }
}

int accelsim_destination(struct accelsim_registers *own, const struct itrace_kernel *kernel,
                         uint32_t function, const struct isa_timing *row,
                         const struct accelsim_sources *sources)
{
    const struct isa_code *code = &kernel->codes[function].code;
    const uint16_t *written = code->registers + row->registers + row->reads;
    if (!row->writes)
        return -1;
    uint16_t to = row->writes > 1 ? own->vectors[function][row - code->timing]
                                  : own->number[code->slots_at + written[0]];
    for (uint32_t i = 0; i < row->writes; i++)
        own->behind[code->slots_at + written[i]] = row->steps ? (struct accelsim_sources){1, {to}} : *sources;
    return row->steps ? to : -1;
}

uint16_t accelsim_temporary(uint32_t step)
{
    return (uint16_t)(ACCELSIM_REGISTERS + step % (ACCELSIM_TEMPORARY_END - ACCELSIM_REGISTERS));
}
