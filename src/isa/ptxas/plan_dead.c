/* Dead code, which ptxas removes. */
#include "ptxas/plan.h"
#include "base/mem.h"

struct walk {
    struct plan *plan;
    uint32_t inst;
    uint32_t *stack, depth; /* instructions that are needed, and whose sources were not looked at */
    uint32_t *next, *first; /* instructions that write a register, as lists: number + 1 */
};

static bool has_effect(const struct plan *plan, uint32_t i)
{
    const struct opcode *opcode = values_opcode(&plan->values, i);
    if (opcode->effect == EFFECT_READ)
        return opcode->strict || !ptx_written_operands(plan->f, &plan->f->insts[i]);
    return opcode->effect == EFFECT_WRITE || opcode->effect == EFFECT_ALL || opcode->carry ||
           !ptx_written_operands(plan->f, &plan->f->insts[i]);
}

static void need(struct walk *walk, uint32_t i)
{
    if (!walk->plan->dead[i])
        return;
    walk->plan->dead[i] = false;
    walk->stack[walk->depth++] = i;
}

static void see_source(void *context, uint32_t index, bool written)
{
    struct walk *walk = context;
    if (written)
        return;
    for (uint32_t i = walk->first[index]; i; i = walk->next[i - 1])
        need(walk, i - 1);
    walk->first[index] = 0; /* all of them are known now */
}

/* Lists of writers need one link for each instruction: of those that write several registers (vectors,
 * pairs), which are few, all are taken for needed when one is. */
struct writers {
    struct walk *walk;
    uint32_t seen;
};

static void see_written(void *context, uint32_t index, bool written)
{
    struct writers *writers = context;
    struct walk *walk = writers->walk;
    if (!written)
        return;
    if (writers->seen++) { /* a second register: kept */
        need(walk, walk->inst);
        return;
    }
    walk->next[walk->inst] = walk->first[index];
    walk->first[index] = walk->inst + 1;
}

void plan_dead(struct plan *plan)
{
    const struct ptx_function *f = plan->f;
    struct walk walk = {.plan = plan};
    plan->dead = mem_alloc(f->inst_count + 1, sizeof *plan->dead);
    walk.stack = mem_alloc(f->inst_count + 1, sizeof *walk.stack);
    walk.next = mem_alloc(f->inst_count + 1, sizeof *walk.next);
    walk.first = mem_alloc(f->register_count + 1, sizeof *walk.first);
    for (uint32_t i = 0; i < f->inst_count; i++)
        plan->dead[i] = true;
    for (walk.inst = 0; walk.inst < f->inst_count; walk.inst++) {
        struct writers writers = {&walk, 0};
        ptx_each_register(f, &f->insts[walk.inst], see_written, &writers);
        if (has_effect(plan, walk.inst))
            need(&walk, walk.inst);
    }
    while (walk.depth) {
        walk.inst = walk.stack[--walk.depth];
        ptx_each_register(f, &f->insts[walk.inst], see_source, &walk);
    }
    mem_free(walk.stack);
    mem_free(walk.next);
    mem_free(walk.first);
}
