#include "cpu/stride.h"
#include "base/bits.h"
#include "base/mem.h"

#include <stdlib.h>

void stride_init(struct stride *stride, const struct cpu_prefetch_spec *spec)
{
    stride->spec = spec;
    stride->rows = mem_alloc(spec->table, sizeof *stride->rows);
}

void stride_fini(struct stride *stride)
{
    mem_free(stride->rows);
}

uint32_t stride_learn(struct stride *stride, uint64_t pc, uint64_t address, uint64_t addresses[STRIDE_MOST])
{
    const struct cpu_prefetch_spec *spec = stride->spec;
    struct stride_row *row = &stride->rows[(pc ^ pc >> 7) % spec->table];
    if (row->pc != pc) {
        *row = (struct stride_row){.pc = pc, .last = address};
        return 0;
    }
    int64_t step = (int64_t)(address - row->last);
    row->last = address;
    if (!step)
        return 0;
    if (step != row->stride) {
        row->stride = step;
        row->seen = 0;
        return 0;
    }
    if (row->seen < spec->sure && ++row->seen < spec->sure)
        return 0;
    /* Steps within a line: as if they were of a line each. */
    int64_t far = llabs(step) >= CPU_LINE ? step : step > 0 ? CPU_LINE : -CPU_LINE;
    bool is_new_page =
        (address ^ (address - (uint64_t)step)) >> STRIDE_PAGE_SHIFT; /* nothing of it was asked for */
    uint64_t wanted = is_new_page ? spec->ahead : min_u64(spec->degree, spec->ahead);
    uint32_t count = 0;
    for (uint64_t i = 0; i < wanted; i++) {
        uint64_t to = address + (uint64_t)(far * (int64_t)(is_new_page ? i + 1 : spec->ahead - i));
        if ((to ^ address) >> STRIDE_PAGE_SHIFT == 0)
            addresses[count++] = to;
    }
    return count;
}
