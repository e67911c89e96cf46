/* Every GPU gets the input of the first one. */
#include "collective_host.h"

static const struct workload_option broadcast_options[] = COLLECTIVE_OPTIONS;

static double broadcast_bus_factor(double ranks)
{
    (void)ranks;
    return 1;
}

static void broadcast_run(struct dev *gpu, const uint64_t *options)
{
    static const struct collective_case what = {"broadcast", false, false,
                                                false,       false, broadcast_bus_factor};
    collective_run(gpu, options, &what);
}

const struct workload broadcast_workload = {"broadcast", "the input of the first GPU, on all",
                                            broadcast_options, broadcast_run};
