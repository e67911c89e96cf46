/* Errors: their names, and the last one of a thread. */
#include "runtime/hip/api.h"

static __thread hipError_t last_error;

static const char *name_of(int code)
{
    switch (code) {
#define ERROR(number, name)                                                                                  \
    case number:                                                                                             \
        return "hip" #name;
#include "runtime/hip/errors.def"
#undef ERROR
    default:
        return NULL;
    }
}

/* Faults that HIP has no error of its own for are failed launches, and so are assertions, as programs for
 * AMD's GPUs expect; the rest cannot be told apart by a program. */
static hipError_t error_of(int result)
{
    if (result == RESULT_ILLEGAL_INSTRUCTION || result == RESULT_MISALIGNED_ADDRESS ||
        result == RESULT_ASSERT)
        return hipErrorLaunchFailure;
    return name_of(result) ? result : hipErrorUnknown;
}

hipError_t hip_end(int result)
{
    hipError_t error = error_of(result);
    if (error && error != hipErrorNotReady)
        last_error = error;
    return error;
}

HIP_EXPORT hipError_t hipGetLastError(void), hipPeekAtLastError(void);

hipError_t hipPeekAtLastError(void)
{
    return last_error;
}

hipError_t hipGetLastError(void)
{
    hipError_t error = last_error;
    last_error = hipSuccess;
    return error;
}

HIP_EXPORT const char *hipGetErrorName(hipError_t error), *hipGetErrorString(hipError_t error);

const char *hipGetErrorName(hipError_t error)
{
    const char *name = name_of(error);
    return name ? name : "hipErrorUnknown";
}

const char *hipGetErrorString(hipError_t error)
{
    return hipGetErrorName(error);
}
