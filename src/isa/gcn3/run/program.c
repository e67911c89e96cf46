/* An object's code becomes instructions that can run. */
#include "gcn3_run/program.h"
#include "gcn3_run/alu.h"
#include "gcn3_run/wave.h"
#include "base/bits.h"
#include "base/mem.h"
#include "exec/atomics.h"

#include <string.h>

const uint64_t gcn3_hostcall_buffer = GCN3_HOSTCALL;
const uint32_t gcn3_shared_base = (uint32_t)(WINDOW_SHARED >> 32);
const uint32_t gcn3_private_base = (uint32_t)(WINDOW_LOCAL >> 32);

static enum gcn3_target target_of(const struct gcn3_object *object)
{
    return object->gfx == 900 ? GCN3_GFX900 : object->gfx == 906 ? GCN3_GFX906 : GCN3_GFX803;
}

/* ---- decoding ---- */

/* Whether something begins there that is jumped to from elsewhere: code before it ends there at the latest.
 * What precedes a kernel may be data, which would be taken for an instruction that is too long. */
static void note_starts(const struct gcn3_object *object, bool *is_start, uint32_t words)
{
    for (size_t i = 0; i < object->kernel_count; i++)
        if (object->kernels[i].entry / 4 < words)
            is_start[object->kernels[i].entry / 4] = true;
    for (size_t i = 0; i < object->symbol_count; i++)
        if (object->symbols[i].at / 4 < words)
            is_start[object->symbols[i].at / 4] = true;
}

static bool decode(const struct gcn3_program *program, uint64_t at, uint64_t end, const bool *is_start,
                   struct gcn3_inst *inst)
{
    if (!gcn3_decode(program->target, program->object->image + at, end - at, inst))
        return false;
    for (uint32_t word = 1; word < inst->bytes / 4u; word++)
        if (is_start[at / 4 + word])
            return false;
    return true;
}

/* Bytes that are no instruction become one that is a fault: data may lie between functions. */
static void decode_segment(struct gcn3_program *program, const struct gcn3_segment *segment,
                           const bool *is_start, uint32_t *capacity)
{
    uint64_t end = min_u64(segment->at + segment->bytes, program->object->image_bytes) & ~UINT64_C(3);
    for (uint64_t at = (segment->at + 3) & ~UINT64_C(3); at < end;) {
        struct gcn3_inst inst;
        if (!decode(program, at, end, is_start, &inst))
            inst = (struct gcn3_inst){.op = GCN3_INVALID, .bytes = 4};
        mem_grow(program->ops, program->count, *capacity);
        program->by_word[at / 4] = program->count;
        program->ops[program->count++] =
            (struct gcn3_lowered){.at = (uint32_t)at, .target = GCN3_NO_OP, .inst = inst};
        at += inst.bytes;
    }
}

static void decode_all(struct gcn3_program *program)
{
    const struct gcn3_object *object = program->object;
    uint32_t capacity = 0;
    program->words = (uint32_t)(object->image_bytes / 4);
    program->by_word = mem_alloc(program->words + 1, sizeof *program->by_word);
    memset(program->by_word, 0xff, (program->words + 1) * sizeof *program->by_word);
    bool *is_start = mem_alloc(program->words + 4, sizeof *is_start);
    note_starts(object, is_start, program->words);
    for (size_t i = 0; i < object->segment_count; i++)
        if (object->segments[i].access & GCN3_EXECUTE)
            decode_segment(program, &object->segments[i], is_start, &capacity);
    mem_free(is_start);
    mem_grow(program->ops, program->count, capacity);
    program->ops[program->count] = (struct gcn3_lowered){.at = (uint32_t)object->image_bytes};
}

/* ---- making it ready ---- */

static void note_vgprs(struct gcn3_program *program, const struct gcn3_operand *operand)
{
    if (operand->kind == GCN3_VGPR)
        program->vgprs = (uint32_t)max_u64(program->vgprs, operand->number + max_u64(operand->dwords, 1));
}

static void lower(struct gcn3_program *program, struct gcn3_lowered *op)
{
    const struct gcn3_inst *inst = &op->inst;
    uint64_t to;
    const struct gcn3_operand *operands[] = {&inst->d, &inst->sd, &inst->a, &inst->b, &inst->c, &inst->saddr};
    for (size_t i = 0; i < COUNT_OF(operands); i++)
        note_vgprs(program, operands[i]);
    if (gcn3_branch(inst, op->at, &to) && to / 4 < program->words && to % 4 == 0)
        op->target = program->by_word[to / 4];
    op->run = gcn3_control(inst);
    if (!op->run)
        op->run = gcn3_skip(inst);
    if (!op->run)
        op->run = gcn3_memory(op);
    if (!op->run)
        op->run = gcn3_alu(op);
    if (!op->run)
        op->run = gcn3_unknown;
    op->access.number = op->access.bytes ? program->accesses++ : 0;
}

/* Whether the result may depend on the order of blocks: somebody looks at what an atomic operation found, or
 * the order of several makes a difference. */
static bool is_ordered(const struct gcn3_program *program, const struct gcn3_kernel_info *info)
{
    bool ordered = false, calls = false;
    for (uint32_t i = 0; i < program->count; i++) {
        const struct gcn3_lowered *op = &program->ops[i];
        bool own = op->at - info->entry < info->code_bytes;
        calls |= own && op->inst.op == GCN3_S_SWAPPC_B64;
    }
    for (uint32_t i = 0; i < program->count && !ordered; i++) {
        const struct gcn3_lowered *op = &program->ops[i];
        bool own = calls || !info->code_bytes || op->at - info->entry < info->code_bytes;
        bool is_global = op->access.is_atomic && gcn3_rows[op->inst.op].unit != GCN3_UNIT_LDS;
        ordered = own && is_global && (op->access.returns || !atomic_rows[op->access.operation].commutes);
    }
    return ordered;
}

static void make_kernel(struct gcn3_program *program, size_t number)
{
    struct gcn3_kernel *kernel = &program->kernels[number];
    const struct gcn3_kernel_info *info = &program->object->kernels[number];
    kernel_init(&kernel->base, &gcn3_isa, info->name);
    kernel->info = info;
    kernel->program = program;
    kernel->entry = info->entry / 4 < program->words ? program->by_word[info->entry / 4] : GCN3_NO_OP;
    kernel->vgprs = (uint32_t)max_u64(info->vgprs, program->vgprs);
    struct kernel_facts *facts = &kernel->base.facts;
    facts->param_bytes = info->kernarg_bytes;
    facts->shared_bytes = info->group_bytes;
    facts->local_bytes = info->private_bytes;
    facts->registers = info->vgprs;
    facts->max_threads = info->max_group_items;
    facts->param_count = info->explicit_count;
    facts->ordered = is_ordered(program, info);
    memcpy(facts->required, info->required, sizeof facts->required);
    kernel->base.dynamic_shared_at = info->group_bytes;
}

struct gcn3_program *gcn3_program_new(struct gcn3_object *object, uint64_t address)
{
    struct gcn3_program *program = mem_alloc(1, sizeof *program);
    program->object = object;
    program->base = address;
    program->target = target_of(object);
    decode_all(program);
    for (uint32_t i = 0; i < program->count; i++)
        lower(program, &program->ops[i]);
    gcn3_make_skippable(program);
    program->kernels = mem_alloc(object->kernel_count, sizeof *program->kernels);
    for (size_t i = 0; i < object->kernel_count; i++)
        make_kernel(program, i);
    gcn3_make_timing(program);
    return program;
}

void gcn3_program_free(struct gcn3_program *program)
{
    if (!program)
        return;
    for (size_t i = 0; i < program->object->kernel_count; i++)
        kernel_fini(&program->kernels[i].base);
    mem_free(program->kernels);
    mem_free(program->timing);
    mem_free(program->steps);
    mem_free(program->registers);
    mem_free(program->by_word);
    mem_free(program->ops);
    gcn3_object_free(program->object);
    mem_free(program);
}

const struct gcn3_object *gcn3_program_object(const struct gcn3_program *program)
{
    return program->object;
}

struct kernel *gcn3_program_kernel_at(struct gcn3_program *program, size_t number)
{
    return number < program->object->kernel_count ? &program->kernels[number].base : NULL;
}

struct kernel *gcn3_program_kernel(struct gcn3_program *program, const char *name)
{
    const struct gcn3_kernel_info *info = gcn3_object_kernel(program->object, name);
    return info ? &program->kernels[info - program->object->kernels].base : NULL;
}

const struct gcn3_kernel_info *gcn3_kernel_info(const struct kernel *kernel)
{
    return gcn3_kernel(kernel)->info;
}
