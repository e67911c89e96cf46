/* What clang puts before main: a program's bundles, kernels and variables are registered, each by the address
 * of the host's object that stands for it. Nothing is read then; a module is loaded when something of it is
 * first used. */
#include "runtime/hip/register.h"
#include "base/mem.h"
#include "base/pointers.h"
#include "gcn3_object/bundle.h"

#include <pthread.h>
#include <string.h>

/* A variable in managed memory: kernels and the host each have a pointer to it. */
struct managed {
    const char *name;
    void *memory;
};

/* A bundle. Its handle is a pointer to it, as a void **. */
struct fatbin {
    struct fatbin *next;
    const void *bundle;
    struct hip_module *module; /* NULL until it is used */
    bool broken;               /* it could not be loaded, which was reported */
    struct managed *managed;
    size_t managed_count, managed_capacity;
    bool *managed_on;                   /* by device: the copy there has its pointers */
    struct registration *registrations; /* all of this bundle */
};

/* What an address of the host stands for. */
struct registration {
    struct registration *next; /* of the same bundle */
    const void *key;
    struct fatbin *fatbin;
    const char *name;
    struct hip_function *function; /* of a kernel: NULL until it is used */
    bool is_variable;
    void *memory; /* of a managed variable */
    size_t bytes;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct fatbin *fatbins;
static struct pointers registrations; /* by the host's address */

static const size_t UNKNOWN = SIZE_MAX / 2; /* the bundle's headers are trusted: it is part of the program */

static const struct registration *find(const void *key)
{
    return pointers_get(&registrations, key);
}

static struct registration *add(void **handle, const void *key, const char *name)
{
    struct registration *made = mem_alloc(1, sizeof *made);
    struct fatbin *fatbin = (struct fatbin *)handle;
    *made = (struct registration){.next = fatbin->registrations, .key = key, .fatbin = fatbin, .name = name};
    fatbin->registrations = made;
    pointers_set(&registrations, key, made);
    return made;
}

/* ---- which GPU ---- */

static bool has_target(const void *bundle, const char *target)
{
    struct gcn3_bundle_entry entry;
    for (size_t i = 0; gcn3_bundle_entry(bundle, UNKNOWN, i, &entry); i++) {
        if (!strcmp(entry.target, target))
            return true;
    }
    return false;
}

const char *hip_registered_system(void)
{
    static const struct {
        const char *target, *system;
    } rows[] = {
#define TARGET(target, system) {target, system},
#include "runtime/hip/targets.def"
#undef TARGET
    };
    pthread_mutex_lock(&lock);
    const void *bundle = fatbins ? fatbins->bundle : ""; /* all of a program have the same targets */
    pthread_mutex_unlock(&lock);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (has_target(bundle, rows[i].target))
            return rows[i].system;
    }
    return rows[0].system;
}

/* ---- loading ---- */

/* Kernels find managed memory through pointers of the module, which each device has a copy of. */
static int set_managed(struct fatbin *fatbin, struct device *device)
{
    int error = hipSuccess;
    for (size_t i = 0; !error && i < fatbin->managed_count; i++) {
        struct managed *managed = &fatbin->managed[i];
        struct symbol symbol;
        error = module_variable(fatbin->module->module, device, managed->name, &symbol);
        if (!error && symbol.bytes != sizeof managed->memory)
            error = hipErrorInvalidSymbol;
        if (!error)
            error = stream_copy_bytes(device_default_stream(device), symbol.address,
                                      (uint64_t)(uintptr_t)&managed->memory, sizeof managed->memory, true);
    }
    return error;
}

static int make_ready(struct fatbin *fatbin)
{
    unsigned index = device_index(hip_device());
    int error =
        fatbin->module ? hipSuccess : hip_module_new("the program", fatbin->bundle, 0, &fatbin->module);
    if (error || !fatbin->managed_count)
        return error;
    if (!fatbin->managed_on)
        fatbin->managed_on = mem_alloc(driver_device_count(hip_driver()), sizeof *fatbin->managed_on);
    if (!fatbin->managed_on[index])
        error = set_managed(fatbin, hip_device());
    fatbin->managed_on[index] = !error;
    return error;
}

/* NULL when it cannot be loaded; one line says why, once. */
static struct hip_module *load(struct fatbin *fatbin)
{
    int error = fatbin->broken ? hipErrorNoBinaryForGpu : make_ready(fatbin);
    if (error && !fatbin->broken && *driver_detail() && !driver_reported(driver_detail()))
        driver_report(hip_driver(), driver_detail());
    fatbin->broken = error;
    return error ? NULL : fatbin->module;
}

struct hip_function *hip_registered_function(const void *symbol)
{
    pthread_mutex_lock(&lock);
    struct registration *entry = pointers_get(&registrations, symbol);
    struct hip_module *module = entry && !entry->is_variable ? load(entry->fatbin) : NULL;
    if (module && !entry->function)
        entry->function = hip_module_function(module, entry->name);
    struct hip_function *function = module ? entry->function : NULL;
    pthread_mutex_unlock(&lock);
    return function;
}

static int locate(const struct registration *entry, struct symbol *symbol)
{
    if (entry->memory) {
        *symbol = (struct symbol){.address = (uint64_t)(uintptr_t)entry->memory, .bytes = entry->bytes};
        return hipSuccess;
    }
    struct hip_module *module = load(entry->fatbin);
    if (!module)
        return hipErrorNoBinaryForGpu;
    return module_variable(module->module, hip_device(), entry->name, symbol) ? hipErrorInvalidSymbol
                                                                              : hipSuccess;
}

int hip_symbol(const void *key, struct symbol *symbol)
{
    pthread_mutex_lock(&lock);
    const struct registration *entry = find(key);
    int error = entry && entry->is_variable ? locate(entry, symbol) : hipErrorInvalidSymbol;
    pthread_mutex_unlock(&lock);
    return error;
}

/* ---- what the code of clang calls ---- */

HIP_EXPORT void **__hipRegisterFatBinary(const struct hip_wrapper *wrapper);
HIP_EXPORT void __hipUnregisterFatBinary(void **handle);
HIP_EXPORT void __hipRegisterFunction(void **handle, const void *host, char *device, const char *name,
                                      unsigned limit, void *thread, void *block, struct hip_dim3 *block_size,
                                      struct hip_dim3 *grid_size, int *warp_size);
HIP_EXPORT void __hipRegisterVar(void **handle, void *host, char *host_name, char *name, int is_extern,
                                 size_t bytes, int constant, int global);
HIP_EXPORT void __hipRegisterManagedVar(void **handle, void **place, const void *initial, const char *name,
                                        size_t bytes, unsigned alignment);

void **__hipRegisterFatBinary(const struct hip_wrapper *wrapper)
{
    struct fatbin *fatbin = mem_alloc(1, sizeof *fatbin);
    fatbin->bundle = wrapper->bundle;
    if (wrapper->magic != HIP_WRAPPER_MAGIC || wrapper->version != 1) {
        fprintf(stderr, "heddle: the program's kernels are not as HIP's compiler registers them\n");
        fatbin->bundle = "";
        fatbin->broken = true;
    }
    pthread_mutex_lock(&lock);
    fatbin->next = fatbins;
    fatbins = fatbin;
    pthread_mutex_unlock(&lock);
    return (void **)fatbin;
}

static void forget(struct fatbin *fatbin)
{
    for (struct registration *entry = fatbin->registrations, *next; entry; entry = next) {
        next = entry->next;
        if (find(entry->key) == entry)
            pointers_remove(&registrations, entry->key);
        mem_free(entry);
    }
}

/* Called when the library it is in is unloaded, and at the end of the program. */
void __hipUnregisterFatBinary(void **handle)
{
    struct fatbin *fatbin = (struct fatbin *)handle, **place = &fatbins;
    if (common_is_forked()) /* the module is the parent's */
        return;
    pthread_mutex_lock(&lock);
    while (*place && *place != fatbin)
        place = &(*place)->next;
    bool known = *place;
    if (known) {
        *place = fatbin->next;
        forget(fatbin);
    }
    pthread_mutex_unlock(&lock);
    if (!known)
        return;
    if (fatbin->module)
        hip_module_free(fatbin->module);
    mem_free(fatbin->managed_on);
    mem_free(fatbin->managed);
    mem_free(fatbin);
}

void __hipRegisterFunction(void **handle, const void *host, char *device, const char *name, unsigned limit,
                           void *thread, void *block, struct hip_dim3 *block_size, struct hip_dim3 *grid_size,
                           int *warp_size)
{
    (void)device, (void)limit, (void)thread, (void)block, (void)block_size, (void)grid_size, (void)warp_size;
    pthread_mutex_lock(&lock);
    add(handle, host, name);
    pthread_mutex_unlock(&lock);
}

void __hipRegisterVar(void **handle, void *host, char *host_name, char *name, int is_extern, size_t bytes,
                      int constant, int global)
{
    (void)host_name, (void)is_extern, (void)constant, (void)global;
    pthread_mutex_lock(&lock);
    struct registration *made = add(handle, host, name);
    made->is_variable = true;
    made->bytes = bytes;
    pthread_mutex_unlock(&lock);
}

/* The program may read the variable at any time from now on. */
void __hipRegisterManagedVar(void **handle, void **place, const void *initial, const char *name, size_t bytes,
                             unsigned alignment)
{
    struct fatbin *fatbin = (struct fatbin *)handle;
    uint64_t address = 0;
    (void)alignment; /* managed memory has the largest that there is */
    if (hip_device_set() || memory_managed_alloc(hip_driver(), bytes, 1, &address))
        return;
    *place = (void *)(uintptr_t)address;
    memcpy(*place, initial, bytes);
    pthread_mutex_lock(&lock);
    struct registration *made = add(handle, place, name);
    made->is_variable = true;
    made->memory = *place;
    made->bytes = bytes;
    mem_grow(fatbin->managed, fatbin->managed_count, fatbin->managed_capacity);
    fatbin->managed[fatbin->managed_count++] = (struct managed){name, *place};
    pthread_mutex_unlock(&lock);
}
