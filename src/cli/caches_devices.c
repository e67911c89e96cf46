#include "cli/caches.h"

const struct caches_device caches_devices[] = {
    {.backend = &caches_cpu, .shares_cores = true, .batch_accesses = 1 << 18},
    {.backend = &caches_cuda, .batch_accesses = 1 << 24},
    {.backend = NULL},
};
