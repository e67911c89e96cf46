/* Kernels that do nothing: what a launch and its work-groups cost. */
#include "micro.h"

enum { MICRO_GCN3_DISPATCH_LANES = 64 };

enum {
    MICRO_GCN3_DISPATCH_KIND,
    MICRO_GCN3_DISPATCH_GROUPS,
    MICRO_GCN3_DISPATCH_WAVEFRONTS,
    MICRO_GCN3_DISPATCH_LAUNCHES
};
static const struct workload_option micro_gcn3_dispatch_options[] = {
    {"kind", 0, 0, 3,
     "0: nothing; with 1: all numbers in registers, 2: 64 vector registers, 3: half of the LDS"},
    {"groups", 128, 1, 1u << 20, "work-groups"},
    {"wavefronts", 1, 1, 16, "wavefronts of a work-group"},
    {"launches", 1, 1, 1000, "launches; the last one is measured"},
    {0, 0, 0, 0, 0},
};

static void micro_gcn3_dispatch_run(struct dev *gpu, const uint64_t *options)
{
    static const char *const kernels[] = {"micro_gcn3_empty", "micro_gcn3_empty_numbers",
                                          "micro_gcn3_empty_registers", "micro_gcn3_empty_lds"};
    uint32_t groups = (uint32_t)options[MICRO_GCN3_DISPATCH_GROUPS], unused = 0;
    uint32_t items = (uint32_t)options[MICRO_GCN3_DISPATCH_WAVEFRONTS] * MICRO_GCN3_DISPATCH_LANES;
    for (uint64_t i = 0; i < options[MICRO_GCN3_DISPATCH_LAUNCHES]; i++)
        DEV_LAUNCH(gpu, kernels[options[MICRO_GCN3_DISPATCH_KIND]], dev_dim(groups, 1, 1),
                   dev_dim(items, 1, 1), 0, &unused);
    dev_figure(gpu, "microseconds", dev_seconds(gpu) * 1e6);
}

const struct workload micro_gcn3_dispatch_workload = {"micro_gcn3_dispatch", "launches and their work-groups",
                                                      micro_gcn3_dispatch_options, micro_gcn3_dispatch_run};
