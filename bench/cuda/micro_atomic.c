/* Atomics in global memory: latency with one thread, throughput with many, by operation, by the bytes between
 * the addresses of lanes and of warps. */
#include "micro.h"

#define MICRO_ATOMICS(A)                                                                                     \
    A(atom_add_u32, uint32_t, 1)                                                                             \
    A(red_add_u32, uint32_t, 1)                                                                              \
    A(atom_cas_u32, uint32_t, 0)                                                                             \
    A(atom_exch_u32, uint32_t, 0)                                                                            \
    A(red_add_f32, float, 1)                                                                                 \
    A(red_add_u64, uint64_t, 1)                                                                              \
    A(red_max_u32, uint32_t, 0)

enum {
    MICRO_ATOMIC_OPERATION,
    MICRO_ATOMIC_LANE,
    MICRO_ATOMIC_WARP,
    MICRO_ATOMIC_BLOCKS,
    MICRO_ATOMIC_BLOCK,
    MICRO_ATOMIC_STEPS
};
static const struct workload_option micro_atomic_options[] = {
    {"operation", 0, 0, 6,
     "0: atom.add, 1: red.add, 2: atom.cas, 3: atom.exch, 4: red.add.f32, 5: red.add.u64, 6: red.max"},
    {"lane", 0, 0, 4096, "bytes between the addresses of lanes, a multiple of 8"},
    {"warp", 0, 0, 1u << 20, "bytes between the addresses of warps, a multiple of 8"},
    {"blocks", 1, 1, 65535, "blocks"},
    {"block", 1, 1, 1024, "threads of a block"},
    {"steps", 64, 1, 1u << 20, "operations of a thread; those with a result wait for each other"},
    {0, 0, 0, 0, 0},
};

static void micro_atomic_run(struct dev *gpu, const uint64_t *options)
{
    static const char *const kernels[] = {
#define A(name, type, adds) "micro_" #name,
        MICRO_ATOMICS(A)
#undef A
    };
    uint32_t lane = (uint32_t)options[MICRO_ATOMIC_LANE] / 8 * 8;
    uint32_t warp = (uint32_t)options[MICRO_ATOMIC_WARP] / 8 * 8;
    uint32_t blocks = (uint32_t)options[MICRO_ATOMIC_BLOCKS], block = (uint32_t)options[MICRO_ATOMIC_BLOCK];
    uint32_t steps = (uint32_t)options[MICRO_ATOMIC_STEPS], threads = blocks * block;
    size_t warps = (size_t)blocks * ((block + 31) / 32), bytes = warps * warp + 32u * lane + 64;
    void *memory = dev_alloc(gpu, bytes), *times = dev_alloc(gpu, (warps + 1) * sizeof(struct micro_time));
    void *out = dev_alloc(gpu, threads * sizeof(uint64_t));
    dev_fill(gpu, memory, 0, bytes);
    dev_fill(gpu, times, 0, (warps + 1) * sizeof(struct micro_time));
    DEV_LAUNCH(gpu, kernels[options[MICRO_ATOMIC_OPERATION]], dev_dim(blocks, 1, 1), dev_dim(block, 1, 1), 0,
               &memory, &lane, &warp, &steps, &out, &times);
    double cycles = micro_longest(
        (struct micro_time *)micro_fetch(gpu, times, (warps + 1) * sizeof(struct micro_time)), warps);
    dev_figure(gpu, "cycles_per_step", cycles / steps);
    dev_figure(gpu, "operations_per_cycle", (double)threads * steps / cycles);
    const char *got = (const char *)micro_fetch(gpu, memory, bytes);
    if (!lane && !warp && options[MICRO_ATOMIC_OPERATION] < 2) { /* all to one word */
        uint32_t sum = threads * steps;
        dev_expect_bytes(gpu, "the sum", got, &sum, sizeof sum);
    }
}

const struct workload micro_atomic_workload = {"micro_atomic", "latency and throughput of atomics",
                                               micro_atomic_options, micro_atomic_run};
