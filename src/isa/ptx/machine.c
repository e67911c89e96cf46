#include "machine_parts.h"
#include "base/mem.h"

enum { STEPS_MOST = 128 }; /* of one instruction */

static void add_steps(struct machine *machine, uint32_t *count, uint32_t *capacity,
                      const struct isa_step *steps, uint32_t add)
{
    for (uint32_t i = 0; i < add; i++) {
        mem_grow(machine->steps, *count, *capacity);
        machine->steps[(*count)++] = steps[i];
    }
}

/* At a kernel's start the stack pointer is loaded, and what stands for global memory in its loads and stores.
 */
static const struct isa_step at_entry[] = {{UNIT_CONST, 0}, {UNIT_UNIFORM, 0}};

static void fill_steps(struct machine *machine, const struct plan *plan)
{
    static const struct isa_step control = {UNIT_CONTROL, 0};
    const struct ptx_function *f = plan->f;
    uint32_t count = 0, capacity = 0;
    machine->first = mem_alloc(f->inst_count + 1, sizeof *machine->first);
    for (uint32_t i = 0; i < f->inst_count; i++) {
        struct isa_step steps[STEPS_MOST];
        machine->first[i] = count;
        if (!i && f->is_kernel)
            add_steps(machine, &count, &capacity, at_entry, 2);
        for (uint32_t k = 0; k < plan->closes[i]; k++)
            add_steps(machine, &count, &capacity, &control, 1);
        for (uint32_t k = 0; k < plan->opens[i]; k++)
            add_steps(machine, &count, &capacity, &control, 1);
        add_steps(machine, &count, &capacity, steps, opcode_steps(plan->steps[i], steps, STEPS_MOST));
    }
    machine->first[f->inst_count] = count;
}

void machine_init(struct machine *machine, const struct ptx_function *function, const struct flow *flow,
                  const bool *absorbed)
{
    struct plan plan = {.f = function, .flow = flow};
    *machine = (struct machine){0};
    values_init(&plan.values, function);
    plan_dead(&plan);
    plan_varies(&plan);
    plan_fold(&plan, absorbed);
    fill_steps(machine, &plan);
    machine->registers = plan_registers(&plan);
    values_fini(&plan.values);
    mem_free(plan.steps);
    mem_free(plan.dead);
    mem_free(plan.varies);
    mem_free(plan.opens);
    mem_free(plan.closes);
}

void machine_fini(struct machine *machine)
{
    mem_free(machine->steps);
    mem_free(machine->first);
    *machine = (struct machine){0};
}

struct reads {
    uint32_t *held;  /* by register: the instruction that wrote it last, plus 1 */
    uint32_t *count; /* by instruction: how many read what it wrote */
    uint32_t inst;
};

static void see_read(void *context, uint32_t index, bool written)
{
    struct reads *reads = context;
    if (written)
        reads->held[index] = reads->inst + 1;
    else if (reads->held[index])
        reads->count[reads->held[index] - 1]++;
}

void machine_absorbed(const struct ptx_function *function, const uint32_t *taken, bool *absorbed)
{
    struct reads reads = {.held = mem_alloc(function->register_count + 1, sizeof *reads.held),
                          .count = mem_alloc(function->inst_count + 1, sizeof *reads.count)};
    for (reads.inst = 0; reads.inst < function->inst_count; reads.inst++)
        ptx_each_register(function, &function->insts[reads.inst], see_read, &reads);
    for (uint32_t i = 0; i < function->inst_count; i++) {
        absorbed[i] = false;
        if (taken[i])
            reads.count[taken[i] - 1]--;
    }
    for (uint32_t i = 0; i < function->inst_count; i++)
        if (taken[i])
            absorbed[taken[i] - 1] = !reads.count[taken[i] - 1];
    mem_free(reads.held);
    mem_free(reads.count);
}
