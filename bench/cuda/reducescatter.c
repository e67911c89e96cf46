/* Every GPU gets its part of the sum of all GPUs' inputs. */
#include "collective_host.h"

static const struct workload_option reducescatter_options[] = COLLECTIVE_OPTIONS;

static double reducescatter_bus_factor(double ranks)
{
    return (ranks - 1) / ranks;
}

static void reducescatter_run(struct dev *gpu, const uint64_t *options)
{
    static const struct collective_case what = {"reducescatter",         true, false, true, true,
                                                reducescatter_bus_factor};
    collective_run(gpu, options, &what);
}

const struct workload reducescatter_workload = {"reducescatter", "sums over all GPUs, a part on each",
                                                reducescatter_options, reducescatter_run};
