/* VGPRs whose numbers are in M0: v_movrel*, and the mode in which all vector arithmetic adds an index. */
#include "gcn3_run/alu.h"
#include "gcn3_run/operand.h"

/* M0[15:12], by operand. */
enum { INDEX_A = 1 << 12, INDEX_B = 1 << 13, INDEX_C = 1 << 14, INDEX_D = 1 << 15 };

static void check(struct gcn3_wave *w, const struct gcn3_lowered *op, uint64_t number, uint32_t dwords)
{
    uint32_t most = gcn3_kernel_of(w)->vgprs;
    if (UNLIKELY(number + dwords > most))
        gcn3_fault(w, op, 0, FAULT_INSTRUCTION, 0, "an index to v%llu, but the wave has %u VGPRs",
                   (unsigned long long)number, most);
}

/* ---- v_movrel ---- */

static void move_relative(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    enum gcn3_op which = (enum gcn3_op)op->inst.op;
    uint64_t from = op->inst.a.number, to = op->inst.d.number, index = w->s[GCN3_M0];
    bool is_vector = op->inst.a.kind == GCN3_VGPR;
    from += which == GCN3_V_MOVRELD_B32 ? 0 : index;
    to += which == GCN3_V_MOVRELS_B32 ? 0 : index;
    check(w, op, to, 1);
    if (is_vector)
        check(w, op, from, 1);
    uint32_t value = is_vector ? 0 : (uint32_t)gcn3_value(w, &op->inst.a);
    EACH_LANE (i, gcn3_exec(w))
        w->v[to][i] = is_vector ? w->v[from][i] : value;
}

/* ---- the mode ---- */

static void add_index(struct gcn3_wave *w, const struct gcn3_lowered *op, struct gcn3_operand *operand,
                      bool applies)
{
    if (operand->kind != GCN3_VGPR || !applies)
        return;
    operand->number += w->s[GCN3_M0] & 0xff;
    check(w, op, operand->number, operand->dwords);
}

void gcn3_run_with_index(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    struct gcn3_lowered other = *op;
    struct gcn3_inst *inst = &other.inst;
    uint32_t m0 = w->s[GCN3_M0];
    bool accumulates = gcn3_rows[inst->op].flags & GCN3_ACCUMULATES;
    add_index(w, op, &inst->a, m0 & INDEX_A);
    add_index(w, op, &inst->b, m0 & INDEX_B);
    add_index(w, op, &inst->c, m0 & (accumulates ? INDEX_D : INDEX_C));
    add_index(w, op, &inst->d, m0 & INDEX_D);
    w->mode &= ~(uint32_t)GCN3_GPR_IDX_EN;
    other.run(w, &other);
    w->mode |= GCN3_GPR_IDX_EN;
}

static void set_m0(struct gcn3_wave *w, uint32_t mask, uint32_t value)
{
    w->s[GCN3_M0] = (w->s[GCN3_M0] & ~mask) | (value & mask);
}

static void set_index(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    set_m0(w, 0xff, (uint32_t)gcn3_value(w, &op->inst.a));
}

static void set_operands(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    set_m0(w, 0xf000, (uint32_t)op->inst.immediate << 12);
}

static void begin(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    set_index(w, op);
    set_operands(w, op);
    w->mode |= GCN3_GPR_IDX_EN;
}

static void end(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    (void)op;
    w->mode &= ~(uint32_t)GCN3_GPR_IDX_EN;
}

gcn3_run_fn *gcn3_index(const struct gcn3_inst *inst)
{
    switch ((int)inst->op) {
    case GCN3_S_SET_GPR_IDX_ON:
        return begin;
    case GCN3_S_SET_GPR_IDX_OFF:
        return end;
    case GCN3_S_SET_GPR_IDX_IDX:
        return set_index;
    case GCN3_S_SET_GPR_IDX_MODE:
        return set_operands;
    case GCN3_V_MOVRELS_B32:
    case GCN3_V_MOVRELD_B32:
    case GCN3_V_MOVRELSD_B32:
        return move_relative;
    default:
        return NULL;
    }
}
