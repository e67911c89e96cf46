/* Linking: the names of all modules, the variables' addresses and their initial values. */
#include "ptx_run/code.h"
#include "ptx_run/isa.h"
#include "base/bits.h"
#include "base/mem.h"

#include <stdatomic.h>
#include <stdio.h>

#define FUNCTION_BASE UINT64_C(0x0008000000000000)
enum { FUNCTION_STEP = 16 };

static _Atomic uint64_t functions_linked; /* of all programs */

uint64_t program_function_address(const struct program *program, size_t function)
{
    return program->functions_at + function * FUNCTION_STEP;
}

size_t program_function_at(const struct program *program, uint64_t address)
{
    uint64_t function = (address - program->functions_at) / FUNCTION_STEP;
    return address % FUNCTION_STEP == 0 && address >= program->functions_at &&
                   function < program->function_count
               ? function
               : SIZE_MAX;
}

bool program_is_function(uint64_t address)
{
    return address % FUNCTION_STEP == 0 && address >= FUNCTION_BASE &&
           (address - FUNCTION_BASE) / FUNCTION_STEP < functions_linked;
}

/* A name that only its module knows. */
static const char *local_name(size_t module, const char *name, struct text *text)
{
    text->length = 0;
    text_add(text, "%zu:%s", module, name);
    return text->at;
}

static size_t find_name(const struct names *names, size_t module, const char *name)
{
    struct text text = {0};
    size_t found = names_find(names, local_name(module, name, &text));
    text_fini(&text);
    return found != NO_NAME ? found : names_find(names, name);
}

size_t program_function(const struct program *program, size_t module, const char *name)
{
    size_t found = find_name(&program->function_names, module, name);
    for (size_t hops = 0; found != NO_NAME && program->functions[found].function->alias; hops++) {
        const struct function_entry *entry = &program->functions[found];
        if (hops == program->function_count) /* aliases of each other */
            return SIZE_MAX;
        found = find_name(&program->function_names, entry->module, entry->function->alias);
    }
    return found == NO_NAME ? SIZE_MAX : found;
}

const struct variable_entry *program_variable(const struct program *program, size_t module, const char *name)
{
    size_t found = find_name(&program->variable_names, module, name);
    return found == NO_NAME ? NULL : &program->variables[found];
}

/* Adds a name, with a number of its own. False: it is there already, and stays as it was. */
static bool add_name(struct names *names, size_t count, size_t module, const char *name, bool internal)
{
    struct text text = {0};
    size_t number = names_add(names, internal ? local_name(module, name, &text) : name);
    text_fini(&text);
    return number == count;
}

static bool add_function(struct program *program, size_t module, const struct ptx_function *function,
                         struct err *err)
{
    if (!function->has_body && !function->alias)
        return true;
    bool internal = function->linkage == PTX_INTERNAL;
    if (!add_name(&program->function_names, program->function_count, module, function->name, internal)) {
        size_t at = find_name(&program->function_names, module, function->name);
        if (function->linkage == PTX_WEAK)
            return true;
        if (program->functions[at].function->linkage == PTX_WEAK && !function->is_kernel) {
            program->functions[at] = (struct function_entry){function, module};
            return true;
        }
        return err_set(err, "%s and %s both define %s", program->modules[program->functions[at].module]->name,
                       program->modules[module]->name, function->name);
    }
    mem_grow(program->functions, program->function_count, program->function_capacity);
    program->functions[program->function_count++] = (struct function_entry){function, module};
    if (function->is_kernel) {
        mem_grow(program->kernels, program->kernel_count, program->kernel_capacity);
        struct ptx_kernel *kernel = mem_alloc(1, sizeof *kernel);
        kernel_init(&kernel->base, &ptx_isa, function->name);
        kernel->program = program;
        kernel->function = program->function_count - 1;
        program->kernels[program->kernel_count++] = kernel;
    }
    return true;
}

static bool is_placed(const struct ptx_variable *variable)
{
    return (variable->space == PTX_GLOBAL || variable->space == PTX_CONST) && variable->linkage != PTX_EXTERN;
}

/* Of several .common or .weak variables of one name, the largest gives the size. */
static bool add_variable(struct program *program, size_t module, const struct ptx_variable *variable,
                         struct err *err)
{
    bool internal = variable->linkage == PTX_INTERNAL;
    if (add_name(&program->variable_names, program->variable_count, module, variable->name, internal)) {
        mem_grow(program->variables, program->variable_count, program->variable_capacity);
        program->variables[program->variable_count++] =
            (struct variable_entry){.variable = variable, .bytes = variable->bytes};
        return true;
    }
    struct variable_entry *entry =
        &program->variables[find_name(&program->variable_names, module, variable->name)];
    bool strong = variable->linkage == PTX_VISIBLE, was_strong = entry->variable->linkage == PTX_VISIBLE;
    if (strong && was_strong)
        return err_set(err, "%s: variable %s is defined in another module too",
                       program->modules[module]->name, variable->name);
    if (strong || (variable->initial_count && !was_strong))
        entry->variable = variable;
    entry->bytes = max_u64(entry->bytes, variable->bytes);
    return true;
}

static bool symbol_address(const struct program *program, size_t module, const char *name, uint64_t *address)
{
    const struct variable_entry *variable = program_variable(program, module, name);
    size_t function = variable ? 0 : program_function(program, module, name);
    if (variable)
        *address = variable->address;
    else if (function != SIZE_MAX)
        *address = program_function_address(program, function);
    return variable || function != SIZE_MAX;
}

static bool initialize(const struct program *program, size_t module, const struct ptx_variable *variable,
                       struct err *err)
{
    const struct variable_entry *entry = program_variable(program, module, variable->name);
    if (entry->variable != variable)
        return true;
    for (size_t i = 0; i < variable->initial_count; i++) {
        const struct ptx_initial *initial = &variable->initials[i];
        uint64_t value = initial->value;
        if (initial->symbol) {
            if (!symbol_address(program, module, initial->symbol, &value))
                return err_set(err, "%s:%u: variable %s refers to %s, which no module defines",
                               program->modules[module]->name, variable->line, variable->name,
                               initial->symbol);
            value += initial->value;
            if (initial->mask)
                value = (value & initial->mask) >> __builtin_ctzll(initial->mask);
        }
        REQUIRE(initial->offset + initial->bytes <= entry->bytes);
        memcpy((char *)(uintptr_t)entry->address + initial->offset, &value, initial->bytes);
    }
    return true;
}

static bool link_all(struct program *program, program_place_fn *place, void *context, struct err *err)
{
    for (size_t m = 0; m < program->module_count; m++) {
        const struct ptx_module *module = program->modules[m];
        for (uint32_t i = 0; i < module->function_count; i++)
            if (!add_function(program, m, &module->functions[i], err))
                return false;
        for (uint32_t i = 0; i < module->variable_count; i++)
            if (is_placed(&module->variables[i]) && !add_variable(program, m, &module->variables[i], err))
                return false;
    }
    program->functions_at =
        FUNCTION_BASE + atomic_fetch_add(&functions_linked, program->function_count) * FUNCTION_STEP;
    for (size_t i = 0; i < program->variable_count; i++) {
        struct variable_entry *entry = &program->variables[i];
        uint64_t alignment = max_u64(entry->variable->alignment, 1);
        entry->address = place(context, entry->variable, max_u64(entry->bytes, 1), alignment);
        if (!entry->address)
            return err_set(err, "no memory for variable %s of %llu bytes", entry->variable->name,
                           (unsigned long long)entry->bytes);
    }
    for (size_t m = 0; m < program->module_count; m++)
        for (uint32_t i = 0; i < program->modules[m]->variable_count; i++)
            if (is_placed(&program->modules[m]->variables[i]) &&
                !initialize(program, m, &program->modules[m]->variables[i], err))
                return false;
    return true;
}

struct program *program_new(struct ptx_module **modules, size_t count, const struct ptx_assembler *assembler,
                            program_place_fn *place, void *context, struct err *err)
{
    struct program *program = mem_alloc(1, sizeof *program);
    program->modules = mem_alloc(count, sizeof *program->modules);
    program->module_count = count;
    program->assembler = assembler;
    memcpy(program->modules, modules, count * sizeof *modules);
    if (link_all(program, place, context, err))
        return program;
    program_free(program);
    return NULL;
}

static void kernel_free(struct ptx_kernel *kernel)
{
    for (size_t i = 0; kernel->codes && i < kernel->program->function_count; i++) {
        code_free(kernel->codes[i]);
        mem_free(kernel->whys[i]);
    }
    mem_free(kernel->codes);
    mem_free(kernel->whys);
    mem_free(kernel->shared);
    kernel_fini(&kernel->base);
    mem_free(kernel);
}

void program_free(struct program *program)
{
    if (!program)
        return;
    for (size_t i = 0; i < program->kernel_count; i++)
        kernel_free(program->kernels[i]);
    for (size_t i = 0; i < program->module_count; i++)
        ptx_free(program->modules[i]);
    mem_free(program->kernels);
    mem_free(program->modules);
    mem_free(program->functions);
    mem_free(program->variables);
    names_fini(&program->function_names);
    names_fini(&program->variable_names);
    mem_free(program);
}

struct kernel *program_kernel(const struct program *program, const char *name)
{
    for (size_t i = 0; i < program->kernel_count; i++)
        if (!strcmp(program->functions[program->kernels[i]->function].function->name, name))
            return &program->kernels[i]->base;
    return NULL;
}

struct kernel *program_kernel_at(const struct program *program, size_t index)
{
    return index < program->kernel_count ? &program->kernels[index]->base : NULL;
}

bool program_symbol(const struct program *program, const char *name, struct symbol *symbol)
{
    for (size_t m = 0; m < program->module_count; m++) {
        const struct variable_entry *entry = program_variable(program, m, name);
        if (!entry)
            continue;
        *symbol = (struct symbol){.name = entry->variable->name,
                                  .address = entry->address,
                                  .bytes = entry->bytes,
                                  .space = entry->variable->space,
                                  .managed = entry->variable->managed};
        return true;
    }
    return false;
}

uint64_t ptx_kernel_address(const struct kernel *kernel)
{
    const struct ptx_kernel *own = ptx_kernel_of(kernel);
    return program_function_address(own->program, own->function);
}

struct kernel *ptx_kernel_at(const struct kernel *kernel, uint64_t pointer)
{
    const struct program *program = ptx_kernel_of(kernel)->program;
    size_t function = program_function_at(program, pointer);
    for (size_t i = 0; i < program->kernel_count && function != SIZE_MAX; i++) {
        if (program->kernels[i]->function == function)
            return &program->kernels[i]->base;
    }
    return NULL;
}
