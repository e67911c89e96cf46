/* What a model that keeps time is told of instructions: units, registers, roles, counters. */
#include "gcn3_run/program.h"
#include "gcn3_run/wave.h"
#include "base/bits.h"
#include "base/mem.h"

/* Numbers of registers: scalar ones by their number in instructions, SCC, counted operations, VGPRs. */
enum { SCC = GCN3_SCALARS, COUNTED, FIRST_VGPR = COUNTED + ISA_COUNTERS * ISA_COUNTED, REGISTERS_MOST = 64 };

static const uint8_t units[GCN3_UNIT_COUNT] = {
    [GCN3_UNIT_SALU] = UNIT_SCALAR,
    [GCN3_UNIT_SMEM] = UNIT_CONST,
    [GCN3_UNIT_BRANCH] = UNIT_CONTROL,
    [GCN3_UNIT_MESSAGE] = UNIT_INTERNAL,
    [GCN3_UNIT_VALU] = UNIT_VECTOR,
    [GCN3_UNIT_VALUQ] = UNIT_VECTOR_QUARTER,
    [GCN3_UNIT_VALU64] = UNIT_VECTOR_DOUBLE,
    [GCN3_UNIT_TRANS] = UNIT_VECTOR_TRANS,
    [GCN3_UNIT_LDS] = UNIT_LDS,
    [GCN3_UNIT_VMEM] = UNIT_LSU,
    [GCN3_UNIT_EXPORT] = UNIT_INTERNAL,
};

/* Internal: the instruction buffer does them, without a unit. */
static uint8_t unit_of(const struct gcn3_lowered *op)
{
    switch ((int)op->inst.op) {
    case GCN3_S_BARRIER:
        return UNIT_SYNC;
    case GCN3_S_NOP:
    case GCN3_S_WAITCNT:
    case GCN3_S_SLEEP:
    case GCN3_S_SETPRIO:
    case GCN3_S_SETHALT:
        return UNIT_INTERNAL;
    default:
        return units[gcn3_rows[op->inst.op].unit];
    }
}

static enum isa_role role_of(const struct gcn3_lowered *op)
{
    switch ((int)op->inst.op) {
    case GCN3_S_BARRIER:
        return ROLE_BARRIER;
    case GCN3_S_WAITCNT:
        return ROLE_WAIT;
    case GCN3_S_SLEEP:
        return ROLE_SLEEP;
    case GCN3_BUFFER_WBINVL1:
    case GCN3_BUFFER_WBINVL1_VOL:
    case GCN3_S_DCACHE_INV:
    case GCN3_S_DCACHE_INV_VOL:
        return ROLE_FORGET;
    case GCN3_S_ENDPGM:
        return ROLE_NONE;
    default:
        return gcn3_rows[op->inst.op].unit == GCN3_UNIT_BRANCH ? ROLE_BRANCH : ROLE_NONE;
    }
}

static uint16_t limits_of(const struct gcn3_inst *inst)
{
    uint32_t vm = inst->immediate & 15;
    if (inst->target != GCN3_GFX803 && inst->immediate >> 14)
        vm = 0xff; /* more than a wave can have under way here */
    return (uint16_t)(vm | (inst->immediate & 0xf00));
}

static uint32_t counters_of(const struct gcn3_lowered *op)
{
    if (op->run == gcn3_unknown || role_of(op) != ROLE_NONE)
        return 0;
    switch (gcn3_rows[op->inst.op].unit) {
    case GCN3_UNIT_VMEM:
        return op->inst.format == GCN3_FLAT ? 1 << GCN3_VM | 1 << GCN3_LGKM : 1 << GCN3_VM;
    case GCN3_UNIT_LDS:
    case GCN3_UNIT_SMEM:
        return 1 << GCN3_LGKM;
    default:
        return 0;
    }
}

struct list {
    uint16_t at[REGISTERS_MOST];
    uint32_t count;
};

static void add(struct list *list, uint32_t number)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->at[i] == number)
            return;
    if (list->count < REGISTERS_MOST)
        list->at[list->count++] = (uint16_t)number;
}

static void add_operand(struct list *list, const struct gcn3_operand *operand)
{
    uint32_t dwords = operand->dwords ? operand->dwords : 1;
    for (uint32_t i = 0; i < dwords; i++) {
        uint32_t number = operand->number + i;
        if (operand->kind == GCN3_VGPR)
            add(list, FIRST_VGPR + number);
        else if ((operand->kind == GCN3_SGPR || operand->kind == GCN3_SPECIAL ||
                  operand->kind == GCN3_TTMP) &&
                 number < GCN3_SCALARS)
            add(list, number);
    }
}

static void add_reads(struct list *list, const struct gcn3_lowered *op)
{
    const struct gcn3_inst *inst = &op->inst;
    uint32_t flags = gcn3_rows[inst->op].flags;
    const struct gcn3_operand *operands[] = {&inst->a,     &inst->b,        &inst->c,
                                             &inst->saddr, &inst->resource, &inst->sampler};
    for (size_t i = 0; i < COUNT_OF(operands); i++)
        add_operand(list, operands[i]);
    if (flags & GCN3_ACCUMULATES)
        add_operand(list, &inst->d);
    if (flags & GCN3_SCC_IN)
        add(list, SCC);
    if (flags & (GCN3_VCC_IN | GCN3_CARRY_IN))
        add(list, GCN3_VCC);
    uint8_t unit = gcn3_rows[inst->op].unit;
    if (flags & GCN3_EXEC_IN || (unit >= GCN3_UNIT_VALU && unit <= GCN3_UNIT_EXPORT))
        add(list, GCN3_EXEC);
}

/* What memory brings is counted, and no register's matter. */
static void add_writes(struct list *list, const struct gcn3_lowered *op)
{
    const struct gcn3_inst *inst = &op->inst;
    uint32_t flags = gcn3_rows[inst->op].flags;
    if (counters_of(op))
        return;
    add_operand(list, &inst->d);
    add_operand(list, &inst->sd);
    if (flags & GCN3_SCC_OUT)
        add(list, SCC);
    if (flags & GCN3_EXEC_OUT)
        add(list, GCN3_EXEC);
    if (flags & GCN3_CARRY_OUT && inst->sd.kind == GCN3_NOTHING)
        add(list, GCN3_VCC);
}

void gcn3_make_timing(struct gcn3_program *program)
{
    uint32_t used = 0, capacity = 0;
    program->timing = mem_alloc(program->count + 1, sizeof *program->timing);
    program->steps = mem_alloc(program->words + 1, sizeof *program->steps);
    for (uint32_t i = 0; i < program->count; i++) {
        const struct gcn3_lowered *op = &program->ops[i];
        struct list reads = {.count = 0}, writes = {.count = 0};
        add_reads(&reads, op);
        add_writes(&writes, op);
        program->timing[i] = (struct isa_timing){.registers = used,
                                                 .reads = (uint8_t)reads.count,
                                                 .writes = (uint8_t)writes.count,
                                                 .steps = 1,
                                                 .first_step = op->at / 4,
                                                 .counters = counters_of(op) & 3,
                                                 .plain = !op->access.bytes,
                                                 .role = (uint8_t)role_of(op)};
        if (program->timing[i].counters)
            program->timing[i].role = ROLE_COUNTED;
        if (program->timing[i].role == ROLE_WAIT) {
            program->timing[i].counters = (1 << ISA_COUNTERS) - 1;
            program->timing[i].role_count = limits_of(&op->inst);
        }
        program->steps[op->at / 4] = (struct isa_step){.unit = unit_of(op)};
        for (uint32_t k = 0; k < reads.count + writes.count; k++) {
            mem_grow(program->registers, used, capacity);
            program->registers[used++] = k < reads.count ? reads.at[k] : writes.at[k - reads.count];
        }
    }
    program->code = (struct isa_code){.timing = program->timing,
                                      .registers = program->registers,
                                      .steps = program->steps,
                                      .count = program->count,
                                      .counted_at = COUNTED,
                                      .step_bytes = 4};
}

bool gcn3_prepare(struct kernel *base, struct err *err)
{
    struct gcn3_kernel *kernel = gcn3_kernel(base);
    if (kernel->entry == GCN3_NO_OP)
        return err_set(err, "%.200s: its code is not in the object %.200s", base->facts.name,
                       kernel->program->object->name);
    base->code = &kernel->program->code;
    base->slots = FIRST_VGPR + kernel->vgprs;
    base->code_bytes = 4u * kernel->program->words;
    base->access_count = kernel->program->accesses;
    return true;
}
