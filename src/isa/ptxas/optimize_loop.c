/* Loops of one basic block that count by a constant up or down to a limit are unrolled as in ptxas, so that
 * the loads of four rounds are in flight at a time:
 *
 *         if not four rounds left: goto two
 *   four: round, round, round, round; if four rounds left: goto four
 *         if it ends here: goto end
 *   two:  if not two rounds left: goto one
 *         round, round; if it ends here: goto end
 *   one:  the loop as it was
 *   end:
 */
#include "ptxas/optimize_loop.h"
#include "base/mem.h"

#include <stdio.h>
#include <string.h>

/* The longest rounds that are unrolled, in machine instructions; found by trying. */
enum { PLAIN_MOST = 21, SHARED_MOST = 25, GLOBAL_MOST = 47, ROUND_MOST = 256 };

const char *const compare_names[] = {"lt", "le", "gt", "ge", "ne"};
const char *const opposite_names[] = {"ge", "gt", "le", "lt", "eq"};

static const struct opcode *opcode_at(const struct unroll *u, uint32_t i)
{
    return values_opcode(&u->pass->plan.values, i);
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

int64_t unroll_jump(const struct unroll *u, uint32_t i)
{
    const struct opcode *opcode = opcode_at(u, i);
    const struct ptx_operand *d = values_operand(&u->pass->plan.values, i, 0),
                             *a = values_operand(&u->pass->plan.values, i, 1),
                             *b = values_operand(&u->pass->plan.values, i, 2);
    bool adds = (opcode->kind == KIND_ADD && opcode->type != PTX_u16 && opcode->type != PTX_s16) ||
                opcode->kind == KIND_ADD64;
    if (!adds || opcode->carry || u->pass->f->insts[i].guard >= 0 || u->pass->f->insts[i].count != 3)
        return 0;
    if (d->kind != PTX_OP_REGISTER || a->kind != PTX_OP_REGISTER || d->index != a->index ||
        b->kind != PTX_OP_INTEGER)
        return 0;
    return opcode->kind == KIND_ADD ? (int32_t)b->value : (int64_t)b->value;
}

/* Whether a store goes to an address that stays, or moves by a constant from round to round. */
static bool is_simple_store(const struct unroll *u, uint32_t i)
{
    const struct ptx_function *f = u->pass->f;
    const struct ptx_operand *address = values_operand(&u->pass->plan.values, i, 0);
    const struct ptx_operand *base =
        address->kind == PTX_OP_MEMORY && address->count ? &f->operands[address->first] : NULL;
    for (int hops = 0; base && base->kind == PTX_OP_REGISTER && u->writes[base->index] && hops < 4; hops++) {
        uint32_t maker = values_maker(&u->pass->plan.values, base);
        if (maker == VALUES_NONE) /* a variable of the loop */
            return u->jump[base->index];
        const struct ptx_operand *a = values_operand(&u->pass->plan.values, maker, 1);
        uint8_t kind = opcode_at(u, maker)->kind;
        if ((kind != KIND_ADD && kind != KIND_ADD64) ||
            values_operand(&u->pass->plan.values, maker, 2)->kind != PTX_OP_INTEGER)
            return false;
        base = a;
    }
    return base && (base->kind != PTX_OP_REGISTER || !u->writes[base->index]);
}

/* Whether it may be done four times in a row. ptxas does not when it loads from where it also stores, to
 * addresses that it knows nothing of. */
static bool can_repeat(const struct unroll *u, const struct loop *loop)
{
    bool loads[2] = {false, false}, stores[2] = {false, false}; /* in shared and in global memory */
    for (uint32_t i = loop->first; i < loop->last; i++) {
        const struct opcode *opcode = opcode_at(u, i);
        bool global = opcode->space == PTX_GLOBAL || opcode->space == PTX_GENERIC;
        if (opcode->splits || opcode->carry || opcode->strict || opcode->whole_warp ||
            opcode->kind == KIND_ATOMIC)
            return false;
        if (opcode->effect != EFFECT_NONE && opcode->effect != EFFECT_READ && opcode->kind != KIND_STORE)
            return false;
        loads[global] |= opcode->kind == KIND_LOAD;
        stores[global] |= opcode->kind == KIND_STORE && !is_simple_store(u, i);
    }
    uint32_t most = loads[1] ? GLOBAL_MOST : loads[0] ? SHARED_MOST : PLAIN_MOST;
    return !(loads[0] && stores[0]) && !(loads[1] && stores[1]) &&
           pass_steps(u->pass, loop->first, loop->last) <= most;
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
    const struct value *value = &u->pass->plan.values.at[branch->guard];
    if (u->writes[branch->guard] != 1 || value->count != 1 || branch->guard_not || value->guarded)
        return false;
    for (loop->test = loop->last; loop->test-- > loop->first;) {
        const struct ptx_operand *d = values_operand(&u->pass->plan.values, loop->test, 0);
        if (d->kind == PTX_OP_REGISTER && d->index == (uint32_t)branch->guard)
            break;
    }
    const struct ptx_inst *test = &u->pass->f->insts[loop->test];
    if (loop->test < loop->first || loop->test > loop->last || test->guard >= 0 || test->count != 3 ||
        !find_compare(test->opcode, loop))
        return false;
    const struct ptx_operand *a = values_operand(&u->pass->plan.values, loop->test, 1);
    loop->limit = *values_operand(&u->pass->plan.values, loop->test, 2);
    if (a->kind != PTX_OP_REGISTER)
        return false;
    loop->counter = a->index;
    bool fixed =
        loop->limit.kind == PTX_OP_INTEGER ||
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
        const struct ptx_operand *d = values_operand(&u->pass->plan.values, i, 0);
        if (d->kind == PTX_OP_REGISTER && d->index == loop->counter && unroll_jump(u, i))
            loop->step = unroll_jump(u, i);
    }
    if (!loop->step || loop->step > 1 << 20 || loop->step < -(1 << 20))
        return false;
    bool up = loop->compare == COMPARE_lt || loop->compare == COMPARE_le;
    bool down = loop->compare == COMPARE_gt || loop->compare == COMPARE_ge;
    return !(up && loop->step < 0) && !(down && loop->step > 0);
}

/* Whether the program forbids it, as the front end does for the rest of a loop that it unrolled itself. */
static bool is_forbidden(const struct ptx_function *f, const struct loop *loop)
{
    const struct ptx_operand *target = &f->operands[f->insts[loop->last].first];
    return target->kind == PTX_OP_LABEL && f->labels[target->index].nounroll;
}

/* Sums must not take products from outside of the round, nor other sums its products. */
static bool keeps_contraction(const struct unroll *u, const struct loop *loop)
{
    const struct values *values = &u->pass->plan.values;
    if (!pass_products_stay(u->pass, loop->first, loop->last))
        return false;
    for (uint32_t i = loop->first; i < loop->last; i++)
        for (uint32_t k = 1; k <= 2 && opcode_at(u, i)->sum; k++) {
            const struct ptx_operand *operand = values_operand(values, i, k);
            if (operand->kind != PTX_OP_REGISTER)
                continue;
            const struct value *value = &values->at[operand->index];
            if (u->product[operand->index] &&
                (value->writes > 1 || value->maker < loop->first || value->maker >= i))
                return false;
        }
    return true;
}

/* Registers to which each round adds the same. */
static void find_jumps(struct unroll *u, const struct loop *loop)
{
    for (uint32_t k = 0; k < u->touched_count; k++)
        u->jump[u->touched[k]] = 0;
    for (uint32_t i = loop->first; i < loop->last; i++) {
        const struct ptx_operand *d = values_operand(&u->pass->plan.values, i, 0);
        int64_t jump = unroll_jump(u, i);
        if (jump && u->writes[d->index] == 1)
            u->jump[d->index] = jump;
    }
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
    falls &= f->insts[loop.first - 1].guard >= 0 || before->next_count > 1 ||
             !ptx_is(&f->insts[loop.first - 1], "bra");
    if (!falls || block->count > ROUND_MOST)
        return false;
    for (u->inst = loop.first; u->inst < loop.last; u->inst++)
        ptx_each_register(f, &f->insts[u->inst], see_write, u);
    loop.guard = branch->guard;
    find_jumps(u, &loop);
    if (!can_repeat(u, &loop) || !find_test(u, &loop) || !find_step(u, &loop) || is_forbidden(f, &loop) ||
        !keeps_contraction(u, &loop))
        return false;
    u->loop = loop;
    return true;
}

void optimize_loops(struct ptx_module *module, struct ptx_function *f)
{
    struct pass pass;
    pass_init(&pass, module, f);
    uint32_t n = f->register_count + 1;
    struct unroll u = {.pass = &pass, .guard = -1};
    u.writes = mem_alloc(n, sizeof *u.writes);
    u.name = mem_alloc(n, sizeof *u.name);
    u.local = mem_alloc(n, sizeof *u.local);
    u.fresh = mem_alloc(n, sizeof *u.fresh);
    u.jump = mem_alloc(n, sizeof *u.jump);
    u.product = mem_alloc(n, sizeof *u.product);
    for (uint32_t i = 0; i < f->inst_count; i++) {
        const struct ptx_operand *d = values_operand(&pass.plan.values, i, 0);
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
    mem_free(u.fresh);
    mem_free(u.jump);
    mem_free(u.product);
}
