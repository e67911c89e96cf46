/* The copy of a code object on a device: its image in the device's memory, and its kernels. */
#include "driver/modules.h"
#include "driver/timeline.h"
#include "base/mem.h"
#include "gcn3_object/object.h"

#include <elf.h>

struct module_code {
    struct gcn3_object *object;
    uint64_t address; /* of its image */
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

/* The one place where the kernels of code objects are made. */
enum result module_code_kernel(struct module_code *code, const char *name, struct kernel **kernel)
{
    const struct gcn3_kernel_info *info = gcn3_object_kernel(code->object, name);
    *kernel = NULL;
    if (!info)
        return driver_fail(RESULT_INVALID_DEVICE_FUNCTION, "%s has no kernel %s", code->object->name, name);
    return driver_fail(RESULT_NOT_SUPPORTED, "%s: kernel %s is code for %s, which Heddle does not run yet",
                       code->object->name, name, code->object->target);
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
    struct module_code *code = mem_alloc(1, sizeof *code);
    code->object = object;
    copy->code = code;
    enum result result = place(module, device, code);
    if (result)
        module_code_unmake(copy, module->driver);
    return result;
}

void module_code_unmake(struct module_copy *copy, struct driver *driver)
{
    if (!copy->code)
        return;
    if (copy->code->address)
        memory_give(driver, copy->code->address);
    gcn3_object_free(copy->code->object);
    mem_free(copy->code);
    copy->code = NULL;
}
