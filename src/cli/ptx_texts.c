#include "cli/ptx_texts.h"
#include "base/demangle.h"
#include "base/file.h"
#include "base/mem.h"
#include "driver/embedded.h"
#include "driver/fatbin.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LARGEST_FILE = INT32_MAX, LARGEST_MODULE = INT32_MAX };

/* ---- reading ---- */

struct taking {
    struct ptx_texts *texts;
    uint32_t arch;
    uint32_t cubin_found, ptx_found; /* what there is for other GPUs */
    struct err broken;               /* the first */
    bool is_broken;
};

static void add(struct ptx_texts *texts, char *at, size_t bytes)
{
    mem_grow(texts->modules, texts->count, texts->capacity);
    texts->modules[texts->count++] = (struct ptx_text){at, bytes};
}

static void take_fatbin(void *user, const void *fatbin, size_t bytes)
{
    struct taking *taking = user;
    struct fatbin_choice choice;
    struct err why;
    size_t length;
    char *text = NULL;
    bool good = fatbin_choose(fatbin, bytes, taking->arch, &choice, &why);
    if (good) {
        taking->cubin_found = choice.cubin_found ? choice.cubin_found : taking->cubin_found;
        taking->ptx_found = choice.ptx_found ? choice.ptx_found : taking->ptx_found;
    }
    if (good && choice.ptx.at) {
        text = fatbin_unpack(&choice.ptx, LARGEST_MODULE, &length, &why);
        good = text != NULL;
    }
    if (text)
        add(taking->texts, text, strlen(text)); /* nvcc pads it with zeros */
    if (!good && !taking->is_broken) {
        taking->broken = why;
        taking->is_broken = true;
    }
}

static bool none_found(const struct taking *taking, struct err *err)
{
    const char *name = taking->texts->name;
    if (taking->is_broken)
        return err_set(err, "%.200s: %s", name, taking->broken.text);
    if (taking->ptx_found)
        return err_set(err, "%.200s holds PTX for compute_%u and above, and none for an sm_%u", name,
                       taking->ptx_found, taking->arch);
    if (taking->cubin_found)
        return err_set(
            err,
            "%.200s holds machine code for sm_%u and no PTX: build it with nvcc's defaults, or add "
            "-gencode arch=compute_%u,code=compute_%u",
            name, taking->cubin_found, taking->cubin_found, taking->cubin_found);
    return err_set(err, "%.200s holds no PTX: nvcc put no kernels into it", name);
}

bool cmd_ptx_texts_read(struct ptx_texts *texts, const char *path, uint32_t arch, struct err *err)
{
    bool standard = strcmp(path, "-") == 0;
    struct text content = {0};
    *texts = (struct ptx_texts){.name = standard ? "standard input" : path};
    if (!standard && file_is_endless(path))
        return err_set(err, "%.200s is a device, expected a file of PTX", path);
    if (!file_read(standard ? "/dev/stdin" : path, LARGEST_FILE, &content, err))
        return false;
    texts->embedded = embedded_may_be(content.at, content.length);
    if (!texts->embedded) {
        add(texts, content.at, content.length);
        return true;
    }
    struct taking taking = {.texts = texts, .arch = arch};
    embedded_read(content.at, content.length, take_fatbin, &taking);
    text_fini(&content);
    return texts->count || none_found(&taking, err);
}

void cmd_ptx_texts_fini(struct ptx_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++)
        mem_free(texts->modules[i].at);
    mem_free(texts->modules);
}

/* ---- showing ---- */

/* Prints lines `first` to `last`, counted from 1. */
static void print_lines(const struct ptx_text *text, uint32_t first, uint32_t last)
{
    const char *at = text->at, *end = text->at + text->bytes;
    for (uint32_t line = 1; at < end && line <= last; line++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((newline ? newline : end) - at);
        if (line >= first)
            printf("%6" PRIu32 "  %.*s\n", line, (int)length, at);
        at += length + 1;
    }
}

void cmd_ptx_text_print(const struct ptx_text *text)
{
    print_lines(text, 1, UINT32_MAX);
}

static uint32_t line_count(const struct ptx_text *text)
{
    uint32_t lines = 0;
    for (size_t i = 0; i < text->bytes; i++)
        lines += text->at[i] == '\n';
    return lines;
}

static struct ptx_module *parse(const struct ptx_texts *texts, size_t index, struct err *err)
{
    return ptx_parse(texts->name, texts->modules[index].at, texts->modules[index].bytes, err);
}

static bool has_text(const struct ptx_function *function)
{
    return function->is_kernel && function->has_body && !function->alias;
}

void cmd_ptx_texts_list(const struct ptx_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++) {
        struct err why;
        struct ptx_module *module = parse(texts, i, &why);
        printf("module %zu: ", i + 1);
        if (!module) {
            printf("%s\n", why.text);
            continue;
        }
        printf("PTX ISA %" PRIu32 ".%" PRIu32 " for sm_%" PRIu32 ", %" PRIu32 " lines, kernels:",
               module->version / 10, module->version % 10, module->target, line_count(&texts->modules[i]));
        size_t kernels = 0;
        for (uint32_t k = 0; k < module->function_count; k++) {
            if (has_text(&module->functions[k]))
                printf("%s %s", kernels++ ? "," : "", demangled(module->functions[k].name));
        }
        puts(kernels ? "" : " none");
        ptx_free(module);
    }
}

/* The line of the brace that ends a body which begins on this line or behind it. */
static uint32_t last_line(const struct ptx_text *text, uint32_t first)
{
    uint32_t line = 1, depth = 0;
    const char *end = text->at + text->bytes;
    for (const char *at = text->at; at < end; at++) {
        if (at + 1 < end && at[0] == '/' && at[1] == '/') {
            at = memchr(at, '\n', (size_t)(end - at));
            if (!at)
                break;
        }
        line += *at == '\n';
        if (line < first)
            continue;
        depth += *at == '{';
        if (*at == '}' && !--depth)
            return line;
    }
    return line;
}

/* The name in PTX, or that of the source with or without its template arguments. */
static bool is_called(const struct ptx_function *function, const char *name)
{
    const char *source = demangled(function->name);
    size_t length = strlen(name);
    return !strcmp(function->name, name) || !strcmp(source, name) ||
           (!strncmp(source, name, length) && source[length] == '<');
}

bool cmd_ptx_texts_print_kernel(const struct ptx_texts *texts, size_t first, size_t last, const char *kernel,
                                struct err *err)
{
    bool found = false;
    struct err why = {0};
    for (size_t i = first; i <= last; i++) {
        struct ptx_module *module = parse(texts, i, &why);
        for (uint32_t k = 0; module && k < module->function_count; k++) {
            const struct ptx_function *function = &module->functions[k];
            if (!has_text(function) || !is_called(function, kernel))
                continue;
            print_lines(&texts->modules[i], function->line, last_line(&texts->modules[i], function->line));
            found = true;
        }
        if (module)
            ptx_free(module);
    }
    if (!found && *why.text)
        return err_set(err, "%s", why.text);
    return found || err_set(err, "%.200s has no kernel '%.120s' (`heddle ptx %.200s` shows what it has)",
                            texts->name, kernel, texts->name);
}
