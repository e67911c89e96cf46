/* What the functions of both APIs share: how they are written, the driver they call, and what a thread has
 * current.
 *
 *   API(cudaMalloc, (pointer, bytes), void **pointer, size_t bytes)
 *   {
 *       return memory_alloc(...);
 *   }
 *
 * defines a body and the exported function around it, which sees to it that there is a device, and keeps a
 * failure for cudaGetLastError. The arguments come before the parameters because the macro needs both. */
#ifndef RUNTIME_CUDA_API_H
#define RUNTIME_CUDA_API_H

#include "runtime/common/common.h"
#include "runtime/cuda/abi_driver.h"

#define EXPORT      __attribute__((visibility("default")))
#define UNPACK(...) __VA_ARGS__

/* All of them: `name` calls `body` with these arguments when `ready` gives success, and `end` has the last
 * word. */
#define CUDA_EXPORT(name, body, arguments, ready, end, ...)                                                  \
    EXPORT int name(__VA_ARGS__);                                                                            \
    int name(__VA_ARGS__)                                                                                    \
    {                                                                                                        \
        common_enter(#name);                                                                                 \
        int error = ready();                                                                                 \
        return common_leave(end(error ? error : body arguments));                                            \
    }

/* Functions of the runtime API that need a device, and those that do not. */
#define API(name, arguments, ...)                                                                            \
    static cudaError_t name##_body(__VA_ARGS__);                                                             \
    CUDA_EXPORT(name, name##_body, arguments, runtime_ready, runtime_end, __VA_ARGS__)                       \
    static cudaError_t name##_body(__VA_ARGS__)
#define API_ANY(name, arguments, ...)                                                                        \
    static cudaError_t name##_body(__VA_ARGS__);                                                             \
    CUDA_EXPORT(name, name##_body, arguments, always_ready, runtime_end, __VA_ARGS__)                        \
    static cudaError_t name##_body(__VA_ARGS__)

/* What takes a stream, under this name: a handle that no stream has is refused, and the twin for
 * -default-stream per-thread means another stream by 0. */
#define CUDA_STREAM_TWINS(name, arguments, ...)                                                              \
    static int name##_legacy(__VA_ARGS__)                                                                    \
    {                                                                                                        \
        return cuda_stream_known(stream) ? (int)name##_body arguments : cudaErrorInvalidResourceHandle;      \
    }                                                                                                        \
    static int name##_thread(__VA_ARGS__)                                                                    \
    {                                                                                                        \
        stream = stream ? stream : STREAM_PER_THREAD;                                                        \
        return name##_legacy arguments;                                                                      \
    }

#define API_PTSZ(name, arguments, ...)                                                                       \
    static cudaError_t name##_body(__VA_ARGS__);                                                             \
    CUDA_STREAM_TWINS(name, arguments, __VA_ARGS__)                                                          \
    CUDA_EXPORT(name, name##_legacy, arguments, runtime_ready, runtime_end, __VA_ARGS__)                     \
    CUDA_EXPORT(name##_ptsz, name##_thread, arguments, runtime_ready, runtime_end, __VA_ARGS__)              \
    static cudaError_t name##_body(__VA_ARGS__)

/* One that uses the default stream without taking one: its body is given the stream, before the rest. */
#define API_PTDS(name, arguments, ...)                                                                       \
    static cudaError_t name##_body(cudaStream_t stream, __VA_ARGS__);                                        \
    CUDA_EXPORT(name, name##_body, (STREAM_LEGACY, UNPACK arguments), runtime_ready, runtime_end,            \
                __VA_ARGS__)                                                                                 \
    CUDA_EXPORT(name##_ptds, name##_body, (STREAM_PER_THREAD, UNPACK arguments), runtime_ready, runtime_end, \
                __VA_ARGS__)                                                                                 \
    static cudaError_t name##_body(cudaStream_t stream, __VA_ARGS__)

/* One that may wait for all streams: refused while a stream is captured (driver/capture.h). */
#define API_WAITS(name, arguments, ...)                                                                      \
    static cudaError_t name##_body(__VA_ARGS__);                                                             \
    CUDA_EXPORT(name, name##_body, arguments, runtime_may_wait, runtime_end, __VA_ARGS__)                    \
    static cudaError_t name##_body(__VA_ARGS__)

/* The same for the driver API, which keeps no last error, but wants cuInit first, and a current context. */
#define CU(name, arguments, ...)                                                                             \
    static CUresult name##_body(__VA_ARGS__);                                                                \
    CUDA_EXPORT(name, name##_body, arguments, cuda_driver_ready, , __VA_ARGS__)                              \
    static CUresult name##_body(__VA_ARGS__)
#define CU_ANY(name, arguments, ...) /* without a context */                                                 \
    static CUresult name##_body(__VA_ARGS__);                                                                \
    CUDA_EXPORT(name, name##_body, arguments, cuda_driver_initialized, , __VA_ARGS__)                        \
    static CUresult name##_body(__VA_ARGS__)
#define CU_WAITS(name, arguments, ...) /* may wait for all streams */                                        \
    static CUresult name##_body(__VA_ARGS__);                                                                \
    CUDA_EXPORT(name, name##_body, arguments, cuda_driver_may_wait, , __VA_ARGS__)                           \
    static CUresult name##_body(__VA_ARGS__)
#define CU_PTSZ(name, arguments, ...)                                                                        \
    static CUresult name##_body(__VA_ARGS__);                                                                \
    CUDA_STREAM_TWINS(name, arguments, __VA_ARGS__)                                                          \
    CUDA_EXPORT(name, name##_legacy, arguments, cuda_driver_ready, , __VA_ARGS__)                            \
    CUDA_EXPORT(name##_ptsz, name##_thread, arguments, cuda_driver_ready, , __VA_ARGS__)                     \
    static CUresult name##_body(__VA_ARGS__)
#define CU_PTDS(name, arguments, ...)                                                                        \
    static CUresult name##_body(cudaStream_t stream, __VA_ARGS__);                                           \
    CUDA_EXPORT(name, name##_body, (STREAM_LEGACY, UNPACK arguments), cuda_driver_ready, , __VA_ARGS__)      \
    CUDA_EXPORT(name##_ptds, name##_body, (STREAM_PER_THREAD, UNPACK arguments), cuda_driver_ready, ,        \
                __VA_ARGS__)                                                                                 \
    static CUresult name##_body(cudaStream_t stream, __VA_ARGS__)

/* Another name of a function: old and new versions that take the same. */
#define CU_ALIAS(name, of) EXPORT extern __typeof__(of) name __attribute__((alias(#of)))

enum { CUDA_VERSION = 13000 };
enum { PRIORITY_LEAST = 0, PRIORITY_GREATEST = -5 }; /* of streams */

/* What comes before a body: success, or why it is not called. */
cudaError_t runtime_device(void);          /* makes a device current where there is none */
cudaError_t runtime_ready(void);           /* and its kernels had no fault */
cudaError_t cuda_driver_ready(void);       /* cuInit was called, there is a context, and no fault */
cudaError_t cuda_driver_initialized(void); /* cuInit was called */
cudaError_t runtime_may_wait(void);        /* as runtime_ready, and no capture forbids it */
cudaError_t cuda_driver_may_wait(void);
static inline cudaError_t always_ready(void)
{
    return cudaSuccess;
}

/* Keeps a failure for cudaGetLastError, and returns it. "Not ready" is no failure. */
cudaError_t runtime_end(cudaError_t error);

/* The process's driver. NULL where HEDDLE_... settings are wrong, which was said on stderr then. */
struct driver *cuda_driver(void);

/* ---- contexts: what the driver API calls a device in use ---- */

/* Every device has a primary one, which the runtime API uses; cuCtxCreate makes others. All of a device share
 * its memory and streams. */
struct context {
    struct device *device;
    bool is_primary, is_green;
    cudaError_t error; /* of every call that needs it: it was lost; or SUCCESS */
    unsigned flags, retained, attached;
    int cache_config;
    uint64_t id;
};

struct context *cuda_context(void);             /* of this thread; NULL when none is current */
void cuda_set_context(struct context *context); /* in the place of the current one; NULL: none */
bool cuda_context_is_known(const struct context *context);
void cuda_keep_context(struct context *context, bool known);
void cuda_set_bad_context(void); /* a handle that is none */
bool cuda_push_context(struct context *context);
bool cuda_pop_context(struct context **context);
/* A stream that is made in a green context (cu_green.c). */
void cuda_green_limit(struct context *context, struct stream *stream);
struct context *cuda_primary(unsigned device); /* NULL beyond the last device */

cudaError_t cuda_initialize(void);
cudaError_t cuda_known(void); /* the same for what an H200 still tells in a forked child: count, properties */
struct device *cuda_device(void); /* of the current context */

/* Its stream; the default ones are numbers. */
struct stream *cuda_stream(cudaStream_t stream);
bool cuda_is_default(cudaStream_t stream); /* which cannot be destroyed */

bool cuda_stream_known(cudaStream_t stream); /* a default one, or one that the program was given */

/* ---- what is shared by functions of one topic ---- */

struct device *cuda_device_at(int index); /* NULL when there is none */
bool cuda_attribute(const struct device *device, int attribute, int *value);
cudaError_t cuda_find_pci(const char *name, int *index);
cudaError_t cuda_peer_attribute(int *value, int attribute, int from, int to);

#endif
