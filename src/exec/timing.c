/* What a model that keeps time is told of a function: for each operation the registers it reads and writes,
 * numbered densely by their places, and the machine instructions it becomes. */
#include "exec/lower.h"
#include "base/bits.h"
#include "base/mem.h"
#include "ptx/machine.h"
#include "ptx/opcodes.h"

#include <string.h>

struct timer {
    struct lower *lower;
    uint16_t *slot_of; /* by place / 4: number of a register + 1 */
    uint16_t *list;    /* of registers */
    size_t count, capacity;
    struct isa_timing *now;
    bool writing; /* the writes of an instruction follow its reads */
};

static void add_register(void *context, uint32_t index, bool written)
{
    struct timer *timer = context;
    if (written != timer->writing)
        return;
    uint32_t place = timer->lower->places[index];
    uint16_t *slot = &timer->slot_of[place / 4];
    if (!*slot)
        *slot = (uint16_t)++timer->lower->code->slots;
    mem_grow(timer->list, timer->count, timer->capacity);
    timer->list[timer->count++] = (uint16_t)(*slot - 1);
    uint8_t *many = written ? &timer->now->writes : &timer->now->reads;
    (*many)++;
}

static bool *find_absorbed(const struct lower *lower)
{
    const struct ptx_function *f = lower->function;
    bool *absorbed = mem_alloc(f->inst_count + 1, sizeof *absorbed);
    uint32_t *taken = mem_alloc(f->inst_count + 1, sizeof *taken);
    for (uint32_t i = 0; i < f->inst_count; i++)
        taken[i] = lower->taken[i].product;
    machine_absorbed(f, taken, absorbed);
    mem_free(taken);
    return absorbed;
}

/* Memory and control take a machine instruction, whatever the pass that follows the compiler says. */
static bool needs_step(const struct op *op)
{
    return op->kind == OP_CONTROL ||
           (op->kind == OP_EXEC && (op->unit == UNIT_LSU || op->unit == UNIT_TEX || op->unit == UNIT_SYNC));
}

/* Asynchronous copies, which write shared memory, wait as loads of global memory do. */
static bool is_of_shared(const char *opcode)
{
    return strncmp(opcode, "cp.", 3) != 0 &&
           (ptx_opcode_has(opcode, "shared") || ptx_opcode_has(opcode, "shared::cta"));
}

static void mark_shared(struct isa_step *steps, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        steps[i].flags |= steps[i].unit == UNIT_LSU ? STEP_SHARED : 0;
}

static void copy_steps(struct code *code, const struct ptx_function *f, const struct machine *machine)
{
    uint32_t count = 0, last = code->op_count - 1;
    code->steps = mem_alloc(machine->first[last] + code->op_count + 1, sizeof *code->steps);
    for (uint32_t i = 0; i < last; i++) {
        struct isa_timing *timing = &code->timing[i];
        timing->first_step = count;
        for (uint32_t k = machine->first[i]; k < machine->first[i + 1]; k++) {
            timing->merged |= (machine->steps[k].flags & STEP_MERGED) != 0;
            code->steps[count++] = machine->steps[k];
        }
        if (count == timing->first_step && needs_step(&code->ops[i]))
            code->steps[count++] = (struct isa_step){.unit = code->ops[i].unit};
        timing->steps = (uint16_t)(count - timing->first_step);
        if (is_of_shared(f->insts[i].opcode))
            mark_shared(code->steps + timing->first_step, timing->steps);
    }
    code->timing[last].first_step = count; /* the end, where threads leave */
    code->timing[last].steps = 1;
    code->steps[count] = (struct isa_step){.unit = UNIT_CONTROL};
}

/* A guard is the first register that an instruction reads; what a vote is about comes next. */
static void count_guards(struct code *code, uint32_t i, bool guarded)
{
    struct isa_timing *timing = &code->timing[i];
    bool votes = timing->steps && !timing->merged && code->steps[timing->first_step].unit == UNIT_VOTE;
    timing->guards = (uint8_t)min_u64(timing->reads, (uint64_t)guarded + votes);
}

void code_time(struct lower *lower)
{
    struct code *code = lower->code;
    const struct ptx_function *f = lower->function;
    struct machine machine = {0};
    bool *absorbed = find_absorbed(lower);
    machine_init(&machine, f, &lower->flow, absorbed);
    struct timer timer = {.lower = lower};
    timer.slot_of = mem_alloc(lower->frame / 4 + 1, sizeof *timer.slot_of);
    code->timing = mem_alloc(code->op_count, sizeof *code->timing);
    for (uint32_t i = 0; i < f->inst_count; i++) {
        timer.now = &code->timing[i];
        timer.now->registers = (uint32_t)timer.count;
        for (int writing = 0; writing < 2; writing++) {
            timer.writing = writing;
            ptx_each_register(f, &f->insts[i], add_register, &timer);
        }
    }
    code->timing[f->inst_count].registers = (uint32_t)timer.count;
    copy_steps(code, f, &machine);
    for (uint32_t i = 0; i < f->inst_count; i++)
        count_guards(code, i, f->insts[i].guard >= 0);
    code->timing_registers = timer.list;
    if (machine.registers)
        code->pressure = machine.registers - 2;
    mem_free(timer.slot_of);
    mem_free(absorbed);
    machine_fini(&machine);
}
