/* Which values differ from lane to lane, and so where threads may diverge. There, ptxas sets up the
 * reconvergence point (BSSY) and makes threads wait at it (BSYNC). */
#include "ptxas/plan.h"
#include "base/mem.h"

#include <string.h>

enum { ROUNDS_MOST = 50 };

struct diverge {
    struct plan *plan;
    uint8_t *parted; /* by block: some lanes may be elsewhere */
    uint8_t *parts;  /* by block: its branch may part them */
    uint32_t *seen;  /* by block: the last walk that came by, plus 1 */
    uint32_t *stack;
    uint64_t patience; /* blocks that may still be walked over; without it all are taken for parted */
    bool source_varies, changed;
    uint32_t inst;
};

static bool special_varies(uint32_t special)
{
    switch (special) {
    case PTX_SPECIAL_tid_x:
    case PTX_SPECIAL_tid_y:
    case PTX_SPECIAL_tid_z:
    case PTX_SPECIAL_laneid:
    case PTX_SPECIAL_lanemask_eq:
    case PTX_SPECIAL_lanemask_le:
    case PTX_SPECIAL_lanemask_lt:
    case PTX_SPECIAL_lanemask_ge:
    case PTX_SPECIAL_lanemask_gt:
        return true;
    default:
        return false;
    }
}

bool plan_operand_varies(const struct plan *plan, const struct ptx_operand *operand)
{
    bool varies = false;
    if (operand->kind == PTX_OP_SPECIAL)
        return special_varies(operand->index);
    if (operand->kind == PTX_OP_REGISTER)
        return plan->varies[operand->index];
    if (operand->kind >= PTX_OP_MEMORY && operand->kind <= PTX_OP_PAIR)
        for (uint32_t i = 0; i < operand->count; i++)
            varies |= plan_operand_varies(plan, &plan->f->operands[operand->first + i]);
    return varies;
}

/* Whether its result differs though its sources do not. */
static bool makes_variety(const struct opcode *opcode)
{
    if (opcode->effect == EFFECT_READ)
        return opcode->kind != KIND_PARAM && opcode->space != PTX_CONST;
    if (opcode->effect == EFFECT_LANES)
        return strncmp(opcode->text, "vote", 4) != 0 && strncmp(opcode->text, "redux", 5) != 0;
    return opcode->effect != EFFECT_NONE;
}

static void see_written(void *context, uint32_t index, bool written)
{
    struct diverge *d = context;
    if (!written || d->plan->varies[index])
        return;
    /* one of several values, chosen by the way that a lane came */
    bool chosen = d->plan->values.at[index].writes > 1 && d->parted[d->plan->flow->block_of[d->inst]];
    if (d->source_varies || chosen) {
        d->plan->varies[index] = true;
        d->changed = true;
    }
}

static void spread(struct diverge *d)
{
    const struct ptx_function *f = d->plan->f;
    for (d->inst = 0; d->inst < f->inst_count; d->inst++) {
        const struct ptx_inst *inst = &f->insts[d->inst];
        const struct opcode *opcode = values_opcode(&d->plan->values, d->inst);
        d->source_varies = makes_variety(opcode) || (inst->guard >= 0 && d->plan->varies[inst->guard]);
        if (opcode->effect != EFFECT_LANES || !d->source_varies)
            for (uint32_t i = ptx_written_operands(f, inst); i < inst->count && !d->source_varies; i++)
                if (opcode->effect != EFFECT_LANES)
                    d->source_varies = plan_operand_varies(d->plan, &f->operands[inst->first + i]);
        ptx_each_register(f, inst, see_written, d);
    }
}

/* All blocks between a branch and the place where its ways meet. */
static void part_region(struct diverge *d, uint32_t from)
{
    const struct flow *flow = d->plan->flow;
    int32_t join = flow->blocks[from].join;
    uint32_t depth = 0;
    d->stack[depth++] = from;
    while (depth) {
        const struct flow_block *block = &flow->blocks[d->stack[--depth]];
        for (uint32_t e = 0; e < block->next_count; e++) {
            uint32_t to = flow->edges[block->next + e];
            if (to >= flow->block_count || (int32_t)to == join || d->seen[to] == from + 1)
                continue;
            if (!d->patience)
                return;
            d->patience--;
            d->seen[to] = from + 1;
            if (!d->parted[to])
                d->parted[to] = 1, d->changed = true;
            d->stack[depth++] = to;
        }
    }
}

static void find_parted(struct diverge *d)
{
    const struct flow *flow = d->plan->flow;
    const struct ptx_function *f = d->plan->f;
    for (uint32_t b = 0; b < flow->block_count; b++) {
        const struct ptx_inst *last = &f->insts[flow->blocks[b].first + flow->blocks[b].count - 1];
        if (d->parts[b] || flow->blocks[b].next_count < 2)
            continue;
        bool varies = last->guard >= 0 ? d->plan->varies[last->guard] : false;
        if (ptx_is(last, "brx") && last->count) {
            const struct ptx_operand *index = &f->operands[last->first];
            varies |= index->kind == PTX_OP_REGISTER && d->plan->varies[index->index];
        }
        if (!varies)
            continue;
        d->parts[b] = 1;
        d->changed = true;
        part_region(d, b);
    }
}

static void add_to(uint8_t *count)
{
    *count += *count < UINT8_MAX;
}

/* Of a loop whose end parts the threads, the place to meet is set up before the loop. Blocks stand in the
 * order of the text: a loop is what lies between the target of a branch back and the branch. */
static uint32_t place_to_open(const struct plan *plan, uint32_t from)
{
    const struct flow *flow = plan->flow;
    uint32_t first = from;
    for (uint32_t e = 0; e < flow->blocks[from].next_count; e++) {
        uint32_t to = flow->edges[flow->blocks[from].next + e];
        if (to < first)
            first = to;
    }
    if (first == from || !first)
        return first == from ? from : 0;
    return first - 1;
}

/* Whether a block does nothing but end the threads: nobody needs to wait for others there. */
static bool only_ends(const struct plan *plan, uint32_t block)
{
    const struct flow_block *at = &plan->flow->blocks[block];
    return plan->f->is_kernel && values_opcode(&plan->values, at->first)->kind == KIND_END;
}

static void find_meetings(struct diverge *d)
{
    const struct flow *flow = d->plan->flow;
    uint8_t *opened = mem_alloc(flow->block_count + 1, 1); /* by block where they meet */
    for (uint32_t b = 0; b < flow->block_count; b++) {
        int32_t join = flow->blocks[b].join;
        if (!d->parts[b] || join == FLOW_NONE || opened[join] || only_ends(d->plan, (uint32_t)join))
            continue;
        opened[join] = 1; /* branches with one place to meet share it */
        uint32_t at = place_to_open(d->plan, b);
        add_to(&d->plan->opens[flow->blocks[at].first + flow->blocks[at].count - 1]);
        add_to(&d->plan->closes[flow->blocks[join].first]);
    }
    mem_free(opened);
}

void plan_varies(struct plan *plan)
{
    uint32_t blocks = plan->flow->block_count;
    struct diverge d = {.plan = plan};
    d.parted = mem_alloc(blocks + 1, 1);
    d.parts = mem_alloc(blocks + 1, 1);
    d.seen = mem_alloc(blocks + 1, sizeof *d.seen);
    d.stack = mem_alloc(blocks + 1, sizeof *d.stack);
    d.patience = 64 * (uint64_t)blocks + 4096;
    plan->varies = mem_alloc(plan->f->register_count + 1, sizeof *plan->varies);
    plan->opens = mem_alloc(plan->f->inst_count + 1, 1);
    plan->closes = mem_alloc(plan->f->inst_count + 1, 1);
    for (uint32_t round = 0; d.changed || !round; round++) {
        d.changed = false;
        if (round == ROUNDS_MOST) /* values that come from far behind; never seen in real code */
            memset(plan->varies, true, plan->f->register_count);
        spread(&d);
        find_parted(&d);
        if (!d.patience)
            memset(d.parted, 1, blocks);
    }
    find_meetings(&d);
    mem_free(d.parted);
    mem_free(d.parts);
    mem_free(d.seen);
    mem_free(d.stack);
}
