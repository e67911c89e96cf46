#include "cli/report_code.h"
#include "cli/gcn3_code.h"
#include "cli/ptx_texts.h"
#include "base/bits.h"
#include "base/file.h"
#include "workloads/run.h"

#include <ctype.h>
#include <string.h>

enum { LARGEST_MODULE = 256 << 20 };

static void add_inst(void *user, uint64_t at, const struct text *text)
{
    if (at < UINT32_MAX)
        html_lines_add(user, (uint32_t)at, text->at, text->length);
}

/* False: it is none; programs begin as code objects do. */
static bool add_object(struct html_lines *lines, const char *name, const char *bytes, size_t count)
{
    struct err unused;
    struct gcn3_object *object =
        gcn3_object_is(bytes, count) ? gcn3_object_load(name, bytes, count, &unused) : NULL;
    for (size_t i = 0; object && i < object->kernel_count; i++)
        cmd_gcn3_code_each(object, &object->kernels[i], add_inst, lines);
    if (object)
        gcn3_object_free(object);
    return object;
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
            html_lines_add_text(lines, code, bytes);
        return code;
    }
    return false;
}

/* Whether the module has the kernel of this name. */
static bool has_kernel(const struct ptx_text *ptx, const char *name)
{
    static const char word[] = ".entry";
    size_t length = strlen(name);
    for (const char *at = ptx->at; (at = strstr(at, word));) {
        at += strlen(word);
        at += strspn(at, " \t\n");
        if (!strncmp(at, name, length) && !strchr("_$", at[length]) && !isalnum((unsigned char)at[length]))
            return true;
    }
    return false;
}

static bool has_all(const struct ptx_text *ptx, const struct names *kernels)
{
    for (size_t i = 0; i < kernels->count; i++)
        if (!has_kernel(ptx, kernels->at[i]))
            return false;
    return true;
}

/* Nothing says which of a program's modules a line is of: it is clear if one alone has all kernels that ran.
 */
static void add_ptx(struct html_lines *lines, const char *module, uint32_t arch)
{
    struct ptx_texts texts;
    struct err unused;
    const struct ptx_text *only = NULL;
    size_t count = 0;
    bool good = cmd_ptx_texts_read(&texts, module, arch, &unused);
    for (size_t i = 0; good && i < texts.count; i++)
        if (has_all(&texts.modules[i], lines->kernels)) {
            only = &texts.modules[i];
            count++;
        }
    if (count == 1)
        html_lines_add_text(lines, only->at, only->bytes);
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
    if (!add_object(lines, module, content.at, content.length))
        add_ptx(lines, module, arch);
    text_fini(&content);
}
