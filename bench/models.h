/* The benchmarks, each in the file of its name. */
#ifndef BENCH_MODELS_H
#define BENCH_MODELS_H

#include "bench/bench.h"

extern const struct bench phold_bench, gpu_traffic_bench, network_bench;

#endif
