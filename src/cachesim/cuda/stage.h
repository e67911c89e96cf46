/* Accesses of a round, as the device takes them: one item for each line, in memory that transfers overlap
 * with. */
#ifndef CACHESIM_CUDA_STAGE_H
#define CACHESIM_CUDA_STAGE_H

#include "base/workers.h"
#include "cachesim/plan.h"

struct stage {
    const struct caches_plan *plan;
    const struct caches_batch *batch;
    const size_t *from, *to; /* of each tile: those of the batch that are in the round */
    uint64_t first_when;     /* from which instruction counts are taken */
    bool has_whens;
    uint32_t *starts; /* of each tile, in items; and the end */
    /* Where items go to: set by who has the memory, after stage_count. */
    uint64_t *words;
    uint32_t *whens;
    struct coherent_counters *counts; /* of each tile: its reads and writes are added */
};

/* The items of each tile: fills the starts. False where there are too many for one round. */
bool stage_count(struct stage *stage, struct workers *workers);

/* Fills words, and whens if wanted. */
void stage_fill(struct stage *stage, struct workers *workers);

#endif
