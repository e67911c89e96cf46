#include "cachesim/cuda/stage.h"
#include "cachesim/cuda/work.h"
#include "cachesim/lines.h"

static void count_tile(void *user, uint32_t tile, unsigned worker)
{
    (void)worker;
    struct stage *stage = user;
    const struct trace_access *accesses = stage->batch->at[tile];
    uint64_t items = 0;
    for (size_t i = stage->from[tile]; i < stage->to[tile]; i++) {
        struct lines lines = lines_of(stage->plan->l1_shift, accesses[i]);
        items += lines.last - lines.first + 1;
    }
    stage->starts[tile + 1] = (uint32_t)(items < UINT32_MAX ? items : UINT32_MAX);
}

bool stage_count(struct stage *stage, struct workers *workers)
{
    uint32_t tiles = stage->plan->spec.tiles;
    workers_run(workers, tiles, count_tile, stage);
    uint64_t total = 0;
    stage->starts[0] = 0;
    for (uint32_t tile = 0; tile < tiles; tile++) {
        total += stage->starts[tile + 1];
        stage->starts[tile + 1] = (uint32_t)total;
    }
    return total < UINT32_MAX / 4; /* each may ask three times */
}

static void fill_tile(void *user, uint32_t tile, unsigned worker)
{
    (void)worker;
    struct stage *stage = user;
    const struct trace_access *accesses = stage->batch->at[tile];
    bool by_place = stage->plan->spec.quantum;
    uint64_t writes = 0;
    uint32_t at = stage->starts[tile];
    for (size_t i = stage->from[tile]; i < stage->to[tile]; i++) {
        struct lines lines = lines_of(stage->plan->l1_shift, accesses[i]);
        bool is_write = trace_writes(accesses[i]);
        uint32_t when =
            (uint32_t)(by_place ? i - stage->from[tile] : trace_instruction(accesses[i]) - stage->first_when);
        for (uint64_t line = lines.first; line <= lines.last; line++, at++) {
            stage->words[at] = line << L1_WORD_SHIFT | is_write;
            if (stage->has_whens)
                stage->whens[at] = when;
            writes += is_write;
        }
    }
    stage->counts[tile].writes += writes;
    stage->counts[tile].reads += at - stage->starts[tile] - writes;
}

void stage_fill(struct stage *stage, struct workers *workers)
{
    workers_run(workers, stage->plan->spec.tiles, fill_tile, stage);
}
