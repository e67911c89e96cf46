/* What a model that keeps time is told of a function: for each operation the registers it reads and writes,
 * numbered densely by their places, and the machine instructions it becomes. */
#include "exec/lower.h"
#include "base/bits.h"
#include "base/mem.h"
#include "ptx/machine.h"

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

/* How often each register is read: in all, and by sums that took the product which it holds. */
struct reads {
    uint32_t *all, *taken;
};

static void count_read(void *context, uint32_t index, bool written)
{
    struct reads *reads = context;
    if (!written)
        reads->all[index]++;
}

/* Products that nobody reads but the sums that took them. */
static bool *find_absorbed(const struct lower *lower)
{
    const struct ptx_function *f = lower->function;
    bool *absorbed = mem_alloc(f->inst_count + 1, sizeof *absorbed);
    struct reads reads = {mem_alloc(f->register_count + 1, sizeof *reads.all),
                          mem_alloc(f->register_count + 1, sizeof *reads.taken)};
    for (uint32_t i = 0; i < f->inst_count; i++) {
        ptx_each_register(f, &f->insts[i], count_read, &reads);
        uint32_t product = lower->taken[i].product;
        if (product)
            reads.taken[f->operands[f->insts[product - 1].first].index]++;
    }
    for (uint32_t i = 0; i < f->inst_count; i++) {
        uint32_t product = lower->taken[i].product;
        if (!product)
            continue;
        uint32_t register_of = f->operands[f->insts[product - 1].first].index;
        absorbed[product - 1] = reads.all[register_of] == reads.taken[register_of];
    }
    mem_free(reads.all);
    mem_free(reads.taken);
    return absorbed;
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
        timer.now->first_step = machine.first[i];
        timer.now->steps = (uint16_t)(machine.first[i + 1] - machine.first[i]);
    }
    uint32_t all = machine.first[f->inst_count];
    code->steps = mem_alloc(all + 1, sizeof *code->steps);
    memcpy(code->steps, machine.steps, all * sizeof *code->steps);
    code->steps[all] = (struct isa_step){.unit = UNIT_CONTROL}; /* the end, where threads leave */
    code->timing[f->inst_count] =
        (struct isa_timing){.registers = (uint32_t)timer.count, .first_step = all, .steps = 1};
    code->timing_registers = timer.list;
    if (machine.registers)
        code->pressure = machine.registers - 2;
    mem_free(timer.slot_of);
    mem_free(absorbed);
    machine_fini(&machine);
}
