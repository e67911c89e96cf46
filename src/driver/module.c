#include "driver/fatbin.h"
#include "driver/modules.h"
#include "base/file.h"
#include "base/mem.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>

enum { WRAPPER_LINKED = 2 };

#define LARGEST_FILE (UINT64_C(1) << 32)

/* What __cudaRegisterFatBinary gets. */
struct wrapper {
    uint32_t magic, version;
    const void *fatbin;
    const void *const *linked; /* of version 2: the fatbins of the objects it was linked from; ends in NULL */
};

static struct module *new_module(struct driver *driver)
{
    size_t copies = driver->device_count * sizeof(struct module_copy);
    struct module *module = mem_alloc(1, sizeof *module + copies);
    module->driver = driver;
    pthread_mutex_init(&module->lock, NULL);
    pthread_mutex_lock(&driver->module_lock);
    module->next = driver->modules;
    driver->modules = module;
    pthread_mutex_unlock(&driver->module_lock);
    return module;
}

static void free_parts(struct module *module)
{
    for (size_t i = 0; i < module->part_count; i++) {
        mem_free(module->parts[i].name);
        mem_free(module->parts[i].owned);
    }
    mem_free(module->parts);
}

void module_end(struct module *module)
{
    struct driver *driver = module->driver;
    pthread_mutex_lock(&driver->module_lock);
    struct module **at = &driver->modules;
    while (*at != module)
        at = &(*at)->next;
    *at = module->next;
    pthread_mutex_unlock(&driver->module_lock);
    for (unsigned i = 0; i < driver->device_count; i++)
        module_unmake(module, &driver->devices[i]);
    for (size_t i = 0; i < module->managed_names.count; i++)
        memory_give(driver, module->managed[i].address);
    mem_free(module->managed);
    names_fini(&module->managed_names);
    for (struct function *next, *function = module->functions; function; function = next) {
        next = function->next;
        function_free(function);
    }
    free_parts(module);
    pthread_mutex_destroy(&module->lock);
    mem_free(module);
}

/* ---- what comes in ---- */

static uint32_t magic_of(const void *image, size_t bytes)
{
    uint32_t magic = 0;
    if (!bytes || bytes >= sizeof magic)
        memcpy(&magic, image, sizeof magic);
    return magic;
}

static bool is_text(const char *image, size_t bytes)
{
    return memmem(image, bytes, ".version", 8) != NULL;
}

/* How long an image of unknown length is: text ends in a zero byte, the others say it. */
static size_t length_of(const void *image)
{
    size_t bytes = 0;
    if (magic_of(image, 0) == FATBIN_MAGIC)
        fatbin_length(image, &bytes);
    else if (memcmp(image, ELFMAG, SELFMAG) == 0)
        bytes = sizeof(Elf64_Ehdr);
    else
        bytes = strlen(image);
    return bytes;
}

static void add_part(struct module *module, const char *name, const void *image, size_t bytes, bool copy)
{
    mem_grow(module->parts, module->part_count, module->part_capacity);
    void *owned = copy ? memcpy(mem_alloc(bytes + 1, 1), image, bytes) : NULL;
    module->parts[module->part_count++] = (struct part){mem_text(name), owned ? owned : image, bytes, owned};
}

static enum result check_image(const char *name, const void *image, size_t bytes)
{
    if (magic_of(image, bytes) == FATBIN_MAGIC || (bytes >= SELFMAG && memcmp(image, ELFMAG, SELFMAG) == 0) ||
        is_text(image, bytes))
        return RESULT_SUCCESS;
    return driver_fail(RESULT_INVALID_IMAGE, "%s: this is no PTX, no fatbin and no code object", name);
}

static enum result finish(struct module *made, enum result result, struct module **module)
{
    *module = result ? NULL : made;
    if (result)
        module_end(made);
    return result;
}

enum result module_link(struct driver *driver, const struct module_part *parts, size_t count,
                        struct module **module)
{
    enum result result = driver->ended ? RESULT_DEINITIALIZED : RESULT_SUCCESS;
    struct module *made = new_module(driver);
    for (size_t i = 0; i < count && !result; i++) {
        result = check_image(parts[i].name, parts[i].image, parts[i].bytes);
        if (!result)
            add_part(made, parts[i].name, parts[i].image, parts[i].bytes, true);
    }
    return finish(made, result, module);
}

enum result module_load(struct driver *driver, const char *name, const void *image, size_t bytes,
                        struct module **module)
{
    if (magic_of(image, bytes) == FATBIN_WRAPPER_MAGIC)
        return module_register(driver, image, module);
    if (bytes)
        return module_link(driver, &(struct module_part){name, image, bytes}, 1, module);
    bytes = length_of(image);
    enum result result = check_image(name, image, bytes);
    struct module *made = new_module(driver);
    if (!result)
        add_part(made, name, image, bytes, magic_of(image, 0) != FATBIN_MAGIC);
    return finish(made, result, module);
}

enum result module_load_file(struct driver *driver, const char *path, struct module **module)
{
    struct text content = {0};
    enum result result;
    if (file_read(path, LARGEST_FILE, &content, driver_detail_err()))
        result = module_link(driver, &(struct module_part){path, content.at, content.length}, 1, module);
    else
        result = RESULT_FILE_NOT_FOUND;
    text_fini(&content);
    return result;
}

/* The program or library that this is in. */
static const char *object_of(const void *at)
{
    Dl_info info;
    return dladdr(at, &info) && info.dli_fname && *info.dli_fname ? info.dli_fname : program_invocation_name;
}

enum result module_register(struct driver *driver, const void *wrapper, struct module **module)
{
    const struct wrapper *given = wrapper;
    const char *name = object_of(wrapper);
    size_t bytes;
    if (given->magic != FATBIN_WRAPPER_MAGIC || !given->fatbin || !fatbin_length(given->fatbin, &bytes))
        return driver_fail(RESULT_INVALID_IMAGE, "%s: what was registered is no fatbin", name);
    struct module *made = new_module(driver);
    add_part(made, name, given->fatbin, bytes, false);
    const void *const *linked = given->version >= WRAPPER_LINKED ? given->linked : NULL;
    for (; linked && *linked; linked++) {
        if (fatbin_length(*linked, &bytes))
            add_part(made, name, *linked, bytes, false);
    }
    *module = made;
    return RESULT_SUCCESS;
}

/* ---- the calls ---- */

enum result module_unload(struct module *module)
{
    struct driver *driver = module->driver;
    if (driver->ended)
        return RESULT_DEINITIALIZED;
    for (unsigned i = 0; i < driver->device_count; i++)
        device_synchronize(&driver->devices[i]);
    module_end(module);
    return RESULT_SUCCESS;
}

enum result module_prepare(struct module *module, struct device *device)
{
    if (module->driver->ended)
        return RESULT_DEINITIALIZED;
    pthread_mutex_lock(&module->lock);
    enum result result = module_make(module, device);
    pthread_mutex_unlock(&module->lock);
    return result;
}

enum result module_variable(struct module *module, struct device *device, const char *name,
                            struct symbol *symbol)
{
    enum result result = module_prepare(module, device);
    if (result)
        return result;
    const struct module_copy *copy = &module->on[device->index];
    if (!(copy->code ? module_code_symbol(copy->code, name, symbol)
                     : program_symbol(copy->program, name, symbol)))
        return driver_fail(RESULT_NOT_FOUND, "%s has no variable %s", module->parts[0].name, name);
    return RESULT_SUCCESS;
}

void modules_leave(struct device *device)
{
    struct driver *driver = device->driver;
    pthread_mutex_lock(&driver->module_lock);
    for (struct module *module = driver->modules; module; module = module->next) {
        pthread_mutex_lock(&module->lock);
        for (struct function *function = module->functions; function; function = function->next)
            function_leave(function, device);
        module_unmake(module, device);
        pthread_mutex_unlock(&module->lock);
    }
    pthread_mutex_unlock(&driver->module_lock);
}
