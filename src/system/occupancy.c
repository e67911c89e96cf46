#include "system/occupancy.h"
#include "base/bits.h"
#include "base/mem.h"

#include <stdlib.h>

enum { KIB = 1024 };

static uint64_t round_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

static uint64_t warps_of(const struct gpu_spec *gpu, uint64_t threads)
{
    return (threads + gpu->warp_lanes - 1) / gpu->warp_lanes;
}

/* Each part of an SM has registers of its own, and a warp's registers are all in one part. */
static uint64_t warps_by_registers(const struct gpu_spec *gpu, uint64_t registers)
{
    if (!registers)
        return gpu->warps_per_sm;
    uint64_t warp = round_up(registers * gpu->warp_lanes, gpu->register_unit);
    return gpu->registers_per_sm / gpu->subcores_per_sm / warp * gpu->subcores_per_sm;
}

uint64_t occupancy_block_registers(const struct gpu_spec *gpu, const struct occupancy_need *need)
{
    uint64_t warp = round_up(need->registers * gpu->warp_lanes, gpu->register_unit);
    return warp * round_up(warps_of(gpu, need->threads), gpu->subcores_per_sm);
}

static uint64_t blocks_by_registers(const struct gpu_spec *gpu, const struct occupancy_need *need)
{
    if (occupancy_block_registers(gpu, need) > gpu->registers_per_block ||
        need->registers > gpu->registers_per_thread)
        return 0;
    return need->registers ? warps_by_registers(gpu, need->registers) / warps_of(gpu, need->threads)
                           : gpu->blocks_per_sm;
}

uint64_t occupancy_threads(const struct gpu_spec *gpu, uint64_t registers)
{
    uint64_t threads = warps_by_registers(gpu, registers) * gpu->warp_lanes;
    return registers > gpu->registers_per_thread ? 0 : min_u64(threads, gpu->threads_per_block);
}

/* L1 and shared memory are parts of one memory, which can be cut at some places only: the least cut that
 * gives what the kernel prefers, and at least `least` bytes. */
static uint64_t shared_of_sm(const struct gpu_spec *gpu, int carveout, uint64_t least)
{
    if (carveout < 0)
        return gpu->shared_per_sm;
    uint64_t wanted = max_u64(least, gpu->shared_per_sm * (uint64_t)carveout / 100);
    char *end;
    for (const char *at = gpu->shared_carveouts;; at = end) {
        uint64_t bytes = strtoull(at, &end, 10) * KIB;
        if (end == at)
            return gpu->shared_per_sm;
        if (bytes >= wanted)
            return bytes;
    }
}

static uint64_t blocks_by_shared(const struct gpu_spec *gpu, const struct occupancy_need *need)
{
    uint64_t bytes = need->shared_static + need->shared_dynamic;
    uint64_t most = max_u64(gpu->shared_per_block, need->shared_static + need->dynamic_limit);
    if (bytes > min_u64(most, gpu->shared_per_block_optin))
        return 0;
    uint64_t taken = round_up(bytes + gpu->shared_reserved, gpu->shared_unit);
    return taken ? shared_of_sm(gpu, need->carveout, taken) / taken : gpu->blocks_per_sm;
}

struct occupancy occupancy_of(const struct gpu_spec *gpu, const struct occupancy_need *need)
{
    struct occupancy occupancy = {0};
    if (!need->threads || need->threads > gpu->threads_per_block)
        return occupancy;
    occupancy.by_warps = gpu->warps_per_sm / warps_of(gpu, need->threads);
    occupancy.by_registers = blocks_by_registers(gpu, need);
    occupancy.by_shared = blocks_by_shared(gpu, need);
    occupancy.blocks = min_u64(min_u64(occupancy.by_warps, occupancy.by_registers),
                               min_u64(occupancy.by_shared, gpu->blocks_per_sm));
    return occupancy;
}

bool occupancy_shared(const struct gpu_spec *gpu, const struct occupancy_need *need, uint64_t blocks,
                      uint64_t *bytes)
{
    struct occupancy_need without = *need;
    without.shared_dynamic = 0;
    if (!blocks || blocks > occupancy_of(gpu, &without).blocks)
        return false;
    uint64_t usual = gpu->shared_per_block - min_u64(gpu->shared_per_block, need->shared_static);
    uint64_t most = need->dynamic_limit ? need->dynamic_limit : usual;
    if (blocks > 1) { /* what is reserved is not subtracted: so CUDA has it */
        uint64_t taken = round_up(need->shared_static + gpu->shared_reserved, gpu->shared_unit);
        uint64_t each = shared_of_sm(gpu, need->carveout, taken) / blocks;
        each = each / gpu->shared_unit * gpu->shared_unit;
        most = min_u64(most, each - min_u64(each, need->shared_static));
    }
    *bytes = most;
    return true;
}

uint64_t occupancy_clusters(const struct gpu_spec *gpu, const struct dispatch_spec *dispatch,
                            uint64_t blocks_per_sm, uint64_t cluster_blocks)
{
    uint32_t *group_of = mem_alloc(gpu->sm_count, sizeof *group_of);
    uint32_t groups = dispatch_groups(dispatch, (uint32_t)gpu->sm_count, group_of);
    uint64_t *sms = mem_alloc(groups, sizeof *sms), clusters = 0;
    blocks_per_sm = min_u64(blocks_per_sm, CLUSTER_BLOCKS_PER_SM);
    for (uint64_t i = 0; i < gpu->sm_count; i++)
        sms[group_of[i]]++;
    for (uint32_t i = 0; i < groups; i++)
        if (cluster_blocks <= sms[i])
            clusters += sms[i] * blocks_per_sm / cluster_blocks;
    mem_free(sms);
    mem_free(group_of);
    return clusters;
}
