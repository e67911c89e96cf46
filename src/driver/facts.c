#include "driver/facts.h"
#include "base/bits.h"
#include "system/occupancy.h"

struct metric_source facts_source(struct launch_facts *facts, const struct system *system,
                                  const struct gpu_kernel_stats *timing)
{
    const struct gpu_spec *gpu = &system->device;
    struct occupancy_need need = {.threads = facts->block[0] * facts->block[1] * facts->block[2],
                                  .registers = facts->registers,
                                  .shared_static = facts->shared_static,
                                  .shared_dynamic = facts->shared_dynamic,
                                  .dynamic_limit = facts->shared_dynamic,
                                  .carveout = -1};
    struct occupancy occupancy = occupancy_of(gpu, &need);
    facts->by_blocks = gpu->blocks_per_sm;
    facts->by_registers = occupancy.by_registers;
    facts->by_shared = min_u64(occupancy.by_shared, gpu->blocks_per_sm);
    facts->by_warps = occupancy.by_warps;
    return (struct metric_source){.gpu = gpu,
                                  .sm = &system->sm,
                                  .l2 = &system->l2,
                                  .dram = &system->dram,
                                  .dispatch = &system->dispatch,
                                  .members = system_members(system),
                                  .launch = facts,
                                  .timing = timing};
}
