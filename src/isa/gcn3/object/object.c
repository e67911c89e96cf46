#include "gcn3_object/object.h"
#include "base/mem.h"
#include "gcn3_object/parts.h"

#include <string.h>

bool gcn3_object_is(const void *file, size_t bytes)
{
    return bytes >= SELFMAG && !memcmp(file, ELFMAG, SELFMAG);
}

static bool load(struct gcn3_elf *elf, struct gcn3_object *object)
{
    if (!gcn3_elf_check(elf, object) || !gcn3_object_map(elf, object) || !gcn3_object_relocate(elf, object) ||
        !gcn3_object_read_symbols(elf, object) || !gcn3_object_read_metadata(elf, object))
        return false;
    gcn3_object_read_lines(elf, object);
    return true;
}

struct gcn3_object *gcn3_object_load(const char *name, const void *file, size_t bytes, struct err *err)
{
    struct gcn3_elf elf = {.file = {file, bytes}, .err = err};
    struct gcn3_object *object = mem_alloc(1, sizeof *object);
    object->name = mem_text(name);
    if (load(&elf, object))
        return object;
    gcn3_object_free(object);
    return NULL;
}

static void free_kernel(struct gcn3_kernel_info *kernel)
{
    for (uint32_t i = 0; i < kernel->arg_count; i++) {
        mem_free(kernel->args[i].name);
        mem_free(kernel->args[i].type_name);
    }
    mem_free(kernel->args);
    mem_free(kernel->name);
    mem_free(kernel->symbol);
    mem_free(kernel->language);
    mem_free(kernel->vec_type_hint);
}

void gcn3_object_free(struct gcn3_object *object)
{
    if (!object)
        return;
    for (size_t i = 0; i < object->kernel_count; i++)
        free_kernel(&object->kernels[i]);
    for (size_t i = 0; i < object->variable_count; i++)
        mem_free(object->variables[i].name);
    for (size_t i = 0; i < object->symbol_count; i++)
        mem_free(object->symbols[i].name);
    for (size_t i = 0; i < object->print_count; i++) {
        mem_free(object->prints[i].arg_bytes);
        mem_free(object->prints[i].format);
    }
    for (size_t i = 0; i < object->file_count; i++)
        mem_free(object->files[i]);
    void *const arrays[] = {object->kernels, object->variables, object->symbols,  object->prints,
                            object->files,   object->lines,     object->relative, object->segments,
                            object->image,   object->name};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        mem_free(arrays[i]);
    mem_free(object);
}

const struct gcn3_kernel_info *gcn3_object_kernel(const struct gcn3_object *object, const char *name)
{
    for (size_t i = 0; i < object->kernel_count; i++) {
        if (!strcmp(object->kernels[i].name, name))
            return &object->kernels[i];
    }
    return NULL;
}

const struct gcn3_variable *gcn3_object_variable(const struct gcn3_object *object, const char *name)
{
    for (size_t i = 0; i < object->variable_count; i++) {
        if (!strcmp(object->variables[i].name, name))
            return &object->variables[i];
    }
    return NULL;
}

const struct gcn3_print *gcn3_object_print(const struct gcn3_object *object, uint32_t id)
{
    for (size_t i = 0; i < object->print_count; i++) {
        if (object->prints[i].id == id)
            return &object->prints[i];
    }
    return NULL;
}

/* The last line at or before this offset. */
bool gcn3_object_line(const struct gcn3_object *object, uint64_t at, const char **file, uint32_t *line)
{
    size_t low = 0, high = object->line_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (object->lines[middle].at <= at)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low || !object->lines[low - 1].line)
        return false;
    *file = object->files[object->lines[low - 1].file];
    *line = object->lines[low - 1].line;
    return true;
}
