/* A module's copy on a device: PTX is chosen and read, linked to a program, and its variables placed. */
#include "driver/closed.h"
#include "driver/fatbin.h"
#include "driver/modules.h"
#include "driver/timeline.h"
#include "base/bits.h"
#include "base/log.h"
#include "base/mem.h"
#include "ptx_run/object.h"
#include "ptxas/ptxas.h"

#include <elf.h>

#define LARGEST_IMAGE (UINT64_C(1) << 30)

/* A program in the making. */
struct making {
    struct module *module;
    struct device *device;
    uint32_t arch;
    struct ptx_module **modules;
    size_t count, capacity;
    uint32_t ptx_found, cubin_found; /* as of fatbin_choice */
    bool has_own;                    /* some part has PTX that the device can run */
    uint32_t newer;                  /* the lowest architecture of PTX that is too new, or 0 */
    struct names registers;          /* of kernels, as machine code has them, and how many: */
    uint32_t *register_counts;
    size_t register_capacity;
    struct ptx_object object; /* the same, for a machine in another process */
};

static void note_registers(void *user, const char *name, uint32_t registers)
{
    struct making *making = user;
    size_t known = making->registers.count, number = names_add(&making->registers, name);
    if (number < known)
        return; /* parts come in the order of what they are worth: linked code before what it was linked from
                 */
    mem_grow(making->register_counts, known, making->register_capacity);
    making->register_counts[number] = registers;
}

static uint32_t own_arch(const struct gpu_spec *spec)
{
    return (uint32_t)(10 * spec->major + spec->minor);
}

/* PTX of today's compilers is for GPUs of 7.5 and later. It runs on descriptions of older ones, too: what it
 * means does not depend on them. */
static uint32_t code_arch(const struct gpu_spec *spec)
{
    enum { OLDEST_COMPILED = 75 };
    return own_arch(spec) > OLDEST_COMPILED ? own_arch(spec) : OLDEST_COMPILED;
}

static bool can_run(const struct ptx_module *ptx, uint32_t arch)
{
    return ptx->target_specific ? ptx->target == arch : ptx->target <= arch;
}

static enum result add_text(struct making *making, const char *name, const char *text, size_t bytes,
                            bool too_new)
{
    struct err why;
    bytes = strnlen(text, bytes);
    struct ptx_module *ptx = ptx_parse(name, text, bytes, &why);
    if (!ptx)
        return driver_fail(RESULT_INVALID_PTX, "%s", why.text);
    mem_grow(making->modules, making->count, making->capacity);
    making->modules[making->count++] = ptx;
    if (making->module->driver->timeline || making->module->driver->itracing)
        ptxas.optimize(ptx);
    if (timeline_wants_code(making->module->driver))
        ptx_object_add(&making->object, name, text, bytes);
    if (!too_new && !can_run(ptx, making->arch))
        return driver_fail(RESULT_INVALID_PTX, "%s: its PTX is for sm_%u%s, and the device is an sm_%u", name,
                           ptx->target, ptx->target_specific ? "a" : "", own_arch(making->device->spec));
    return RESULT_SUCCESS;
}

static void add_cubin(struct making *making, const char *name, const struct fatbin_entry *entry)
{
    struct err why;
    size_t bytes;
    char *cubin = fatbin_unpack(entry, LARGEST_IMAGE, &bytes, &why);
    if (!cubin)
        log_debug("%s: registers are estimated: %s", name, why.text);
    else if (!cubin_registers(cubin, bytes, note_registers, making))
        log_debug("%s: registers are estimated: the machine code does not tell them", name);
    mem_free(cubin);
}

static bool is_fatbin(const struct part *part)
{
    uint32_t magic = 0;
    if (part->bytes >= sizeof magic)
        memcpy(&magic, part->image, sizeof magic);
    return magic == FATBIN_MAGIC;
}

/* Looks at what fatbins hold, before any is taken. */
static enum result look(struct making *making, const struct part *part)
{
    struct err why;
    struct fatbin_choice choice;
    if (!is_fatbin(part))
        return RESULT_SUCCESS;
    if (!fatbin_choose(part->image, part->bytes, making->arch, &choice, &why))
        return driver_fail(RESULT_INVALID_IMAGE, "%s: %s", part->name, why.text);
    making->cubin_found = (uint32_t)max_u64(making->cubin_found, choice.cubin_found);
    if (choice.ptx_found && (!making->ptx_found || choice.ptx_found < making->ptx_found))
        making->ptx_found = choice.ptx_found;
    making->has_own |= choice.ptx.at && !choice.too_new;
    if (choice.too_new && (!making->newer || choice.ptx.arch < making->newer))
        making->newer = choice.ptx.arch;
    return RESULT_SUCCESS;
}

/* Of a module that was linked from several, parts of an architecture that the others do not have are left
 * out: CUDA's own library for launches by kernels, which exec has built in, comes for the very latest only.
 */
static bool is_wanted(const struct making *making, const struct fatbin_choice *choice)
{
    if (!choice->ptx.at)
        return false; /* another part may have it */
    return !choice->too_new || (!making->has_own && choice->ptx.arch == making->newer);
}

static enum result add_fatbin(struct making *making, const struct part *part)
{
    struct err why;
    struct fatbin_choice choice;
    if (!fatbin_choose(part->image, part->bytes, making->arch, &choice, &why))
        return driver_fail(RESULT_INVALID_IMAGE, "%s: %s", part->name, why.text);
    if (choice.cubin.at)
        add_cubin(making, part->name, &choice.cubin);
    if (!is_wanted(making, &choice))
        return RESULT_SUCCESS;
    size_t bytes;
    char *text = fatbin_unpack(&choice.ptx, LARGEST_IMAGE, &bytes, &why);
    if (!text)
        return driver_fail(RESULT_INVALID_IMAGE, "%s: %s", part->name, why.text);
    enum result result = add_text(making, part->name, text, bytes, choice.too_new);
    mem_free(text);
    return result;
}

static enum result add_part(struct making *making, const struct part *part)
{
    if (is_fatbin(part))
        return add_fatbin(making, part);
    if (part->bytes >= SELFMAG && memcmp(part->image, ELFMAG, SELFMAG) == 0)
        return driver_fail(RESULT_NO_BINARY_FOR_GPU,
                           "%s is machine code, which Heddle does not run; give it the PTX of the module "
                           "(nvcc -ptx, nvrtcGetPTX)",
                           part->name);
    return add_text(making, part->name, part->image, part->bytes, false);
}

/* There is nothing in the module that the device could run. */
static enum result no_ptx(const struct making *making)
{
    const char *name = making->module->part_count ? making->module->parts[0].name : "the module";
    if (making->ptx_found)
        return driver_fail(RESULT_NO_BINARY_FOR_GPU,
                           "%s holds PTX for compute_%u and above, and the device is an sm_%u: add PTX that "
                           "it can run (-gencode arch=compute_%u,code=compute_%u), or choose another system",
                           name, making->ptx_found, own_arch(making->device->spec), making->arch,
                           making->arch);
    const struct closed_library *closed = closed_find(name);
    if (making->cubin_found && closed)
        return driver_fail(RESULT_NO_BINARY_FOR_GPU,
                           "%s is %s, whose kernels are machine code without PTX, which Heddle does not "
                           "simulate: %s",
                           name, closed->name, closed->remedy);
    if (making->cubin_found)
        return driver_fail(
            RESULT_NO_BINARY_FOR_GPU,
            "%s holds machine code for sm_%u and no PTX, which Heddle needs: build it with nvcc's "
            "defaults, or add -gencode arch=compute_%u,code=compute_%u",
            name, making->cubin_found, making->cubin_found, making->cubin_found);
    return driver_fail(RESULT_NO_BINARY_FOR_GPU, "%s holds no kernels", name);
}

/* ---- variables ---- */

static const char *range_name(struct device *device, const struct ptx_variable *variable)
{
    if (!variable || !variable->name)
        return "a variable";
    struct text text = {0};
    text_add(&text, "variable %s", variable->name);
    pthread_mutex_lock(&device->driver->memory.lock);
    size_t number = names_add(&device->names, text.at); /* which may move what `at` points to */
    const char *name = device->names.at[number];
    pthread_mutex_unlock(&device->driver->memory.lock);
    text_fini(&text);
    return name;
}

/* One for all devices. */
static uint64_t place_managed(struct making *making, const struct ptx_variable *variable,
                              const struct memory_request *request)
{
    struct module *module = making->module;
    size_t known = module->managed_names.count;
    size_t number = names_add(&module->managed_names, variable->name);
    if (number < known)
        return module->managed[number].address;
    mem_grow(module->managed, known, module->managed_capacity);
    struct managed_variable *managed = &module->managed[number];
    managed->bytes = request->bytes;
    memory_take(module->driver, NULL, request, &managed->address);
    return managed->address;
}

static uint64_t place_own(struct making *making, const struct ptx_variable *variable, uint64_t bytes,
                          uint64_t alignment)
{
    struct module_copy *copy = &making->module->on[making->device->index];
    struct memory_request request = {.kind = MEMORY_VARIABLE,
                                     .bytes = max_u64(bytes, 1),
                                     .alignment = alignment,
                                     .what = range_name(making->device, variable),
                                     .read_only = variable && variable->space == PTX_CONST};
    if (variable && variable->managed)
        return place_managed(making, variable, &request);
    uint64_t address;
    if (memory_take(making->module->driver, making->device, &request, &address))
        return 0;
    mem_grow(copy->variables, copy->variable_count, copy->variable_capacity);
    copy->variables[copy->variable_count++] = address;
    return address;
}

static uint64_t place(void *context, const struct ptx_variable *variable, uint64_t bytes, uint64_t alignment)
{
    struct making *making = context;
    uint64_t address = place_own(making, variable, bytes, alignment);
    text_add_bytes(&making->object.places, (const char *)&address, sizeof address);
    return address;
}

/* A program sets its variables to their initial values; managed ones that another device has changed already
 * must keep theirs. */
static char *save_managed(const struct module *module)
{
    size_t bytes = 0;
    for (size_t i = 0; i < module->managed_names.count; i++)
        bytes += module->managed[i].bytes;
    char *saved = mem_alloc(bytes, 1), *to = saved;
    for (size_t i = 0; i < module->managed_names.count; to += module->managed[i++].bytes)
        memcpy(to, (void *)(uintptr_t)module->managed[i].address, module->managed[i].bytes);
    return saved;
}

static void restore_managed(const struct module *module, size_t count, char *saved)
{
    const char *from = saved;
    for (size_t i = 0; i < count; from += module->managed[i++].bytes)
        memcpy((void *)(uintptr_t)module->managed[i].address, from, module->managed[i].bytes);
    mem_free(saved);
}

/* ---- the copy ---- */

static bool uses_heap(const struct making *making)
{
    for (size_t i = 0; i < making->count; i++) {
        const struct ptx_module *ptx = making->modules[i];
        for (uint32_t k = 0; k < ptx->function_count; k++) {
            if (!ptx->functions[k].has_body && strcmp(ptx->functions[k].name, "malloc") == 0)
                return true;
        }
    }
    return false;
}

/* Sends it where its kernels will run. */
static void load_elsewhere(struct making *making, struct module_copy *copy)
{
    struct archive archive = archive_writer();
    struct ptx_object *object = &making->object;
    for (size_t i = 0; i < making->registers.count; i++)
        names_add(&object->kernels, making->registers.at[i]);
    text_add_bytes(&object->registers, (const char *)making->register_counts,
                   making->registers.count * sizeof *making->register_counts);
    ptx_object_archive(object, &archive);
    copy->object = timeline_load(making->module->driver,
                                 &(struct code_object){"ptx", archive.text.at, archive.text.length});
    text_fini(&archive.text);
    struct kernel *kernel;
    for (size_t i = 0; (kernel = program_kernel_at(copy->program, i)); i++)
        kernel->object = copy->object;
}

static enum result link_parts(struct making *making, struct module_copy *copy)
{
    struct module *module = making->module;
    struct err why;
    copy->uses_heap = uses_heap(making);
    size_t managed = module->managed_names.count;
    char *saved = save_managed(module);
    copy->program = program_new(making->modules, making->count, &ptxas, place, making, &why);
    making->count = 0; /* they are the program's now */
    if (copy->program && timeline_wants_code(module->driver))
        load_elsewhere(making, copy); /* which sets variables, too */
    restore_managed(module, managed, saved);
    if (!copy->program)
        return driver_fail(RESULT_INVALID_PTX, "%s", why.text);
    if (module->driver->timeline || module->driver->itracing)
        program_set_timed(copy->program);
    for (size_t i = 0; i < making->registers.count; i++) {
        struct kernel *kernel = program_kernel(copy->program, making->registers.at[i]);
        if (kernel)
            kernel_set_registers(kernel, making->register_counts[i]);
    }
    return RESULT_SUCCESS;
}

static enum result make(struct module *module, struct device *device)
{
    const struct gpu_spec *spec = device->spec;
    struct making making = {.module = module, .device = device, .arch = code_arch(spec)};
    enum result result = RESULT_SUCCESS;
    if (*spec->target)
        result = driver_fail(
            RESULT_NO_BINARY_FOR_GPU, "%s is no code for %s, which runs %s: choose another system",
            module->part_count ? module->parts[0].name : "the module", spec->name, spec->target);
    for (size_t i = 0; i < module->part_count && !result; i++)
        result = look(&making, &module->parts[i]);
    for (size_t i = 0; i < module->part_count && !result; i++)
        result = add_part(&making, &module->parts[i]);
    if (!result && !making.count)
        result = no_ptx(&making);
    if (!result)
        result = link_parts(&making, &module->on[device->index]);
    for (size_t i = 0; i < making.count; i++)
        ptx_free(making.modules[i]);
    mem_free(making.modules);
    names_fini(&making.registers);
    mem_free(making.register_counts);
    ptx_object_fini(&making.object);
    return result;
}

enum result module_make(struct module *module, struct device *device)
{
    struct module_copy *copy = &module->on[device->index];
    if (copy->program || copy->code)
        return RESULT_SUCCESS;
    if (copy->tried)
        return driver_fail(copy->result, "%s", copy->why);
    copy->tried = true;
    timeline_begin_work(module->driver);
    copy->result = module_has_code(module) ? module_code_make(module, device) : make(module, device);
    timeline_end_work(module->driver);
    if (copy->result) {
        copy->why = mem_text(driver_detail());
        if (!module->reported && !driver_reported(copy->why)) /* another device or part would say the same */
            driver_report(module->driver, copy->why);
        module->reported = true;
    }
    return copy->result;
}

void module_unmake(struct module *module, struct device *device)
{
    struct module_copy *copy = &module->on[device->index];
    if (copy->program)
        program_free(copy->program);
    module_code_unmake(copy, module->driver);
    if (copy->object && timeline_wants_code(module->driver))
        timeline_unload(module->driver, copy->object);
    for (size_t i = 0; i < copy->variable_count; i++)
        memory_give(module->driver, copy->variables[i]);
    mem_free(copy->variables);
    mem_free(copy->why);
    *copy = (struct module_copy){0};
}
