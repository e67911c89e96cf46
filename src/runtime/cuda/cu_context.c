/* The driver API: contexts. */
#include "runtime/cuda/api.h"
#include "runtime/cuda/texref.h"
#include "base/mem.h"

enum { API_VERSION = 3020, CONTEXT_FLAGS = 0xff };

static CUresult context_new(struct context **context, unsigned flags, CUdevice device)
{
    static _Atomic uint64_t count = 1 << 16; /* the primary ones have the numbers below */
    if (!context || flags & ~(unsigned)CONTEXT_FLAGS)
        return cudaErrorInvalidValue;
    if (!cuda_device_at(device))
        return cudaErrorInvalidDevice;
    struct context *made = mem_alloc(1, sizeof *made);
    *made = (struct context){.device = cuda_device_at(device), .flags = flags, .id = ++count};
    if (!cuda_push_context(made)) {
        mem_free(made);
        return cudaErrorMemoryAllocation;
    }
    cuda_keep_context(made, true);
    *context = made;
    return cudaSuccess;
}

CU_ANY(cuCtxCreate_v4, (context, parameters, flags, device), CUcontext *context, const void *parameters,
       unsigned flags, CUdevice device)
{
    (void)parameters;
    return context_new(context, flags, device);
}

CU_ANY(cuCtxCreate_v3, (context, parameters, count, flags, device), CUcontext *context,
       const void *parameters, int count, unsigned flags, CUdevice device)
{
    (void)parameters, (void)count;
    return context_new(context, flags, device);
}

CU_ANY(cuCtxCreate_v2, (context, flags, device), CUcontext *context, unsigned flags, CUdevice device)
{
    return context_new(context, flags, device);
}

/* The memory stays as it is, since the device's other contexts share it; all work is done first. */
CU_ANY(cuCtxDestroy_v2, (context), CUcontext context)
{
    if (!context)
        return cudaErrorInvalidValue;
    if (!cuda_context_is_known(context))
        return cudaErrorContextIsDestroyed;
    if (context->is_primary)
        return cudaErrorDeviceUninitialized;
    CUresult result = device_synchronize(context->device);
    if (cuda_context() == context)
        cuda_pop_context(&context);
    cuda_keep_context(context, false);
    mem_free(context);
    return result;
}
CU_ALIAS(cuCtxDestroy, cuCtxDestroy_v2);

/* Of CUDA 3: the current context is used once more, or once less, and ends with its last use. */
CU(cuCtxAttach, (context, flags), CUcontext *context, unsigned flags)
{
    if (!context || flags)
        return cudaErrorInvalidValue;
    *context = cuda_context();
    (*context)->attached++;
    return cudaSuccess;
}

CU(cuCtxDetach, (context), CUcontext context)
{
    if (!context || context != cuda_context())
        return context ? cudaErrorDeviceUninitialized : cudaErrorInvalidValue;
    if (!context->attached)
        return cuCtxDestroy_v2_body(context);
    context->attached--;
    return cudaSuccess;
}

/* All SMs: MPS, which restricts clients to some, is not there. */
CU(cuCtxGetExecAffinity, (affinity, type), int affinity[2], int type)
{
    enum { SM_COUNT };
    if (!affinity || type != SM_COUNT)
        return affinity ? cudaErrorUnsupportedExecAffinity : cudaErrorInvalidValue;
    affinity[0] = type;
    affinity[1] = (int)device_spec(cuda_device())->sm_count;
    return cudaSuccess;
}

CU_ANY(cuCtxPushCurrent_v2, (context), CUcontext context)
{
    if (!context)
        return cudaErrorInvalidValue;
    return cuda_push_context(context) ? cudaSuccess : cudaErrorMemoryAllocation;
}
CU_ALIAS(cuCtxPushCurrent, cuCtxPushCurrent_v2);

CU_ANY(cuCtxPopCurrent_v2, (context), CUcontext *context)
{
    struct context *popped;
    bool there = cuda_pop_context(&popped);
    if (there && context)
        *context = popped;
    return there ? cudaSuccess : cudaErrorDeviceUninitialized;
}
CU_ALIAS(cuCtxPopCurrent, cuCtxPopCurrent_v2);

CU_ANY(cuCtxSetCurrent, (context), CUcontext context)
{
    if (context && !cuda_context_is_known(context))
        cuda_set_bad_context(); /* as an H200 has it: what uses it fails */
    else
        cuda_set_context(context);
    return cudaSuccess;
}

CU_ANY(cuCtxGetCurrent, (context), CUcontext *context)
{
    if (context)
        *context = cuda_context();
    return context ? cudaSuccess : cudaErrorInvalidValue;
}

CU_ANY(cuCtxGetDevice, (device), CUdevice *device)
{
    if (!cuda_context() || cuda_context()->error)
        return cudaErrorDeviceUninitialized;
    if (device)
        *device = (CUdevice)device_index(cuda_device());
    return device ? cudaSuccess : cudaErrorInvalidValue;
}

CU_ANY(cuCtxGetDevice_v2, (device, context), CUdevice *device, CUcontext context)
{
    context = context ? context : cuda_context();
    if (!device || !context)
        return device ? cudaErrorDeviceUninitialized : cudaErrorInvalidValue;
    *device = (CUdevice)device_index(context->device);
    return cudaSuccess;
}

CU(cuCtxGetFlags, (flags), unsigned *flags)
{
    if (flags)
        *flags = cuda_context()->flags;
    return flags ? cudaSuccess : cudaErrorInvalidValue;
}

CU(cuCtxSetFlags, (flags), unsigned flags)
{
    cuda_context()->flags = flags;
    return cudaSuccess;
}

CU_ANY(cuCtxGetId, (context, id), CUcontext context, unsigned long long *id)
{
    context = context ? context : cuda_context();
    if (!context || !id)
        return context ? cudaErrorInvalidValue : cudaErrorDeviceUninitialized;
    *id = context->id;
    return cudaSuccess;
}

CU_ANY(cuCtxGetApiVersion, (context, version), CUcontext context, unsigned *version)
{
    (void)context;
    if (version)
        *version = API_VERSION;
    return version ? cudaSuccess : cudaErrorInvalidValue;
}

CU(cuCtxSynchronize, (), void)
{
    CUresult result = capture_check_device(cuda_driver());
    return result ? result : (CUresult)device_synchronize(cuda_device());
}

CU_ANY(cuCtxSynchronize_v2, (context), CUcontext context)
{
    context = context ? context : cuda_context();
    return context ? (CUresult)device_synchronize(context->device) : cudaErrorDeviceUninitialized;
}

CU_WAITS(cuCtxSetLimit, (limit, value), int limit, size_t value)
{
    return device_limit_set(cuda_device(), limit, value);
}

CU(cuCtxGetLimit, (value, limit), size_t *value, int limit)
{
    return common_limit(cuda_device(), limit, value);
}

CU(cuCtxGetCacheConfig, (config), int *config)
{
    *config = cuda_context()->cache_config;
    return cudaSuccess;
}

CU(cuCtxSetCacheConfig, (config), int config)
{
    cuda_context()->cache_config = config;
    return cudaSuccess;
}

CU(cuCtxGetSharedMemConfig, (config), int *config)
{
    *config = 1; /* banks of four bytes */
    return cudaSuccess;
}

CU(cuCtxSetSharedMemConfig, (config), int config)
{
    (void)config;
    return cudaSuccess;
}

CU(cuCtxResetPersistingL2Cache, (), void)
{
    return cudaSuccess;
}

CU(cuCtxGetStreamPriorityRange, (least, greatest), int *least, int *greatest)
{
    if (least)
        *least = PRIORITY_LEAST;
    if (greatest)
        *greatest = PRIORITY_GREATEST;
    return cudaSuccess;
}

CU(cuCtxEnablePeerAccess, (peer, flags), CUcontext peer, unsigned flags)
{
    if (!peer || flags)
        return peer ? cudaErrorInvalidValue : cudaErrorDeviceUninitialized;
    return device_enable_peer(cuda_device(), peer->device);
}

CU(cuCtxDisablePeerAccess, (peer), CUcontext peer)
{
    return peer ? (CUresult)device_disable_peer(cuda_device(), peer->device) : cudaErrorDeviceUninitialized;
}

/* ---- primary contexts, which the runtime API uses ---- */

CU_ANY(cuDevicePrimaryCtxRetain, (context, device), CUcontext *context, CUdevice device)
{
    if (!context || !cuda_device_at(device))
        return context ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
    *context = cuda_primary((unsigned)device);
    (*context)->retained++;
    return cudaSuccess;
}

CU_ANY(cuDevicePrimaryCtxRelease_v2, (device), CUdevice device)
{
    struct context *context = cuda_device_at(device) ? cuda_primary((unsigned)device) : NULL;
    if (!context || !context->retained)
        return context ? cudaErrorDeviceUninitialized : cudaErrorInvalidDevice;
    context->retained--;
    return cudaSuccess;
}
CU_ALIAS(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2);

CU_ANY(cuDevicePrimaryCtxReset_v2, (device), CUdevice device)
{
    if (!cuda_device_at(device))
        return cudaErrorInvalidDevice;
    texref_lost(cuda_device_at(device));
    return (CUresult)device_reset(cuda_device_at(device));
}
CU_ALIAS(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2);

CU_ANY(cuDevicePrimaryCtxSetFlags_v2, (device, flags), CUdevice device, unsigned flags)
{
    if (!cuda_device_at(device))
        return cudaErrorInvalidDevice;
    if (flags & ~(unsigned)CONTEXT_FLAGS)
        return cudaErrorInvalidValue;
    cuda_primary((unsigned)device)->flags = flags;
    return cudaSuccess;
}
CU_ALIAS(cuDevicePrimaryCtxSetFlags, cuDevicePrimaryCtxSetFlags_v2);

CU_ANY(cuDevicePrimaryCtxGetState, (device, flags, active), CUdevice device, unsigned *flags, int *active)
{
    if (!cuda_device_at(device))
        return cudaErrorInvalidDevice;
    if (!flags || !active)
        return cudaErrorInvalidValue;
    *flags = cuda_primary((unsigned)device)->flags;
    *active =
        cuda_primary((unsigned)device)->retained > 0 || cuda_context() == cuda_primary((unsigned)device);
    return cudaSuccess;
}
