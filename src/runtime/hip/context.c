/* Contexts of the driver-like functions, which HIP deprecates: a device is its own context. */
#include "runtime/hip/api.h"

enum { MOST_CONTEXTS = 64 };
static __thread struct device *below[MOST_CONTEXTS]; /* under the current one */
static __thread unsigned depth;

static bool is_device(hipCtx_t context)
{
    for (int i = 0; hip_device_at(i); i++) {
        if (hip_device_at(i) == context)
            return true;
    }
    return false;
}

HIP_KNOWN(hipCtxCreate, (context, flags, device), hipCtx_t *context, unsigned flags, hipDevice_t device)
{
    (void)flags; /* about how the host waits */
    if (!context || !hip_device_at(device))
        return context ? hipErrorInvalidDevice : hipErrorInvalidValue;
    *context = hip_device_at(device);
    hip_set_device(*context);
    return hipSuccess;
}

HIP_KNOWN(hipCtxDestroy, (context), hipCtx_t context)
{
    return is_device(context) ? hipSuccess : hipErrorInvalidValue;
}

HIP(hipCtxGetCurrent, (context), hipCtx_t *context)
{
    if (context)
        *context = hip_device();
    return context ? hipSuccess : hipErrorInvalidValue;
}

HIP_KNOWN(hipCtxSetCurrent, (context), hipCtx_t context)
{
    if (context && !is_device(context))
        return hipErrorInvalidContext;
    hip_set_device(context ? context : hip_device_at(0));
    return hipSuccess;
}

HIP(hipCtxPushCurrent, (context), hipCtx_t context)
{
    if (!is_device(context) || depth == MOST_CONTEXTS)
        return hipErrorInvalidContext;
    below[depth++] = hip_device();
    hip_set_device(context);
    return hipSuccess;
}

HIP(hipCtxPopCurrent, (context), hipCtx_t *context)
{
    if (!depth)
        return hipErrorInvalidContext;
    if (context)
        *context = hip_device();
    hip_set_device(below[--depth]);
    return hipSuccess;
}

HIP(hipCtxGetDevice, (device), hipDevice_t *device)
{
    if (device)
        *device = (int)device_index(hip_device());
    return device ? hipSuccess : hipErrorInvalidValue;
}

HIP(hipCtxSynchronize, (), void)
{
    return device_synchronize(hip_device());
}

HIP_KNOWN(hipDevicePrimaryCtxRetain, (context, device), hipCtx_t *context, hipDevice_t device)
{
    if (!context || !hip_device_at(device))
        return context ? hipErrorInvalidDevice : hipErrorInvalidValue;
    *context = hip_device_at(device);
    return hipSuccess;
}

HIP_KNOWN(hipDevicePrimaryCtxRelease, (device), hipDevice_t device)
{
    return hip_device_at(device) ? hipSuccess : hipErrorInvalidDevice;
}
