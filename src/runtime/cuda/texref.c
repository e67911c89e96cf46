#include "runtime/cuda/texref.h"
#include "driver/timeline.h"
#include "base/mem.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct texref *all;

static struct texref *find(const struct module *module, const struct device *device, const char *name)
{
    struct texref *ref = all;
    while (ref && (ref->module != module || ref->device != device || strcmp(ref->name, name) != 0))
        ref = ref->next;
    return ref;
}

bool texref_is_known(const struct texref *ref)
{
    pthread_mutex_lock(&lock);
    const struct texref *known = all;
    while (known && known != ref)
        known = known->next;
    pthread_mutex_unlock(&lock);
    return known;
}

/* With the lock held. */
static struct texref *add(struct module *module, const char *name)
{
    struct texref *ref = mem_alloc(1, sizeof *ref);
    size_t length = strlen(name) + 1;
    *ref = (struct texref){.next = all,
                           .module = module,
                           .device = cuda_device(),
                           .name = mem_alloc(length, 1),
                           .format = ARRAY_F32,
                           .channels = 1};
    memcpy(ref->name, name, length);
    all = ref;
    return ref;
}

struct texref *texref_new(void)
{
    pthread_mutex_lock(&lock);
    struct texref *ref = add(NULL, "");
    pthread_mutex_unlock(&lock);
    return ref;
}

cudaError_t texref_find(struct module *module, const char *name, bool is_surface, struct texref **ref)
{
    enum { HANDLE_BYTES = 8 };
    struct symbol symbol;
    if (module_variable(module, cuda_device(), name, &symbol) || symbol.bytes != HANDLE_BYTES)
        return cudaErrorSymbolNotFound;
    pthread_mutex_lock(&lock);
    *ref = find(module, cuda_device(), name);
    if (!*ref)
        *ref = add(module, name);
    (*ref)->variable = symbol.address;
    (*ref)->is_surface = is_surface;
    pthread_mutex_unlock(&lock);
    return cudaSuccess;
}

/* With the lock held. */
static void drop(struct texref **place)
{
    struct texref *ref = *place;
    *place = ref->next;
    if (ref->object)
        cuda_object_free(ref->device, ref->object);
    mem_free(ref->name);
    mem_free(ref);
}

void texref_free(struct texref *ref)
{
    pthread_mutex_lock(&lock);
    struct texref **place = &all;
    while (*place != ref)
        place = &(*place)->next;
    drop(place);
    pthread_mutex_unlock(&lock);
}

void texref_forget(struct module *module)
{
    pthread_mutex_lock(&lock);
    for (struct texref **place = &all; *place;) {
        if ((*place)->module == module)
            drop(place);
        else
            place = &(*place)->next;
    }
    pthread_mutex_unlock(&lock);
}

void texref_lost(const struct device *device)
{
    pthread_mutex_lock(&lock);
    for (struct texref *ref = all; ref; ref = ref->next) {
        if (ref->device != device)
            continue;
        ref->variable = ref->object = 0;
        ref->is_bound = false;
    }
    pthread_mutex_unlock(&lock);
}

static void point_to(struct texref *ref, unsigned long long object)
{
    unsigned long long before = ref->object;
    if (ref->variable) {
        device_synchronize(ref->device);
        timeline_touch(cuda_driver(), ref->variable, sizeof ref->object, MEMORY_CHANGED);
        *(uint64_t *)(uintptr_t)ref->variable = object;
    }
    ref->object = object;
    if (before)
        cuda_object_free(ref->device, before);
}

static cudaError_t make(struct texref *ref)
{
    unsigned long long object = 0;
    if (ref->device != cuda_device())
        return cudaErrorInvalidResourceHandle;
    if (!ref->by_runtime && !ref->is_surface)
        ref->source.texture.readMode = cuda_read_mode(&ref->source.resource, ref->flags);
    cudaError_t error = ref->is_surface ? cuda_surface_new(&object, &ref->source.resource)
                                        : cuda_texture_new(&object, &ref->source);
    point_to(ref, error ? 0 : object);
    return error;
}

/* The driver API says how a reference is read call by call, in any order: what does not fit now may later. */
static bool may_fit_later(const struct texref *ref, cudaError_t error)
{
    return !ref->by_runtime &&
           (error == cudaErrorInvalidFilterSetting || error == cudaErrorInvalidNormSetting);
}

cudaError_t texref_bind(struct texref *ref)
{
    cudaError_t error = make(ref);
    ref->is_bound = !error || may_fit_later(ref, error);
    return ref->is_bound ? cudaSuccess : error;
}

void texref_unbind(struct texref *ref)
{
    ref->is_bound = false;
    point_to(ref, 0);
}

void texref_change(struct texref *ref)
{
    if (ref->is_bound)
        (void)make(ref);
}

void *texref_align(struct texref *ref, const void *memory)
{
    uint64_t alignment = device_spec(ref->device)->texture_alignment;
    ref->offset = (uintptr_t)memory % alignment;
    return (char *)(uintptr_t)memory - ref->offset;
}
