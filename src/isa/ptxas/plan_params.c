/* Parameters are in constant memory. Code loads a parameter in the block where it is used; for loops it is
 * loaded before the loop, except for guarded uses. */
#include "ptxas/plan.h"
#include "base/mem.h"

enum { HOPS_MOST = 4 };

struct params {
    struct plan *plan;
    int32_t *depth; /* by block: in how many loops it is */
    uint32_t *seen; /* by block: the parameter that was loaded there last, plus 1 */
    uint32_t param; /* the instruction that loads it in PTX */
    bool in_loop;
};

/* Blocks stand in the order of the text: a loop is what lies between the target of a branch back and the
 * branch. */
int32_t *plan_loops(const struct flow *flow)
{
    int32_t *depth = mem_alloc(flow->block_count + 2, sizeof *depth);
    for (uint32_t b = 0; b < flow->block_count; b++)
        for (uint32_t e = 0; e < flow->blocks[b].next_count; e++) {
            uint32_t to = flow->edges[flow->blocks[b].next + e];
            if (to <= b)
                depth[to]++, depth[b + 1]--;
        }
    for (uint32_t b = 1; b < flow->block_count; b++)
        depth[b] += depth[b - 1];
    return depth;
}

static void see_readers(struct params *params, uint32_t index, int hops)
{
    struct plan *plan = params->plan;
    const struct value *value = &plan->values.at[index];
    for (uint32_t k = 0; k < value->count; k++) {
        uint32_t reader = plan->values.readers[value->first + k],
                 result = values_result(&plan->values, reader);
        uint8_t kind = values_opcode(&plan->values, reader)->kind;
        if (plan->dead[reader])
            continue;
        if ((kind == KIND_RENAME || kind == KIND_MOVE) && !plan->steps[reader][0] && result != VALUES_NONE &&
            hops < HOPS_MOST) {
            see_readers(params, result, hops + 1);
            continue;
        }
        uint32_t block = plan->flow->block_of[reader];
        bool guarded =
            plan->f->insts[reader].guard >= 0; /* it is then loaded under the same guard, in loops too */
        if (params->depth[block] && !guarded) {
            params->in_loop = true;
        } else if (guarded || params->seen[block] != params->param + 1) {
            if (!guarded)
                params->seen[block] = params->param + 1;
            uint8_t *loads = values_opcode(&plan->values, params->param)->bytes > 4 ? &plan->pairs[reader]
                                                                                    : &plan->words[reader];
            *loads += *loads < UINT8_MAX;
        }
    }
}

void plan_params(struct plan *plan)
{
    struct params params = {.plan = plan};
    plan->pairs = mem_alloc(plan->f->inst_count + 1, sizeof *plan->pairs);
    plan->words = mem_alloc(plan->f->inst_count + 1, sizeof *plan->words);
    if (!plan->f->is_kernel)
        return;
    params.depth = plan_loops(plan->flow);
    params.seen = mem_alloc(plan->flow->block_count + 1, sizeof *params.seen);
    for (uint32_t i = 0; i < plan->f->inst_count; i++) {
        uint32_t result = values_result(&plan->values, i);
        if (!plan_is_param(plan, i) || plan->dead[i] || result == VALUES_NONE)
            continue;
        params.param = i;
        params.in_loop = false;
        see_readers(&params, result, 0);
        if (!params.in_loop)
            plan->steps[i] = "";
    }
    mem_free(params.depth);
    mem_free(params.seen);
}
