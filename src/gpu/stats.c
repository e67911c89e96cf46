#include "gpu/stats.h"
#include "base/mem.h"

void gpu_kernel_stats_fini(struct gpu_kernel_stats *stats)
{
    mem_free(stats->profile);
    stats->profile = NULL;
}
