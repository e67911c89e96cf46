/* heddle gcn3: what a code object for AMD's GPUs holds. */
#include "cli/cli.h"
#include "base/file.h"
#include "base/mem.h"
#include "cli/gcn3_code.h"
#include "gcn3_object/bundle.h"
#include "gcn3_object/object.h"
#include "report/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LARGEST_FILE (UINT64_C(1) << 30)

/* Bits of a kernel's set-up, by name: SGPRs at the start, and modes. */
static const struct {
    const char *name;
    size_t offset;
} flags[] = {
#define F(member) {#member, offsetof(struct gcn3_setup, member)},
    F(private_segment_buffer) F(dispatch_ptr) F(queue_ptr) F(kernarg_segment_ptr) F(dispatch_id)
        F(flat_scratch_init) F(private_segment_size) F(workgroup_info) F(private_segment_wave_offset)
            F(dx10_clamp) F(ieee_mode) F(dynamic_stack)
#undef F
};

enum { FLAG_COUNT = sizeof flags / sizeof *flags };

static bool has_flag(const struct gcn3_setup *setup, size_t flag)
{
    return *(const bool *)((const char *)setup + flags[flag].offset);
}

/* ---- as text ---- */

static void print_size(const char *name, const uint32_t size[3])
{
    if (size[0])
        printf("  %-16s%" PRIu32 " x %" PRIu32 " x %" PRIu32 "\n", name, size[0], size[1], size[2]);
}

static void print_args(const struct gcn3_kernel_info *kernel)
{
    printf("  arguments       %" PRIu32 " bytes%s\n", kernel->kernarg_bytes,
           kernel->has_metadata ? "" : ", without metadata");
    for (uint32_t i = 0; i < kernel->arg_count; i++) {
        const struct gcn3_arg *arg = &kernel->args[i];
        printf("    at %6" PRIu32 " %5" PRIu32 " bytes  %s", arg->offset, arg->bytes,
               gcn3_arg_kind_name(arg->kind));
        printf("%s%s%s%s\n", arg->type_name ? " " : "", arg->type_name ? arg->type_name : "",
               arg->name ? " " : "", arg->name ? arg->name : "");
    }
}

static void print_opcodes(const struct gcn3_object *object, const struct gcn3_kernel_info *kernel)
{
    struct gcn3_code code;
    cmd_gcn3_code_count(object, kernel, &code);
    printf("  instructions    %" PRIu64 "\n", code.instructions);
    if (code.unknown_bytes)
        printf("  unknown         %" PRIu64 " bytes of code\n", code.unknown_bytes);
    printf("  opcodes\n");
    for (size_t i = 0; i < code.opcode_count; i++)
        printf("    %9" PRIu64 " %s\n", code.opcodes[i].count, code.opcodes[i].name);
    cmd_gcn3_code_fini(&code);
}

static void print_kernel(const struct gcn3_object *object, const struct gcn3_kernel_info *kernel)
{
    printf("\nkernel %s, at 0x%" PRIx64, kernel->name, kernel->entry);
    if (kernel->code_bytes)
        printf(", %" PRIu64 " bytes of code", kernel->code_bytes);
    printf("\n  registers       %" PRIu32 " VGPRs, %" PRIu32 " SGPRs\n", kernel->vgprs, kernel->sgprs);
    printf("  LDS             %" PRIu32 " bytes\n", kernel->group_bytes);
    printf("  private memory  %" PRIu32 " bytes of a work-item\n", kernel->private_bytes);
    print_size("required size", kernel->required);
    print_size("size hint", kernel->hint);
    if (kernel->max_group_items)
        printf("  work-group      at most %" PRIu32 " work-items\n", kernel->max_group_items);
    printf("  set-up         ");
    for (size_t i = 0; i < FLAG_COUNT; i++) {
        if (has_flag(&kernel->setup, i))
            printf(" %s", flags[i].name);
    }
    printf("\n");
    print_args(kernel);
    print_opcodes(object, kernel);
}

static void print_object(const struct gcn3_object *object)
{
    printf("%s: code object of version %u for %s, %" PRIu64 " bytes when loaded\n", object->name,
           object->version, object->target, object->image_bytes);
    if (object->variable_count)
        printf("\nvariables\n");
    for (size_t i = 0; i < object->variable_count; i++)
        printf("  %12" PRIu64 " bytes at 0x%" PRIx64 "  %s\n", object->variables[i].bytes,
               object->variables[i].at, object->variables[i].name);
    for (size_t i = 0; i < object->kernel_count; i++)
        print_kernel(object, &object->kernels[i]);
}

/* ---- as JSON ---- */

static void json_args(struct json_writer *json, const struct gcn3_kernel_info *kernel)
{
    json_open_list(json, "arguments");
    for (uint32_t i = 0; i < kernel->arg_count; i++) {
        const struct gcn3_arg *arg = &kernel->args[i];
        json_open_object(json, NULL);
        if (arg->name)
            json_put_text(json, "name", arg->name);
        if (arg->type_name)
            json_put_text(json, "type", arg->type_name);
        json_put_text(json, "kind", gcn3_arg_kind_name(arg->kind));
        json_put_count(json, "offset", arg->offset);
        json_put_count(json, "bytes", arg->bytes);
        json_close(json);
    }
    json_close(json);
}

static void json_opcodes(struct json_writer *json, const struct gcn3_object *object,
                         const struct gcn3_kernel_info *kernel)
{
    struct gcn3_code code;
    cmd_gcn3_code_count(object, kernel, &code);
    json_put_count(json, "instructions", code.instructions);
    json_put_count(json, "unknown_bytes", code.unknown_bytes);
    json_open_list(json, "opcodes");
    for (size_t i = 0; i < code.opcode_count; i++) {
        json_open_object(json, NULL);
        json_put_text(json, "opcode", code.opcodes[i].name);
        json_put_count(json, "count", code.opcodes[i].count);
        json_close(json);
    }
    json_close(json);
    cmd_gcn3_code_fini(&code);
}

static void json_kernel(struct json_writer *json, const struct gcn3_object *object,
                        const struct gcn3_kernel_info *kernel)
{
    json_open_object(json, NULL);
    json_put_text(json, "name", kernel->name);
    json_put_count(json, "entry", kernel->entry);
    json_put_count(json, "code_bytes", kernel->code_bytes);
    json_put_count(json, "vgprs", kernel->vgprs);
    json_put_count(json, "sgprs", kernel->sgprs);
    json_put_count(json, "lds_bytes", kernel->group_bytes);
    json_put_count(json, "private_bytes", kernel->private_bytes);
    json_put_count(json, "argument_bytes", kernel->kernarg_bytes);
    json_put_count(json, "max_group_items", kernel->max_group_items);
    json_open_list(json, "setup");
    for (size_t i = 0; i < FLAG_COUNT; i++) {
        if (has_flag(&kernel->setup, i))
            json_put_text(json, NULL, flags[i].name);
    }
    json_close(json);
    json_args(json, kernel);
    json_opcodes(json, object, kernel);
    json_close(json);
}

static bool write_json(const struct gcn3_object *object, const char *path, struct err *err)
{
    struct file_writer writer;
    struct json_writer json;
    if (!file_open(&writer, path, err))
        return false;
    json_begin(&json, writer.stream);
    json_open_object(&json, NULL);
    json_put_text(&json, "heddle", HEDDLE_VERSION);
    json_put_text(&json, "object", object->name);
    json_put_count(&json, "version", object->version);
    json_put_text(&json, "target", object->target);
    json_put_count(&json, "image_bytes", object->image_bytes);
    json_open_list(&json, "variables");
    for (size_t i = 0; i < object->variable_count; i++) {
        json_open_object(&json, NULL);
        json_put_text(&json, "name", object->variables[i].name);
        json_put_count(&json, "bytes", object->variables[i].bytes);
        json_close(&json);
    }
    json_close(&json);
    json_open_list(&json, "kernels");
    for (size_t i = 0; i < object->kernel_count; i++)
        json_kernel(&json, object, &object->kernels[i]);
    json_close(&json);
    json_close(&json);
    return file_close(&writer, err);
}

/* ---- the command ---- */

static const struct option_row options[] = {
    {"--json", "FILE", "write what the code object holds as JSON; - is standard output"},
    {"--kernel", "NAME", "show this kernel alone, with its instructions"},
    {"--target", "GPU", "of a HIP program: its code for this one, such as gfx906"},
    {NULL, NULL, NULL},
};

struct request {
    const char *path, *json, *kernel, *target;
};

static bool took(void *user, const struct option_row *row, const char *value, struct err *err)
{
    struct request *request = user;
    if (!row && request->path)
        return err_set(err, "gcn3: expected one file, not '%.120s' too", value);
    if (!row)
        request->path = value;
    else if (!strcmp(row->name, "--json"))
        request->json = value;
    else if (!strcmp(row->name, "--target"))
        request->target = value;
    else
        request->kernel = value;
    return true;
}

static bool makes_sense(const struct request *request, struct err *err)
{
    if (!request->path)
        return err_set(err, "gcn3: expected a code object, or - for standard input");
    if (request->json && request->kernel)
        return err_set(err, "--kernel: --json is of whole code objects");
    if (request->json && strcmp(request->json, "-") && file_same(request->path, request->json))
        return err_set(err, "--json would write over %.200s, which is read", request->path);
    return true;
}

static bool tell_kernel(const struct gcn3_object *object, const char *name, struct err *err)
{
    const struct gcn3_kernel_info *kernel = gcn3_object_kernel(object, name);
    if (!kernel) {
        struct nearest nearest;
        nearest_init(&nearest, name);
        for (size_t i = 0; i < object->kernel_count; i++)
            nearest_try(&nearest, object->kernels[i].name);
        err_set(err, "%s has no kernel '%.120s'", object->name, name);
        if (nearest.best)
            err_add(err, "; did you mean %s?", nearest.best);
        return false;
    }
    print_kernel(object, kernel);
    putchar('\n');
    cmd_gcn3_code_print(object, kernel);
    return true;
}

static bool tell(const struct request *request, const struct gcn3_object *object, struct err *err)
{
    if (request->kernel)
        return tell_kernel(object, request->kernel, err);
    if (request->json && !write_json(object, request->json, err))
        return false;
    if (!request->json || strcmp(request->json, "-"))
        print_object(object);
    return true;
}

static bool tell_code(const struct request *request, const char *name, const void *code, size_t bytes,
                      struct err *err)
{
    struct gcn3_object *object = gcn3_object_load(name, code, bytes, err);
    bool good = object && tell(request, object, err);
    gcn3_object_free(object);
    return good;
}

/* ---- HIP programs: bundles of code objects somewhere in the file ---- */

struct parts {
    struct gcn3_bundle_entry *at;
    size_t count, capacity;
};

static void add_bundle(struct parts *parts, const char *bundle, size_t bytes, const char *target)
{
    struct gcn3_bundle_entry entry;
    for (size_t i = 0; gcn3_bundle_entry(bundle, bytes, i, &entry); i++) {
        if (!*entry.target || (target && strcmp(entry.target, target)))
            continue;
        mem_grow(parts->at, parts->count, parts->capacity);
        parts->at[parts->count++] = entry;
    }
}

static struct parts parts_of(const struct text *content, const char *target)
{
    struct parts parts = {0};
    const char *end = content->at + content->length, *at = content->at;
    for (; at < end && (at = memchr(at, '_', (size_t)(end - at))); at++)
        if (gcn3_bundle_is(at, (size_t)(end - at)))
            add_bundle(&parts, at, (size_t)(end - at), target);
    return parts;
}

static bool tell_parts(const struct request *request, const struct parts *parts, const char *name,
                       struct err *err)
{
    if (parts->count > 1 && (request->json || request->kernel)) {
        err_set(err, "%.200s has code for several GPUs; choose one by --target:", name);
        for (size_t i = 0; i < parts->count; i++)
            err_add(err, " %s", parts->at[i].target);
        return false;
    }
    bool good = true;
    for (size_t i = 0; i < parts->count && good; i++)
        good = tell_code(request, name, parts->at[i].image, parts->at[i].bytes, err);
    return good;
}

static bool tell_file(const struct request *request, const struct text *content, struct err *err)
{
    const char *name = strcmp(request->path, "-") ? request->path : "standard input";
    struct parts parts = parts_of(content, request->target);
    bool good = parts.count ? tell_parts(request, &parts, name, err)
                : request->target
                    ? err_set(err, "%.200s has no bundle with code for %.60s", name, request->target)
                    : tell_code(request, name, content->at, content->length, err);
    mem_free(parts.at);
    return good;
}

static int run(int count, char **words)
{
    struct err err;
    struct request request = {0};
    struct text content = {0};
    if (!options_parse(options, count, words, &request, took, &err) || !makes_sense(&request, &err))
        return complain(EXIT_USAGE, &err);
    bool standard = !strcmp(request.path, "-");
    bool good = file_read(standard ? "/dev/stdin" : request.path, LARGEST_FILE, &content, &err) &&
                tell_file(&request, &content, &err);
    text_fini(&content);
    return good ? EXIT_GOOD : complain(EXIT_FAILED, &err);
}

const struct cmd cmd_gcn3 = {
    .name = "gcn3",
    .arguments = "FILE",
    .help = "show what a code object for AMD's GPUs holds",
    .more =
        "Prints the version and target of a code object (.hsaco, as clang writes it for gfx803, gfx900 and\n"
        "gfx906; or those in a HIP program), its variables, and of each kernel its registers, LDS, private "
        "memory, arguments and\n"
        "opcodes. --kernel shows the instructions of one, and the lines of the source that they are from "
        "where\n"
        "the file has these (clang -g). - is standard input.",
    .options = options,
    .run = run,
};
