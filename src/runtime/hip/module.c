#include "runtime/hip/module.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/pointers.h"
#include "gcn3_object/bundle.h"

#include <elf.h>
#include <pthread.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pointers modules, functions; /* all there are */

/* ---- images ---- */

static const size_t UNKNOWN = SIZE_MAX / 2; /* bytes of an image whose headers are trusted */

static int refuse(int error, const char *name, const char *why)
{
    err_set(driver_detail_err(), "%s: %s", name, why);
    return error;
}

/* Where an ELF file ends that is in memory: behind its section headers, sections and segments. */
static size_t elf_bytes(const uint8_t *image)
{
    Elf64_Ehdr header;
    memcpy(&header, image, sizeof header);
    uint64_t end = header.e_shoff + (uint64_t)header.e_shnum * header.e_shentsize;
    for (unsigned i = 0; i < header.e_shnum; i++) {
        Elf64_Shdr section;
        memcpy(&section, image + header.e_shoff + i * sizeof section, sizeof section);
        if (section.sh_type != SHT_NOBITS && section.sh_offset + section.sh_size > end)
            end = section.sh_offset + section.sh_size;
    }
    for (unsigned i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr segment;
        memcpy(&segment, image + header.e_phoff + i * sizeof segment, sizeof segment);
        if (segment.p_offset + segment.p_filesz > end)
            end = segment.p_offset + segment.p_filesz;
    }
    return end;
}

/* The code object for the current device, of an image that may be a bundle. */
static int choose(const char *name, const void **image, size_t *bytes)
{
    const char *target = hip_target(hip_device());
    const char *gpu = device_spec(hip_device())->name;
    struct gcn3_bundle_entry entry;
    struct err err;
    size_t most = *bytes ? *bytes : UNKNOWN;
    if (!*target)
        return err_set(driver_detail_err(),
                       "%s: it is code for AMD's GPUs, and %s is none of them (--system r9nano)", name, gpu),
               hipErrorNoBinaryForGpu;
    if (gcn3_bundle_is(*image, most)) {
        if (!gcn3_bundle_find(*image, most, target, &entry, &err))
            return err_set(driver_detail_err(), "%s: %s, which %s runs", name, err.text, gpu),
                   hipErrorNoBinaryForGpu;
        *image = entry.image;
        *bytes = entry.bytes;
        return hipSuccess;
    }
    if (most >= 4 && !strncmp(*image, "CCOB", 4))
        return refuse(hipErrorInvalidImage, name,
                      "its code is compressed; build it without --offload-compress");
    if (most < sizeof(Elf64_Ehdr) || strncmp(*image, ELFMAG, SELFMAG) != 0)
        return refuse(hipErrorInvalidImage, name, "this is no code object and no offload bundle");
    *bytes = *bytes ? *bytes : elf_bytes(*image);
    return hipSuccess;
}

/* ---- modules ---- */

static int check_target(const char *name, const struct gcn3_object *object)
{
    if (!strcmp(object->target, hip_target(hip_device())))
        return hipSuccess;
    err_set(driver_detail_err(), "%s: it is code for %s, and %s runs that for %s", name, object->target,
            device_spec(hip_device())->name, hip_target(hip_device()));
    return hipErrorNoBinaryForGpu;
}

static void remember(struct hip_module *module)
{
    pthread_mutex_lock(&lock);
    pointers_set(&modules, module, module);
    for (size_t i = 0; i < module->object->kernel_count; i++)
        pointers_set(&functions, &module->functions[i], module);
    pthread_mutex_unlock(&lock);
}

static int make(const char *name, const void *image, size_t bytes, struct hip_module *made)
{
    struct err err;
    made->object = gcn3_object_load(name, image, bytes, &err);
    if (!made->object)
        return *driver_detail_err() = err, hipErrorInvalidImage;
    int error = check_target(name, made->object);
    if (!error)
        error = module_load(hip_driver(), name, image, bytes, &made->module);
    if (!error)
        error = module_prepare(made->module, hip_device());
    made->functions = mem_alloc(made->object->kernel_count + 1, sizeof *made->functions);
    for (size_t i = 0; !error && i < made->object->kernel_count; i++) {
        made->functions[i].info = &made->object->kernels[i];
        error = module_function(made->module, made->object->kernels[i].name, &made->functions[i].function);
    }
    return error;
}

static int fini(struct hip_module *module)
{
    enum result result = module->module ? module_unload(module->module) : RESULT_SUCCESS;
    gcn3_object_free(module->object);
    mem_free(module->functions);
    mem_free(module);
    return result;
}

int hip_module_new(const char *name, const void *image, size_t bytes, struct hip_module **module)
{
    *module = NULL;
    int error = choose(name, &image, &bytes);
    if (error)
        return error;
    struct hip_module *made = mem_alloc(1, sizeof *made);
    error = make(name, image, bytes, made);
    if (error) {
        fini(made);
        return error;
    }
    remember(made);
    *module = made;
    return hipSuccess;
}

int hip_module_free(struct hip_module *module)
{
    pthread_mutex_lock(&lock);
    pointers_remove(&modules, module);
    for (size_t i = 0; i < module->object->kernel_count; i++)
        pointers_remove(&functions, &module->functions[i]);
    pthread_mutex_unlock(&lock);
    return fini(module);
}

struct hip_function *hip_module_function(struct hip_module *module, const char *name)
{
    for (size_t i = 0; i < module->object->kernel_count; i++) {
        if (!strcmp(module->object->kernels[i].name, name))
            return &module->functions[i];
    }
    return NULL;
}

static bool has(const struct pointers *handles, const void *handle)
{
    pthread_mutex_lock(&lock);
    bool known = pointers_get(handles, handle);
    pthread_mutex_unlock(&lock);
    return known;
}

bool hip_module_known(struct hip_module *module)
{
    return has(&modules, module);
}

bool hip_function_known(struct hip_function *function)
{
    return has(&functions, function);
}

/* ---- the calls ---- */

/* Programs seldom say why a module cannot be loaded. */
static int tell(int error)
{
    const char *why = driver_detail();
    if (error && *why && !driver_reported(why))
        driver_report(hip_driver(), why);
    return error;
}

HIP(hipModuleLoadData, (module, image), hipModule_t *module, const void *image)
{
    return module && image ? tell(hip_module_new("the image given to HIP", image, 0, module))
                           : hipErrorInvalidValue;
}

HIP(hipModuleLoadDataEx, (module, image, count, options, values), hipModule_t *module, const void *image,
    unsigned count, int *options, void **values)
{
    (void)count, (void)options, (void)values; /* for a compiler, which code objects do not need */
    return module && image ? tell(hip_module_new("the image given to HIP", image, 0, module))
                           : hipErrorInvalidValue;
}

HIP(hipModuleLoad, (module, path), hipModule_t *module, const char *path)
{
    static const size_t most = (size_t)1 << 32;
    struct text content = {0};
    if (!module || !path)
        return hipErrorInvalidValue;
    int error = file_read(path, most, &content, driver_detail_err()) ? hipSuccess : hipErrorFileNotFound;
    if (!error)
        error = content.length ? hip_module_new(path, content.at, content.length, module)
                               : refuse(hipErrorInvalidImage, path, "the file is empty");
    text_fini(&content);
    return tell(error);
}

HIP(hipModuleUnload, (module), hipModule_t module)
{
    return hip_module_known(module) ? hip_module_free(module) : hipErrorInvalidHandle;
}

HIP(hipModuleGetFunction, (function, module, name), hipFunction_t *function, hipModule_t module,
    const char *name)
{
    if (!function || !name)
        return hipErrorInvalidValue;
    if (!hip_module_known(module))
        return hipErrorInvalidHandle;
    *function = hip_module_function(module, name);
    return *function ? hipSuccess : hipErrorNotFound;
}

HIP(hipModuleGetGlobal, (address, bytes, module, name), hipDeviceptr_t *address, size_t *bytes,
    hipModule_t module, const char *name)
{
    struct symbol symbol;
    if (!name)
        return hipErrorInvalidValue;
    if (!hip_module_known(module))
        return hipErrorInvalidHandle;
    enum result result = module_variable(module->module, hip_device(), name, &symbol);
    if (!result && address)
        *address = (void *)(uintptr_t)symbol.address;
    if (!result && bytes)
        *bytes = symbol.bytes;
    return result;
}
