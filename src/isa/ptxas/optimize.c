#include "ptxas/optimize_parts.h"
#include "base/mem.h"
#include "ptxas/schedule.h"

enum { ROUNDS_MOST = 6 };

void pass_init(struct pass *pass, struct ptx_module *module, struct ptx_function *f)
{
    *pass = (struct pass){.module = module, .f = f};
    flow_init(&pass->flow, f);
    plan_init(&pass->plan, f, &pass->flow, NULL, false);
    pass->entries = mem_alloc(pass->flow.block_count + 1, sizeof *pass->entries);
    for (uint32_t i = 0; i < pass->flow.edge_count; i++)
        pass->entries[pass->flow.edges[i]]++;
}

void pass_fini(struct pass *pass)
{
    flow_fini(&pass->flow);
    plan_fini(&pass->plan);
    mem_free(pass->entries);
}

uint32_t pass_steps(const struct pass *pass, uint32_t first, uint32_t end)
{
    struct isa_step steps[STEPS_MOST];
    uint32_t count = 0;
    for (uint32_t i = first; i < end; i++)
        count += opcode_steps(pass->plan.steps[i], steps, STEPS_MOST);
    return count;
}

bool pass_products_stay(const struct pass *pass, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        const struct ptx_operand *result = values_operand(&pass->plan.values, i, 0);
        if (!values_opcode(&pass->plan.values, i)->product || result->kind != PTX_OP_REGISTER)
            continue;
        const struct value *value = &pass->plan.values.at[result->index];
        if (value->writes != 1)
            return false;
        for (uint32_t k = 0; k < value->count; k++) {
            uint32_t reader = pass->plan.values.readers[value->first + k];
            if (reader < first || reader >= end)
                return false;
        }
    }
    return true;
}

static void schedule(struct ptx_function *f)
{
    struct flow flow;
    flow_init(&flow, f);
    schedule_function(f, &flow);
    flow_fini(&flow);
}

void ptxas_optimize(struct ptx_module *module)
{
    for (uint32_t i = 0; i < module->function_count && !module->debug; i++) {
        struct ptx_function *f = &module->functions[i];
        if (!f->has_body || !f->inst_count)
            continue;
        optimize_exits(f);
        for (int round = 0; round < ROUNDS_MOST && optimize_branches(module, f); round++) {
        }
        optimize_loops(module, f);
        optimize_vectors(module, f);
        schedule(f);
    }
}
