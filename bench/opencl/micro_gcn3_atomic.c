/* Atomic additions in global memory: of all lanes to one place, or apart. */
#include "micro.h"

enum { MICRO_GCN3_ATOMIC_LANES = 64 };

enum {
    MICRO_GCN3_ATOMIC_RETURN,
    MICRO_GCN3_ATOMIC_LANE,
    MICRO_GCN3_ATOMIC_WAVEFRONT,
    MICRO_GCN3_ATOMIC_GROUPS,
    MICRO_GCN3_ATOMIC_WAVEFRONTS,
    MICRO_GCN3_ATOMIC_STEPS
};
static const struct workload_option micro_gcn3_atomic_options[] = {
    {"return", 0, 0, 1, "1: with a result that the next one waits for"},
    {"lane", 0, 0, 4096, "bytes from the place of a lane to that of the next"},
    {"wavefront", 0, 0, 1u << 18, "bytes from the places of a wavefront to those of the next"},
    {"groups", 1, 1, 1024, "work-groups"},
    {"wavefronts", 1, 1, 16, "wavefronts of a work-group"},
    {"steps", 64, 1, 1u << 16, "additions of each work-item"},
    {0, 0, 0, 0, 0},
};

static void micro_gcn3_atomic_run(struct dev *gpu, const uint64_t *options)
{
    uint32_t lane = (uint32_t)options[MICRO_GCN3_ATOMIC_LANE] / 4 * 4;
    uint32_t wavefront = (uint32_t)options[MICRO_GCN3_ATOMIC_WAVEFRONT] / 4 * 4;
    uint32_t groups = (uint32_t)options[MICRO_GCN3_ATOMIC_GROUPS];
    uint32_t wavefronts = (uint32_t)options[MICRO_GCN3_ATOMIC_WAVEFRONTS];
    uint32_t steps = (uint32_t)options[MICRO_GCN3_ATOMIC_STEPS], all = groups * wavefronts, sum = 0;
    uint32_t items = all * MICRO_GCN3_ATOMIC_LANES;
    size_t bytes = (size_t)lane * MICRO_GCN3_ATOMIC_LANES + (size_t)wavefront * all + sizeof(uint32_t);
    size_t times_bytes = all * sizeof(struct micro_time);
    void *memory = dev_alloc(gpu, bytes), *out = dev_alloc(gpu, items * sizeof(uint32_t));
    void *times = dev_alloc(gpu, times_bytes);
    dev_fill(gpu, memory, 0, bytes);
    DEV_LAUNCH(gpu, options[MICRO_GCN3_ATOMIC_RETURN] ? "micro_gcn3_atomic_return" : "micro_gcn3_atomic_add",
               dev_dim(groups, 1, 1), dev_dim(wavefronts * MICRO_GCN3_ATOMIC_LANES, 1, 1), 0, &steps, &lane,
               &wavefront, &memory, &out, &times);
    double seconds = dev_seconds(gpu);
    const uint32_t *words = (const uint32_t *)micro_fetch(gpu, memory, bytes);
    for (size_t i = 0; i < bytes / sizeof *words; i++)
        sum += words[i];
    dev_expect(gpu, sum == items * steps, "the sum of all additions");
    dev_figure(gpu, "cycles_per_addition",
               micro_longest((struct micro_time *)micro_fetch(gpu, times, times_bytes), all) / steps);
    dev_figure(gpu, "microseconds", seconds * 1e6);
}

const struct workload micro_gcn3_atomic_workload = {"micro_gcn3_atomic", "atomics in global memory",
                                                    micro_gcn3_atomic_options, micro_gcn3_atomic_run};
