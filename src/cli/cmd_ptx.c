/* heddle ptx: the PTX of a program, and what a PTX file holds. */
#include "cli/cli.h"
#include "cli/ptx_texts.h"
#include "base/bits.h"
#include "base/file.h"
#include "report/json.h"
#include "base/mem.h"
#include "base/names.h"
#include "ptx_run/program.h"
#include "base/unit.h"
#include "ptx/ptx.h"
#include "system/system.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const space_names[] = {[PTX_GENERIC] = "generic",
#define S(name) #name,
                                          PTX_SPACES(S)
#undef S
};

struct opcode_count {
    const char *opcode;
    uint64_t count;
    uint32_t line; /* of the first */
    bool known;
};

/* What is told of a function. */
struct facts {
    struct opcode_count *opcodes; /* the most frequent first */
    size_t opcode_count, opcode_capacity, unknown_count;
    uint32_t registers[PTX_TYPE_COUNT];
    uint64_t shared_bytes, local_bytes, param_bytes;
    bool dynamic_shared;
};

static void count_opcodes(struct facts *facts, const struct ptx_function *function)
{
    struct names names = {0};
    for (uint32_t i = 0; i < function->inst_count; i++) {
        const struct ptx_inst *inst = &function->insts[i];
        size_t number = names_add(&names, inst->opcode);
        if (number == facts->opcode_count) {
            mem_grow(facts->opcodes, facts->opcode_count, facts->opcode_capacity);
            facts->opcodes[facts->opcode_count++] =
                (struct opcode_count){inst->opcode, 0, inst->line, program_knows(inst->opcode)};
            facts->unknown_count += !facts->opcodes[number].known;
        }
        facts->opcodes[number].count++;
    }
    names_fini(&names);
}

static int by_count(const void *left, const void *right)
{
    const struct opcode_count *a = left, *b = right;
    return a->count != b->count ? (a->count < b->count ? 1 : -1) : strcmp(a->opcode, b->opcode);
}

/* Puts the variable behind what is there already. */
static void place(uint64_t *bytes, const struct ptx_variable *variable)
{
    uint64_t start = (*bytes + variable->alignment - 1) & ~(uint64_t)(variable->alignment - 1);
    *bytes = start + variable->bytes;
}

static void place_shared(struct facts *facts, const struct ptx_variable *variable)
{
    if (variable->bytes)
        place(&facts->shared_bytes, variable);
    else
        facts->dynamic_shared = true;
}

static void add_memory(struct facts *facts, const struct ptx_module *module,
                       const struct ptx_function *function)
{
    for (uint32_t i = 0; i < function->variable_count; i++) {
        const struct ptx_variable *variable = &function->variables[i];
        if (variable->space == PTX_SHARED)
            place_shared(facts, variable);
        else if (variable->space == PTX_LOCAL)
            place(&facts->local_bytes, variable);
    }
    for (uint32_t i = 0; i < function->symbol_count; i++) {
        const struct ptx_symbol *symbol = &function->symbols[i];
        if (symbol->kind == PTX_SYM_GLOBAL && module->variables[symbol->index].space == PTX_SHARED)
            place_shared(facts, &module->variables[symbol->index]);
    }
    for (uint32_t i = 0; i < function->param_count; i++)
        if (function->params[i].space == PTX_PARAM)
            facts->param_bytes = function->params[i].offset + function->params[i].bytes;
}

static void facts_init(struct facts *facts, const struct ptx_module *module,
                       const struct ptx_function *function)
{
    *facts = (struct facts){0};
    count_opcodes(facts, function);
    if (facts->opcode_count)
        qsort(facts->opcodes, facts->opcode_count, sizeof *facts->opcodes, by_count);
    for (uint32_t i = 0; i < function->register_count; i++)
        facts->registers[function->registers[i].type]++;
    add_memory(facts, module, function);
}

/* ---- as text ---- */

static void print_variables(const struct ptx_module *module)
{
    if (module->variable_count)
        printf("\nvariables\n");
    for (uint32_t i = 0; i < module->variable_count; i++) {
        const struct ptx_variable *variable = &module->variables[i];
        printf("  %-7s %12" PRIu64 " bytes  %s%s%s\n", space_names[variable->space], variable->bytes,
               variable->name, variable->managed ? " (managed)" : "",
               variable->linkage == PTX_EXTERN ? " (extern)" : "");
    }
}

static void print_limit(const char *name, const uint32_t *numbers, int count)
{
    if (!numbers[0])
        return;
    printf("  %-15s", name);
    for (int i = 0; i < count; i++)
        printf(" %" PRIu32, numbers[i]);
    putchar('\n');
}

static void print_registers(const struct facts *facts)
{
    printf("  registers      ");
    const char *comma = "";
    for (int type = 0; type < PTX_TYPE_COUNT; type++) {
        if (!facts->registers[type])
            continue;
        printf("%s %" PRIu32 " %s", comma, facts->registers[type], ptx_type_name((enum ptx_type)type));
        comma = ",";
    }
    printf("%s\n", *comma ? "" : " none");
}

static void print_opcodes(const struct facts *facts)
{
    printf("  opcodes\n");
    for (size_t i = 0; i < facts->opcode_count; i++)
        printf("    %9" PRIu64 " %s\n", facts->opcodes[i].count, facts->opcodes[i].opcode);
    if (facts->unknown_count)
        printf("  unknown instructions\n");
    for (size_t i = 0; i < facts->opcode_count; i++) {
        const struct opcode_count *row = &facts->opcodes[i];
        if (!row->known)
            printf("    %9" PRIu64 " %s, first at line %" PRIu32 "\n", row->count, row->opcode, row->line);
    }
}

static void print_function(const struct ptx_module *module, const struct ptx_function *function)
{
    const char *kind = function->is_kernel ? "kernel" : "function";
    if (function->alias || !function->has_body) {
        printf("\n%s %s, %s%s\n", kind, function->name,
               function->alias ? "another name of " : "declared only",
               function->alias ? function->alias : "");
        return;
    }
    struct facts facts;
    facts_init(&facts, module, function);
    printf("\n%s %s, line %" PRIu32 "\n", kind, function->name, function->line);
    printf("  instructions    %" PRIu32 "\n", function->inst_count);
    print_registers(&facts);
    printf("  shared memory   %" PRIu64 " bytes%s\n", facts.shared_bytes,
           facts.dynamic_shared ? ", and what a launch adds" : "");
    printf("  local memory    %" PRIu64 " bytes\n", facts.local_bytes);
    print_limit("maxntid", function->maxntid, 3);
    print_limit("reqntid", function->reqntid, 3);
    print_limit("minnctapersm", &function->minnctapersm, 1);
    print_limit("maxnreg", &function->maxnreg, 1);
    print_limit("cluster", function->reqnctapercluster, 3);
    printf("  parameters      %" PRIu64 " bytes\n", facts.param_bytes);
    for (uint32_t i = 0; i < function->param_count; i++) {
        const struct ptx_variable *param = &function->params[i];
        printf("    at %6" PRIu64 " %5" PRIu64 " bytes  %s\n", param->offset, param->bytes, param->name);
    }
    print_opcodes(&facts);
    mem_free(facts.opcodes);
}

static void print_module(const struct ptx_module *module)
{
    printf("%s: PTX ISA %" PRIu32 ".%" PRIu32 " for sm_%" PRIu32 "%s, addresses of %" PRIu32 " bits\n",
           module->name, module->version / 10, module->version % 10, module->target,
           module->target_specific ? "a" : "", module->address_bits);
    print_variables(module);
    for (uint32_t i = 0; i < module->function_count; i++)
        print_function(module, &module->functions[i]);
}

/* ---- as JSON ---- */

static void json_opcodes(struct json_writer *json, const struct facts *facts, const char *name,
                         bool only_unknown)
{
    json_open_list(json, name);
    for (size_t i = 0; i < facts->opcode_count; i++) {
        const struct opcode_count *row = &facts->opcodes[i];
        if (only_unknown && row->known)
            continue;
        json_open_object(json, NULL);
        json_put_text(json, "opcode", row->opcode);
        json_put_count(json, "count", row->count);
        json_put_count(json, "first_line", row->line);
        json_close(json);
    }
    json_close(json);
}

static void json_numbers(struct json_writer *json, const char *name, const uint32_t *numbers, int count)
{
    if (!numbers[0])
        return;
    json_open_list(json, name);
    for (int i = 0; i < count; i++)
        json_put_count(json, NULL, numbers[i]);
    json_close(json);
}

static void json_params(struct json_writer *json, const struct ptx_function *function)
{
    json_open_list(json, "parameters");
    for (uint32_t i = 0; i < function->param_count; i++) {
        json_open_object(json, NULL);
        json_put_text(json, "name", function->params[i].name);
        json_put_count(json, "offset", function->params[i].offset);
        json_put_count(json, "bytes", function->params[i].bytes);
        json_close(json);
    }
    json_close(json);
}

static void json_body(struct json_writer *json, const struct ptx_module *module,
                      const struct ptx_function *function)
{
    struct facts facts;
    facts_init(&facts, module, function);
    json_put_count(json, "line", function->line);
    json_put_count(json, "instructions", function->inst_count);
    json_open_object(json, "registers");
    for (int type = 0; type < PTX_TYPE_COUNT; type++)
        if (facts.registers[type])
            json_put_count(json, ptx_type_name((enum ptx_type)type), facts.registers[type]);
    json_close(json);
    json_put_count(json, "shared_bytes", facts.shared_bytes);
    json_put_bool(json, "dynamic_shared", facts.dynamic_shared);
    json_put_count(json, "local_bytes", facts.local_bytes);
    json_numbers(json, "maxntid", function->maxntid, 3);
    json_numbers(json, "reqntid", function->reqntid, 3);
    json_numbers(json, "minnctapersm", &function->minnctapersm, 1);
    json_numbers(json, "maxnreg", &function->maxnreg, 1);
    json_numbers(json, "cluster", function->reqnctapercluster, 3);
    json_put_count(json, "parameter_bytes", facts.param_bytes);
    json_params(json, function);
    json_opcodes(json, &facts, "opcodes", false);
    json_opcodes(json, &facts, "unknown", true);
    mem_free(facts.opcodes);
}

static void json_variables(struct json_writer *json, const struct ptx_module *module)
{
    json_open_list(json, "variables");
    for (uint32_t i = 0; i < module->variable_count; i++) {
        const struct ptx_variable *variable = &module->variables[i];
        json_open_object(json, NULL);
        json_put_text(json, "name", variable->name);
        json_put_text(json, "space", space_names[variable->space]);
        json_put_count(json, "bytes", variable->bytes);
        json_put_count(json, "alignment", variable->alignment);
        json_put_bool(json, "managed", variable->managed);
        json_put_bool(json, "extern", variable->linkage == PTX_EXTERN);
        json_close(json);
    }
    json_close(json);
}

static bool write_json(const struct ptx_module *module, const char *path, struct err *err)
{
    struct file_writer writer;
    struct json_writer json;
    char version[32];
    if (!file_open(&writer, path, err))
        return false;
    snprintf(version, sizeof version, "%" PRIu32 ".%" PRIu32, module->version / 10, module->version % 10);
    json_begin(&json, writer.stream);
    json_open_object(&json, NULL);
    json_put_text(&json, "heddle", HEDDLE_VERSION);
    json_put_text(&json, "module", module->name);
    json_put_text(&json, "version", version);
    json_put_count(&json, "target", module->target);
    json_put_bool(&json, "target_specific", module->target_specific);
    json_put_count(&json, "address_bits", module->address_bits);
    json_variables(&json, module);
    json_open_list(&json, "functions");
    for (uint32_t i = 0; i < module->function_count; i++) {
        const struct ptx_function *function = &module->functions[i];
        json_open_object(&json, NULL);
        json_put_text(&json, "name", function->name);
        json_put_bool(&json, "kernel", function->is_kernel);
        if (function->alias)
            json_put_text(&json, "alias_of", function->alias);
        else if (function->has_body)
            json_body(&json, module, function);
        json_close(&json);
    }
    json_close(&json);
    json_close(&json);
    return file_close(&writer, err);
}

/* ---- the command ---- */

static const struct option_row options[] = {
    {"--json", "FILE", "write what the module holds as JSON; - is standard output"},
    {"--kernel", "NAME", "show the PTX of this kernel, with the line numbers that messages cite"},
    {"--module", "N", "of a program with several modules: this one, counted from 1"},
    {"--system", "NAME|FILE", "of a program: the PTX that this system runs (h200 unless told)"},
    {NULL, NULL, NULL},
};

struct request {
    const char *path, *json, *kernel, *system;
    uint64_t module; /* 0: not said */
};

static bool took(void *user, const struct option_row *row, const char *value, struct err *err)
{
    struct request *request = user;
    struct err why;
    if (!row && request->path)
        return err_set(err, "ptx: expected one file, not '%.120s' too", value);
    if (!row)
        request->path = value;
    else if (!strcmp(row->name, "--json"))
        request->json = value;
    else if (!strcmp(row->name, "--kernel"))
        request->kernel = value;
    else if (!strcmp(row->name, "--system"))
        request->system = value;
    else if (!unit_parse(UNIT_count, value, &request->module, &why) || !request->module)
        return err_set(err, "--module: expected a number from 1 on, not '%.80s'", value);
    return true;
}

static bool makes_sense(const struct request *request, struct err *err)
{
    if (!request->path)
        return err_set(err, "ptx: expected a program or a file of PTX, or - for standard input");
    if (request->json && request->kernel)
        return err_set(err, "--kernel: --json is of whole modules");
    if (request->json && strcmp(request->json, "-") && file_same(request->path, request->json))
        return err_set(err, "--json would write over %.200s, which is read", request->path);
    return true;
}

/* Of which architecture the GPUs of the system are: 90. */
static bool find_arch(const struct request *request, uint32_t *arch, struct err *err)
{
    struct system system;
    if (!system_load(&system, request->system, NULL, err))
        return false;
    *arch = (uint32_t)(10 * system.gpu.major + system.gpu.minor);
    system_fini(&system);
    return true;
}

/* What a module holds, in words or as JSON. */
static bool tell_module(const struct request *request, const char *name, const struct ptx_text *text,
                        struct err *err)
{
    struct ptx_module *module = ptx_parse(name, text->at, text->bytes, err);
    if (!module)
        return false;
    bool good = !request->json || write_json(module, request->json, err);
    if (good && (!request->json || strcmp(request->json, "-")))
        print_module(module);
    ptx_free(module);
    return good;
}

static bool tell(const struct request *request, const struct ptx_texts *texts, struct err *err)
{
    if (request->module > texts->count)
        return err_set(err, "--module: expected 1..%zu, not %" PRIu64, texts->count, request->module);
    size_t first = request->module ? request->module - 1 : 0;
    size_t last = request->module ? first : texts->count - 1;
    if (request->kernel)
        return cmd_ptx_texts_print_kernel(texts, first, last, request->kernel, err);
    if (first < last && request->json)
        return err_set(err, "--json needs --module N, 1..%zu", texts->count);
    if (first < last)
        cmd_ptx_texts_list(texts);
    else if (texts->embedded && !request->json)
        cmd_ptx_text_print(&texts->modules[first]);
    else
        return tell_module(request, texts->name, &texts->modules[first], err);
    return true;
}

static int run(int count, char **words)
{
    struct err err;
    struct request request = {0};
    struct ptx_texts texts = {0};
    uint32_t arch;
    if (!options_parse(options, count, words, &request, took, &err) || !makes_sense(&request, &err) ||
        !find_arch(&request, &arch, &err))
        return complain(EXIT_USAGE, &err);
    bool good = cmd_ptx_texts_read(&texts, request.path, arch, &err) && tell(&request, &texts, &err);
    cmd_ptx_texts_fini(&texts);
    return good ? EXIT_GOOD : complain(EXIT_FAILED, &err);
}

const struct cmd cmd_ptx = {
    .name = "ptx",
    .arguments = "PROGRAM|FILE",
    .help = "show the PTX of a program, or what a PTX file holds",
    .more =
        "Of a program (or library, object, fatbin), prints the PTX that nvcc put into it, with the line\n"
        "numbers that messages cite. Several modules are listed; --module shows one, --kernel a kernel.\n"
        "Of a PTX file, prints the module's version and target, its variables, and of each function its\n"
        "size, registers, memory, parameters and opcodes, with those that Heddle cannot run. - is standard\n"
        "input. nvcc -ptx and clang write such files.",
    .options = options,
    .run = run,
};
