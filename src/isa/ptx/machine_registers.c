/* How many registers a thread needs: the most that hold values at one time. Not in registers are numbers,
 * parameters, predicates, and what is the same for all lanes, which has registers of its own. */
#include "machine_parts.h"
#include "base/mem.h"

enum { RESERVED = 2, LEAST = 8, MOST = 255 };

static bool counts(const struct plan *plan, uint32_t r)
{
    const struct value *value = &plan->values.at[r];
    if (plan->f->registers[r].type == PTX_pred || !plan->varies[r])
        return false;
    return value->writes != 1 || plan->steps[value->maker][0];
}

uint32_t plan_registers(const struct plan *plan)
{
    const struct ptx_function *f = plan->f;
    int32_t *change = mem_alloc(f->inst_count + 2, sizeof *change), now = 0, most = 0;
    for (uint32_t r = 0; r < f->register_count; r++) {
        const struct flow_span *span = &plan->flow->spans[r];
        if (!span->used || !counts(plan, r))
            continue;
        int32_t words = (int32_t)(ptx_type_bytes(f->registers[r].type) + 3) / 4;
        change[span->from] += words;
        change[span->to] -= words;
    }
    for (uint32_t i = 0; i <= f->inst_count; i++) {
        now += change[i];
        most = now > most ? now : most;
    }
    mem_free(change);
    most += RESERVED;
    return (uint32_t)(most < LEAST ? LEAST : most > MOST ? MOST : most);
}
