/* Waves: how they start, and their next instructions. */
#include "gcn3_run/wave.h"
#include "gcn3_run/hostcall.h"
#include "base/bits.h"
#include "base/mem.h"

#include <string.h>

/* Instructions of a wave, before others have their turn; and reads of memory around caches in these, from
 * which on it seems to wait for others. */
enum { SLICE = 4096, POLLS = SLICE / 64 };

/* ---- starting ---- */

void gcn3_reserve(struct gcn3_wave *w)
{
    const struct gcn3_kernel *kernel = gcn3_kernel_of(w);
    uint64_t scratch = (uint64_t)((kernel->info->private_bytes + 3) & ~3u) * GCN3_LANES;
    bool has_time = w->isa.block->worker->request;
    if (kernel->info->setup.dynamic_stack)
        scratch = max_u64(scratch, w->isa.block->worker->grid->launch->stack_bytes * GCN3_LANES);
    if (w->v_capacity < kernel->vgprs) {
        mem_free(w->v);
        w->v = mem_alloc_lines(kernel->vgprs, sizeof *w->v);
        w->v_capacity = kernel->vgprs;
    } else {
        memset(w->v, 0, kernel->vgprs * sizeof *w->v);
    }
    if (has_time && w->incoming_capacity < kernel->vgprs) {
        mem_free(w->incoming);
        w->incoming = mem_alloc_lines(kernel->vgprs, sizeof *w->incoming);
        w->incoming_capacity = kernel->vgprs;
    }
    if (w->scratch_capacity < scratch) {
        mem_free(w->scratch);
        w->scratch = mem_alloc_lines(scratch, 1);
        w->scratch_capacity = scratch;
    }
    w->scratch_bytes = scratch;
    w->program = kernel->program;
}

/* The buffer resource of private memory: words of 64 lanes side by side. */
static void set_scratch_resource(uint32_t words[4])
{
    enum {
        SWIZZLE = 1u << 31,
        FORMAT_32 = 4 << 15,
        ELEMENT_4 = 1 << 19,
        INDEX_64 = 3 << 21,
        ADD_LANE = 1 << 23
    };
    words[0] = (uint32_t)GCN3_PRIVATE_AT;
    words[1] = (uint32_t)(GCN3_PRIVATE_AT >> 32) | SWIZZLE;
    words[2] = UINT32_MAX;
    words[3] = FORMAT_32 | ELEMENT_4 | INDEX_64 | ADD_LANE;
}

static uint32_t set_user_scalars(struct gcn3_wave *w, const struct gcn3_kernel_info *info)
{
    const struct gcn3_setup *setup = &info->setup;
    uint32_t next = 0;
    if (setup->private_segment_buffer) {
        set_scratch_resource(w->s);
        next += 4;
    }
    const struct {
        bool is_there;
        uint64_t value;
    } pairs[] = {{setup->dispatch_ptr, GCN3_PACKET},
                 {setup->queue_ptr, GCN3_QUEUE},
                 {setup->kernarg_segment_ptr, GCN3_KERNARG},
                 {setup->dispatch_id, w->isa.block->worker->grid->serial},
                 {setup->flat_scratch_init, (uint64_t)info->private_bytes << 32}};
    for (size_t i = 0; i < COUNT_OF(pairs); i++)
        if (pairs[i].is_there) {
            gcn3_set_pair(w, next, pairs[i].value);
            next += 2;
        }
    if (setup->private_segment_size)
        w->s[next++] = info->private_bytes;
    return (uint32_t)max_u64(next, setup->user_sgprs);
}

static void set_scalars(struct gcn3_wave *w)
{
    const struct gcn3_kernel_info *info = gcn3_kernel_of(w)->info;
    const struct gcn3_setup *setup = &info->setup;
    uint32_t next = set_user_scalars(w, info);
    for (uint32_t i = 0; i < 3; i++)
        if (setup->workgroup_id[i])
            w->s[next++] = w->isa.block->id[i];
    if (setup->workgroup_info)
        w->s[next++] = w->isa.block->warp_count; /* of a dispatch that is not ordered */
    if (setup->private_segment_wave_offset)
        w->s[next++] = 0; /* each wave has private memory of its own */
    w->s[GCN3_M0] = UINT32_MAX;
    w->mode =
        (info->setup.rsrc1 >> 12 & 0xff) | (uint32_t)setup->dx10_clamp << 8 | (uint32_t)setup->ieee_mode << 9;
}

static void set_work_items(struct gcn3_wave *w)
{
    const uint32_t *size = w->isa.block->worker->grid->launch->block;
    uint32_t most = gcn3_kernel_of(w)->info->setup.workitem_id;
    for (uint32_t i = 0; i < GCN3_LANES; i++) {
        uint32_t item = w->isa.index * GCN3_LANES + i;
        uint32_t id[3] = {item % size[0], item / size[0] % size[1], item / size[0] / size[1]};
        for (uint32_t k = 0; k <= most && k < 3 && k < w->v_capacity; k++)
            w->v[k][i] = id[k];
    }
}

void gcn3_start(struct isa_warp *isa, lane_mask exists)
{
    struct gcn3_wave *w = gcn3_wave(isa);
    const struct gcn3_kernel *kernel = gcn3_kernel_of(w);
    memset(w->s, 0, sizeof w->s);
    gcn3_reserve(w);
    set_scalars(w);
    set_work_items(w);
    gcn3_set_pair(w, GCN3_EXEC, exists);
    w->pc = kernel->entry;
    w->scc = w->waits = false;
    gcn3_hostcall_free(w);
    memset(w->begun, 0, sizeof w->begun);
    memset(w->arrived, 0, sizeof w->arrived);
    isa->active = exists;
    isa->code = &kernel->program->code;
    isa->next = &isa->code->timing[w->pc];
}

void gcn3_fini(struct isa_warp *isa)
{
    struct gcn3_wave *w = gcn3_wave(isa);
    mem_free(w->v);
    mem_free(w->incoming);
    mem_free(w->scratch);
    gcn3_hostcall_free(w);
}

/* ---- running ---- */

void gcn3_check_limits(struct isa_warp *isa)
{
    struct gcn3_wave *w = gcn3_wave(isa);
    const struct grid *grid = isa->block->worker->grid;
    const struct launch *launch = grid->launch;
    if (launch->instruction_limit && isa->block->worker->result.warp_instructions > launch->instruction_limit)
        gcn3_fault(w, &w->program->ops[w->pc], 0, FAULT_LIMIT, 0,
                   "more than %llu wave instructions ran, as limited; does a loop not end?",
                   (unsigned long long)launch->instruction_limit);
    if (launch->interrupt && *launch->interrupt)
        gcn3_fault(w, &w->program->ops[w->pc], 0, FAULT_LIMIT, 0, "interrupted");
}

static void check_pc(struct gcn3_wave *w)
{
    if (w->pc >= w->program->count)
        gcn3_fault(w, &w->program->ops[w->program->count], 0, FAULT_INSTRUCTION, 0,
                   "goes on behind the end of the code");
}

bool gcn3_settle(struct isa_warp *isa)
{
    struct gcn3_wave *w = gcn3_wave(isa);
    if (isa->ended || w->waits)
        return false;
    check_pc(w);
    isa->next = &isa->code->timing[w->pc];
    return true;
}

/* An instruction counts for the lanes that are on; one of the scalar unit for the wave, whatever lanes are
 * on. */
static void count(struct launch_result *result, lane_mask active)
{
    uint32_t lanes = isa_count_lanes(active);
    result->warp_instructions++;
    result->thread_instructions += lanes;
    result->thread_instructions_pred_on += lanes;
}

void gcn3_step(struct isa_warp *isa, struct isa_stepped *stepped)
{
    struct gcn3_wave *w = gcn3_wave(isa);
    const struct gcn3_lowered *op = &w->program->ops[w->pc];
    struct launch_result *result = &isa->block->worker->result;
    uint32_t next = ++w->pc;
    *stepped = (struct isa_stepped){.mask = isa->active};
    count(result, isa->active);
    op->run(w, op);
    isa->active = gcn3_exec(w);
    stepped->branched = w->pc != next;
    stepped->waits = w->waits;
    stepped->moved = stepped->branched || w->waits || isa->ended || w->pc >= w->program->count;
    if (op->inst.op == GCN3_S_SLEEP)
        stepped->sleep_ns = 64 * (op->inst.immediate & 0x7f);
    isa->next = &isa->code->timing[stepped->moved ? 0 : w->pc];
}

enum isa_ran gcn3_run(struct isa_warp *isa)
{
    struct gcn3_wave *w = gcn3_wave(isa);
    struct launch_result *result = &isa->block->worker->result;
    const struct gcn3_lowered *ops = w->program->ops;
    if (w->waits)
        return RAN_WAITS;
    for (uint32_t left = SLICE; left; left--) {
        if (UNLIKELY(w->pc >= w->program->count))
            check_pc(w);
        const struct gcn3_lowered *op = &ops[w->pc++];
        count(result, gcn3_exec(w));
        op->run(w, op);
        if (UNLIKELY(isa->ended || w->waits))
            return isa->ended ? RAN_OUT : RAN_WAITS;
    }
    gcn3_check_limits(isa);
    bool spins = w->polls > POLLS;
    w->polls = 0;
    return spins ? RAN_SPINS : RAN_SLICE;
}
