/* Threads of all blocks, the lanes of a warp among them, take one lock and count under it. With --after=1 the
 * work follows the loop that takes the lock: that ends only where the lane that has the lock goes on while
 * the others of its warp still spin. */
#include "workload.h"

enum { SPINLOCK_BLOCKS, SPINLOCK_BLOCK, SPINLOCK_ROUNDS, SPINLOCK_AFTER };
static const struct workload_option spinlock_options[] = {
    {"blocks", 4, 1, 1024, "blocks"},
    {"block", 48, 1, 1024, "threads of a block"},
    {"rounds", 2, 1, 1000, "times that each thread takes the lock"},
    {"after", 0, 0, 1, "1: the work follows the loop that takes the lock; 0: it is in the loop"},
    {0, 0, 0, 0, 0},
};

static void spinlock_run(struct dev *gpu, const uint64_t *options)
{
    uint32_t blocks = (uint32_t)options[SPINLOCK_BLOCKS], block = (uint32_t)options[SPINLOCK_BLOCK];
    uint32_t rounds = (uint32_t)options[SPINLOCK_ROUNDS], threads = blocks * block, count = threads * rounds;
    uint32_t state[2] = {0, 0}; /* the lock, the counter */
    uint32_t *order = (uint32_t *)dev_host(gpu, count * sizeof *order);
    uint32_t *times = (uint32_t *)dev_host(gpu, threads * sizeof *times);
    void *device_state = dev_alloc(gpu, sizeof state), *device_order = dev_alloc(gpu, count * sizeof *order);
    dev_fill(gpu, device_state, 0, sizeof state);
    DEV_LAUNCH(gpu, options[SPINLOCK_AFTER] ? "spinlock_after" : "spinlock", dev_dim(blocks, 1, 1),
               dev_dim(block, 1, 1), 0, &rounds, &device_state, &device_order);
    dev_download(gpu, state, device_state, sizeof state);
    dev_download(gpu, order, device_order, count * sizeof *order);
    dev_expect(gpu, state[0] == 0, "the lock is free at the end");
    dev_expect(gpu, state[1] == count, "the counter counted every taking");
    for (uint32_t i = 0; i < count; i++)
        if (order[i] < threads)
            times[order[i]]++;
    for (uint32_t thread = 0; thread < threads; thread++)
        dev_expect(gpu, times[thread] == rounds, "every thread took the lock as often as the others");
}

const struct workload spinlock_workload = {"spinlock", "a lock that all threads take", spinlock_options,
                                           spinlock_run};
