/* What the functions share: how they are written, the driver they call, and the device that a thread has
 * current.
 *
 *   HIP(hipMalloc, (pointer, bytes), void **pointer, size_t bytes)
 *   {
 *       return memory_alloc(...);
 *   }
 *
 * defines a body and the exported function around it. That function makes a device current, refuses when a
 * kernel of it had a fault, and keeps a failure for hipGetLastError. A body returns a result of the driver or
 * an error of HIP: their numbers are the same. */
#ifndef RUNTIME_HIP_API_H
#define RUNTIME_HIP_API_H

#include "runtime/common/common.h"
#include "runtime/hip/abi.h"

#define HIP_EXPORT      __attribute__((visibility("default")))
#define HIP_UNPACK(...) __VA_ARGS__

#define HIP_FUNCTION(name, body, arguments, ready, ...)                                                      \
    HIP_EXPORT hipError_t name(__VA_ARGS__);                                                                 \
    hipError_t name(__VA_ARGS__)                                                                             \
    {                                                                                                        \
        common_enter(#name);                                                                                 \
        int error = ready();                                                                                 \
        return (hipError_t)common_leave((int)hip_end(error ? error : (int)body arguments));                  \
    }

/* Functions that need a device; those that need a driver; those that need nothing. */
#define HIP(name, arguments, ...)                                                                            \
    static int name##_body(__VA_ARGS__);                                                                     \
    HIP_FUNCTION(name, name##_body, arguments, hip_ready, __VA_ARGS__)                                       \
    static int name##_body(__VA_ARGS__)
#define HIP_KNOWN(name, arguments, ...)                                                                      \
    static int name##_body(__VA_ARGS__);                                                                     \
    HIP_FUNCTION(name, name##_body, arguments, hip_known, __VA_ARGS__)                                       \
    static int name##_body(__VA_ARGS__)
#define HIP_ANY(name, arguments, ...)                                                                        \
    static int name##_body(__VA_ARGS__);                                                                     \
    HIP_FUNCTION(name, name##_body, arguments, hip_always, __VA_ARGS__)                                      \
    static int name##_body(__VA_ARGS__)

/* One that takes a stream, under this name: a handle that no stream has is refused. */
#define HIP_ON_STREAM(name, arguments, ...)                                                                  \
    static int name##_body(__VA_ARGS__);                                                                     \
    static int name##_checked(__VA_ARGS__)                                                                   \
    {                                                                                                        \
        return hip_stream_known(stream) ? name##_body arguments : hipErrorInvalidHandle;                     \
    }                                                                                                        \
    HIP_FUNCTION(name, name##_checked, arguments, hip_ready, __VA_ARGS__)

#define HIP_STREAM(name, arguments, ...)                                                                     \
    HIP_ON_STREAM(name, arguments, __VA_ARGS__)                                                              \
    static int name##_body(__VA_ARGS__)

/* The same with a twin for programs compiled with -fgpu-default-stream=per-thread, for which 0 is another
 * stream. */
#define HIP_STREAM_TWINS(name, arguments, ...)                                                               \
    HIP_ON_STREAM(name, arguments, __VA_ARGS__)                                                              \
    static int name##_thread(__VA_ARGS__)                                                                    \
    {                                                                                                        \
        stream = stream ? stream : HIP_STREAM_PER_THREAD;                                                    \
        return name##_checked arguments;                                                                     \
    }                                                                                                        \
    HIP_FUNCTION(name##_spt, name##_thread, arguments, hip_ready, __VA_ARGS__)                               \
    static int name##_body(__VA_ARGS__)

/* One that uses the default stream without taking one: its body is given the stream, before the rest. */
#define HIP_TWINS(name, arguments, ...)                                                                      \
    static int name##_body(hipStream_t stream, __VA_ARGS__);                                                 \
    HIP_FUNCTION(name, name##_body, (NULL, HIP_UNPACK arguments), hip_ready, __VA_ARGS__)                    \
    HIP_FUNCTION(name##_spt, name##_body, (HIP_STREAM_PER_THREAD, HIP_UNPACK arguments), hip_ready,          \
                 __VA_ARGS__)                                                                                \
    static int name##_body(hipStream_t stream, __VA_ARGS__)

/* Another name of a function that takes the same. */
#define HIP_ALIAS(name, of) HIP_EXPORT extern __typeof__(of) name __attribute__((alias(#of)))

enum { HIP_VERSION = 50221153 /* 5.2.21153, as Debian has it */ };

/* What comes before a body: success, or why it is not called. */
hipError_t hip_known(void); /* there is a driver, which is not of a process that this one was forked from */
hipError_t hip_device_set(void); /* and a device is current */
hipError_t hip_ready(void);      /* and its kernels had no fault */
static inline hipError_t hip_always(void)
{
    return hipSuccess;
}

/* Keeps a failure for hipGetLastError, and returns it as HIP's error. "Not ready" is no failure. */
hipError_t hip_end(int result);

/* The process's driver. NULL where HEDDLE_... settings are wrong, which was said on stderr then. */
struct driver *hip_driver(void);

struct device *hip_device(void);         /* the current one; NULL: none yet */
struct device *hip_device_at(int index); /* NULL when there is none */
void hip_set_device(struct device *device);
const char *hip_target(const struct device *device); /* "gfx803"; "": it runs no AMD code */

/* Its stream; the default ones are numbers. */
struct stream *hip_stream(hipStream_t stream);
bool hip_is_default(hipStream_t stream); /* which cannot be destroyed */

bool hip_stream_known(hipStream_t stream); /* a default one, or one that the program was given */

#endif
