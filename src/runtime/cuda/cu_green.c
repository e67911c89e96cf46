/* The driver API: green contexts, which have some of a device's SMs. In simulated time, kernels of streams
 * that were made for one run on its SMs alone. What is stored in a resource is first_sm, which no program
 * looks at. The codes of wrong uses are as the manual has them; none was compared with a GPU. */
#include "runtime/cuda/graph.h"
#include "runtime/cuda/stream.h"
#include "base/bits.h"
#include "base/mem.h"

#include <string.h>

enum { TYPE_SM = 1, DEFAULT_STREAM = 1, IGNORE_CLUSTERS = 1, SPLIT_FLAGS = 3 };
enum { INVALID_TYPE = 914, INVALID_CONFIGURATION = 915 }; /* CUDA_ERROR_INVALID_RESOURCE_... */

struct resource { /* CUdevResource */
    int type;
    uint32_t device, first_sm; /* in what CUDA keeps to itself */
    unsigned char pad[84];
    struct {
        unsigned count, least, alignment;
    } sm;
    unsigned char rest[36];
};
_Static_assert(sizeof(struct resource) == 144, "a resource has CUDA's size");

struct description { /* CUdevResourceDesc: for good, as none is ever freed */
    struct resource all;
};

struct green {
    struct context context; /* as programs know it: cuCtxFromGreenCtx */
    struct resource sms;
};

/* The smallest part, which is also what parts are multiples of, by compute capability. */
static unsigned least_of(const struct gpu_spec *gpu)
{
    return gpu->major >= 9 ? 8 : gpu->major == 8 ? 4 : 2;
}

static unsigned alignment_of(const struct gpu_spec *gpu)
{
    return gpu->major >= 9 ? 8 : 2;
}

static struct resource whole(const struct device *device)
{
    const struct gpu_spec *gpu = device_spec(device);
    struct resource all = {.type = TYPE_SM, .device = device_index(device)};
    all.sm.count = (unsigned)gpu->sm_count;
    all.sm.least = least_of(gpu);
    all.sm.alignment = alignment_of(gpu);
    return all;
}

static bool is_one(const struct resource *resource)
{
    return resource->type == TYPE_SM && cuda_device_at((int)resource->device);
}

CU_ANY(cuDeviceGetDevResource, (device, resource, type), CUdevice device, struct resource *resource, int type)
{
    if (!cuda_device_at(device))
        return cudaErrorInvalidDevice;
    if (!resource || type != TYPE_SM)
        return resource ? (CUresult)INVALID_TYPE : cudaErrorInvalidValue;
    *resource = whole(cuda_device_at(device));
    return cudaSuccess;
}

/* A green context is known by its stand-in among the contexts. */
static struct green *green_of(struct context *context)
{
    return context && cuda_context_is_known(context) && context->is_green ? (struct green *)context : NULL;
}

CU_ANY(cuCtxGetDevResource, (context, resource, type), CUcontext context, struct resource *resource, int type)
{
    struct green *green = green_of(context);
    if (!context || !cuda_context_is_known(context))
        return cudaErrorDeviceUninitialized;
    if (!resource || type != TYPE_SM)
        return resource ? (CUresult)INVALID_TYPE : cudaErrorInvalidValue;
    *resource = green ? green->sms : whole(context->device);
    return cudaSuccess;
}

CU_ANY(cuGreenCtxGetDevResource, (green, resource, type), struct green *green, struct resource *resource,
       int type)
{
    if (!green || !green_of(&green->context))
        return cudaErrorInvalidValue;
    if (!resource || type != TYPE_SM)
        return resource ? (CUresult)INVALID_TYPE : cudaErrorInvalidValue;
    *resource = green->sms;
    return cudaSuccess;
}

/* ---- parts ---- */

static struct resource part_of(const struct resource *whole, unsigned from, unsigned count)
{
    struct resource part = *whole;
    part.first_sm += from;
    part.sm.count = count;
    return part;
}

CU_ANY(cuDevSmResourceSplitByCount, (result, groups, input, remaining, flags, least), struct resource *result,
       unsigned *groups, const struct resource *input, struct resource *remaining, unsigned flags,
       unsigned least)
{
    if (!groups || !input || flags & ~(unsigned)SPLIT_FLAGS)
        return cudaErrorInvalidValue;
    if (!is_one(input))
        return (CUresult)INVALID_TYPE;
    if (least > input->sm.count)
        return (CUresult)INVALID_CONFIGURATION;
    unsigned alignment = flags & IGNORE_CLUSTERS ? 2 : input->sm.alignment;
    unsigned smallest = flags & IGNORE_CLUSTERS ? 2 : input->sm.least;
    unsigned size = ((least > smallest ? least : smallest) + alignment - 1) / alignment * alignment;
    unsigned most = input->sm.count / size;
    unsigned count = result && *groups < most ? *groups : most;
    for (unsigned i = 0; result && i < count; i++)
        result[i] = part_of(input, i * size, size);
    *groups = count;
    if (remaining)
        *remaining = part_of(input, count * size, input->sm.count - count * size);
    return cudaSuccess;
}

/* Parts that lie side by side. */
CU_ANY(cuDevResourceGenerateDesc, (description, resources, count), struct description **description,
       struct resource *resources, unsigned count)
{
    if (!description || !resources || !count)
        return cudaErrorInvalidValue;
    struct resource all = resources[0];
    for (unsigned i = 0; i < count; i++) {
        if (!is_one(&resources[i]))
            return (CUresult)INVALID_TYPE;
        if (i && (resources[i].device != all.device || resources[i].first_sm != all.first_sm + all.sm.count))
            return (CUresult)INVALID_CONFIGURATION;
        all.sm.count += i ? resources[i].sm.count : 0;
    }
    *description = mem_alloc(1, sizeof **description);
    (*description)->all = all;
    return cudaSuccess;
}

/* ---- green contexts ---- */

CU_ANY(cuGreenCtxCreate, (green, description, device, flags), struct green **green,
       struct description *description, CUdevice device, unsigned flags)
{
    static _Atomic uint64_t count = UINT64_C(1) << 32; /* other contexts have the numbers below */
    if (!cuda_device_at(device))
        return cudaErrorInvalidDevice;
    if (!green || !description || flags != DEFAULT_STREAM || description->all.device != (uint32_t)device ||
        !description->all.sm.count)
        return cudaErrorInvalidValue;
    *green = mem_alloc(1, sizeof **green);
    **green = (struct green){.context = {.device = cuda_device_at(device), .is_green = true, .id = ++count},
                             .sms = description->all};
    cuda_keep_context(&(*green)->context, true);
    return cudaSuccess;
}

CU_ANY(cuGreenCtxDestroy, (green), struct green *green)
{
    if (!green || !green_of(&green->context))
        return cudaErrorInvalidValue;
    CUresult result = device_synchronize(green->context.device);
    struct context *context = &green->context;
    if (cuda_context() == context)
        cuda_pop_context(&context);
    cuda_keep_context(&green->context, false);
    mem_free(green);
    return result;
}

CU_ANY(cuCtxFromGreenCtx, (context, green), CUcontext *context, struct green *green)
{
    if (!context || !green || !green_of(&green->context))
        return cudaErrorInvalidValue;
    *context = &green->context;
    return cudaSuccess;
}

CU_ANY(cuGreenCtxGetId, (green, id), struct green *green, unsigned long long *id)
{
    if (!green || !id || !green_of(&green->context))
        return cudaErrorInvalidValue;
    *id = green->context.id;
    return cudaSuccess;
}

CU_ANY(cuGreenCtxStreamCreate, (stream, green, flags, priority), cudaStream_t *stream, struct green *green,
       unsigned flags, int priority)
{
    if (!stream || !green || !green_of(&green->context) || flags != STREAM_NON_BLOCKING)
        return cudaErrorInvalidValue;
    struct context *before = cuda_context();
    cuda_set_context(&green->context);
    CUresult result = cuda_stream_new(stream, flags, priority);
    cuda_set_context(before);
    return result;
}

void cuda_green_limit(struct context *context, struct stream *stream)
{
    const struct green *green = green_of(context);
    if (green)
        stream_limit(stream, green->sms.first_sm, green->sms.sm.count);
}
