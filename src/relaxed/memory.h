/* What all SMs share: slices of L2 and the channels of DRAM behind them. Every call takes the cycle in which
 * a request comes to its slice, and gives the cycle in which the reply leaves it. */
#ifndef RELAXED_MEMORY_H
#define RELAXED_MEMORY_H

#include "relaxed/store.h"

struct relaxed_slice {
    struct relaxed_port port;
    struct relaxed_store store;
};

/* Who asks: what it counts, and parts of cycles that it was not yet charged for (port.h). */
struct relaxed_asker {
    struct relaxed_counts *counts;
    uint32_t *carries; /* of slices, then of channels */
};

struct relaxed_memory {
    const struct relaxed_spec *spec;
    struct relaxed_slice *slices;
    struct relaxed_port *channels; /* slice by slice */
};

void relaxed_memory_init(struct relaxed_memory *memory, const struct relaxed_spec *spec, uint64_t epoch,
                         enum relaxed_port_use use);
void relaxed_memory_fini(struct relaxed_memory *memory);
void relaxed_memory_restart(struct relaxed_memory *memory, uint64_t start);
void relaxed_memory_advance(struct relaxed_memory *memory, uint64_t start);

/* The slice of a line, which is an address divided by the size of L2's lines; and what the line is called
 * there. Each run of as many lines as there are slices uses all of them, in an order of its own. */
static inline uint32_t relaxed_memory_slice(const struct relaxed_memory *memory, uint64_t line, uint64_t *key)
{
    uint64_t slices = memory->spec->slices, run = line / slices;
    uint64_t mixed = (run ^ run >> 15) * UINT64_C(0xd6e8feb86659fd93);
    uint64_t slice = line - run * slices + ((mixed >> 32) * slices >> 32);
    *key = run;
    return (uint32_t)(slice < slices ? slice : slice - slices);
}

/* The host fetches what a request for the line, at about this cycle, will change. */
void relaxed_memory_prefetch(const struct relaxed_memory *memory, uint32_t slice, uint64_t key,
                             uint64_t cycle);

uint64_t relaxed_memory_read(struct relaxed_memory *memory, uint32_t slice, uint64_t key, uint32_t sectors,
                             uint64_t cycle, struct relaxed_asker *by);
uint64_t relaxed_memory_write(struct relaxed_memory *memory, uint32_t slice, uint64_t key, uint32_t sectors,
                              uint64_t cycle, struct relaxed_asker *by);
/* lanes: operations; same: of these, on one word at most. */
uint64_t relaxed_memory_atomic(struct relaxed_memory *memory, uint32_t slice, uint64_t key, uint32_t sectors,
                               uint32_t lanes, uint32_t same, uint64_t cycle, struct relaxed_asker *by);

#endif
