/* OpenCL's objects. Each begins with the loader's table of functions and with a count of references; it ends
 * with the last one. Objects hold references to those they need: a kernel to its program, an event to its
 * queue, and all to their context. */
#ifndef RUNTIME_OPENCL_OBJECTS_H
#define RUNTIME_OPENCL_OBJECTS_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#include <CL/cl_icd.h>

#include "driver/driver.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Functions of OpenCL have this name here, and their type from the loader's table. Only the loader's few are
 * exported: a program's calls come through the table. */
#define API(name)        opencl_##name
#define OPENCL_YES(name) extern __typeof__(*((cl_icd_dispatch *)0)->name) API(name);
#define OPENCL_NO(name)
#define OPENCL_NO_MAKE(...)
#include "runtime/opencl/functions.def"
#undef OPENCL_YES
#undef OPENCL_NO
#undef OPENCL_NO_MAKE

/* The first line of each of them: until the function returns, what it does takes no time of a simulated CPU
 * core (common_enter). */
#define OPENCL_CALL int opencl_call __attribute__((cleanup(opencl_leave), unused)) = opencl_enter(__func__)
int opencl_enter(const char *name);
void opencl_leave(const int *call);

enum opencl_kind {
    OPENCL_PLATFORM = 0x48454401, /* numbers that other memory does not have by chance */
    OPENCL_DEVICE,
    OPENCL_CONTEXT,
    OPENCL_QUEUE,
    OPENCL_MEM,
    OPENCL_SAMPLER,
    OPENCL_PROGRAM,
    OPENCL_KERNEL,
    OPENCL_EVENT,
};

struct opencl_object {
    const cl_icd_dispatch *dispatch; /* first, as the loader wants it */
    _Atomic uint32_t kind;           /* 0: it has ended */
    _Atomic uint32_t references;
};

void *opencl_object_new(enum opencl_kind kind, size_t bytes);
/* Whether this is an object of the kind; NULL is none. */
bool opencl_is(const void *object, enum opencl_kind kind);
void opencl_retain(void *object);
void opencl_release(void *object); /* which ends it, if that was the last reference */

struct _cl_platform_id {
    struct opencl_object base;
    struct driver *driver;
    cl_device_id devices;
    unsigned device_count;
};

struct _cl_device_id {
    struct opencl_object base;
    struct device *device;
    unsigned index;
};

typedef void CL_CALLBACK opencl_notify(const char *text, const void *info, size_t bytes, void *user);

struct opencl_callback {
    struct opencl_callback *next;
    void *function, *user;
};

struct _cl_context {
    struct opencl_object base;
    cl_device_id *devices;
    cl_uint device_count;
    cl_context_properties *properties;
    size_t property_bytes;
    opencl_notify *notify;
    void *user;
    struct opencl_callback *destructors;
    struct opencl_descriptors *descriptors; /* of images and samplers, for kernels (descriptors.h) */
};

struct _cl_sampler {
    struct opencl_object base;
    cl_context context;
    cl_bool normalized;
    cl_addressing_mode addressing;
    cl_filter_mode filter;
};

/* The one of this process; NULL where it cannot be made, which was said on stderr. */
cl_platform_id opencl_platform(void);

/* Whether the context has this device. */
bool opencl_context_has(cl_context context, cl_device_id device);

/* How each kind of object ends; called when its last reference goes. */
void opencl_context_end(cl_context context);
void opencl_queue_end(cl_command_queue queue);
void opencl_mem_end(cl_mem mem);
void opencl_sampler_end(cl_sampler sampler);
void opencl_program_end(cl_program program);
void opencl_kernel_end(cl_kernel kernel);
void opencl_event_end(cl_event event);

#endif
