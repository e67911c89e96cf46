/* The option `each`: all GPUs of a system do the same at once, each in its own memory. It is there to measure
 * what several GPUs cost the simulator beside one (tools/beside-gpus). */
#ifndef BENCH_CUDA_EACH_H
#define BENCH_CUDA_EACH_H

#include "workload.h"

#define EACH_OPTION                                                                                          \
    {                                                                                                        \
        "each", 0, 0, 1, "no|yes: all GPUs do the same at once, each in its own memory"                      \
    }

enum { EACH_MOST = 64 };

static inline unsigned each_count(struct dev *gpu, uint64_t wanted)
{
    unsigned count = wanted ? dev_count(gpu) : 1;
    return count < EACH_MOST ? count : EACH_MOST;
}

#endif
