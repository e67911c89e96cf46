/* VSKIP, a bit of MODE: while it is set, vector instructions do nothing. Only programs that can set it ask
 * for it, so that others are as fast as without it. */
#include "gcn3_run/operand.h"
#include "gcn3_run/wave.h"

enum { VSKIP = 28, HW_MODE = 1 };

static void set_skip(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    uint32_t word = (uint32_t)gcn3_value(w, &op->inst.a);
    uint32_t which = (uint32_t)gcn3_value(w, &op->inst.b) & 31;
    w->mode = (w->mode & ~(1u << VSKIP)) | (word >> which & 1) << VSKIP;
}

gcn3_run_fn *gcn3_skip(const struct gcn3_inst *inst)
{
    return inst->op == GCN3_S_SETVSKIP ? set_skip : NULL;
}

static bool may_set(const struct gcn3_inst *inst)
{
    bool sets_register = inst->op == GCN3_S_SETREG_B32 || inst->op == GCN3_S_SETREG_IMM32_B32;
    uint32_t number = inst->immediate & 63, first = inst->immediate >> 6 & 31;
    uint32_t bits = (inst->immediate >> 11) + 1;
    return inst->op == GCN3_S_SETVSKIP ||
           (sets_register && number == HW_MODE && first <= VSKIP && first + bits > VSKIP);
}

static void run_unless_skipped(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    if (!(w->mode >> VSKIP & 1))
        op->unskipped(w, op);
}

void gcn3_make_skippable(struct gcn3_program *program)
{
    bool needed = false;
    for (uint32_t i = 0; i < program->count; i++)
        needed |= may_set(&program->ops[i].inst);
    if (!needed)
        return;
    for (uint32_t i = 0; i < program->count; i++) {
        struct gcn3_lowered *op = &program->ops[i];
        uint8_t unit = gcn3_rows[op->inst.op].unit;
        if (op->inst.op == GCN3_INVALID || unit < GCN3_UNIT_VALU || unit > GCN3_UNIT_EXPORT)
            continue;
        op->unskipped = op->run;
        op->run = run_unless_skipped;
    }
}
