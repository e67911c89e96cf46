/* Every GPU gets the inputs of all, one behind the other. */
#include "collective_host.h"

static const struct workload_option allgather_options[] = COLLECTIVE_OPTIONS;

static double allgather_bus_factor(double ranks)
{
    return (ranks - 1) / ranks;
}

static void allgather_run(struct dev *gpu, const uint64_t *options)
{
    static const struct collective_case what = {"allgather", false, true, false, true, allgather_bus_factor};
    collective_run(gpu, options, &what);
}

const struct workload allgather_workload = {"allgather", "the inputs of all GPUs, on all of them",
                                            allgather_options, allgather_run};
