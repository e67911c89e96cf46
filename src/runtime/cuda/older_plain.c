/* Functions as CUDA 11 and 12 had them. Each turns what it is given into what CUDA 13's function takes. */
#include "runtime/cuda/older.h"
#include "runtime/cuda/exports.h"
#include "runtime/cuda/memory.h"

#include <string.h>

enum { VERSION_11 = 11080, VERSION_12 = 12090 }; /* the last of each */

/* ---- structs that have grown ---- */

static void fill_properties(const struct device *device, const struct cudaDeviceProp *now,
                            struct older_properties *then)
{
    const struct gpu_spec *g = device_spec(device);
    int64_t index = device_index(device);
    memset(then, 0, sizeof *then);
    memcpy(then->name, now->name, sizeof then->name);
    then->uuid = now->uuid;
    then->totalGlobalMem = now->totalGlobalMem;
#define none                                 reserved[0] /* where values go that have no field */
#define ATTRIBUTE(number, field, expression) then->field = (__typeof__(then->field))(expression);
#include "runtime/cuda/device.def"
#undef ATTRIBUTE
#undef none
    then->reserved[0] = 0;
    const struct {
        int number, *field;
    } gone[] = {{13, &then->clockRate},
                {15, &then->deviceOverlap},
                {17, &then->kernelExecTimeoutEnabled},
                {20, &then->computeMode},
                {36, &then->memoryClockRate},
                {69, &then->maxTexture1DLinear},
                {87, &then->singleToDoublePrecisionPerfRatio},
                {96, &then->cooperativeMultiDeviceLaunch}};
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        cuda_attribute(device, gone[i].number, gone[i].field);
}

static cudaError_t properties(void *properties, size_t bytes, int index)
{
    struct cudaDeviceProp now;
    struct older_properties then;
    cudaError_t error = cudaGetDeviceProperties(properties ? &now : NULL, index);
    if (error)
        return error;
    fill_properties(cuda_device_at(index), &now, &then);
    memcpy(properties, &then, bytes);
    return cudaSuccess;
}

EXPORT cudaError_t older_11_properties(void *, int),
    cudaGetDeviceProperties_v2(struct older_properties *, int);
EXPORT cudaError_t cudaChooseDevice_v2(int *, const void *);
EXPORT cudaError_t older_11_function_attributes(void *, const void *);
EXPORT cudaError_t older_12_function_attributes(struct cudaFuncAttributes *, const void *);
EXPORT cudaError_t older_pointer_attributes(void *, const void *);

cudaError_t older_11_properties(void *out, int index)
{
    return properties(out, OLDER_11_PROPERTIES, index);
}

cudaError_t cudaGetDeviceProperties_v2(struct older_properties *out, int index)
{
    return properties(out, sizeof *out, index);
}

cudaError_t cudaChooseDevice(int *, const struct cudaDeviceProp *);
cudaError_t cudaChooseDevice_v2(int *index, const void *wanted)
{
    return cudaChooseDevice(index, wanted); /* all devices fit alike: nothing of it is read */
}

cudaError_t older_11_function_attributes(void *out, const void *function)
{
    struct cudaFuncAttributes now;
    cudaError_t error = cudaFuncGetAttributes(out ? &now : NULL, function);
    if (!error)
        memcpy(out, &now, OLDER_11_FUNCTION);
    return error;
}

cudaError_t older_12_function_attributes(struct cudaFuncAttributes *out, const void *function)
{
    return cudaFuncGetAttributes(out, function);
}

cudaError_t older_pointer_attributes(void *out, const void *pointer)
{
    struct cudaPointerAttributes now;
    cudaError_t error = cudaPointerGetAttributes(out ? &now : NULL, pointer);
    if (!error)
        memcpy(out, &now, OLDER_POINTER);
    return error;
}

/* ---- textures ---- */

EXPORT cudaError_t older_11_create_texture(cudaTextureObject_t *, const void *, const void *, const void *);
EXPORT cudaError_t older_12_create_texture(cudaTextureObject_t *, const void *, const void *, const void *);
EXPORT cudaError_t cudaCreateTextureObject_v2(cudaTextureObject_t *, const void *, const void *,
                                              const void *);
EXPORT cudaError_t older_create_surface(cudaSurfaceObject_t *, const void *);
EXPORT cudaError_t older_texture_resource(void *, cudaTextureObject_t),
    older_surface_resource(void *, cudaSurfaceObject_t);
EXPORT cudaError_t older_texture_view(void *, cudaTextureObject_t),
    older_11_texture_sampling(void *, cudaTextureObject_t);
EXPORT cudaError_t older_12_texture_sampling(struct cudaTextureDesc *, cudaTextureObject_t);
EXPORT cudaError_t cudaGetTextureObjectTextureDesc_v2(struct cudaTextureDesc *, cudaTextureObject_t);

static cudaError_t create_texture(cudaTextureObject_t *texture, const void *resource, const void *sampling,
                                  size_t sampling_bytes, const void *view)
{
    struct cudaResourceDesc of = {0};
    struct cudaTextureDesc how = {0};
    struct cudaResourceViewDesc seen = {0};
    if (resource)
        memcpy(&of, resource, OLDER_RESOURCE);
    if (sampling)
        memcpy(&how, sampling, sampling_bytes);
    if (view)
        memcpy(&seen, view, OLDER_VIEW);
    return cudaCreateTextureObject(texture, resource ? &of : NULL, sampling ? &how : NULL,
                                   view ? &seen : NULL);
}

cudaError_t older_11_create_texture(cudaTextureObject_t *texture, const void *resource, const void *sampling,
                                    const void *view)
{
    return create_texture(texture, resource, sampling, OLDER_11_SAMPLING, view);
}

cudaError_t older_12_create_texture(cudaTextureObject_t *texture, const void *resource, const void *sampling,
                                    const void *view)
{
    return create_texture(texture, resource, sampling, sizeof(struct cudaTextureDesc), view);
}

cudaError_t cudaCreateTextureObject_v2(cudaTextureObject_t *texture, const void *resource,
                                       const void *sampling, const void *view)
{
    return older_12_create_texture(texture, resource, sampling, view);
}

cudaError_t older_create_surface(cudaSurfaceObject_t *surface, const void *resource)
{
    struct cudaResourceDesc of = {0};
    if (resource)
        memcpy(&of, resource, OLDER_RESOURCE);
    return cudaCreateSurfaceObject(surface, resource ? &of : NULL);
}

/* A query whose answer is longer now. */
#define SHORTER(name, of, type, bytes)                                                                       \
    cudaError_t name(void *out, unsigned long long handle)                                                   \
    {                                                                                                        \
        struct type now;                                                                                     \
        cudaError_t error = of(&now, handle);                                                                \
        if (!error)                                                                                          \
            memcpy(out, &now, bytes);                                                                        \
        return error;                                                                                        \
    }
SHORTER(older_texture_resource, cudaGetTextureObjectResourceDesc, cudaResourceDesc, OLDER_RESOURCE)
SHORTER(older_surface_resource, cudaGetSurfaceObjectResourceDesc, cudaResourceDesc, OLDER_RESOURCE)
SHORTER(older_texture_view, cudaGetTextureObjectResourceViewDesc, cudaResourceViewDesc, OLDER_VIEW)
SHORTER(older_11_texture_sampling, cudaGetTextureObjectTextureDesc, cudaTextureDesc, OLDER_11_SAMPLING)

cudaError_t older_12_texture_sampling(struct cudaTextureDesc *out, cudaTextureObject_t texture)
{
    return cudaGetTextureObjectTextureDesc(out, texture);
}

cudaError_t cudaGetTextureObjectTextureDesc_v2(struct cudaTextureDesc *out, cudaTextureObject_t texture)
{
    return cudaGetTextureObjectTextureDesc(out, texture);
}

/* ---- memory: places were numbers of devices ---- */

EXPORT cudaError_t older_advise(const void *, size_t, int, int);
EXPORT cudaError_t older_prefetch(const void *, size_t, int, cudaStream_t);
EXPORT cudaError_t older_prefetch_ptsz(const void *, size_t, int, cudaStream_t);
EXPORT cudaError_t cudaMemAdvise_v2(const void *, size_t, int, struct cudaMemLocation);
EXPORT cudaError_t cudaMemPrefetchAsync_v2(const void *, size_t, struct cudaMemLocation, unsigned,
                                           cudaStream_t);
EXPORT cudaError_t cudaMemPrefetchAsync_v2_ptsz(const void *, size_t, struct cudaMemLocation, unsigned,
                                                cudaStream_t);

cudaError_t older_advise(const void *pointer, size_t bytes, int advice, int device)
{
    return cudaMemAdvise(pointer, bytes, advice, cuda_location_of(device));
}

cudaError_t older_prefetch(const void *pointer, size_t bytes, int device, cudaStream_t stream)
{
    return cudaMemPrefetchAsync(pointer, bytes, cuda_location_of(device), 0, stream);
}

cudaError_t older_prefetch_ptsz(const void *pointer, size_t bytes, int device, cudaStream_t stream)
{
    return cudaMemPrefetchAsync_ptsz(pointer, bytes, cuda_location_of(device), 0, stream);
}

cudaError_t cudaMemAdvise_v2(const void *pointer, size_t bytes, int advice, struct cudaMemLocation location)
{
    return cudaMemAdvise(pointer, bytes, advice, location);
}

cudaError_t cudaMemPrefetchAsync_v2(const void *pointer, size_t bytes, struct cudaMemLocation location,
                                    unsigned flags, cudaStream_t stream)
{
    return cudaMemPrefetchAsync(pointer, bytes, location, flags, stream);
}

cudaError_t cudaMemPrefetchAsync_v2_ptsz(const void *pointer, size_t bytes, struct cudaMemLocation location,
                                         unsigned flags, cudaStream_t stream)
{
    return cudaMemPrefetchAsync_ptsz(pointer, bytes, location, flags, stream);
}

/* ---- other names, and what is asked about the library itself ---- */

EXPORT cudaError_t older_11_version(int *), older_12_version(int *);
EXPORT cudaError_t older_11_entry_point(const char *, void **, unsigned long long);
EXPORT cudaError_t older_11_entry_point_ptsz(const char *, void **, unsigned long long);
EXPORT cudaError_t older_12_entry_point(const char *, void **, unsigned long long, int *);
EXPORT cudaError_t older_12_entry_point_ptsz(const char *, void **, unsigned long long, int *);
EXPORT cudaError_t cudaEventElapsedTime_v2(float *, cudaEvent_t, cudaEvent_t);
EXPORT cudaError_t cudaThreadExit(void), cudaThreadSynchronize(void);
EXPORT cudaError_t cudaThreadGetCacheConfig(int *), cudaThreadSetCacheConfig(int);
EXPORT cudaError_t cudaThreadGetLimit(size_t *, int), cudaThreadSetLimit(int, size_t);
EXPORT cudaError_t cudaSetDoubleForDevice(double *), cudaSetDoubleForHost(double *);
EXPORT cudaError_t cudaProfilerInitialize(const char *, const char *, int);

static cudaError_t say_version(int *version, int value)
{
    if (version)
        *version = value;
    return runtime_end(version ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t older_11_version(int *version)
{
    return say_version(version, VERSION_11);
}

cudaError_t older_12_version(int *version)
{
    return say_version(version, VERSION_12);
}

cudaError_t older_11_entry_point(const char *name, void **function, unsigned long long flags)
{
    int status;
    cudaError_t error = cudaGetDriverEntryPoint(name, function, flags, &status);
    return error || !status ? error : runtime_end(cudaErrorSymbolNotFound);
}

cudaError_t older_11_entry_point_ptsz(const char *name, void **function, unsigned long long flags)
{
    int status;
    cudaError_t error = cudaGetDriverEntryPoint_ptsz(name, function, flags, &status);
    return error || !status ? error : runtime_end(cudaErrorSymbolNotFound);
}

cudaError_t older_12_entry_point(const char *name, void **function, unsigned long long flags, int *status)
{
    return cudaGetDriverEntryPoint(name, function, flags, status);
}

cudaError_t older_12_entry_point_ptsz(const char *name, void **function, unsigned long long flags,
                                      int *status)
{
    return cudaGetDriverEntryPoint_ptsz(name, function, flags, status);
}

cudaError_t cudaEventElapsedTime_v2(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
    return cudaEventElapsedTime(milliseconds, start, end);
}

cudaError_t cudaThreadExit(void)
{
    return cudaDeviceReset();
}

cudaError_t cudaThreadSynchronize(void)
{
    return cudaDeviceSynchronize();
}

cudaError_t cudaThreadGetCacheConfig(int *config)
{
    return cudaDeviceGetCacheConfig(config);
}

cudaError_t cudaThreadSetCacheConfig(int config)
{
    return cudaDeviceSetCacheConfig(config);
}

cudaError_t cudaThreadGetLimit(size_t *value, int limit)
{
    return cudaDeviceGetLimit(value, limit);
}

cudaError_t cudaThreadSetLimit(int limit, size_t value)
{
    return cudaDeviceSetLimit(limit, value);
}

/* For devices without f64: these have it. */
cudaError_t cudaSetDoubleForDevice(double *number)
{
    return runtime_end(number ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaSetDoubleForHost(double *number)
{
    return runtime_end(number ? cudaSuccess : cudaErrorInvalidValue);
}

/* Its files are those of a profiler that is not there. */
cudaError_t cudaProfilerInitialize(const char *configuration, const char *output, int mode)
{
    (void)configuration, (void)output, (void)mode;
    return cudaSuccess;
}

#define OLDER_IN_plain(...) __VA_ARGS__
#define OLDER_IN_graph(...)
#include "runtime/cuda/older_symbols.h"

/* ---- the table ---- */

#define OLDER(file, first, last, name, body) extern int name##_##first##_code(void) __asm__(#body);
#define GONE(name)                           extern int name##_code(void) __asm__(#name);
#include "runtime/cuda/older.def"
#undef OLDER
#undef GONE

#define OLDER(file, first, last, name, body) {#name, (void *)(uintptr_t)name##_##first##_code, first, last},
#define GONE(name)                           {#name, (void *)(uintptr_t)name##_code, 11, 12},
EXPORT const struct older_row heddle_cudart_older[] = {
#include "runtime/cuda/older.def"
    {NULL, NULL, 0, 0}};
