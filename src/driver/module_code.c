/* The copy of a code object on a device: its image in the device's memory, and its kernels. */
#include "driver/modules.h"
#include "driver/timeline.h"
#include "base/mem.h"
#include "gcn3_run/program.h"

#include <elf.h>

struct module_code {
    struct gcn3_object *object;   /* the program's, once there is one */
    struct gcn3_program *program; /* or NULL */
    uint64_t address;             /* of its image */
};

bool module_has_code(const struct module *module)
{
    Elf64_Ehdr header;
    const struct part *part = module->parts;
    if (!module->part_count || part->bytes < sizeof header || memcmp(part->image, ELFMAG, SELFMAG) != 0)
        return false;
    memcpy(&header, part->image, sizeof header);
    return header.e_machine == EM_AMDGPU;
}

enum result module_code_kernel(struct module_code *code, const char *name, struct kernel **kernel)
{
    *kernel = gcn3_program_kernel(code->program, name);
    if (!*kernel)
        return driver_fail(RESULT_INVALID_DEVICE_FUNCTION, "%s has no kernel %s", code->object->name, name);
    return RESULT_SUCCESS;
}

bool module_code_is(const struct kernel *kernel)
{
    return kernel->isa == &gcn3_isa;
}

enum result module_code_pack(const struct kernel *kernel, const struct launch_config *config,
                             void *const *arguments, void *segment)
{
    const struct gcn3_kernel_info *info = gcn3_kernel_info(kernel);
    struct gcn3_geometry geometry = {.dims = config->grid[2] * config->block[2] > 1   ? 3
                                             : config->grid[1] * config->block[1] > 1 ? 2
                                                                                      : 1,
                                     .hostcall_buffer = gcn3_hostcall_buffer,
                                     .private_base = gcn3_private_base,
                                     .shared_base = gcn3_shared_base};
    struct gcn3_arg_value *values = mem_alloc(info->explicit_count + 1, sizeof *values);
    enum result result = RESULT_SUCCESS;
    struct err why;
    uint64_t lds;
    for (uint32_t i = 0; i < 3; i++) {
        geometry.group[i] = config->block[i];
        geometry.grid[i] = config->grid[i] * config->block[i];
    }
    for (uint32_t i = 0, next = 0; i < info->explicit_count && !result; i++) {
        bool is_lds = info->args[i].kind == GCN3_ARG_DYNAMIC_SHARED_POINTER;
        values[i] = (struct gcn3_arg_value){.bytes = is_lds ? config->shared_bytes : info->args[i].bytes};
        if (!is_lds && (!arguments || !arguments[next]))
            result = driver_fail(RESULT_INVALID_VALUE, "%s: argument %u is missing", info->name, i);
        else if (!is_lds)
            values[i].value = arguments[next++];
    }
    if (!result && !gcn3_args_fill(info, values, &geometry, segment, &lds, &why))
        result = driver_fail(RESULT_INVALID_VALUE, "%s", why.text);
    mem_free(values);
    return result;
}

const char *module_code_kernel_name(const struct module_code *code, size_t index)
{
    return index < code->object->kernel_count ? code->object->kernels[index].name : NULL;
}

bool module_code_symbol(const struct module_code *code, const char *name, struct symbol *symbol)
{
    const struct gcn3_variable *found = gcn3_object_variable(code->object, name);
    if (found)
        *symbol = (struct symbol){.name = found->name,
                                  .address = code->address + found->at,
                                  .bytes = found->bytes,
                                  .space = PTX_GLOBAL};
    return found;
}

static enum result place(struct module *module, struct device *device, struct module_code *code)
{
    const struct gcn3_object *object = code->object;
    struct memory_request request = {.kind = MEMORY_VARIABLE,
                                     .bytes = object->image_bytes,
                                     .alignment = GCN3_PAGE,
                                     .what = "code and variables of a module"};
    enum result result = memory_take(module->driver, device, &request, &code->address);
    if (result)
        return result;
    timeline_touch(module->driver, code->address, object->image_bytes, MEMORY_CHANGED);
    gcn3_object_place(object, code->address, (void *)(uintptr_t)code->address);
    return RESULT_SUCCESS;
}

/* Sends it where its kernels will run: src/serve/isas.c. */
static void load_elsewhere(struct module *module, struct module_copy *copy)
{
    struct module_code *code = copy->code;
    const struct part *part = module->parts;
    struct text bytes = {0};
    text_add_bytes(&bytes, (const char *)&code->address, sizeof code->address);
    text_add_bytes(&bytes, part->image, part->bytes);
    copy->object = timeline_load(module->driver, &(struct code_object){"gcn3", bytes.at, bytes.length});
    text_fini(&bytes);
    struct kernel *kernel;
    for (size_t i = 0; (kernel = gcn3_program_kernel_at(code->program, i)); i++)
        kernel->object = copy->object;
}

enum result module_code_make(struct module *module, struct device *device)
{
    struct module_copy *copy = &module->on[device->index];
    const struct part *part = module->parts;
    struct err why;
    if (module->part_count > 1)
        return driver_fail(RESULT_NOT_SUPPORTED, "%s: code objects are linked by ld.lld, not here",
                           part->name);
    struct gcn3_object *object = gcn3_object_load(part->name, part->image, part->bytes, &why);
    if (!object)
        return driver_fail(RESULT_INVALID_IMAGE, "%s", why.text);
    if (strcmp(object->target, device->spec->target) != 0) {
        enum result wrong = driver_fail(RESULT_NO_BINARY_FOR_GPU, "%s is code for %s, and %s runs %s",
                                        part->name, object->target, device->spec->name,
                                        *device->spec->target ? device->spec->target : "PTX");
        gcn3_object_free(object);
        return wrong;
    }
    struct module_code *code = mem_alloc(1, sizeof *code);
    code->object = object;
    copy->code = code;
    enum result result = place(module, device, code);
    if (result) {
        module_code_unmake(copy, module->driver);
        return result;
    }
    code->program = gcn3_program_new(object, code->address);
    if (timeline_wants_code(module->driver))
        load_elsewhere(module, copy);
    return RESULT_SUCCESS;
}

void module_code_unmake(struct module_copy *copy, struct driver *driver)
{
    if (!copy->code)
        return;
    if (copy->code->address)
        memory_give(driver, copy->code->address);
    if (copy->code->program)
        gcn3_program_free(copy->code->program);
    else
        gcn3_object_free(copy->code->object);
    mem_free(copy->code);
    copy->code = NULL;
}
