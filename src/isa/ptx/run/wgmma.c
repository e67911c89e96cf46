/* wgmma: products of four warps. They are performed at once: no program may look before it has waited. A warp
 * computes its own rows; that all four have read what they multiply is what a group's wait is for. */
#include "ptx_run/matrix_group.h"
#include "ptx_run/sync.h"
#include "base/bits.h"

struct group_access {
    struct sync_form sync;
    struct matrix_group group;
    uint32_t d[GROUP_REGISTERS], a[GROUP_A]; /* places */
    uint32_t descriptor_a, descriptor_b, metadata, has_c;
    uint32_t selector;
    bool negated; /* has_c */
};

static struct matrix_descriptor descriptor_of(struct warp *w, uint32_t place, lanes active)
{
    return matrix_descriptor(((const uint64_t *)warp_at(w, place))[first_lane(active)]);
}

static void run_group(struct warp *w, const struct op *op, lanes active)
{
    const struct group_access *x = op->more;
    const struct block *block = w->isa.block;
    struct matrix_memory memory = {.at = block->shared, .bytes = block->shared_bytes};
    struct matrix_group_call call = {.warp = w->isa.index % GROUP_WARPS, .selector = x->selector};
    void *d[GROUP_REGISTERS];
    if (w->isa.index / GROUP_WARPS * GROUP_WARPS + GROUP_WARPS > block->warp_count)
        warp_fault(w, op, active, FAULT_INSTRUCTION, 0, "its group of four warps is not whole");
    for (uint32_t i = 0; i < x->group.tiles * x->group.tile.d.registers; i++)
        d[i] = warp_at(w, x->d[i]);
    for (uint32_t i = 0; i < GROUP_A && x->group.a_in_registers; i++)
        call.a[i] = warp_at(w, x->a[i]);
    if (!x->group.a_in_registers)
        call.of_a = descriptor_of(w, x->descriptor_a, active);
    call.of_b = descriptor_of(w, x->descriptor_b, active);
    call.has_c = ((*warp_predicate(w, x->has_c) >> first_lane(active)) & 1) != x->negated;
    if (x->group.tile.sparse)
        call.metadata = warp_at(w, x->metadata);
    if (!matrix_group_multiply(&x->group, &call, &memory, d))
        warp_fault(w, op, active, FAULT_ADDRESS, memory.outside_at,
                   "a matrix descriptor leads to 0x%x, beyond the block's %llu bytes of shared memory",
                   memory.outside_at, (unsigned long long)block->shared_bytes);
}

static bool lower_literal(struct lower *lower, uint32_t operand, int64_t least, int64_t most,
                          const char *what, int64_t *value)
{
    const struct ptx_operand *o = lower_operand(lower, operand);
    *value = (int64_t)o->value;
    if (o->kind != PTX_OP_INTEGER || *value < least || *value > most || (least < 0 && !*value))
        return lower_fail(lower, "%s was expected as operand %u", what, operand + 1) == LOWERED;
    return true;
}

/* Signs and layouts, from operand `at` on. */
static bool lower_group_signs(struct lower *lower, struct group_access *x, uint32_t at)
{
    enum matrix_type type = x->group.tile.a.type;
    int64_t value[4] = {1, 1, 0, 0};
    uint32_t count = 0;
    if (x->group.tile.d.type != MATRIX_s32)
        for (; count < 2; count++)
            if (!lower_literal(lower, at + count, -1, 1, "1 or -1", &value[count]))
                return false;
    if (type == MATRIX_f16 || type == MATRIX_bf16) {
        if (!x->group.a_in_registers && !lower_literal(lower, at + count++, 0, 1, "0 or 1", &value[2]))
            return false;
        if (!lower_literal(lower, at + count++, 0, 1, "0 or 1", &value[3]))
            return false;
    }
    if (lower->inst->count != at + count)
        return lower_fail(lower, "%u operands were expected, there are %u", at + count, lower->inst->count) ==
               LOWERED;
    x->group.negate_a = value[0] < 0;
    x->group.negate_b = value[1] < 0;
    x->group.transpose_a = value[2];
    x->group.transpose_b = value[3];
    return true;
}

static bool lower_group_registers(struct lower *lower, uint32_t operand, uint32_t expected, bool written,
                                  uint32_t *places)
{
    const struct ptx_operand *list = lower_operand(lower, operand);
    if (list->kind != PTX_OP_VECTOR || list->count != expected)
        return lower_fail(lower, "%u registers were expected as operand %u", expected, operand + 1) ==
               LOWERED;
    for (uint32_t i = 0; i < expected; i++)
        if (!(written ? lower_destination : lower_source)(lower, lower_element(lower, list, i), TYPE_u32,
                                                          &places[i]))
            return false;
    return true;
}

/* d, a or its descriptor, descriptor of b, (metadata, selector,) scale-d, signs, layouts */
static enum lowered lower_product(struct lower *lower, struct op *op)
{
    struct group_access *x = (void *)lower_sync(lower, op, run_group, sizeof *x);
    struct matrix_group *g = &x->group;
    unsigned columns;
    uint32_t at = 3;
    x->sync.who = MEMBERS_ALL;
    if (!matrix_parse_group(lower->inst->opcode, &g->tile, &columns))
        return lower_fail(lower, "Heddle does not know this matrix instruction");
    matrix_plan_group(&g->tile, &g->plan);
    g->tiles = columns / 8;
    g->a_in_registers = lower_operand(lower, 1)->kind == PTX_OP_VECTOR;
    if (!lower_group_registers(lower, 0, g->tiles * g->tile.d.registers, true, x->d) ||
        !(g->a_in_registers ? lower_group_registers(lower, 1, GROUP_A, false, x->a)
                            : lower_source(lower, lower_operand(lower, 1), TYPE_u64, &x->descriptor_a)) ||
        !lower_source(lower, lower_operand(lower, 2), TYPE_u64, &x->descriptor_b))
        return LOWER_FAILED;
    if (g->tile.sparse) {
        int64_t selector;
        if (!lower_source(lower, lower_operand(lower, at++), TYPE_u32, &x->metadata) ||
            !lower_literal(lower, at++, 0, 3, "a sparsity selector", &selector))
            return LOWER_FAILED;
        x->selector = (uint32_t)selector;
        if (!matrix_has_selector(&g->tile, x->selector))
            return lower_fail(lower, "this sparsity selector is not one of the instruction's");
    }
    x->negated = lower_operand(lower, at)->negated;
    if (!lower_predicate(lower, lower_operand(lower, at), &x->has_c))
        return LOWER_FAILED;
    return lower_group_signs(lower, x, at + 1) ? LOWERED : LOWER_FAILED;
}

enum lowered lower_wgmma(struct lower *lower, struct op *op)
{
    if (ptx_is(lower->inst, "wgmma.mma_async"))
        return lower_product(lower, op);
    if (ptx_is(lower->inst, "wgmma.wait_group"))
        return lower_group_wait(lower, op);
    if (ptx_is(lower->inst, "wgmma.fence") || ptx_is(lower->inst, "wgmma.commit_group"))
        return lower_nothing(lower, op);
    return lower_fail(lower, "Heddle does not know this instruction");
}
