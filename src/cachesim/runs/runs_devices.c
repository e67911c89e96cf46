#include "cachesim/runs/runs.h"
#include "base/bits.h"

const struct caches_device caches_devices[] = {
    {.backend = &caches_cpu, .shares_cores = true, .batch_accesses = 1 << 20, .batch_least = 4096},
    {.backend = &caches_cuda, .batch_accesses = 1 << 23, .batch_least = 4096},
    {.backend = NULL},
};

size_t caches_device_batch(const struct caches_device *device, uint32_t tiles)
{
    return min_u64(max_u64(device->batch_accesses / tiles, device->batch_least), 1 << 18);
}
