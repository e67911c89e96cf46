/* Loops of one block that count by a constant up or down to a limit are unrolled as ptxas does it, so that the loads
 * of four rounds are on their way at a time:
 *
 *         if not four rounds left: goto two
 *   four: round, round, round, round; if four rounds left: goto four
 *         if it ends here: goto end
 *   two:  if not two rounds left: goto one
 *         round, round; if it ends here: goto end
 *   one:  the loop as it was
 *   end:
 */
#include "optimize_parts.h"
#include "base/mem.h"

#include <stdio.h>
#include <string.h>

/* The longest rounds that are unrolled, in machine instructions; found by trying. */
enum { PLAIN_MOST = 21, SHARED_MOST = 25, GLOBAL_MOST = 47 };

enum compare { COMPARE_lt, COMPARE_le, COMPARE_gt, COMPARE_ge, COMPARE_ne };
static const char *const compare_names[] = {"lt", "le", "gt", "ge", "ne"};
static const char *const opposite_names[] = {"ge", "gt", "le", "lt", "eq"};

struct loop {
    uint32_t first, test, last; /* instructions: of the round; the comparison; the branch back */
    uint32_t counter;           /* register */
    int64_t step;
    enum compare compare; /* it goes on while counter compare limit */
    bool is_signed, is_wide;
    struct ptx_operand limit;
    int32_t guard;
};

struct unroll {
    struct pass *pass;
    struct rewrite rewrite;
    bool rewriting;
    uint32_t *writes;  /* by register: in the loop at hand */
    uint32_t *touched; /* registers with writes, to clear them */
    uint32_t touched_count, touched_capacity;
    uint32_t *name; /* by register: what it is called in the round at hand */
    bool *local;    /* by register, written in the loop: nobody needs it behind the round */
    bool *product;  /* by register: some product writes it (exec/contract.c) */
    int64_t *jump;  /* by register: what a round adds to it; 0: not so simple */
    uint32_t inst, round, rounds;
    struct loop loop;
};

static const struct opcode *opcode_at(const struct unroll *u, uint32_t i)
{
    return values_opcode(&u->pass->values, i);
}

static void see_write(void *context, uint32_t index, bool written)
{
    struct unroll *u = context;
    if (!written)
        return;
    if (!u->writes[index]++) {
        mem_grow(u->touched, u->touched_count, u->touched_capacity);
        u->touched[u->touched_count++] = index;
    }
}

/* add r, r, number */
static int64_t jump_of(const struct unroll *u, uint32_t i)
{
    const struct opcode *opcode = opcode_at(u, i);
    const struct ptx_operand *d = values_operand(&u->pass->values, i, 0), *a = values_operand(&u->pass->values, i, 1),
                             *b = values_operand(&u->pass->values, i, 2);
    bool adds = (opcode->kind == KIND_ADD && opcode->type != PTX_u16 && opcode->type != PTX_s16) || opcode->kind == KIND_ADD64;
    if (!adds || opcode->carry || u->pass->f->insts[i].guard >= 0 || u->pass->f->insts[i].count != 3)
        return 0;
    if (d->kind != PTX_OP_REGISTER || a->kind != PTX_OP_REGISTER || d->index != a->index || b->kind != PTX_OP_INTEGER)
        return 0;
    return opcode->kind == KIND_ADD ? (int32_t)b->value : (int64_t)b->value;
}

/* Whether it may be done four times in a row, and loads of one round before stores of the last. */
static bool can_repeat(const struct unroll *u, const struct loop *loop)
{
    uint32_t loads = 0, shared_loads = 0, stores = 0;
    for (uint32_t i = loop->first; i < loop->last; i++) {
        const struct opcode *opcode = opcode_at(u, i);
        if (opcode->splits || opcode->carry || opcode->strict || opcode->kind == KIND_ATOMIC)
            return false;
        if (opcode->effect != EFFECT_NONE && opcode->effect != EFFECT_READ && opcode->kind != KIND_STORE)
            return false;
        bool global = opcode->space == PTX_GLOBAL || opcode->space == PTX_GENERIC;
        loads += opcode->kind == KIND_LOAD && global;
        shared_loads += opcode->kind == KIND_LOAD && !global;
        stores += opcode->kind == KIND_STORE && global;
    }
    uint32_t most = loads ? GLOBAL_MOST : shared_loads ? SHARED_MOST : PLAIN_MOST;
    return !(loads && stores) && loop->last - loop->first < 256 && pass_steps(u->pass, loop->first, loop->last) <= most;
}

static bool find_compare(const char *opcode, struct loop *loop)
{
    static const struct {
        const char *type;
        bool is_signed, is_wide;
    } types[] = {{"u32", false, false}, {"s32", true, false}, {"u64", false, true}, {"s64", true, true}};
    for (int c = COMPARE_lt; c <= COMPARE_ne; c++)
        for (int t = 0; t < 4; t++) {
            char text[24];
            snprintf(text, sizeof text, "setp.%s.%s", compare_names[c], types[t].type);
            if (strcmp(text, opcode) != 0)
                continue;
            loop->compare = (enum compare)c;
            loop->is_signed = types[t].is_signed;
            loop->is_wide = types[t].is_wide;
            return true;
        }
    return false;
}

/* The comparison that the branch back depends on, and nothing else. */
static bool find_test(const struct unroll *u, struct loop *loop)
{
    const struct ptx_inst *branch = &u->pass->f->insts[loop->last];
    const struct value *value = &u->pass->values.at[branch->guard];
    if (u->writes[branch->guard] != 1 || value->count != 1 || branch->guard_not || value->guarded)
        return false;
    for (loop->test = loop->last; loop->test-- > loop->first;) {
        const struct ptx_operand *d = values_operand(&u->pass->values, loop->test, 0);
        if (d->kind == PTX_OP_REGISTER && d->index == (uint32_t)branch->guard)
            break;
    }
    const struct ptx_inst *test = &u->pass->f->insts[loop->test];
    if (loop->test < loop->first || loop->test > loop->last || test->guard >= 0 || test->count != 3 || !find_compare(test->opcode, loop))
        return false;
    const struct ptx_operand *a = values_operand(&u->pass->values, loop->test, 1);
    loop->limit = *values_operand(&u->pass->values, loop->test, 2);
    if (a->kind != PTX_OP_REGISTER)
        return false;
    loop->counter = a->index;
    bool fixed = loop->limit.kind == PTX_OP_INTEGER ||
                 (loop->limit.kind == PTX_OP_REGISTER && !u->writes[loop->limit.index] && !loop->limit.negated);
    uint32_t bytes = loop->is_wide ? 8 : 4;
    return fixed && ptx_type_bytes(u->pass->f->registers[a->index].type) == bytes &&
           (loop->limit.kind == PTX_OP_INTEGER ||
            ptx_type_bytes(u->pass->f->registers[loop->limit.index].type) == bytes);
}

/* The counter's one step, before the comparison, in the right direction. */
static bool find_step(const struct unroll *u, struct loop *loop)
{
    if (u->writes[loop->counter] != 1)
        return false;
    for (uint32_t i = loop->first; i < loop->test; i++) {
        const struct ptx_operand *d = values_operand(&u->pass->values, i, 0);
        if (d->kind == PTX_OP_REGISTER && d->index == loop->counter && jump_of(u, i))
            loop->step = jump_of(u, i);
    }
    if (!loop->step || loop->step > 1 << 20 || loop->step < -(1 << 20))
        return false;
    bool up = loop->compare == COMPARE_lt || loop->compare == COMPARE_le;
    bool down = loop->compare == COMPARE_gt || loop->compare == COMPARE_ge;
    return !(up && loop->step < 0) && !(down && loop->step > 0);
}

/* The rest of a loop that the front end unrolled has at most three rounds. */
static bool is_rest(const struct unroll *u, const struct loop *loop)
{
    const struct ptx_function *f = u->pass->f;
    for (uint32_t i = loop->first; i-- > 0 && loop->first - i < 64;) {
        const struct ptx_operand *d = values_operand(&u->pass->values, i, 0);
        if (d->kind != PTX_OP_REGISTER || d->index != loop->counter || !ptx_written_operands(f, &f->insts[i]))
            continue;
        uint32_t maker = opcode_at(u, i)->kind == KIND_MOVE ? values_maker(&u->pass->values, values_operand(&u->pass->values, i, 1)) : i;
        if (maker == VALUES_NONE || !ptx_is(&f->insts[maker], "and"))
            return false;
        const struct ptx_operand *mask = values_operand(&u->pass->values, maker, 2);
        return mask->kind == PTX_OP_INTEGER && mask->value < 4;
    }
    return false;
}

/* Whether all that read the register read it in the loop, under the guard that it was written under. */
static bool is_local(const struct unroll *u, uint32_t index)
{
    const struct ptx_function *f = u->pass->f;
    const struct value *value = &u->pass->values.at[index];
    int32_t guard = -1;
    bool guard_not = false, written = false;
    for (uint32_t k = 0; k < value->count; k++) {
        uint32_t reader = u->pass->values.readers[value->first + k];
        if (reader < u->loop.first || reader > u->loop.last)
            return false;
    }
    if (value->writes != u->writes[index] || value->writes != 1)
        return false;
    for (uint32_t i = u->loop.first; i <= u->loop.last; i++) { /* written before it is read */
        const struct ptx_inst *inst = &f->insts[i];
        bool reads = false;
        for (uint32_t k = 0; k < value->count; k++)
            reads |= u->pass->values.readers[value->first + k] == i;
        if (reads && !written)
            return false;
        if (reads && guard >= 0 && (inst->guard != guard || inst->guard_not != guard_not))
            return false;
        if (value->maker == i)
            written = true, guard = inst->guard, guard_not = inst->guard_not;
    }
    if (guard < 0 || !u->writes[guard])
        return true;
    const struct value *condition = &u->pass->values.at[guard]; /* it must not change in between */
    return condition->writes == 1 && condition->maker < value->maker;
}

/* Sums must not take products from outside of the round, nor other sums its products. */
static bool keeps_contraction(const struct unroll *u, const struct loop *loop)
{
    const struct values *values = &u->pass->values;
    if (!pass_products_stay(u->pass, loop->first, loop->last))
        return false;
    for (uint32_t i = loop->first; i < loop->last; i++)
        for (uint32_t k = 1; k <= 2 && opcode_at(u, i)->sum; k++) {
            const struct ptx_operand *operand = values_operand(values, i, k);
            if (operand->kind != PTX_OP_REGISTER)
                continue;
            const struct value *value = &values->at[operand->index];
            if (u->product[operand->index] && (value->writes > 1 || value->maker < loop->first || value->maker >= i))
                return false;
        }
    return true;
}

static bool find_loop(struct unroll *u, uint32_t b)
{
    const struct ptx_function *f = u->pass->f;
    const struct flow *flow = &u->pass->flow;
    const struct flow_block *block = &flow->blocks[b];
    struct loop loop = {.first = block->first, .last = block->first + block->count - 1};
    const struct ptx_inst *branch = &f->insts[loop.last];
    if (!b || block->count < 3 || block->next_count != 2 || branch->guard < 0 || !ptx_is(branch, "bra"))
        return false;
    if (flow->edges[block->next] != b || flow->edges[block->next + 1] != b + 1)
        return false;
    const struct flow_block *before = &flow->blocks[b - 1];
    bool falls = false;
    for (uint32_t e = 0; e < before->next_count; e++)
        falls |= flow->edges[before->next + e] == b;
    falls &= f->insts[loop.first - 1].guard >= 0 || before->next_count > 1 || !ptx_is(&f->insts[loop.first - 1], "bra");
    if (!falls || !can_repeat(u, &loop))
        return false;
    for (u->inst = loop.first; u->inst < loop.last; u->inst++)
        ptx_each_register(f, &f->insts[u->inst], see_write, u);
    loop.guard = branch->guard;
    if (!find_test(u, &loop) || !find_step(u, &loop) || is_rest(u, &loop) || !keeps_contraction(u, &loop))
        return false;
    u->loop = loop;
    return true;
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
        if (written && u->writes[r] == 1 && (u->local[r] || u->round + 1 < u->rounds)) {
            const struct ptx_register *old = &u->pass->f->registers[r];
            if (u->local[r] || u->pass->f->insts[u->inst].guard < 0)
                u->name[r] = rewrite_register(&u->rewrite, old->name, old->type);
        } else if (written) {
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
    u->name[index] = name;
}

static void copy_inst(struct unroll *u, uint32_t i)
{
    const struct ptx_function *f = u->pass->f;
    const struct ptx_inst inst = f->insts[i];
    if (inst.count && f->operands[inst.first].kind == PTX_OP_REGISTER && jump_of(u, i) &&
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
    if (inst.guard >= 0)
        copy.guard = (int32_t)u->name[inst.guard];
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
    for (u->round = 0; u->round < rounds; u->round++)
        for (uint32_t i = u->loop.first; i < u->loop.last; i++)
            if (i != u->loop.test)
                copy_inst(u, i);
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

static uint32_t add_test(struct unroll *u, const char *compare, bool is_signed, struct ptx_operand a, struct ptx_operand b)
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
    branch->guard_not = not;
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
    uint32_t ended = add_test(u, opposite_names[loop->compare], loop->is_signed, operand_register(loop->counter), loop->limit);
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
        add_branch(u, add_test(u, compare_names[loop->compare], loop->is_signed, operand_register(loop->counter), limit), false, label);
        return;
    }
    add_branch(u, add_test(u, "gt", true, add_left(u), operand_integer(3 * length_of(loop))), false, label);
}

static void end_unless_more(struct unroll *u, uint32_t label)
{
    uint32_t p = add_test(u, compare_names[u->loop.compare], u->loop.is_signed, operand_register(u->loop.counter), u->loop.limit);
    add_branch(u, p, true, label);
}

static void unroll_loop(struct unroll *u)
{
    const struct loop *loop = &u->loop;
    if (!u->rewriting)
        rewrite_init(&u->rewrite, u->pass->module, u->pass->f);
    u->rewriting = true;
    for (uint32_t k = 0; k < u->touched_count; k++) {
        uint32_t r = u->touched[k];
        u->local[r] = is_local(u, r);
        u->jump[r] = 0;
    }
    for (uint32_t i = loop->first; i < loop->last; i++) {
        const struct ptx_operand *d = values_operand(&u->pass->values, i, 0);
        if (jump_of(u, i) && u->writes[d->index] == 1)
            u->jump[d->index] = jump_of(u, i);
    }
    rewrite_copy(&u->rewrite, loop->first);
    uint32_t four = rewrite_label(&u->rewrite), two = rewrite_label(&u->rewrite), one = rewrite_label(&u->rewrite),
             end = rewrite_label(&u->rewrite);
    rewrite_place_old(&u->rewrite, one, loop->first);
    rewrite_place_old(&u->rewrite, end, loop->last + 1);
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

bool optimize_loops(struct ptx_module *module, struct ptx_function *f)
{
    struct pass pass;
    pass_init(&pass, module, f);
    uint32_t n = f->register_count + 1;
    struct unroll u = {.pass = &pass};
    u.writes = mem_alloc(n, sizeof *u.writes);
    u.name = mem_alloc(n, sizeof *u.name);
    u.local = mem_alloc(n, sizeof *u.local);
    u.jump = mem_alloc(n, sizeof *u.jump);
    u.product = mem_alloc(n, sizeof *u.product);
    for (uint32_t i = 0; i < f->inst_count; i++) {
        const struct ptx_operand *d = values_operand(&pass.values, i, 0);
        if (opcode_at(&u, i)->product && d->kind == PTX_OP_REGISTER)
            u.product[d->index] = true;
    }
    for (uint32_t r = 0; r < n; r++)
        u.name[r] = r;
    for (uint32_t b = 0; b < pass.flow.block_count; b++) {
        if (find_loop(&u, b))
            unroll_loop(&u);
        while (u.touched_count) {
            uint32_t r = u.touched[--u.touched_count];
            u.writes[r] = 0;
            u.name[r] = r;
        }
    }
    if (u.rewriting)
        rewrite_finish(&u.rewrite);
    pass_fini(&pass);
    mem_free(u.writes);
    mem_free(u.touched);
    mem_free(u.name);
    mem_free(u.local);
    mem_free(u.jump);
    mem_free(u.product);
    return u.rewriting;
}
