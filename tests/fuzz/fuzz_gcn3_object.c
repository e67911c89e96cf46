/* Any bytes as a code object: loaded or refused, read within their bounds. */
#include "base/mem.h"
#include "gcn3_object/object.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void fill(const struct gcn3_kernel_info *kernel)
{
    struct gcn3_geometry geometry = {.dims = 1, .grid = {100, 1, 1}, .group = {64, 1, 1}};
    struct gcn3_arg_value *values = mem_alloc(kernel->explicit_count + 1, sizeof *values);
    void *segment = mem_alloc(kernel->kernarg_bytes + 1, 1), *value = mem_alloc(kernel->kernarg_bytes + 1, 1);
    struct err err;
    uint64_t lds;
    for (uint32_t i = 0; i < kernel->explicit_count; i++)
        values[i] = (struct gcn3_arg_value){value, kernel->args[i].bytes};
    gcn3_args_fill(kernel, values, &geometry, segment, &lds, &err);
    mem_free(values);
    mem_free(segment);
    mem_free(value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct err err;
    struct gcn3_object *object = gcn3_object_load("input", data, bytes, &err);
    if (!object)
        return 0;
    void *memory = mem_alloc(object->image_bytes, 1);
    gcn3_object_place(object, 0x100000, memory);
    const char *file;
    uint32_t line;
    for (size_t i = 0; i < object->kernel_count; i++) {
        fill(&object->kernels[i]);
        gcn3_object_line(object, object->kernels[i].entry, &file, &line);
    }
    mem_free(memory);
    gcn3_object_free(object);
    return 0;
}
