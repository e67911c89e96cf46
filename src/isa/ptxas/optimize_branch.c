/* Small bodies of branches become guarded instructions, as in ptxas: up to eight machine instructions (seven
 * when the branch is uniform for the warp), not counting loads. */
#include "ptxas/optimize_parts.h"
#include "base/mem.h"

#include <string.h>

enum { BODY_MOST = 8, EACH_MOST = 7, LOADS_MOST = 10 };

/* The instruction behind a label, or NULL. */
static const struct ptx_inst *target_of(const struct ptx_function *f, const struct ptx_inst *branch)
{
    if (!ptx_is(branch, "bra") || branch->count != 1 || f->operands[branch->first].kind != PTX_OP_LABEL)
        return NULL;
    uint32_t inst = f->labels[f->operands[branch->first].index].inst;
    return inst < f->inst_count ? &f->insts[inst] : NULL;
}

/* A branch to the end is the end. */
void optimize_exits(struct ptx_function *f)
{
    for (uint32_t i = 0; i < f->inst_count; i++) {
        struct ptx_inst *inst = &f->insts[i];
        const struct ptx_inst *target = target_of(f, inst);
        if (!target || inst->guard < 0 || target->guard >= 0 || target->count || !ptx_is(target, "ret"))
            continue;
        inst->opcode = target->opcode;
        inst->count = 0;
    }
}

/* What to do with a branch. */
struct choice {
    uint32_t branch;               /* instruction */
    uint32_t then_first, then_end; /* done when it is not taken */
    uint32_t else_first, else_end; /* done when it is; may be empty */
    uint32_t end;                  /* where the ways meet */
};

static bool can_be_guarded(const struct pass *pass, uint32_t i)
{
    const struct opcode *opcode = values_opcode(&pass->plan.values, i);
    const struct ptx_inst *inst = &pass->f->insts[i];
    if (opcode->splits || opcode->carry || opcode->strict || opcode->whole_warp)
        return false;
    if (opcode->product)
        return false;
    if (inst->guard >= 0 && pass->f->registers[inst->guard].type != PTX_pred)
        return false;
    return opcode->effect == EFFECT_NONE || opcode->effect == EFFECT_READ || opcode->kind == KIND_STORE;
}

static uint32_t count_loads(const struct pass *pass, uint32_t first, uint32_t end)
{
    uint32_t loads = 0;
    for (uint32_t i = first; i < end; i++)
        loads += values_opcode(&pass->plan.values, i)->kind == KIND_LOAD;
    return loads;
}

static bool is_small(const struct pass *pass, uint32_t first, uint32_t end, uint32_t most)
{
    uint32_t loads = count_loads(pass, first, end);
    if (end - first > 64 || loads > LOADS_MOST || pass_steps(pass, first, end) > most + loads)
        return false;
    for (uint32_t i = first; i < end; i++)
        if (!can_be_guarded(pass, i))
            return false;
    return true;
}

struct writes {
    uint32_t index;
    bool found;
};

static void see_write(void *context, uint32_t index, bool written)
{
    struct writes *writes = context;
    writes->found |= written && index == writes->index;
}

static bool writes_register(const struct pass *pass, uint32_t first, uint32_t end, uint32_t index)
{
    struct writes writes = {index, false};
    for (uint32_t i = first; i < end; i++)
        ptx_each_register(pass->f, &pass->f->insts[i], see_write, &writes);
    return writes.found;
}

static uint32_t end_of(const struct flow_block *block)
{
    return block->first + block->count;
}

/* A block that is reached from the one before alone, and leads to one place. */
static bool is_body(const struct pass *pass, uint32_t block)
{
    return block < pass->flow.block_count && pass->entries[block] == 1 &&
           pass->flow.blocks[block].next_count == 1;
}

static bool find_choice(const struct pass *pass, uint32_t b, struct choice *choice)
{
    const struct flow *flow = &pass->flow;
    const struct flow_block *block = &flow->blocks[b];
    uint32_t last = end_of(block) - 1;
    const struct ptx_inst *branch = &pass->f->insts[last];
    if (!target_of(pass->f, branch) || branch->guard < 0 || block->next_count != 2 || !is_body(pass, b + 1))
        return false;
    if (pass->f->registers[branch->guard].type != PTX_pred)
        return false;
    uint32_t taken = flow->edges[block->next], then_to = flow->edges[flow->blocks[b + 1].next];
    *choice = (struct choice){
        .branch = last, .then_first = end_of(block), .then_end = end_of(&flow->blocks[b + 1])};
    uint32_t most = BODY_MOST;
    if (taken == b + 2 && then_to == b + 2) {
        choice->else_first = choice->else_end = choice->end = choice->then_end;
        const struct ptx_inst *body_last = &pass->f->insts[choice->then_end - 1];
        if (ptx_is(body_last, "bra")) /* to what stands behind it */
            choice->then_end--;
    } else if (taken == b + 2 && is_body(pass, b + 2) && then_to == b + 3 &&
               flow->edges[flow->blocks[b + 2].next] == b + 3 &&
               ptx_is(&pass->f->insts[choice->then_end - 1], "bra")) {
        choice->else_first = choice->then_end;
        choice->else_end = choice->end = end_of(&flow->blocks[b + 2]);
        choice->then_end--;
        most = EACH_MOST;
    } else {
        return false;
    }
    return is_small(pass, choice->then_first, choice->then_end, most) &&
           is_small(pass, choice->else_first, choice->else_end, most) &&
           pass_products_stay(pass, block->first, end_of(block)) &&
           !writes_register(pass, choice->then_first, choice->else_end, (uint32_t)branch->guard);
}

/* The guard under which both hold; a new predicate when the instruction has a guard of its own. */
static void add_guard(struct rewrite *rewrite, const struct ptx_inst *like, uint32_t p, bool p_not,
                      uint32_t g, bool g_not, int32_t *guard, bool *guard_not)
{
    uint32_t both = rewrite_register(rewrite, "(both)", PTX_pred);
    *guard = (int32_t)both;
    *guard_not = p_not && g_not;
    if (p_not != g_not) { /* one of them is turned around first */
        uint32_t turned = rewrite_register(rewrite, "(not)", PTX_pred);
        rewrite_add(rewrite, "not.pred", like);
        rewrite_operand(rewrite, operand_register(turned));
        rewrite_operand(rewrite, operand_register(p_not ? p : g));
        if (p_not)
            p = turned;
        else
            g = turned;
    }
    rewrite_add(rewrite, *guard_not ? "or.pred" : "and.pred", like);
    rewrite_operand(rewrite, operand_register(both));
    rewrite_operand(rewrite, operand_register(g));
    rewrite_operand(rewrite, operand_register(p));
}

/* Copies instructions under a guard. Those with the same guard of their own share what is made of both. */
static void copy_guarded(struct rewrite *rewrite, uint32_t first, uint32_t end, uint32_t p, bool p_not)
{
    int32_t own = -1, both = -1;
    bool own_not = false, both_not = false;
    rewrite_drop(rewrite, first);
    for (uint32_t i = first; i < end; i++) {
        struct ptx_inst inst = rewrite->f->insts[i];
        if (inst.guard >= 0) {
            if (inst.guard != own || inst.guard_not != own_not) {
                own = inst.guard;
                own_not = inst.guard_not;
                add_guard(rewrite, &inst, p, p_not, (uint32_t)own, own_not, &both, &both_not);
            }
        }
        rewrite_copy(rewrite, i + 1);
        struct ptx_inst *copy = &rewrite->insts.at[rewrite->insts.count - 1];
        copy->guard = inst.guard >= 0 ? both : (int32_t)p;
        copy->guard_not = inst.guard >= 0 ? both_not : p_not;
        struct writes writes = {(uint32_t)own, false};
        ptx_each_register(rewrite->f, &inst, see_write, &writes);
        if (writes.found)
            own = -1;
    }
}

static void make_guarded(struct rewrite *rewrite, const struct choice *choice)
{
    const struct ptx_inst branch = rewrite->f->insts[choice->branch];
    rewrite_copy(rewrite, choice->branch);
    rewrite_drop(rewrite, choice->branch + 1);
    copy_guarded(rewrite, choice->then_first, choice->then_end, (uint32_t)branch.guard, !branch.guard_not);
    rewrite_drop(rewrite, choice->else_first);
    copy_guarded(rewrite, choice->else_first, choice->else_end, (uint32_t)branch.guard, branch.guard_not);
    rewrite_drop(rewrite, choice->end);
}

bool optimize_branches(struct ptx_module *module, struct ptx_function *f)
{
    struct pass pass;
    struct rewrite rewrite;
    struct choice choice;
    bool changed = false;
    pass_init(&pass, module, f);
    for (uint32_t b = 0; b < pass.flow.block_count; b++) {
        if (!find_choice(&pass, b, &choice))
            continue;
        if (!changed)
            rewrite_init(&rewrite, module, f);
        changed = true;
        make_guarded(&rewrite, &choice);
        b += choice.else_first == choice.else_end ? 1 : 2; /* what follows may be done in the next round */
    }
    pass_fini(&pass);
    if (changed)
        rewrite_finish(&rewrite);
    return changed;
}
