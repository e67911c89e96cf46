/* Scalar arithmetic: operands and results of executors. */
#include "gcn3_run/alu.h"
#include "gcn3_run/operand.h"

static void scalar(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    const struct gcn3_inst *inst = &op->inst;
    const struct gcn3_row *row = &gcn3_rows[inst->op];
    struct gcn3_scalar s = {.exec = gcn3_exec(w),
                            .vcc = gcn3_pair(w, GCN3_VCC),
                            .m0 = w->s[GCN3_M0],
                            .mode = w->mode,
                            .scc = w->scc};
    bool has_d = inst->d.kind != GCN3_NOTHING;
    s.a = gcn3_value(w, &inst->a);
    s.b = gcn3_value(w, &inst->b);
    if (has_d)
        s.d = gcn3_value(w, &inst->d);
    ((gcn3_scalar_fn *)(uintptr_t)op->more)(&s);
    if (row->flags & GCN3_EXEC_OUT)
        gcn3_set_pair(w, GCN3_EXEC, s.exec);
    if (has_d && inst->d.dwords == 2)
        gcn3_set_pair(w, inst->d.number, s.d);
    else if (has_d)
        w->s[inst->d.number] = (uint32_t)s.d;
    w->scc = s.scc;
}

/* The register whose number is in M0, beside the one that is named. */
static void move_relative(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    uint32_t from = op->inst.a.number, to = op->inst.d.number, dwords = op->inst.d.dwords;
    bool is_source = op->inst.op == GCN3_S_MOVRELS_B32 || op->inst.op == GCN3_S_MOVRELS_B64;
    from += is_source ? w->s[GCN3_M0] : 0;
    to += is_source ? 0 : w->s[GCN3_M0];
    uint64_t value = is_source ? gcn3_pair(w, from % GCN3_SCALARS) : gcn3_value(w, &op->inst.a);
    if (dwords == 2)
        gcn3_set_pair(w, to % GCN3_SCALARS, value);
    else
        w->s[to % GCN3_SCALARS] = (uint32_t)value;
}

gcn3_run_fn *gcn3_scalar_alu(struct gcn3_lowered *op)
{
    switch ((int)op->inst.op) {
    case GCN3_S_MOVRELS_B32:
    case GCN3_S_MOVRELS_B64:
    case GCN3_S_MOVRELD_B32:
    case GCN3_S_MOVRELD_B64:
        return move_relative;
    default:
        op->more = (const void *)(uintptr_t)gcn3_scalar_executor((enum gcn3_op)op->inst.op);
        return op->more ? scalar : NULL;
    }
}
