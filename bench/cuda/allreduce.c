/* Every GPU gets the sum of all GPUs' inputs. */
#include "collective_host.h"

static const struct workload_option allreduce_options[] = COLLECTIVE_OPTIONS;

static double allreduce_bus_factor(double ranks)
{
    return 2 * (ranks - 1) / ranks;
}

static void allreduce_run(struct dev *gpu, const uint64_t *options)
{
    static const struct collective_case what = {"allreduce", false, false, true, false, allreduce_bus_factor};
    collective_run(gpu, options, &what);
}

const struct workload allreduce_workload = {"allreduce",
                                            "sums over all GPUs, on all of them (--set system.gpus=N)",
                                            allreduce_options, allreduce_run};
