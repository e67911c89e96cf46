/* The library itself: begun and ended as often as a program likes, its versions and its errors. */
#include "runtime/nvml/abi.h"

#include <stdatomic.h>
#include <string.h>

/* What an H200 with CUDA 13.0 says. */
#define DRIVER_TEXT "580.159.04"
#define NVML_TEXT   "13." DRIVER_TEXT

static _Atomic int users;

bool nvml_ready(void)
{
    return users > 0;
}

NVML(nvmlInitWithFlags, unsigned flags)
{
    (void)flags;
    if (!cuda_driver())
        return NVML_DRIVER_NOT_LOADED;
    users++;
    return NVML_SUCCESS;
}

NVML(nvmlInit_v2, void)
{
    return nvmlInitWithFlags(0);
}
NVML_ALIAS(nvmlInit, nvmlInit_v2);

NVML(nvmlShutdown, void)
{
    int before = users;
    while (before > 0 && !atomic_compare_exchange_weak(&users, &before, before - 1)) {
    }
    return before > 0 ? NVML_SUCCESS : NVML_UNINITIALIZED;
}

EXPORT const char *nvmlErrorString(nvmlReturn_t error);
const char *nvmlErrorString(nvmlReturn_t error)
{
    switch (error) {
#define ERROR(code, name, text)                                                                              \
    case code:                                                                                               \
        return text;
#include "runtime/nvml/errors.def"
#undef ERROR
    default:
        return "Unknown Error";
    }
}

nvmlReturn_t nvml_give_text(const char *text, char *to, unsigned room)
{
    if (!nvml_ready() || !to)
        return nvml_ready() ? NVML_INVALID_ARGUMENT : NVML_UNINITIALIZED;
    if (strlen(text) >= room)
        return NVML_INSUFFICIENT_SIZE;
    strcpy(to, text);
    return NVML_SUCCESS;
}

NVML(nvmlSystemGetDriverVersion, char *version, unsigned room)
{
    return nvml_give_text(DRIVER_TEXT, version, room);
}

NVML(nvmlSystemGetNVMLVersion, char *version, unsigned room)
{
    return nvml_give_text(NVML_TEXT, version, room);
}

NVML(nvmlSystemGetCudaDriverVersion_v2, int *version)
{
    if (!nvml_ready() || !version)
        return nvml_ready() ? NVML_INVALID_ARGUMENT : NVML_UNINITIALIZED;
    *version = CUDA_VERSION;
    return NVML_SUCCESS;
}
NVML_ALIAS(nvmlSystemGetCudaDriverVersion, nvmlSystemGetCudaDriverVersion_v2);
