#include "runtime/opencl/objects.h"
#include "base/mem.h"
#include "runtime/opencl/dispatch.h"
#include "runtime/opencl/info.h"

void *opencl_object_new(enum opencl_kind kind, size_t bytes)
{
    struct opencl_object *object = mem_alloc(1, bytes);
    object->dispatch = &opencl_dispatch;
    object->kind = kind;
    object->references = 1;
    return object;
}

bool opencl_is(const void *object, enum opencl_kind kind)
{
    const struct opencl_object *base = object;
    return base && base->dispatch == &opencl_dispatch && base->kind == kind;
}

void opencl_retain(void *object)
{
    if (object)
        atomic_fetch_add(&((struct opencl_object *)object)->references, 1);
}

void opencl_release(void *object)
{
    struct opencl_object *base = object;
    if (!base || atomic_fetch_sub(&base->references, 1) != 1)
        return;
    switch (atomic_load(&base->kind)) {
    case OPENCL_CONTEXT:
        opencl_context_end(object);
        break;
    case OPENCL_QUEUE:
        opencl_queue_end(object);
        break;
    case OPENCL_MEM:
        opencl_mem_end(object);
        break;
    case OPENCL_SAMPLER:
        opencl_sampler_end(object);
        break;
    case OPENCL_PROGRAM:
        opencl_program_end(object);
        break;
    case OPENCL_KERNEL:
        opencl_kernel_end(object);
        break;
    case OPENCL_EVENT:
        opencl_event_end(object);
        break;
    }
    base->kind = 0;
    mem_free(base);
}

/* The two functions of each kind. */
#define COUNTED(name, type, kind, error)                                                                     \
    cl_int API(clRetain##name)(type object)                                                                  \
    {                                                                                                        \
        OPENCL_CALL;                                                                                         \
        if (!opencl_is(object, kind))                                                                        \
            return error;                                                                                    \
        opencl_retain(object);                                                                               \
        return CL_SUCCESS;                                                                                   \
    }                                                                                                        \
    cl_int API(clRelease##name)(type object)                                                                 \
    {                                                                                                        \
        OPENCL_CALL;                                                                                         \
        if (!opencl_is(object, kind))                                                                        \
            return error;                                                                                    \
        opencl_release(object);                                                                              \
        return CL_SUCCESS;                                                                                   \
    }

COUNTED(Context, cl_context, OPENCL_CONTEXT, CL_INVALID_CONTEXT)
COUNTED(CommandQueue, cl_command_queue, OPENCL_QUEUE, CL_INVALID_COMMAND_QUEUE)
COUNTED(MemObject, cl_mem, OPENCL_MEM, CL_INVALID_MEM_OBJECT)
COUNTED(Sampler, cl_sampler, OPENCL_SAMPLER, CL_INVALID_SAMPLER)
COUNTED(Program, cl_program, OPENCL_PROGRAM, CL_INVALID_PROGRAM)
COUNTED(Kernel, cl_kernel, OPENCL_KERNEL, CL_INVALID_KERNEL)
COUNTED(Event, cl_event, OPENCL_EVENT, CL_INVALID_EVENT)

/* Devices of the platform stay as they are. */
cl_int API(clRetainDevice)(cl_device_id device)
{
    OPENCL_CALL;
    return opencl_is(device, OPENCL_DEVICE) ? CL_SUCCESS : CL_INVALID_DEVICE;
}

cl_int API(clReleaseDevice)(cl_device_id device)
{
    OPENCL_CALL;
    return opencl_is(device, OPENCL_DEVICE) ? CL_SUCCESS : CL_INVALID_DEVICE;
}

cl_int opencl_info(const void *from, size_t from_bytes, size_t bytes, void *value, size_t *needed)
{
    if (value && bytes < from_bytes)
        return CL_INVALID_VALUE;
    if (value && from_bytes)
        memcpy(value, from, from_bytes);
    if (needed)
        *needed = from_bytes;
    return CL_SUCCESS;
}
