/* A function's frame in a warp's register file: its constants, the registers that must start as zeros, and
 * how functions are entered and left. */
#include "ptx_run/warp.h"
#include "base/bits.h"
#include "exec/cga.h"
#include "base/mem.h"

#include <string.h>

enum {
    STACK_SLACK = 16,     /* frames of PTX are larger than the machine's: arguments are in memory */
    CALL_STACK_BYTES = 16 /* that a call takes even where the function has no variables */
};

/* Blocks of a cluster side by side. */
static uint32_t cluster_side(const struct launch *launch, uint64_t dimension)
{
    return launch->cluster[dimension] ? launch->cluster[dimension] : 1;
}

static uint64_t special_value(const struct warp *w, uint64_t which, uint32_t lane)
{
    const struct block *block = w->isa.block;
    const struct grid *grid = block->worker->grid;
    const struct launch *launch = grid->launch;
    uint32_t thread = w->isa.index * WARP_LANES + lane;
    switch ((enum ptx_special)which) {
    case PTX_SPECIAL_tid_x:
        return thread % launch->block[0];
    case PTX_SPECIAL_tid_y:
        return thread / launch->block[0] % launch->block[1];
    case PTX_SPECIAL_tid_z:
        return thread / launch->block[0] / launch->block[1];
    case PTX_SPECIAL_current_graph_exec:
        return launch->graph;
    case PTX_SPECIAL_ntid_x:
    case PTX_SPECIAL_ntid_y:
    case PTX_SPECIAL_ntid_z:
        return launch->block[which - PTX_SPECIAL_ntid_x];
    case PTX_SPECIAL_ctaid_x:
    case PTX_SPECIAL_ctaid_y:
    case PTX_SPECIAL_ctaid_z:
        return block->id[which - PTX_SPECIAL_ctaid_x];
    case PTX_SPECIAL_nctaid_x:
    case PTX_SPECIAL_nctaid_y:
    case PTX_SPECIAL_nctaid_z:
        return launch->grid[which - PTX_SPECIAL_nctaid_x];
    case PTX_SPECIAL_clusterid_x: /* without clusters, each block is one */
    case PTX_SPECIAL_clusterid_y:
    case PTX_SPECIAL_clusterid_z:
        return block->id[which - PTX_SPECIAL_clusterid_x] /
               cluster_side(launch, which - PTX_SPECIAL_clusterid_x);
    case PTX_SPECIAL_nclusterid_x:
    case PTX_SPECIAL_nclusterid_y:
    case PTX_SPECIAL_nclusterid_z:
        return launch->grid[which - PTX_SPECIAL_nclusterid_x] /
               cluster_side(launch, which - PTX_SPECIAL_nclusterid_x);
    case PTX_SPECIAL_cluster_ctaid_x:
    case PTX_SPECIAL_cluster_ctaid_y:
    case PTX_SPECIAL_cluster_ctaid_z:
        return block->id[which - PTX_SPECIAL_cluster_ctaid_x] %
               cluster_side(launch, which - PTX_SPECIAL_cluster_ctaid_x);
    case PTX_SPECIAL_cluster_nctaid_x:
    case PTX_SPECIAL_cluster_nctaid_y:
    case PTX_SPECIAL_cluster_nctaid_z:
        return cluster_side(launch, which - PTX_SPECIAL_cluster_nctaid_x);
    case PTX_SPECIAL_cluster_ctarank:
        return block->rank;
    case PTX_SPECIAL_cluster_nctarank:
        return grid->cluster_size;
    case PTX_SPECIAL_is_explicit_cluster:
        return launch->cluster[0] ? UINT32_MAX : 0;
    case PTX_SPECIAL_laneid:
        return lane;
    case PTX_SPECIAL_warpid:
        return w->isa.index;
    case PTX_SPECIAL_nwarpid:
        return 64;
    case PTX_SPECIAL_smid:
        return block->worker->sm != UINT32_MAX ? block->worker->sm
               : launch->sm_count              ? block->number % launch->sm_count
                                               : 0;
    case PTX_SPECIAL_nsmid:
        return launch->sm_count;
    case PTX_SPECIAL_lanemask_eq:
        return UINT32_C(1) << lane;
    case PTX_SPECIAL_lanemask_lt:
        return (UINT32_C(1) << lane) - 1;
    case PTX_SPECIAL_lanemask_le:
        return (UINT32_C(2) << lane) - 1;
    case PTX_SPECIAL_lanemask_gt:
        return (uint32_t) ~((UINT64_C(2) << lane) - 1);
    case PTX_SPECIAL_lanemask_ge:
        return (uint32_t) ~((UINT32_C(1) << lane) - 1);
    case PTX_SPECIAL_total_smem_size:
    case PTX_SPECIAL_aggr_smem_size:
        return block->shared_bytes;
    case PTX_SPECIAL_dynamic_smem_size:
        return launch->shared_bytes;
    case PTX_SPECIAL_envreg1: /* together: the address of the workspace of grid-wide barriers */
        return (uint32_t)(grid->workspace >> 32);
    case PTX_SPECIAL_envreg2:
        return (uint32_t)grid->workspace;
    case PTX_SPECIAL_warp_size:
        return WARP_LANES;
    default:
        return 0;
    }
}

static uint64_t constant_value(const struct warp *w, const struct constant *constant, uint32_t lane,
                               uint64_t local_at)
{
    const struct grid *grid = w->isa.block->worker->grid;
    uint64_t value = 0;
    switch ((enum constant_kind)constant->kind) {
    case CONSTANT_VALUE:
        return constant->value;
    case CONSTANT_LOCAL:
        return local_at + constant->value;
    case CONSTANT_SHARED:
        return w->isa.block->shared_from + constant->value;
    case CONSTANT_SPECIAL:
        return special_value(w, constant->value, lane);
    case CONSTANT_PARAM:
        memcpy(&value, grid->params + constant->value, constant->source_bytes);
        if (constant->is_signed && constant->source_bytes < 8) {
            uint32_t unused = 64 - 8 * constant->source_bytes;
            value = (uint64_t)((int64_t)(value << unused) >> unused);
        }
        return value;
    }
    return 0;
}

static bool differs_by_block(const struct constant *constant)
{
    return constant->kind == CONSTANT_SPECIAL && special_differs_by_block(constant->value);
}

static bool differs_by_lane(const struct constant *constant)
{
    if (constant->kind != CONSTANT_SPECIAL)
        return false;
    uint64_t which = constant->value;
    return which <= PTX_SPECIAL_tid_z || which == PTX_SPECIAL_laneid ||
           (which >= PTX_SPECIAL_lanemask_eq && which <= PTX_SPECIAL_lanemask_gt);
}

void warp_fill_constants(struct warp *w, const struct code *code, lanes who, bool all)
{
    uint64_t local_at = w->now->frames[w->now->frame_count - 1].local_at;
    for (uint32_t i = 0; i < code->constant_count; i++) {
        const struct constant *constant = &code->constants[i];
        if (!all && !differs_by_block(constant))
            continue;
        void *place = warp_at(w, constant->place);
        if (!differs_by_lane(constant)) {
            /* the same for all who call, but for local addresses; of a predicate lane 0 holds the bits of all
             */
            lanes_fill(place, constant->bytes, constant_value(w, constant, 0, local_at),
                       constant->kind == CONSTANT_LOCAL ? who : UINT32_MAX);
            continue;
        }
        EACH_LANE (lane, who)
            lane_set(place, constant->bytes, lane, constant_value(w, constant, lane, local_at));
    }
}

static void zero_registers(struct warp *w, const struct code *code, lanes who)
{
    for (uint32_t i = 0; i < code->zeroed_count; i++) {
        void *place = warp_at(w, code->zeroed[i].place);
        uint32_t bytes = code->zeroed[i].bytes;
        if (who == UINT32_MAX)
            memset(place, 0, bytes);
        else if (bytes == 4)
            *(uint32_t *)place &= ~who;
        else
            EACH_LANE (lane, who)
                lane_set(place, bytes / WARP_LANES, lane, 0);
    }
}

static uint64_t stack_limit(const struct warp *w)
{
    return w->isa.block->worker->grid->launch->stack_bytes * STACK_SLACK;
}

uint64_t warp_alloca_limit(const struct warp *w)
{
    return w->isa.block->worker->grid->launch->stack_bytes * 1024;
}

/* Both memories grow to twice their size when they are too small. */
uint64_t warp_most_file(const struct warp *w)
{
    return 2 * warp_kernel(w)->frames_bytes * (stack_limit(w) / CALL_STACK_BYTES + 1);
}

uint64_t warp_most_local(const struct warp *w)
{
    uint64_t first = w->isa.block->worker->grid->kernel->facts.local_bytes;
    return 2 * (first + max_u64(stack_limit(w), warp_alloca_limit(w)));
}

static void need_file(struct warp *w, size_t bytes)
{
    if (bytes <= w->file_bytes)
        return;
    size_t more = max_u64(bytes, 2 * w->file_bytes);
    char *file = mem_alloc_lines_unset(
        more, 1); /* a register that may be read before it is set is zeroed at the start */
    if (w->file_bytes)
        memcpy(file, w->file, w->file_bytes);
    mem_free(w->file);
    w->file = file;
    w->file_bytes = more;
}

void warp_need_local(struct warp *w, uint64_t bytes)
{
    if (bytes <= w->local_bytes)
        return;
    uint64_t more = max_u64(bytes, 2 * w->local_bytes);
    w->local = mem_resize(w->local, w->local_bytes, more, WARP_LANES);
    w->local_bytes = more;
}

void warp_start(struct isa_warp *isa, lane_mask exists)
{
    struct warp *w = ptx_warp(isa);
    struct block *block = isa->block;
    const struct ptx_kernel *kernel = ptx_kernel_of(block->worker->grid->kernel);
    const struct code *code = kernel->codes[kernel->function];
    w->exists = w->alive = (lanes)exists;
    w->fragment_count = 0;
    w->arrived = 0;
    w->turn = w->spins = w->slices = 0;
    need_file(w, code->frame_bytes);
    warp_need_local(w, code->local_bytes);
    if (code->local_bytes)
        memset(w->local, 0, code->local_bytes * WARP_LANES);
    w->now = fragment_new(w);
    fragment_push(w->now, (struct frame){.code = code});
    w->now->levels[w->now->depth++] = (struct level){0, NO_OP, exists, 1};
    warp_use_frame(w);
    bool fresh = w->constants_of != block->worker->grid->serial || block->worker->grid->cluster_size > 1;
    if (fresh || code->sees_block)
        warp_fill_constants(w, code, UINT32_MAX, fresh);
    w->constants_of = block->worker->grid->serial;
    zero_registers(w, code, UINT32_MAX);
}

void warp_fini(struct isa_warp *isa)
{
    struct warp *w = ptx_warp(isa);
    for (uint32_t i = 0; i < WARP_LANES && w->fragments[i]; i++) {
        mem_free(w->fragments[i]->frames);
        mem_free(w->fragments[i]);
    }
    mem_free(w->file);
    mem_free(w->local);
}

/* Where a function's registers are. Lanes may be in different functions at a time, or in one that they came
 * to on different ways: as lanes of one register are side by side, only calls of the same function can share
 * a frame. Calls within calls of it have further ones. */
static size_t frame_place(const struct warp *w, const struct code *code)
{
    size_t calls = 0;
    for (uint32_t i = 0; i < w->now->frame_count; i++)
        calls += w->now->frames[i].code == code;
    return code->registers_at + calls * warp_kernel(w)->frames_bytes;
}

void warp_enter(struct warp *w, const struct op *op, const struct code *code)
{
    struct fragment *f = w->now;
    struct level *top = &f->levels[f->depth - 1];
    struct frame *caller = &f->frames[f->frame_count - 1];
    struct frame frame = {.code = code,
                          .registers_at = frame_place(w, code),
                          .local_at = caller->local_at + caller->code->local_bytes + caller->local_more,
                          .back = top->pc,
                          .rpc = top->rpc};
    uint64_t stack = frame.local_at + code->local_bytes;
    uint64_t limit = stack_limit(w);
    if (stack + (uint64_t)CALL_STACK_BYTES * f->frame_count > limit)
        warp_fault(w, op, top->mask, FAULT_STACK, 0, "the stack of a thread overflows, %u calls deep",
                   f->frame_count);
    need_file(w, frame.registers_at + code->frame_bytes);
    warp_need_local(w, stack);
    fragment_push(f, frame);
    warp_use_frame(w);
    warp_fill_constants(w, code, top->mask, true);
    zero_registers(w, code, top->mask);
    top->pc = 0;
    top->rpc = NO_OP;
    top->frames++;
}

void warp_return(struct warp *w)
{
    struct fragment *f = w->now;
    struct level *top = &f->levels[f->depth - 1];
    struct frame frame = f->frames[--f->frame_count];
    top->pc = frame.back + 1;
    top->rpc = frame.rpc;
    top->frames--;
    warp_use_frame(w);
}
