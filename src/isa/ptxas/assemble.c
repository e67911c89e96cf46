#include "ptxas/plan.h"
#include "base/mem.h"

struct filling {
    struct ptx_machine_code *machine;
    uint32_t count, capacity;
};

static void add_text(struct filling *filling, const char *text)
{
    struct isa_step steps[STEPS_MOST];
    uint32_t count = opcode_steps(text, steps, STEPS_MOST);
    for (uint32_t i = 0; i < count; i++) {
        mem_grow(filling->machine->steps, filling->count, filling->capacity);
        filling->machine->steps[filling->count++] = steps[i];
    }
}

static void repeat(struct filling *filling, const char *text, uint32_t times)
{
    for (uint32_t i = 0; i < times; i++)
        add_text(filling, text);
}

static bool uses_memory(const struct plan *plan)
{
    for (uint32_t i = 0; i < plan->f->inst_count; i++) {
        uint8_t kind = values_opcode(&plan->values, i)->kind;
        if (!plan->dead[i] && (kind == KIND_LOAD || kind == KIND_STORE || kind == KIND_ATOMIC))
            return true;
    }
    return false;
}

/* At a kernel's start the stack pointer is loaded, and what stands for global memory in its loads and stores.
 * Where threads meet, they wait first; where they will part, that is prepared before. */
static void fill_steps(struct ptx_machine_code *machine, const struct plan *plan)
{
    const struct ptx_function *f = plan->f;
    struct filling filling = {.machine = machine};
    machine->first = mem_alloc(f->inst_count + 1, sizeof *machine->first);
    for (uint32_t i = 0; i < f->inst_count; i++) {
        machine->first[i] = filling.count;
        if (!i && f->is_kernel)
            add_text(&filling, uses_memory(plan) ? "K U" : "K");
        repeat(&filling, "B", plan->closes[i]);
        repeat(&filling, "B", plan->opens[i]);
        repeat(&filling, "K", plan->pairs[i]);
        repeat(&filling, "U", plan->words[i]);
        uint32_t own = filling.count;
        add_text(&filling, plan->steps[i]);
        if ((plan->pairs[i] || plan->words[i]) && filling.count > own)
            machine->steps[own].flags |= STEP_CHAINED;
    }
    machine->first[f->inst_count] = filling.count;
}

void plan_init(struct plan *plan, const struct ptx_function *f, const struct flow *flow, const bool *absorbed,
               bool narrow)
{
    *plan = (struct plan){.f = f, .flow = flow};
    values_init(&plan->values, f);
    plan_dead(plan);
    if (narrow)
        plan_narrow(plan);
    plan_varies(plan);
    plan_fold(plan, absorbed);
    plan_merge(plan);
    plan_block(plan);
    plan_balance(plan);
    plan_params(plan);
}

void plan_fini(struct plan *plan)
{
    values_fini(&plan->values);
    mem_free(plan->steps);
    mem_free(plan->dead);
    mem_free(plan->varies);
    mem_free(plan->pairs);
    mem_free(plan->words);
    mem_free(plan->opens);
    mem_free(plan->closes);
    *plan = (struct plan){0};
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

/* Products that are computed inside of the sums that take them become no step of their own: those that
 * nothing but such sums reads. */
static void find_absorbed(const struct ptx_function *function, const struct ptx_taken *taken, bool *absorbed)
{
    struct reads reads = {.held = mem_alloc(function->register_count + 1, sizeof *reads.held),
                          .count = mem_alloc(function->inst_count + 1, sizeof *reads.count)};
    for (reads.inst = 0; reads.inst < function->inst_count; reads.inst++)
        ptx_each_register(function, &function->insts[reads.inst], see_read, &reads);
    for (uint32_t i = 0; i < function->inst_count; i++) {
        absorbed[i] = false;
        if (taken[i].product)
            reads.count[taken[i].product - 1]--;
    }
    for (uint32_t i = 0; i < function->inst_count; i++)
        if (taken[i].product)
            absorbed[taken[i].product - 1] = !reads.count[taken[i].product - 1];
    mem_free(reads.held);
    mem_free(reads.count);
}

void ptxas_assemble(struct ptx_machine_code *code, const struct ptx_function *function,
                    const struct flow *flow, const struct ptx_taken *taken)
{
    struct plan plan;
    bool *absorbed = mem_alloc(function->inst_count + 1, sizeof *absorbed);
    if (taken)
        find_absorbed(function, taken, absorbed);
    *code = (struct ptx_machine_code){0};
    plan_init(&plan, function, flow, taken ? absorbed : NULL, true);
    fill_steps(code, &plan);
    code->registers = plan_registers(&plan);
    plan_fini(&plan);
    mem_free(absorbed);
}

const struct ptx_assembler ptxas = {ptxas_optimize, ptxas_contract, ptxas_assemble};
