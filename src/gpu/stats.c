#include "gpu/stats.h"
#include "base/mem.h"

void kernel_stats_fini(struct kernel_stats *stats)
{
    mem_free(stats->profile);
    stats->profile = NULL;
}
