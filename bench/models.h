/* The benchmarks, each in the file of its name. */
#ifndef BENCH_MODELS_H
#define BENCH_MODELS_H

#include "bench/bench.h"

extern const struct bench bench_phold, bench_gpu_traffic, bench_network;

#endif
