/* What nvcc puts before main: a program's fatbins, kernels and variables are registered, each by the address
 * of the host's object that stands for it. Nothing is read then; a module is loaded when something of it is
 * first used. */
#include "runtime/cuda/register.h"
#include "runtime/cuda/texref.h"
#include "base/mem.h"

#include <pthread.h>

/* A fatbin. Its handle is a pointer to it, as a void **. */
struct fatbin {
    struct fatbin *next;
    const void *wrapper;
    struct module *module; /* NULL until it is used */
    bool broken;           /* it could not be loaded, which was said */
    struct managed_variable *managed;
    size_t managed_count, managed_capacity;
};

/* Managed variables: the program reads their address from *place. */
struct managed_variable {
    void **place;
    const char *name;
};

/* What an address of the host stands for. */
struct registration {
    const void *key; /* NULL: a free place; REMOVED: one that was in use */
    struct fatbin *fatbin;
    const char *name;
    struct function *function; /* of a kernel: NULL until it is used */
    bool is_variable;
    enum { NO_REFERENCE, OF_TEXTURE, OF_SURFACE } reference; /* a variable that is one */
    bool reads_floats;
};

static const char removed; /* its address is a key that no program has */
#define REMOVED ((const void *)&removed)

static struct fatbin *fatbins;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct registration *table; /* by the key's digest, or the next free place behind it */
static size_t table_size, table_used;

static size_t place_of(const void *key)
{
    return (size_t)((uintptr_t)key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (table_size - 1);
}

static struct registration *find(const void *key)
{
    if (!table_size || !key)
        return NULL;
    for (size_t i = place_of(key); table[i].key; i = (i + 1) & (table_size - 1)) {
        if (table[i].key == key)
            return &table[i];
    }
    return NULL;
}

static void insert(const struct registration *entry)
{
    size_t i = place_of(entry->key);
    while (table[i].key)
        i = (i + 1) & (table_size - 1);
    table[i] = *entry;
    table_used++;
}

static void add(struct registration entry)
{
    struct registration *known = find(entry.key);
    if (known) {
        *known = entry;
        return;
    }
    if (table_used * 2 >= table_size) {
        struct registration *old = table;
        size_t old_size = table_size;
        table_size = old_size ? 2 * old_size : 256;
        table = mem_alloc(table_size, sizeof *table);
        table_used = 0;
        for (size_t i = 0; i < old_size; i++) {
            if (old[i].key && old[i].key != REMOVED)
                insert(&old[i]);
        }
        mem_free(old);
    }
    insert(&entry);
}

/* NULL when it cannot be loaded; the driver has said why. */
static struct module *load(struct fatbin *fatbin)
{
    if (!fatbin->module && !fatbin->broken)
        fatbin->broken = module_register(cuda_driver(), fatbin->wrapper, &fatbin->module) != RESULT_SUCCESS;
    return fatbin->module;
}

struct function *cuda_function(const void *symbol)
{
    pthread_mutex_lock(&lock);
    struct registration *entry = find(symbol);
    struct function *function = entry && !entry->is_variable ? entry->function : NULL;
    if (entry && !entry->is_variable && !function) {
        struct module *module = load(entry->fatbin);
        if (module && !module_function(module, entry->name, &function))
            entry->function = function;
    }
    pthread_mutex_unlock(&lock);
    return function;
}

void cuda_keep_function(struct function *function)
{
    pthread_mutex_lock(&lock);
    if (!find(function))
        add((struct registration){.key = function, .function = function});
    pthread_mutex_unlock(&lock);
}

cudaError_t cuda_symbol(const void *key, struct symbol *symbol)
{
    struct memory_facts facts;
    pthread_mutex_lock(&lock);
    struct registration *entry = find(key);
    bool is_variable = entry && entry->is_variable && !entry->reference;
    struct module *module = is_variable ? load(entry->fatbin) : NULL;
    const char *name = is_variable ? entry->name : NULL;
    pthread_mutex_unlock(&lock);
    if (module && !module_variable(module, cuda_device(), name, symbol))
        return cudaSuccess;
    /* a managed variable is named by the memory it is in */
    if (!is_variable && memory_find(cuda_driver(), (uint64_t)(uintptr_t)key, &facts) &&
        facts.base == (uint64_t)(uintptr_t)key && facts.kind == MEMORY_VARIABLE) {
        *symbol = (struct symbol){.address = facts.base, .bytes = facts.bytes};
        return cudaSuccess;
    }
    return is_variable && !module ? cudaErrorNoKernelImageForDevice : cudaErrorInvalidSymbol;
}

cudaError_t cuda_texref(const void *key, bool is_surface, struct texref **ref, bool *reads_floats)
{
    cudaError_t none = is_surface ? cudaErrorInvalidSurface : cudaErrorInvalidTexture;
    pthread_mutex_lock(&lock);
    const struct registration *entry = find(key);
    bool is_one = entry && entry->reference == (is_surface ? OF_SURFACE : OF_TEXTURE);
    struct module *module = is_one ? load(entry->fatbin) : NULL;
    const char *name = is_one ? entry->name : NULL;
    if (is_one && reads_floats)
        *reads_floats = entry->reads_floats;
    pthread_mutex_unlock(&lock);
    return module && !texref_find(module, name, is_surface, ref) ? cudaSuccess : none;
}

/* ---- what the code of nvcc calls ---- */

EXPORT void **__cudaRegisterFatBinary(void *wrapper);
EXPORT void __cudaRegisterFatBinaryEnd(void **handle), __cudaUnregisterFatBinary(void **handle);
EXPORT void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int limit,
                                   void *thread, void *block, struct dim3 *block_size, struct dim3 *grid_size,
                                   int *warp_size);
EXPORT void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int is_extern,
                              size_t bytes, int constant, int global);
EXPORT void __cudaRegisterManagedVar(void **handle, void **place, char *device, const char *name,
                                     int is_extern, size_t bytes, int constant, int global);
EXPORT void __cudaRegisterTexture(void **handle, const void *host, const void **device, const char *name,
                                  int dimensions, int reads_floats, int is_extern);
EXPORT void __cudaRegisterSurface(void **handle, const void *host, const void **device, const char *name,
                                  int dimensions, int is_extern);
EXPORT void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t bytes);
EXPORT char __cudaInitModule(void **handle);

void **__cudaRegisterFatBinary(void *wrapper)
{
    struct fatbin *fatbin = mem_alloc(1, sizeof *fatbin);
    fatbin->wrapper = wrapper;
    pthread_mutex_lock(&lock);
    fatbin->next = fatbins;
    fatbins = fatbin;
    pthread_mutex_unlock(&lock);
    return (void **)fatbin;
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle;
}

/* Called when the library it is in is unloaded, and at the end of the program; twice where it was registered
 * twice. */
void __cudaUnregisterFatBinary(void **handle)
{
    struct fatbin *fatbin = (struct fatbin *)handle, **place = &fatbins;
    if (common_is_forked()) /* the module is the parent's */
        return;
    pthread_mutex_lock(&lock);
    while (*place && *place != fatbin)
        place = &(*place)->next;
    if (!*place) {
        pthread_mutex_unlock(&lock);
        return;
    }
    *place = fatbin->next;
    for (size_t i = 0; i < table_size; i++) {
        if (table[i].key && table[i].fatbin == fatbin)
            table[i] = (struct registration){.key = REMOVED};
    }
    pthread_mutex_unlock(&lock);
    if (fatbin->module) {
        texref_forget(fatbin->module);
        module_unload(fatbin->module);
    }
    mem_free(fatbin->managed);
    mem_free(fatbin);
}

void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int limit,
                            void *thread, void *block, struct dim3 *block_size, struct dim3 *grid_size,
                            int *warp_size)
{
    (void)device, (void)limit, (void)thread, (void)block, (void)block_size, (void)grid_size, (void)warp_size;
    pthread_mutex_lock(&lock);
    add((struct registration){.key = host, .fatbin = (struct fatbin *)handle, .name = name});
    pthread_mutex_unlock(&lock);
}

void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int is_extern, size_t bytes,
                       int constant, int global)
{
    (void)device, (void)is_extern, (void)bytes, (void)constant, (void)global;
    pthread_mutex_lock(&lock);
    add((struct registration){
        .key = host, .fatbin = (struct fatbin *)handle, .name = name, .is_variable = true});
    pthread_mutex_unlock(&lock);
}

void __cudaRegisterManagedVar(void **handle, void **place, char *device, const char *name, int is_extern,
                              size_t bytes, int constant, int global)
{
    struct fatbin *fatbin = (struct fatbin *)handle;
    __cudaRegisterVar(handle, (char *)place, device, name, is_extern, bytes, constant, global);
    mem_grow(fatbin->managed, fatbin->managed_count, fatbin->managed_capacity);
    fatbin->managed[fatbin->managed_count++] = (struct managed_variable){place, name};
}

/* Of programs of CUDA 11: references to textures and surfaces. */
static void add_reference(void **handle, const void *host, const char *name, int reference, bool reads_floats)
{
    struct registration entry = {.key = host,
                                 .fatbin = (struct fatbin *)handle,
                                 .name = name,
                                 .is_variable = true,
                                 .reads_floats = reads_floats};
    entry.reference = reference;
    pthread_mutex_lock(&lock);
    add(entry);
    pthread_mutex_unlock(&lock);
}

void __cudaRegisterTexture(void **handle, const void *host, const void **device, const char *name,
                           int dimensions, int reads_floats, int is_extern)
{
    (void)device, (void)dimensions, (void)is_extern;
    add_reference(handle, host, name, OF_TEXTURE, reads_floats);
}

void __cudaRegisterSurface(void **handle, const void *host, const void **device, const char *name,
                           int dimensions, int is_extern)
{
    (void)device, (void)dimensions, (void)is_extern;
    add_reference(handle, host, name, OF_SURFACE, false);
}

/* Variables of the host that kernels may use, where the system shares all memory: kernels are not compiled so
 * here. */
void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t bytes)
{
    (void)handle, (void)name, (void)host, (void)bytes;
}

/* Called before the program first touches a managed variable of the module, which then must be there. */
char __cudaInitModule(void **handle)
{
    struct fatbin *fatbin = (struct fatbin *)handle;
    struct symbol symbol;
    if (runtime_device())
        return 0;
    pthread_mutex_lock(&lock);
    struct module *module = fatbin->managed_count ? load(fatbin) : NULL;
    for (size_t i = 0; module && i < fatbin->managed_count; i++) {
        if (!module_variable(module, cuda_device(), fatbin->managed[i].name, &symbol))
            *fatbin->managed[i].place = (void *)(uintptr_t)symbol.address;
    }
    pthread_mutex_unlock(&lock);
    return 1;
}

API_ANY(__cudaGetKernel, (kernel, host), cudaKernel_t *kernel, const void *host)
{
    if (runtime_device())
        return cudaErrorInitializationError;
    *kernel = cuda_function(host);
    if (!*kernel)
        return cudaErrorInvalidDeviceFunction;
    cuda_keep_function(*kernel);
    return cudaSuccess;
}
