/* What a timing model knows about a function: for each operation the registers it reads and writes, numbered
 * densely by their slots, and the machine instructions it becomes. */
#include "ptx_run/lower.h"
#include "base/bits.h"
#include "base/mem.h"
#include "ptx/assembler.h"

#include <string.h>

struct timer {
    struct lower *lower;
    uint16_t *slot_of; /* by place / 4: number of a register + 1 */
    uint16_t *list;    /* of registers */
    size_t count, capacity;
    struct isa_timing *now;
    bool writing;   /* the writes of an instruction follow its reads */
    bool *no_board; /* by register: those of a product that goes on after its instruction; or NULL */
};

static void add_register(void *context, uint32_t index, bool written)
{
    struct timer *timer = context;
    if (written != timer->writing || (timer->no_board && timer->no_board[index]))
        return;
    uint32_t place = timer->lower->homes[index];
    uint16_t *slot = &timer->slot_of[place / 4];
    if (!*slot)
        *slot = (uint16_t)++timer->lower->code->slots;
    mem_grow(timer->list, timer->count, timer->capacity);
    timer->list[timer->count++] = (uint16_t)(*slot - 1);
    uint8_t *many = written ? &timer->now->writes : &timer->now->reads;
    (*many)++;
}

static void leave_out(void *context, uint32_t index, bool written)
{
    bool *no_board = context;
    no_board[index] |= written;
}

/* The registers of an instruction, those it reads before those it writes. Accumulators of wgmma are waited
 * for by wgmma.wait_group alone. */
static void list_registers(struct timer *timer, const struct ptx_function *f, const struct ptx_inst *inst)
{
    if (ptx_is(inst, "wgmma.mma_async")) {
        timer->no_board = mem_alloc(f->register_count + 1, sizeof *timer->no_board);
        ptx_each_register(f, inst, leave_out, timer->no_board);
    }
    for (int writing = 0; writing < 2; writing++) {
        timer->writing = writing;
        ptx_each_register(f, inst, add_register, timer);
    }
    mem_free(timer->no_board);
    timer->no_board = NULL;
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

/* What it is told of one instruction is in its row, the steps of all behind one another. */
static void copy_steps(struct code *code, const struct ptx_function *f, struct isa_timing *rows,
                       const struct ptx_machine_code *machine)
{
    uint32_t count = 0, last = code->op_count - 1;
    struct isa_step *steps = mem_alloc(machine->first[last] + code->op_count + 1, sizeof *steps);
    for (uint32_t i = 0; i < last; i++) {
        struct isa_timing *timing = &rows[i];
        timing->first_step = count;
        for (uint32_t k = machine->first[i]; k < machine->first[i + 1]; k++) {
            timing->merged |= (machine->steps[k].flags & STEP_MERGED) != 0;
            steps[count++] = machine->steps[k];
        }
        if (count == timing->first_step && needs_step(&code->ops[i]))
            steps[count++] = (struct isa_step){.unit = code->ops[i].unit};
        timing->steps = (uint16_t)(count - timing->first_step);
        if (is_of_shared(f->insts[i].opcode))
            mark_shared(steps + timing->first_step, timing->steps);
    }
    rows[last].first_step = count; /* the end, where threads leave */
    rows[last].steps = 1;
    steps[count] = (struct isa_step){.unit = UNIT_CONTROL};
    code->isa.steps = steps;
}

/* A guard is the first register that an instruction reads; what a vote is about comes next. */
static uint32_t count_guards(const struct code *code, const struct isa_timing *timing, bool guarded)
{
    bool votes = timing->steps && !timing->merged && code->isa.steps[timing->first_step].unit == UNIT_VOTE;
    return (uint32_t)min_u64(timing->reads, (uint64_t)guarded + votes);
}

static void set_role(const struct op *op, struct isa_timing *timing)
{
    timing->plain = op->kind == OP_ALU;
    timing->role = op->kind == OP_BRANCH ? ROLE_BRANCH : op->role;
    if (op->role == ROLE_COPIES || op->role == ROLE_BULK_WAIT || op->role == ROLE_PRODUCT ||
        op->role == ROLE_PRODUCTS)
        timing->role_count = (uint16_t)min_u64((uint64_t)op->value, UINT16_MAX);
}

void code_time(struct lower *lower)
{
    struct code *code = lower->code;
    const struct ptx_function *f = lower->function;
    struct ptx_machine_code machine = {0};
    lower->kernel->program->assembler->assemble(&machine, f, &lower->flow, lower->taken);
    struct timer timer = {.lower = lower};
    struct isa_timing *rows = mem_alloc(code->op_count, sizeof *rows);
    timer.slot_of = mem_alloc(lower->frame / 4 + 1, sizeof *timer.slot_of);
    for (uint32_t i = 0; i < f->inst_count; i++) {
        timer.now = &rows[i];
        timer.now->registers = (uint32_t)timer.count;
        list_registers(&timer, f, &f->insts[i]);
    }
    rows[f->inst_count].registers = (uint32_t)timer.count;
    copy_steps(code, f, rows, &machine);
    for (uint32_t i = 0; i < f->inst_count; i++)
        rows[i].guards = count_guards(code, &rows[i], f->insts[i].guard >= 0) & 15;
    for (uint32_t i = 0; i < code->op_count; i++)
        set_role(&code->ops[i], &rows[i]);
    code->isa.timing = rows;
    code->isa.count = code->op_count;
    code->isa.step_bytes = STEP_BYTES;
    code->isa.registers = timer.list;
    if (machine.registers)
        code->pressure = machine.registers - 2;
    mem_free(timer.slot_of);
    ptx_machine_code_fini(&machine);
}

void code_forget_timing(struct code *code)
{
    mem_free((void *)(uintptr_t)code->isa.timing);
    mem_free((void *)(uintptr_t)code->isa.registers);
    mem_free((void *)(uintptr_t)code->isa.steps);
}
