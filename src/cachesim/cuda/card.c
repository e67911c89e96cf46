#include "cachesim/cuda/card.h"
#include "base/mem.h"

#include <dlfcn.h>
#include <string.h>

/* The driver's functions that are used: name, arguments. */
#define DRIVER_CALLS(X)                                                                                      \
    X(cuInit, (unsigned))                                                                                    \
    X(cuGetErrorString, (int, const char **))                                                                \
    X(cuDeviceGetCount, (int *))                                                                             \
    X(cuDeviceGet, (int *, int))                                                                             \
    X(cuDeviceGetName, (char *, int, int))                                                                   \
    X(cuDeviceGetAttribute, (int *, int, int))                                                               \
    X(cuDevicePrimaryCtxRetain, (void **, int))                                                              \
    X(cuDevicePrimaryCtxRelease_v2, (int))                                                                   \
    X(cuCtxSetCurrent, (void *))                                                                             \
    X(cuCtxSynchronize, (void))                                                                              \
    X(cuModuleLoadData, (void **, const void *))                                                             \
    X(cuModuleUnload, (void *))                                                                              \
    X(cuModuleGetFunction, (void **, void *, const char *))                                                  \
    X(cuFuncSetAttribute, (void *, int, int))                                                                \
    X(cuMemGetInfo_v2, (size_t *, size_t *))                                                                 \
    X(cuMemAlloc_v2, (uint64_t *, size_t))                                                                   \
    X(cuMemFree_v2, (uint64_t))                                                                              \
    X(cuMemHostAlloc, (void **, size_t, unsigned))                                                           \
    X(cuMemFreeHost, (void *))                                                                               \
    X(cuMemsetD8_v2, (uint64_t, unsigned char, size_t))                                                      \
    X(cuMemcpyHtoDAsync_v2, (uint64_t, const void *, size_t, void *))                                        \
    X(cuMemcpyDtoH_v2, (void *, uint64_t, size_t))                                                           \
    X(cuStreamCreate, (void **, unsigned))                                                                   \
    X(cuStreamDestroy_v2, (void *))                                                                          \
    X(cuStreamWaitEvent, (void *, void *, unsigned))                                                         \
    X(cuEventCreate, (void **, unsigned))                                                                    \
    X(cuEventDestroy_v2, (void *))                                                                           \
    X(cuEventRecord, (void *, void *))                                                                       \
    X(cuEventSynchronize, (void *))                                                                          \
    X(cuEventElapsedTime, (float *, void *, void *))                                                         \
    X(cuLaunchKernel, (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, \
                       void **, void **))

enum { /* of the driver's header */
       ATTRIBUTE_SM_COUNT = 16,
       ATTRIBUTE_SM_SHARED = 81,
       ATTRIBUTE_BLOCK_SHARED_MOST = 97,
       FUNCTION_SHARED_MOST = 8,
       STREAM_NON_BLOCKING = 1,
       OUT_OF_MEMORY = 2,
};

enum { HANDLES_MOST = 64 };

struct card {
    void *library, *context, *module;
    int number;
    char name[128];
    uint32_t sms, sm_shared, block_shared;
    struct err failure;
    bool has_failed;
    void *streams[HANDLES_MOST], *events[HANDLES_MOST];
    uint32_t stream_count, event_count;
#define X(name, arguments) int(*name) arguments;
    DRIVER_CALLS(X)
#undef X
};

static void keep_failure(struct card *device, const char *call, int result)
{
    if (device->has_failed)
        return;
    const char *text = NULL;
    if (device->cuGetErrorString)
        device->cuGetErrorString(result, &text);
    err_set(&device->failure, "%s: %s failed: %s (CUDA error %d)%s", device->name, call, text ? text : "?",
            result,
            result == OUT_OF_MEMORY ? "; fewer tiles, smaller caches or a smaller --batch need less memory"
                                    : "");
    device->has_failed = true;
}

/* Does nothing once a call has failed. */
#define CALL(device, name, ...)                                                                              \
    do {                                                                                                     \
        int call_result = (device)->has_failed ? 0 : (device)->name(__VA_ARGS__);                            \
        if (call_result)                                                                                     \
            keep_failure(device, #name, call_result);                                                        \
    } while (0)

static bool find_calls(struct card *device, struct err *err)
{
    device->library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!device->library)
        return err_set(err, "no CUDA driver is on this machine (libcuda.so.1)");
#define X(name, arguments)                                                                                   \
    *(void **)&device->name = dlsym(device->library, #name);                                                 \
    if (!device->name)                                                                                       \
        return err_set(err, "the CUDA driver of this machine is too old: it has no " #name);
    DRIVER_CALLS(X)
#undef X
    return true;
}

static uint32_t attribute(struct card *device, int which)
{
    int value = 0;
    CALL(device, cuDeviceGetAttribute, &value, which, device->number);
    return (uint32_t)value;
}

static bool find_gpu(struct card *device, const char *ptx, struct err *err)
{
    int count = 0;
    strcpy(device->name, "the CUDA driver");
    CALL(device, cuInit, 0);
    CALL(device, cuDeviceGetCount, &count);
    if (!device->has_failed && !count)
        return err_set(err, "no CUDA GPU is on this machine");
    CALL(device, cuDeviceGet, &device->number, 0);
    CALL(device, cuDeviceGetName, device->name, (int)sizeof device->name, device->number);
    CALL(device, cuDevicePrimaryCtxRetain, &device->context, device->number);
    CALL(device, cuCtxSetCurrent, device->context);
    CALL(device, cuModuleLoadData, &device->module, ptx);
    device->sms = attribute(device, ATTRIBUTE_SM_COUNT);
    device->sm_shared = attribute(device, ATTRIBUTE_SM_SHARED);
    device->block_shared = attribute(device, ATTRIBUTE_BLOCK_SHARED_MOST);
    return card_good(device, err);
}

struct card *card_open(const char *ptx, struct err *err)
{
    struct card *device = mem_alloc(1, sizeof *device);
    if (find_calls(device, err) && find_gpu(device, ptx, err))
        return device;
    card_close(device);
    return NULL;
}

void card_close(struct card *device)
{
    if (!device)
        return;
    if (device->context) {
        device->cuCtxSynchronize();
        for (uint32_t i = 0; i < device->event_count; i++)
            device->cuEventDestroy_v2(device->events[i]);
        for (uint32_t i = 0; i < device->stream_count; i++)
            device->cuStreamDestroy_v2(device->streams[i]);
        if (device->module)
            device->cuModuleUnload(device->module);
        device->cuDevicePrimaryCtxRelease_v2(device->number);
    }
    if (device->library)
        dlclose(device->library);
    mem_free(device);
}

const char *card_name(const struct card *device)
{
    return device->name;
}

uint32_t card_block_shared(const struct card *device)
{
    return device->block_shared;
}

uint32_t card_sm_shared(const struct card *device)
{
    return device->sm_shared;
}

uint32_t card_sms(const struct card *device)
{
    return device->sms;
}

uint64_t card_memory(const struct card *device)
{
    size_t free_bytes = 0, all = 0;
    device->cuMemGetInfo_v2(&free_bytes, &all);
    return free_bytes;
}

bool card_good(struct card *device, struct err *err)
{
    if (device->has_failed)
        *err = device->failure;
    return !device->has_failed;
}

uint64_t card_alloc(struct card *device, size_t bytes)
{
    uint64_t address = 0;
    if (!bytes)
        return 0;
    CALL(device, cuMemAlloc_v2, &address, bytes);
    CALL(device, cuMemsetD8_v2, address, 0, bytes);
    CALL(device, cuCtxSynchronize); /* our streams do not wait for the one that fills */
    return address;
}

void card_free(struct card *device, uint64_t address)
{
    if (address)
        CALL(device, cuMemFree_v2, address);
}

void *card_alloc_host(struct card *device, size_t bytes)
{
    void *memory = NULL;
    if (bytes)
        CALL(device, cuMemHostAlloc, &memory, bytes, 0);
    return memory;
}

void card_free_host(struct card *device, void *memory)
{
    if (memory)
        CALL(device, cuMemFreeHost, memory);
}

device_handle card_stream(struct card *device)
{
    REQUIRE(device->stream_count < HANDLES_MOST);
    void **stream = &device->streams[device->stream_count];
    CALL(device, cuStreamCreate, stream, STREAM_NON_BLOCKING);
    device->stream_count += !device->has_failed;
    return *stream;
}

device_handle card_event(struct card *device)
{
    REQUIRE(device->event_count < HANDLES_MOST);
    void **event = &device->events[device->event_count];
    CALL(device, cuEventCreate, event, 0);
    device->event_count += !device->has_failed;
    return *event;
}

device_handle card_function(struct card *device, const char *name, uint32_t shared_most)
{
    void *function = NULL;
    CALL(device, cuModuleGetFunction, &function, device->module, name);
    if (shared_most)
        CALL(device, cuFuncSetAttribute, function, FUNCTION_SHARED_MOST, (int)shared_most);
    return function;
}

void card_to(struct card *device, uint64_t to, const void *from, size_t bytes, device_handle stream)
{
    if (bytes)
        CALL(device, cuMemcpyHtoDAsync_v2, to, from, bytes, stream);
}

void card_from(struct card *device, void *to, uint64_t from, size_t bytes)
{
    card_sync(device);
    if (bytes)
        CALL(device, cuMemcpyDtoH_v2, to, from, bytes);
}

void card_launch(struct card *device, device_handle function, uint32_t blocks, uint32_t blocks_y,
                 uint32_t threads, uint32_t threads_y, uint32_t shared_bytes, void *work,
                 device_handle stream)
{
    void *arguments[] = {work};
    CALL(device, cuLaunchKernel, function, blocks, blocks_y, 1, threads, threads_y, 1, shared_bytes, stream,
         arguments, NULL);
}

void card_record(struct card *device, device_handle event, device_handle stream)
{
    CALL(device, cuEventRecord, event, stream);
}

void card_wait_event(struct card *device, device_handle stream, device_handle event)
{
    CALL(device, cuStreamWaitEvent, stream, event, 0);
}

void card_sync_event(struct card *device, device_handle event)
{
    CALL(device, cuEventSynchronize, event);
}

void card_sync(struct card *device)
{
    CALL(device, cuCtxSynchronize);
}

double card_seconds(struct card *device, device_handle from, device_handle to)
{
    float milliseconds = 0;
    CALL(device, cuEventElapsedTime, &milliseconds, from, to);
    return (double)milliseconds / 1000;
}
