/* The library itself: versions, errors, memory. */
#include "runtime/nccl/comm.h"

#include <stdarg.h>
#include <string.h>

static __thread char last_error[1024];

ncclResult_t nccl_fail(ncclResult_t result, const char *format, ...)
{
    va_list arguments;
    const char *wish = getenv("NCCL_DEBUG");
    va_start(arguments, format);
    vsnprintf(last_error, sizeof last_error, format, arguments);
    va_end(arguments);
    if (wish && strcmp(wish, "VERSION") != 0)
        fprintf(stderr, "heddle: NCCL: %s\n", last_error);
    return result;
}

ncclResult_t nccl_of(enum result result)
{
    if (!result)
        return NCCL_SUCCESS;
    return nccl_fail(NCCL_UNHANDLED_CUDA_ERROR, "%s",
                     *driver_detail() ? driver_detail() : result_text(result));
}

NCCL(ncclGetVersion, int *version)
{
    if (!version)
        return nccl_fail(NCCL_INVALID_ARGUMENT, "ncclGetVersion: version is NULL");
    *version = NCCL_VERSION;
    return NCCL_SUCCESS;
}

EXPORT const char *ncclGetErrorString(ncclResult_t result);
EXPORT extern __typeof__(ncclGetErrorString) pncclGetErrorString __attribute__((alias("ncclGetErrorString")));
const char *ncclGetErrorString(ncclResult_t result)
{
    switch (result) {
#define ERROR(code, name, text)                                                                              \
    case code:                                                                                               \
        return text;
#include "runtime/nccl/errors.def"
#undef ERROR
    default:
        return "unknown result code";
    }
}

EXPORT const char *ncclGetLastError(ncclComm_t comm);
EXPORT extern __typeof__(ncclGetLastError) pncclGetLastError __attribute__((alias("ncclGetLastError")));
const char *ncclGetLastError(ncclComm_t comm)
{
    (void)comm; /* the thread's last one, as NCCL gives it */
    return last_error;
}

NCCL(ncclMemAlloc, void **pointer, size_t bytes)
{
    uint64_t address = 0;
    if (!pointer)
        return nccl_fail(NCCL_INVALID_ARGUMENT, "ncclMemAlloc: pointer is NULL");
    int error = runtime_ready();
    ncclResult_t result = nccl_of(error ? (enum result)error : memory_alloc(cuda_device(), bytes, &address));
    *pointer = (void *)(uintptr_t)address;
    return result;
}

NCCL(ncclMemFree, void *pointer)
{
    int error = runtime_ready();
    return nccl_of(error ? (enum result)error : memory_free(cuda_driver(), (uintptr_t)pointer));
}
