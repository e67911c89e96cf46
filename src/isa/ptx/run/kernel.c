/* Prepares a kernel: the functions it can call, the block's shared memory, and its properties. */
#include "ptx_run/builtin.h"
#include "ptx_run/code.h"
#include "ptx_run/isa.h"
#include "ptx_run/meet.h"
#include "base/bits.h"
#include "base/mem.h"
#include "ptx/flow.h"

#include <string.h>

struct reach {
    struct ptx_kernel *kernel;
    uint8_t *seen; /* by function of the program */
    size_t *list;  /* functions, in the order they were reached */
    size_t count;
};

static void reach_function(struct reach *reach, size_t function)
{
    if (function == SIZE_MAX || reach->seen[function])
        return;
    reach->seen[function] = 1;
    reach->list[reach->count++] = function;
}

static const struct function_entry *entry_of(const struct ptx_kernel *kernel, size_t function)
{
    return &kernel->program->functions[function];
}

/* Shared memory whose size the launch says. */
static bool is_dynamic(const struct ptx_variable *variable)
{
    return !variable->bytes || variable->linkage == PTX_EXTERN;
}

static void place_shared(struct ptx_kernel *kernel, const struct ptx_variable *variable)
{
    for (size_t i = 0; i < kernel->shared_count; i++)
        if (kernel->shared[i].variable == variable)
            return;
    mem_grow(kernel->shared, kernel->shared_count, kernel->shared_capacity);
    struct shared_variable *shared = &kernel->shared[kernel->shared_count++];
    shared->variable = variable;
    uint64_t alignment = max_u64(variable->alignment, max_u64(ptx_type_bytes(variable->type), 1));
    if (!is_dynamic(variable)) {
        kernel->base.facts.shared_bytes =
            (kernel->base.facts.shared_bytes + alignment - 1) / alignment * alignment;
        shared->at = kernel->base.facts.shared_bytes;
        kernel->base.facts.shared_bytes += variable->bytes;
    }
}

/* Registers whose value is read somewhere. */
static void see_read(void *context, uint32_t index, bool written)
{
    uint8_t *read = context;
    read[index] |= !written;
}

static uint8_t *find_reads(const struct ptx_function *f)
{
    uint8_t *read = mem_alloc(f->register_count + 1, 1);
    for (uint32_t i = 0; i < f->inst_count; i++)
        ptx_each_register(f, &f->insts[i], see_read, read);
    return read;
}

static void scan_operand(struct reach *reach, const struct function_entry *entry, const struct ptx_operand *o)
{
    const struct ptx_function *f = entry->function;
    struct ptx_kernel *kernel = reach->kernel;
    if (o->kind >= PTX_OP_MEMORY && o->kind <= PTX_OP_PAIR)
        for (uint32_t i = 0; i < o->count; i++)
            scan_operand(reach, entry, &f->operands[o->first + i]);
    if (o->kind != PTX_OP_SYMBOL)
        return;
    const struct ptx_symbol *symbol = &f->symbols[o->index];
    if (symbol->kind == PTX_SYM_FUNCTION) {
        size_t function = program_function(kernel->program, entry->module, symbol->name);
        if (function == SIZE_MAX ||
            !entry_of(kernel, function)->function->is_kernel) /* those are launched, not called */
            reach_function(reach, function);
        if (function == SIZE_MAX && builtin_is_ordered(symbol->name))
            kernel->base.facts.ordered = true;
        if (function == SIZE_MAX && builtin_launches_any(symbol->name))
            kernel->base.facts.launches = true;
    }
    if (symbol->kind == PTX_SYM_GLOBAL) {
        const struct ptx_variable *variable =
            &kernel->program->modules[entry->module]->variables[symbol->index];
        if (variable->space == PTX_SHARED)
            place_shared(kernel, variable);
        else if (variable->space == PTX_CONST)
            kernel->base.facts.const_bytes = max_u64(kernel->base.facts.const_bytes, variable->bytes);
    }
}

static void scan_function(struct reach *reach, size_t function)
{
    const struct function_entry *entry = entry_of(reach->kernel, function);
    const struct ptx_function *f = entry->function;
    struct ptx_kernel *kernel = reach->kernel;
    uint8_t *read = find_reads(f);
    for (uint32_t i = 0; i < f->variable_count; i++)
        if (f->variables[i].space == PTX_SHARED)
            place_shared(kernel, &f->variables[i]);
    for (uint32_t i = 0; i < f->inst_count; i++) {
        const struct ptx_inst *inst = &f->insts[i];
        kernel->base.facts.ordered |= meet_is_ordered(f, inst, read);
        for (uint32_t o = 0; o < inst->count && ptx_is(inst, "call"); o++)
            kernel->has_indirect |= f->operands[inst->first + o].kind == PTX_OP_REGISTER;
        for (uint32_t o = 0; o < inst->count; o++)
            scan_operand(reach, entry, &f->operands[inst->first + o]);
    }
    mem_free(read);
}

/* Functions whose address is in a variable: virtual functions, tables of pointers. */
static void reach_tables(struct reach *reach)
{
    const struct program *program = reach->kernel->program;
    for (size_t m = 0; m < program->module_count; m++)
        for (uint32_t v = 0; v < program->modules[m]->variable_count; v++) {
            const struct ptx_variable *variable = &program->modules[m]->variables[v];
            for (size_t i = 0; i < variable->initial_count; i++)
                if (variable->initials[i].symbol)
                    reach_function(reach, program_function(program, m, variable->initials[i].symbol));
        }
}

static void reach_operand(struct reach *reach, const struct function_entry *entry,
                          const struct ptx_operand *o)
{
    const struct program *program = reach->kernel->program;
    const struct ptx_function *f = entry->function;
    if (o->kind >= PTX_OP_MEMORY && o->kind <= PTX_OP_PAIR)
        for (uint32_t i = 0; i < o->count; i++)
            reach_operand(reach, entry, &f->operands[o->first + i]);
    if (o->kind != PTX_OP_SYMBOL || f->symbols[o->index].kind != PTX_SYM_FUNCTION)
        return;
    size_t taken = program_function(program, entry->module, f->symbols[o->index].name);
    if (taken != SIZE_MAX && !program->functions[taken].function->is_kernel)
        reach_function(reach, taken);
}

/* Functions whose address some instruction takes: a kernel may have been given it by another. */
static void reach_taken(struct reach *reach)
{
    const struct program *program = reach->kernel->program;
    for (size_t i = 0; i < program->function_count; i++) {
        const struct ptx_function *f = program->functions[i].function;
        for (uint32_t k = 0; k < f->inst_count; k++) {
            const struct ptx_inst *inst = &f->insts[k];
            for (uint32_t o = 0; o < inst->count && !ptx_is(inst, "call"); o++)
                reach_operand(reach, &program->functions[i], &f->operands[inst->first + o]);
        }
    }
}

static void scan_reached(struct reach *reach, size_t from)
{
    for (size_t i = from; i < reach->count; i++) {
        scan_function(reach, reach->list[i]);
        if (reach->kernel->has_indirect)
            reach_tables(reach);
    }
}

static void find_facts(struct ptx_kernel *kernel)
{
    const struct function_entry *entry = entry_of(kernel, kernel->function);
    const struct ptx_function *f = entry->function;
    const struct ptx_module *module = kernel->program->modules[entry->module];
    struct kernel_facts *facts = &kernel->base.facts;
    facts->ptx_version = module->version;
    facts->target = module->target;
    facts->param_count = f->param_count;
    if (f->param_count) {
        const struct ptx_variable *last = &f->params[f->param_count - 1];
        facts->param_bytes = last->offset + last->bytes;
    }
    for (int i = 0; i < 3; i++) {
        facts->required[i] = f->reqntid[i];
        facts->cluster[i] = f->reqnctapercluster[i];
    }
    facts->max_cluster = f->maxclusterrank;
    facts->explicit_cluster = f->explicit_cluster || f->reqnctapercluster[0];
    const uint32_t *most = f->reqntid[0] ? f->reqntid : f->maxntid;
    if (most[0])
        facts->max_threads = most[0] * (uint32_t)max_u64(most[1], 1) * (uint32_t)max_u64(most[2], 1);
}

/* ptxas sees to it that as many of the largest blocks that the kernel may have fit into an SM as it was told.
 */
static uint32_t most_registers(const struct ptx_kernel *kernel)
{
    enum { SM_REGISTERS = 65536, MOST = 255, LEAST = 16 };
    const struct ptx_function *f = entry_of(kernel, kernel->function)->function;
    uint32_t most = f->maxnreg ? f->maxnreg : MOST, threads = (kernel->base.facts.max_threads + 31) / 32 * 32;
    if (threads)
        most = (uint32_t)min_u64(most, SM_REGISTERS / (threads * max_u64(f->minnctapersm, 1)) / 8 * 8);
    return (uint32_t)min_u64(max_u64(most, LEAST), MOST);
}

bool ptx_prepare(struct kernel *base, struct err *err)
{
    struct ptx_kernel *kernel = ptx_kernel_of(base);
    size_t functions = kernel->program->function_count;
    bool good = true;
    struct reach reach = {.kernel = kernel};
    reach.seen = mem_alloc(functions, 1);
    reach.list = mem_alloc(functions, sizeof *reach.list);
    find_facts(kernel);
    kernel->base.facts.meets = true;
    reach_function(&reach, kernel->function);
    scan_reached(&reach, 0);
    size_t certain = reach.count; /* the others may never be called: it is no fault if one cannot run */
    if (kernel->has_indirect) {
        reach_taken(&reach);
        scan_reached(&reach, certain);
    }
    uint64_t alignment = 16;
    for (size_t i = 0; i < kernel->shared_count; i++)
        if (is_dynamic(kernel->shared[i].variable))
            alignment = max_u64(alignment, kernel->shared[i].variable->alignment);
    kernel->base.dynamic_shared_at =
        (kernel->base.facts.shared_bytes + alignment - 1) / alignment * alignment;
    if (kernel->base.dynamic_shared_at > WINDOW_BYTES)
        good =
            err_set(err, "%llu bytes of shared memory", (unsigned long long)kernel->base.facts.shared_bytes);
    for (size_t i = 0; i < kernel->shared_count; i++)
        if (is_dynamic(kernel->shared[i].variable))
            kernel->shared[i].at = kernel->base.dynamic_shared_at;
    kernel->codes = mem_alloc(functions, sizeof *kernel->codes);
    kernel->whys = mem_alloc(functions, sizeof *kernel->whys);
    uint32_t pressure = 0;
    for (size_t i = 0; i < reach.count && good; i++) {
        size_t function = reach.list[i];
        if (!entry_of(kernel, function)->function->has_body)
            continue;
        struct err why;
        struct code *code = kernel->codes[function] = code_new(kernel, function, &why);
        if (!code && i >= certain)
            kernel->whys[function] = mem_text(why.text);
        else if (!code)
            good = err_set(err, "%s", why.text);
        if (code) {
            code->registers_at = kernel->frames_bytes;
            kernel->frames_bytes += code->frame_bytes;
            code->isa.slots_at = base->slots;
            base->slots += code->slots;
            code->isa.code_at = base->code_bytes;
            if (code->isa.timing)
                base->code_bytes +=
                    (code->isa.timing[code->op_count - 1].first_step + UINT64_C(1)) * STEP_BYTES;
            pressure = (uint32_t)max_u64(pressure, code->pressure);
            kernel->base.facts.local_bytes += code->local_bytes;
        }
    }
    if (!kernel->base.facts.registers)
        kernel->base.facts.registers = (uint32_t)min_u64(max_u64(pressure + 2, 16), most_registers(kernel));
    if (good)
        base->code = &kernel->codes[kernel->function]->isa;
    mem_free(reach.seen);
    mem_free(reach.list);
    return good;
}

void ptx_kernel_param(const struct kernel *kernel, uint32_t index, uint64_t *offset, uint64_t *bytes)
{
    const struct ptx_kernel *own = ptx_kernel_of(kernel);
    const struct ptx_function *f = entry_of(own, own->function)->function;
    REQUIRE(index < f->param_count);
    *offset = f->params[index].offset;
    *bytes = f->params[index].bytes;
}

void program_set_timed(struct program *program)
{
    program->timed = true;
}
