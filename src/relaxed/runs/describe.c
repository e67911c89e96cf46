/* A system as the relaxed simulator wants it: numbers, in cycles of an SM and parts of them. */
#include "relaxed/runs/runs.h"
#include "base/bits.h"
#include "cache/replace.h"
#include "system/occupancy.h"

#include <math.h>
#include <stdlib.h>

/* What the rows of DRAM's banks add to a read on average: opening a row, and the column (rcd and cl of
 * mem/dram_timing.c are 28 ns for all of them). And what refreshes and turns of the bus cost. */
#define BANKS_NS       28.0
#define BANKS_STEADY   0.9
#define CONSTANT_LINE  64
#define CONSTANT_LINE2 256

/* Of what class units are, for statistics; the others are integers. */
static const struct {
    uint8_t unit, class;
} classes[] = {
    {UNIT_FMA, RELAXED_FLOAT},
    {UNIT_HALF, RELAXED_FLOAT},
    {UNIT_FP64, RELAXED_FLOAT},
    {UNIT_SFU, RELAXED_FLOAT},
    {UNIT_CVT, RELAXED_FLOAT},
    {UNIT_CVT64, RELAXED_FLOAT},
    {UNIT_TENSOR, RELAXED_FLOAT},
    {UNIT_IMMA, RELAXED_INTEGER},
    {UNIT_LSU, RELAXED_MEMORY},
    {UNIT_TEX, RELAXED_MEMORY},
    {UNIT_CONST, RELAXED_MEMORY},
    {UNIT_LDS, RELAXED_MEMORY},
    {UNIT_CONTROL, RELAXED_CONTROL},
    {UNIT_JUMP, RELAXED_CONTROL},
    {UNIT_CALL, RELAXED_CONTROL},
    {UNIT_SYNC, RELAXED_CONTROL},
    {UNIT_INTERNAL, RELAXED_CONTROL},
    {UNIT_VECTOR, RELAXED_FLOAT},
    {UNIT_VECTOR_QUARTER, RELAXED_INTEGER},
    {UNIT_VECTOR_TRANS, RELAXED_FLOAT},
    {UNIT_VECTOR_DOUBLE, RELAXED_FLOAT},
};

static void describe_units(const struct sm_spec *sm, struct relaxed_spec *spec)
{
    struct unit_cost costs[UNIT_COUNT];
    sm_unit_costs(sm, costs);
    for (uint32_t i = 0; i < UNIT_COUNT; i++)
        spec->units[i] = (struct relaxed_unit){
            .latency = costs[i].latency,
            .interval = costs[i].interval,
            .shared = costs[i].shared,
            .place = costs[i].place,
            .does = costs[i].does,
            .queues = costs[i].does == UNIT_DOES_NOTHING &&
                      (costs[i].result == RESULT_SHORT || costs[i].result == RESULT_QUEUE)};
    for (size_t i = 0; i < COUNT_OF(classes); i++)
        spec->units[classes[i].unit].class = classes[i].class;
}

static struct relaxed_cache_spec cache(uint64_t bytes, uint64_t line, uint64_t ways, uint64_t latency,
                                       uint64_t interval)
{
    return (struct relaxed_cache_spec){.bytes = bytes,
                                       .line = (uint32_t)line,
                                       .ways = (uint32_t)ways,
                                       .policy = REPLACE_LRU,
                                       .latency = (uint32_t)latency,
                                       .interval = (uint32_t)interval};
}

static void describe_sm(const struct sm_spec *sm, struct relaxed_spec *spec)
{
#define SAME(name) spec->name = (uint32_t)sm->name
    SAME(turn_cycles);
    SAME(turn_issues);
    SAME(queue);
    SAME(branch_taken_cycles);
    SAME(diverge_cycles);
    SAME(guard_cycles);
    SAME(wide_issue_cycles);
    SAME(block_start_cycles);
    SAME(block_least_cycles);
    SAME(warp_start_cycles);
    SAME(block_end_cycles);
    SAME(fence_cycles);
    SAME(fence_after_cycles);
    SAME(fence_block_cycles);
    SAME(fence_system_cycles);
    SAME(sleep_cycles);
    SAME(memory_code_latency);
    SAME(memory_code_interval);
    SAME(constant_memory_cycles);
    SAME(l1_fill_sectors);
    SAME(l1_write);
    SAME(l1_line_cycles);
    SAME(l1_to_noc_cycles);
    SAME(l1_fill_cycles);
    SAME(shared_latency);
    SAME(shared_banks);
    SAME(conflict_cycles);
    SAME(atomic_shared_cycles);
    SAME(lsu_queue);
    SAME(stores);
#undef SAME
    spec->oldest_first = sm->scheduler != 1; /* lrr is the second */
    spec->constants_kept = sm->constants_kept;
    spec->l1_keeps_global = sm->l1_keeps == 0;
    spec->lsu_request_parts = (uint32_t)(sm->lsu_request_cycles * RELAXED_PARTS);
    spec->lsu_wavefront_parts = (uint32_t)(sm->lsu_wavefront_cycles * RELAXED_PARTS);
    spec->l1_tag_parts = (uint32_t)(sm->l1_tag_cycles * RELAXED_PARTS);
    spec->code[0] = cache(sm->l0_code, sm->code_line, 4, 0, 0);
    spec->code[1] = cache(sm->l1_code, sm->code_line, 4, sm->l1_code_latency, sm->l1_code_interval);
    spec->code[2] = cache(sm->l2_code, sm->code_line, 8, sm->l2_code_latency, sm->l2_code_interval);
    spec->constants[0] = cache(sm->constant_cache, CONSTANT_LINE, 4, 0, 0);
    spec->constants[1] = cache(sm->l2_constants, CONSTANT_LINE2, 8, sm->constant_miss_cycles, 0);
    spec->l1 = cache(sm->l1, sm->l1_line, sm->l1_ways, sm->l1_latency, 0);
    spec->l1.policy = (uint32_t)sm->l1_policy;
    spec->l1.hashed = true;
}

static void describe_memory(const struct system *system, struct relaxed_spec *spec)
{
    const struct l2_spec *l2 = &system->l2;
    const struct noc_spec *noc = &system->noc;
    const struct dram_spec *dram = &system->dram;
    double hertz = (double)system->gpu.clock, cycle = hertz / (double)l2->clock; /* of L2, in the SM's */
    bool has_banks = dram->model == 0;
    spec->noc_latency = (uint32_t)noc->latency_cycles;
    spec->noc_spread = (uint32_t)noc->spread_cycles;
    spec->noc_overhead = (uint32_t)noc->overhead_bytes;
    spec->noc_request_parts =
        noc->request_bytes_per_cycle > 0 ? RELAXED_PARTS / noc->request_bytes_per_cycle : 0;
    spec->noc_reply_parts = noc->reply_bytes_per_cycle > 0 ? RELAXED_PARTS / noc->reply_bytes_per_cycle : 0;
    spec->slices = (uint32_t)l2->slices;
    spec->l2 =
        cache(l2->bytes / l2->slices, l2->line, l2->ways, (uint64_t)round((double)l2->hit_cycles * cycle), 0);
    spec->l2.policy = (uint32_t)l2->policy;
    spec->l2.scattered = l2->scattered;
    spec->l2_fill_sectors = (uint32_t)l2->fill_sectors;
    spec->l2_atomic_cycles = (uint32_t)round((double)l2->atomic_cycles * cycle);
    spec->l2_far_cycles =
        l2->partitions > 1 && !l2->copies ? (uint32_t)round((double)l2->cross_cycles * cycle) : 0;
    spec->l2_request_parts = l2->request_cycles * cycle * RELAXED_PARTS;
    spec->l2_read_parts = cycle * RELAXED_PARTS / l2->bytes_per_cycle;
    spec->l2_write_parts = cycle * RELAXED_PARTS / l2->write_bytes_per_cycle;
    spec->l2_atomic_sector_parts = l2->atomic_sector_cycles * cycle * RELAXED_PARTS;
    spec->l2_atomic_lane_parts = l2->atomic_lane_cycles * cycle * RELAXED_PARTS;
    spec->l2_atomic_same_parts = l2->atomic_same_cycles * cycle * RELAXED_PARTS;
    spec->channels_per_slice = (uint32_t)dram->channels_per_slice;
    double latency_ns = (double)dram->latency / 1000 + (has_banks ? BANKS_NS : 0);
    double rate = (double)dram->bandwidth / (double)(l2->slices * dram->channels_per_slice);
    spec->dram_latency = (uint32_t)round(latency_ns * hertz / 1e9);
    bool is_fixed = dram->model == 2; /* which has no limit */
    spec->dram_parts = is_fixed ? 0 : hertz * RELAXED_PARTS / (rate * (has_banks ? BANKS_STEADY : 1));
}

bool relaxed_describe(const struct system *system, struct relaxed_spec *spec, struct err *err)
{
    const struct gpu_spec *gpu = &system->gpu;
    *spec = (struct relaxed_spec){.sms = (uint32_t)gpu->sm_count,
                                  .subcores = (uint32_t)gpu->subcores_per_sm,
                                  .lanes = (uint32_t)gpu->warp_lanes};
    if (system->spec.gpus > 1 || system->part_count)
        return err_set(err, "--sync relaxed: simulates one GPU, and this system has several");
    if (spec->subcores > RELAXED_SUBCORES)
        return err_set(err, "--sync relaxed: an SM has %d sub-cores at most", RELAXED_SUBCORES);
    spec->warps_per_subcore = (uint32_t)((gpu->warps_per_sm + spec->subcores - 1) / spec->subcores);
    if (spec->warps_per_subcore > RELAXED_SLOTS)
        return err_set(err, "--sync relaxed: a sub-core has %d warps at most", RELAXED_SLOTS);
    describe_units(&system->sm, spec);
    describe_sm(&system->sm, spec);
    describe_memory(system, spec);
    const struct dispatch_spec *dispatch = &system->dispatch;
    spec->launch_cycles = (uint32_t)dispatch->launch_cycles;
    spec->dispatch_cycles = (uint32_t)dispatch->latency_cycles;
    spec->end_cycles = (uint32_t)(dispatch->end_cycles + dispatch->latency_cycles);
    spec->block_end_cycles += 2 * (uint32_t)dispatch->latency_cycles; /* the dispatcher learns of it */
    spec->block_parts = dispatch->block_cycles * RELAXED_PARTS;
    spec->cycles_per_ns = (double)gpu->clock / 1e9;
    return true;
}

/* As the driver sets it (docs/model.md): room for the blocks that fit, and some for more. */
static uint64_t carveout(const struct gpu_spec *gpu, const struct itrace_launch *launch, uint64_t used,
                         uint64_t threads, uint64_t blocks)
{
    uint64_t unit = gpu->shared_unit, block = (used + gpu->shared_reserved + unit - 1) / unit * unit;
    if (launch->carveout_bytes)
        return gpu_spec_carveout(gpu, max_u64(launch->carveout_bytes, block));
    if (!used) {
        uint64_t fit = gpu->warps_per_sm / ((threads + gpu->warp_lanes - 1) / gpu->warp_lanes);
        return gpu_spec_carveout(gpu, block * min_u64(4 * fit, gpu->blocks_per_sm));
    }
    uint64_t need = block * blocks, wish = block * min_u64(2 * blocks, gpu->blocks_per_sm);
    if (threads < gpu->threads_per_block)
        need = max_u64(need, min_u64(wish, gpu->shared_ahead));
    return gpu_spec_carveout(gpu, need);
}

bool relaxed_describe_launch(const struct system *system, const struct itrace *trace, size_t number,
                             struct relaxed_fit *fit, struct err *err)
{
    const struct itrace_launch *launch = &trace->launches[number];
    const struct kernel_facts *facts = &trace->kernels[launch->kernel].facts;
    const struct gpu_spec *gpu = &system->gpu;
    uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    struct occupancy_need need = {.threads = threads,
                                  .registers = facts->registers,
                                  .shared_static = facts->shared_bytes,
                                  .shared_dynamic = launch->shared_bytes,
                                  .dynamic_limit =
                                      launch->max_dynamic > 0 ? (uint64_t)launch->max_dynamic : 0,
                                  .carveout = -1};
    uint64_t blocks = occupancy_of(gpu, &need).blocks;
    if (launch->device)
        return err_set(err, "--sync relaxed: launch %llu is of another GPU than the first",
                       (unsigned long long)launch->number);
    if (itrace_launch_cluster(launch) > 1)
        return err_set(err, "--sync relaxed: launch %llu runs in clusters of blocks, which it does not know",
                       (unsigned long long)launch->number);
    if (trace->lanes != gpu->warp_lanes)
        return err_set(err, "the trace has warps of %u lanes, and the system of %llu", trace->lanes,
                       (unsigned long long)gpu->warp_lanes);
    if (!blocks)
        return err_set(err,
                       "launch %llu does not fit an SM of the system: %llu threads, %llu registers each, "
                       "%llu bytes of shared memory",
                       (unsigned long long)launch->number, (unsigned long long)threads,
                       (unsigned long long)need.registers,
                       (unsigned long long)(need.shared_static + need.shared_dynamic));
    uint64_t used = facts->shared_bytes + launch->shared_bytes;
    uint64_t shared = carveout(gpu, launch, used, threads, blocks);
    fit->blocks_per_sm = (uint32_t)blocks;
    fit->l1_bytes = system->sm.l1_apart ? system->sm.l1 : system->sm.l1 > shared ? system->sm.l1 - shared : 0;
    fit->l1_bytes = max_u64(fit->l1_bytes, system->sm.l1_line * system->sm.l1_ways); /* a set at least */
    return true;
}
