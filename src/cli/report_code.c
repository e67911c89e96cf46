#include "cli/report_code.h"
#include "cli/gcn3_code.h"
#include "cli/ptx_texts.h"
#include "base/bits.h"
#include "base/file.h"
#include "workloads/run.h"

#include <string.h>

enum { LARGEST_MODULE = 256 << 20 };

static void add_text(struct html_lines *lines, const char *text, size_t bytes)
{
    const char *end = text + bytes;
    for (uint32_t line = 1; text < end && line <= lines->to; line++) {
        const char *newline = memchr(text, '\n', (size_t)(end - text)), *stop = newline ? newline : end;
        html_lines_add(lines, line, text, (size_t)(stop - text));
        text = stop + 1;
    }
}

static void add_inst(void *user, uint64_t at, const struct text *text)
{
    if (at < UINT32_MAX)
        html_lines_add(user, (uint32_t)at, text->at, text->length);
}

static void add_object(struct html_lines *lines, const char *name, const char *bytes, size_t count)
{
    struct err unused;
    struct gcn3_object *object = gcn3_object_load(name, bytes, count, &unused);
    for (size_t i = 0; object && i < object->kernel_count; i++)
        cmd_gcn3_code_each(object, &object->kernels[i], add_inst, lines);
    if (object)
        gcn3_object_free(object);
}

/* "matmul_tiled.ptx", "matmul_tiled.hsaco", "matmul_tiled.gfx906.hsaco" */
static bool add_bundled(struct html_lines *lines, const char *module)
{
    static const struct {
        const char *ending, *target;
    } kinds[] = {{".ptx", ""}, {".gfx906.hsaco", "gfx906"}, {".hsaco", "gfx803"}};
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        size_t length = strlen(module), ending = strlen(kinds[i].ending), bytes;
        struct text name = {0};
        if (length <= ending || strcmp(module + length - ending, kinds[i].ending) != 0)
            continue;
        text_add_bytes(&name, module, length - ending);
        const struct workload *workload = workload_find(name.at);
        const char *code = workload ? workload_code(workload, kinds[i].target, &bytes) : NULL;
        text_fini(&name);
        if (code && *kinds[i].target)
            add_object(lines, module, code, bytes);
        else if (code)
            add_text(lines, code, bytes);
        return code;
    }
    return false;
}

/* Of a program with several modules nothing says which one a profile's line is of. */
static void add_ptx(struct html_lines *lines, const char *module, uint32_t arch)
{
    struct ptx_texts texts;
    struct err unused;
    if (cmd_ptx_texts_read(&texts, module, arch, &unused) && texts.count == 1 &&
        strstr(texts.modules[0].at, ".version"))
        add_text(lines, texts.modules[0].at, texts.modules[0].bytes);
    cmd_ptx_texts_fini(&texts);
}

void cmd_report_code(uint32_t arch, const char *module, struct html_lines *lines)
{
    struct text content = {0};
    struct err unused;
    if (add_bundled(lines, module) || file_is_endless(module) ||
        !file_read(module, LARGEST_MODULE, &content, &unused)) {
        text_fini(&content);
        return;
    }
    if (gcn3_object_is(content.at, content.length))
        add_object(lines, module, content.at, content.length);
    else
        add_ptx(lines, module, arch);
    text_fini(&content);
}
