/* The table of functions that the loader calls us by, and the few names that it looks for. */
#include "runtime/opencl/dispatch.h"
#include "runtime/opencl/errors.h"
#include "runtime/common/common.h"

#define EXPORT __attribute__((visibility("default")))

static cl_int unsupported(const char *name, _Atomic bool *said)
{
    if (!atomic_exchange(said, true))
        fprintf(stderr, "heddle: %s is not supported; it answers CL_INVALID_OPERATION\n", name);
    return CL_INVALID_OPERATION;
}

#define OPENCL_YES(name)
#define OPENCL_NO(name)                                                                                      \
    static cl_int no_##name(void)                                                                            \
    {                                                                                                        \
        static _Atomic bool said;                                                                            \
        return unsupported(#name, &said);                                                                    \
    }
#define OPENCL_NO_MAKE(type, name, ...)                                                                      \
    _Pragma("GCC diagnostic push")                                                                           \
        _Pragma("GCC diagnostic ignored \"-Wunused-parameter\"") static type no_##name(__VA_ARGS__,          \
                                                                                       cl_int *errcode_ret)  \
    {                                                                                                        \
        static _Atomic bool said;                                                                            \
        return opencl_made(errcode_ret, unsupported(#name, &said), NULL);                                    \
    }                                                                                                        \
    _Pragma("GCC diagnostic pop")
#include "runtime/opencl/functions.def"
#undef OPENCL_YES
#undef OPENCL_NO
#undef OPENCL_NO_MAKE

int opencl_enter(const char *name)
{
    common_enter(name);
    return 0;
}

void opencl_leave(const int *call)
{
    common_leave(*call);
}

/* What an unsupported function takes does not matter. */
#define AS_ITS_TYPE(name) (__typeof__(((cl_icd_dispatch *)0)->name))(uintptr_t)

const cl_icd_dispatch opencl_dispatch = {
#define OPENCL_YES(name)                .name = API(name),
#define OPENCL_NO(name)                 .name = AS_ITS_TYPE(name) no_##name,
#define OPENCL_NO_MAKE(type, name, ...) .name = no_##name,
#include "runtime/opencl/functions.def"
#undef OPENCL_YES
#undef OPENCL_NO
#undef OPENCL_NO_MAKE
};

static cl_int platform_ids(cl_uint count, cl_platform_id *platforms, cl_uint *found)
{
    if ((!count && platforms) || (!platforms && !found))
        return CL_INVALID_VALUE;
    cl_platform_id platform = opencl_platform();
    if (found)
        *found = platform ? 1 : 0;
    if (!platform)
        return CL_PLATFORM_NOT_FOUND_KHR;
    if (platforms)
        platforms[0] = platform;
    return CL_SUCCESS;
}

EXPORT cl_int clIcdGetPlatformIDsKHR(cl_uint count, cl_platform_id *platforms, cl_uint *found);
cl_int clIcdGetPlatformIDsKHR(cl_uint count, cl_platform_id *platforms, cl_uint *found)
{
    OPENCL_CALL;
    return platform_ids(count, platforms, found);
}

cl_int API(clGetPlatformIDs)(cl_uint count, cl_platform_id *platforms, cl_uint *found)
{
    OPENCL_CALL;
    return platform_ids(count, platforms, found);
}

void *API(clGetExtensionFunctionAddress)(const char *name)
{
    OPENCL_CALL;
    return name && !strcmp(name, "clIcdGetPlatformIDsKHR") ? (void *)(uintptr_t)clIcdGetPlatformIDsKHR : NULL;
}

void *API(clGetExtensionFunctionAddressForPlatform)(cl_platform_id platform, const char *name)
{
    OPENCL_CALL;
    return opencl_is(platform, OPENCL_PLATFORM) ? API(clGetExtensionFunctionAddress)(name) : NULL;
}

/* The loader finds these two by name before it has the table. */
EXPORT extern __typeof__(API(clGetExtensionFunctionAddress))
    exported_address __asm__("clGetExtensionFunctionAddress");
void *exported_address(const char *name)
{
    return API(clGetExtensionFunctionAddress)(name);
}

EXPORT extern __typeof__(API(clGetPlatformInfo)) exported_info __asm__("clGetPlatformInfo");
cl_int exported_info(cl_platform_id platform, cl_platform_info name, size_t bytes, void *value,
                     size_t *needed)
{
    return API(clGetPlatformInfo)(platform, name, bytes, value, needed);
}
