/* Writes an unrolled loop: its rounds with renamed registers, and the tests between them (optimize_loop.c).
 */
#include "ptxas/optimize_loop.h"
#include "base/mem.h"

#include <string.h>

static const struct opcode *opcode_at(const struct unroll *u, uint32_t i)
{
    return values_opcode(&u->pass->plan.values, i);
}

/* Whether all that read the register read it in the loop, under the guard that it was written under. */
static bool is_local(const struct unroll *u, uint32_t index)
{
    const struct ptx_function *f = u->pass->f;
    const struct value *value = &u->pass->plan.values.at[index];
    int32_t guard = -1;
    bool guard_not = false, written = false;
    for (uint32_t k = 0; k < value->count; k++) {
        uint32_t reader = u->pass->plan.values.readers[value->first + k];
        if (reader < u->loop.first || reader > u->loop.last)
            return false;
    }
    if (value->writes != u->writes[index] || (value->writes > 1 && f->insts[value->maker].guard >= 0))
        return false;
    for (uint32_t i = u->loop.first; i <= u->loop.last; i++) { /* written before it is read */
        const struct ptx_inst *inst = &f->insts[i];
        bool reads = false;
        for (uint32_t k = 0; k < value->count; k++)
            reads |= u->pass->plan.values.readers[value->first + k] == i;
        if (reads && !written)
            return false;
        if (reads && guard >= 0 && (inst->guard != guard || inst->guard_not != guard_not))
            return false;
        if (value->maker == i)
            written = true, guard = inst->guard, guard_not = inst->guard_not;
    }
    if (guard < 0 || !u->writes[guard])
        return true;
    const struct value *condition = &u->pass->plan.values.at[guard]; /* it must not change in between */
    return condition->writes == 1 && condition->maker < value->maker;
}

/* Names */

static void rename_operand(struct unroll *u, struct ptx_operand *operand, bool written);

static void rename_elements(struct unroll *u, struct ptx_operand *operand, bool written)
{
    uint32_t first = (uint32_t)u->rewrite.operands.count, count = operand->count, from = operand->first;
    for (uint32_t i = 0; i < count; i++) {
        struct ptx_operand element = u->rewrite.operands.at[from + i];
        *list_push(u->rewrite.operands) = element;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct ptx_operand element = u->rewrite.operands.at[first + i];
        rename_operand(u, &element, written);
        u->rewrite.operands.at[first + i] = element;
    }
    operand->first = first;
}

static void rename_operand(struct unroll *u, struct ptx_operand *operand, bool written)
{
    if (operand->kind == PTX_OP_REGISTER) {
        uint32_t r = operand->index;
        const struct ptx_register *old = &u->pass->f->registers[r];
        bool passes_on =
            u->writes[r] == 1 && u->round + 1 < u->rounds && u->pass->f->insts[u->inst].guard < 0;
        if (written && u->fresh[r] != u->stamp && (u->local[r] || passes_on)) {
            u->name[r] = rewrite_register(&u->rewrite, old->name, old->type);
            u->fresh[r] = u->stamp;
        } else if (written && !u->local[r]) {
            u->name[r] = r;
        }
        operand->index = u->name[r];
    } else if (operand->kind >= PTX_OP_MEMORY && operand->kind <= PTX_OP_PAIR && operand->count) {
        rename_elements(u, operand, written && operand->kind != PTX_OP_MEMORY);
    }
}

/* A counter's value in a later round is the first's and a number. */
static void copy_jump(struct unroll *u, const struct ptx_inst *inst, uint32_t index)
{
    bool last = u->round + 1 == u->rounds;
    const struct ptx_register *old = &u->pass->f->registers[index];
    uint32_t name = last ? index : rewrite_register(&u->rewrite, old->name, old->type);
    int64_t sum = u->jump[index] * (int64_t)(u->round + 1);
    rewrite_add(&u->rewrite, inst->opcode, inst);
    rewrite_operand(&u->rewrite, operand_register(name));
    rewrite_operand(&u->rewrite, operand_register(index));
    rewrite_operand(&u->rewrite, operand_integer((uint64_t)sum));
    u->rewrite.insts.at[u->rewrite.insts.count - 1].guard = u->guard;
    u->name[index] = name;
}

static void copy_inst(struct unroll *u, uint32_t i)
{
    const struct ptx_function *f = u->pass->f;
    const struct ptx_inst inst = f->insts[i];
    if (inst.count && f->operands[inst.first].kind == PTX_OP_REGISTER && unroll_jump(u, i) &&
        u->jump[f->operands[inst.first].index]) {
        copy_jump(u, &inst, f->operands[inst.first].index);
        return;
    }
    uint32_t written = ptx_written_operands(f, &inst), first = (uint32_t)u->rewrite.operands.count;
    u->inst = i;
    for (uint32_t k = 0; k < inst.count; k++)
        *list_push(u->rewrite.operands) = f->operands[inst.first + k];
    struct ptx_inst copy = inst;
    copy.first = first;
    copy.guard = inst.guard >= 0 ? (int32_t)u->name[inst.guard] : u->guard;
    for (uint32_t pass = 0; pass < 2; pass++) /* what is read has its name from before what is written */
        for (uint32_t k = 0; k < inst.count; k++) {
            if ((k < written) != (pass == 1))
                continue;
            struct ptx_operand operand = u->rewrite.operands.at[first + k];
            rename_operand(u, &operand, k < written);
            u->rewrite.operands.at[first + k] = operand;
        }
    *list_push(u->rewrite.insts) = copy;
}

static void copy_rounds(struct unroll *u, uint32_t rounds)
{
    u->rounds = rounds;
    for (uint32_t k = 0; k < u->touched_count; k++)
        u->name[u->touched[k]] = u->touched[k];
    for (u->round = 0; u->round < rounds; u->round++) {
        u->stamp++;
        for (uint32_t i = u->loop.first; i < u->loop.last; i++)
            if (i != u->loop.test)
                copy_inst(u, i);
    }
}

/* Comparisons and branches */

static const char *test_opcode(const struct unroll *u, const char *compare, bool is_signed)
{
    static const char *const opcodes[] = {
        "setp.lt.u32", "setp.le.u32", "setp.gt.u32", "setp.ge.u32", "setp.ne.u32", "setp.eq.u32",
        "setp.lt.s32", "setp.le.s32", "setp.gt.s32", "setp.ge.s32", "setp.ne.s32", "setp.eq.s32",
        "setp.lt.u64", "setp.le.u64", "setp.gt.u64", "setp.ge.u64", "setp.ne.u64", "setp.eq.u64",
        "setp.lt.s64", "setp.le.s64", "setp.gt.s64", "setp.ge.s64", "setp.ne.s64", "setp.eq.s64",
    };
    size_t first = (u->loop.is_wide ? 12 : 0) + (is_signed ? 6 : 0);
    for (size_t i = first; i < first + 6; i++)
        if (!strncmp(opcodes[i] + 5, compare, 2))
            return opcodes[i];
    BUG("no comparison %s", compare);
}

static uint32_t add_test(struct unroll *u, const char *compare, bool is_signed, struct ptx_operand a,
                         struct ptx_operand b)
{
    uint32_t p = rewrite_register(&u->rewrite, "(test)", PTX_pred);
    rewrite_add(&u->rewrite, test_opcode(u, compare, is_signed), &u->pass->f->insts[u->loop.test]);
    rewrite_operand(&u->rewrite, operand_register(p));
    rewrite_operand(&u->rewrite, a);
    rewrite_operand(&u->rewrite, b);
    return p;
}

static uint32_t add_difference(struct unroll *u, struct ptx_operand a, struct ptx_operand b)
{
    uint32_t d = rewrite_register(&u->rewrite, "(left)", u->loop.is_wide ? PTX_b64 : PTX_b32);
    rewrite_add(&u->rewrite, u->loop.is_wide ? "sub.s64" : "sub.s32", &u->pass->f->insts[u->loop.test]);
    rewrite_operand(&u->rewrite, operand_register(d));
    rewrite_operand(&u->rewrite, a);
    rewrite_operand(&u->rewrite, b);
    return d;
}

static void add_branch(struct unroll *u, uint32_t p, bool not, uint32_t label)
{
    const struct ptx_inst *back = &u->pass->f->insts[u->loop.last];
    struct ptx_inst *branch = rewrite_add(&u->rewrite, back->opcode, back);
    branch->guard = (int32_t)p;
    branch->guard_not = not ;
    rewrite_operand(&u->rewrite, operand_label(label));
}

static uint64_t length_of(const struct loop *loop)
{
    return (uint64_t)(loop->step < 0 ? -loop->step : loop->step);
}

/* Counter and limit, the lesser first when the loop goes on. */
static void find_ends(const struct loop *loop, struct ptx_operand *low, struct ptx_operand *high)
{
    bool up = loop->step > 0;
    *low = up ? operand_register(loop->counter) : loop->limit;
    *high = up ? loop->limit : operand_register(loop->counter);
}

/* How far it is to a limit that is not passed but met: the difference may wrap, as the counter may. */
static struct ptx_operand add_left(struct unroll *u)
{
    struct ptx_operand low, high;
    find_ends(&u->loop, &low, &high);
    if (low.kind == PTX_OP_INTEGER && !low.value)
        return high;
    return operand_register(add_difference(u, high, low));
}

/* Goes to the label unless so many rounds and one more are left. */
static void skip_unless_left(struct unroll *u, uint32_t rounds, uint32_t label)
{
    const struct loop *loop = &u->loop;
    struct ptx_operand low, high, distance = operand_integer(rounds * length_of(loop));
    find_ends(loop, &low, &high);
    if (loop->compare == COMPARE_ne) {
        add_branch(u, add_test(u, "gt", true, add_left(u), distance), true, label);
        return;
    }
    bool also_equal = loop->compare == COMPARE_le || loop->compare == COMPARE_ge;
    uint32_t ended = add_test(u, opposite_names[loop->compare], loop->is_signed,
                              operand_register(loop->counter), loop->limit);
    uint32_t left = add_difference(u, high, low);
    uint32_t near = add_test(u, also_equal ? "lt" : "le", false, operand_register(left), distance);
    uint32_t both = rewrite_register(&u->rewrite, "(near)", PTX_pred);
    rewrite_add(&u->rewrite, "or.pred", &u->pass->f->insts[loop->test]);
    rewrite_operand(&u->rewrite, operand_register(both));
    rewrite_operand(&u->rewrite, operand_register(near));
    rewrite_operand(&u->rewrite, operand_register(ended));
    add_branch(u, both, false, label);
}

/* Where the loop of four rounds ends: three rounds before the limit. */
static struct ptx_operand add_limit(struct unroll *u)
{
    const struct loop *loop = &u->loop;
    if (loop->compare == COMPARE_ne)
        return loop->limit;
    uint32_t limit = rewrite_register(&u->rewrite, "(limit)", u->loop.is_wide ? PTX_b64 : PTX_b32);
    rewrite_add(&u->rewrite, loop->is_wide ? "sub.s64" : "sub.s32", &u->pass->f->insts[loop->test]);
    rewrite_operand(&u->rewrite, operand_register(limit));
    rewrite_operand(&u->rewrite, loop->limit);
    rewrite_operand(&u->rewrite, operand_integer((uint64_t)(3 * loop->step)));
    return operand_register(limit);
}

static void again_if_left(struct unroll *u, struct ptx_operand limit, uint32_t label)
{
    const struct loop *loop = &u->loop;
    if (loop->compare != COMPARE_ne) {
        add_branch(u,
                   add_test(u, compare_names[loop->compare], loop->is_signed, operand_register(loop->counter),
                            limit),
                   false, label);
        return;
    }
    add_branch(u, add_test(u, "gt", true, add_left(u), operand_integer(3 * length_of(loop))), false, label);
}

static void end_unless_more(struct unroll *u, uint32_t label)
{
    uint32_t p = add_test(u, compare_names[u->loop.compare], u->loop.is_signed,
                          operand_register(u->loop.counter), u->loop.limit);
    add_branch(u, p, true, label);
}

/* A loop that counts without signs is entered even when its counter is beyond the limit: for that ptxas makes
 * a round of its own, of guarded instructions, which mostly do nothing but take their time. */
static void add_first_round(struct unroll *u, uint32_t end)
{
    const struct loop *loop = &u->loop;
    if (loop->compare == COMPARE_ne || loop->is_signed)
        return;
    for (uint32_t i = loop->first; i < loop->last; i++)
        if (u->pass->f->insts[i].guard >= 0 || opcode_at(u, i)->product)
            return;
    uint32_t ended =
        add_test(u, opposite_names[loop->compare], false, operand_register(loop->counter), loop->limit);
    u->guard = (int32_t)ended;
    copy_rounds(u, 1);
    u->guard = -1;
    uint32_t beyond =
        add_test(u, opposite_names[loop->compare], false, operand_register(loop->counter), loop->limit);
    uint32_t both = rewrite_register(&u->rewrite, "(over)", PTX_pred); /* it was, and did not wrap around */
    rewrite_add(&u->rewrite, "and.pred", &u->pass->f->insts[loop->test]);
    rewrite_operand(&u->rewrite, operand_register(both));
    rewrite_operand(&u->rewrite, operand_register(beyond));
    rewrite_operand(&u->rewrite, operand_register(ended));
    add_branch(u, both, false, end);
}

void unroll_loop(struct unroll *u)
{
    const struct loop *loop = &u->loop;
    if (!u->rewriting)
        rewrite_init(&u->rewrite, u->pass->module, u->pass->f);
    u->rewriting = true;
    for (uint32_t k = 0; k < u->touched_count; k++)
        u->local[u->touched[k]] = is_local(u, u->touched[k]);
    rewrite_copy(&u->rewrite, loop->first);
    uint32_t four = rewrite_label(&u->rewrite), two = rewrite_label(&u->rewrite),
             one = rewrite_label(&u->rewrite), end = rewrite_label(&u->rewrite);
    rewrite_place_old(&u->rewrite, one, loop->first);
    rewrite_place_old(&u->rewrite, end, loop->last + 1);
    add_first_round(u, end);
    skip_unless_left(u, 3, two);
    struct ptx_operand limit = add_limit(u);
    rewrite_place(&u->rewrite, four);
    copy_rounds(u, 4);
    again_if_left(u, limit, four);
    end_unless_more(u, end);
    rewrite_place(&u->rewrite, two);
    skip_unless_left(u, 1, one);
    copy_rounds(u, 2);
    end_unless_more(u, end);
    rewrite_copy(&u->rewrite, loop->last + 1);
}
