/* Launches of the driver API before CUDA 4: a function's block, shared memory and parameters are set one by
 * one, and stay as they are for its next launch. */
#include "runtime/cuda/launch.h"
#include "runtime/cuda/register.h"
#include "base/mem.h"

#include <pthread.h>
#include <string.h>

enum { PARAMS_MOST = 4096 };

struct setup {
    struct setup *next;
    struct function *function;
    struct dim3 block;
    unsigned shared_bytes, param_bytes;
    char params[PARAMS_MOST];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct setup *all;

/* With the lock held. */
static struct setup *setup_of(struct function *function)
{
    struct setup *setup = all;
    while (setup && setup->function != function)
        setup = setup->next;
    if (setup)
        return setup;
    setup = mem_alloc(1, sizeof *setup);
    *setup = (struct setup){.next = all, .function = function, .block = {1, 1, 1}};
    all = setup;
    return setup;
}

#define WITH_SETUP(function, ...)                                                                            \
    do {                                                                                                     \
        pthread_mutex_lock(&lock);                                                                           \
        struct setup *setup = setup_of(function);                                                            \
        __VA_ARGS__;                                                                                         \
        pthread_mutex_unlock(&lock);                                                                         \
    } while (0)

CU(cuFuncSetBlockShape, (function, x, y, z), CUfunction function, int x, int y, int z)
{
    if (!function || x <= 0 || y <= 0 || z <= 0)
        return function ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
    WITH_SETUP(function, setup->block = ((struct dim3){(unsigned)x, (unsigned)y, (unsigned)z}));
    return cudaSuccess;
}

CU(cuFuncSetSharedSize, (function, bytes), CUfunction function, unsigned bytes)
{
    if (!function)
        return cudaErrorInvalidResourceHandle;
    WITH_SETUP(function, setup->shared_bytes = bytes);
    return cudaSuccess;
}

CU(cuParamSetSize, (function, bytes), CUfunction function, unsigned bytes)
{
    if (!function || bytes > PARAMS_MOST)
        return function ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
    WITH_SETUP(function, setup->param_bytes = bytes);
    return cudaSuccess;
}

static CUresult set_param(struct function *function, int offset, const void *value, size_t bytes)
{
    if (!function)
        return cudaErrorInvalidResourceHandle;
    if (!value || offset < 0 || offset > PARAMS_MOST || bytes > PARAMS_MOST - (size_t)offset)
        return cudaErrorInvalidValue;
    WITH_SETUP(function, memcpy(setup->params + offset, value, bytes));
    return cudaSuccess;
}

CU(cuParamSeti, (function, offset, value), CUfunction function, int offset, unsigned value)
{
    return set_param(function, offset, &value, sizeof value);
}

CU(cuParamSetf, (function, offset, value), CUfunction function, int offset, float value)
{
    return set_param(function, offset, &value, sizeof value);
}

CU(cuParamSetv, (function, offset, value, bytes), CUfunction function, int offset, const void *value,
   unsigned bytes)
{
    return set_param(function, offset, value, bytes);
}

static CUresult launch(struct function *function, int width, int height, cudaStream_t stream)
{
    struct setup now;
    size_t bytes;
    if (!function || width <= 0 || height <= 0)
        return function ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
    WITH_SETUP(function, now = *setup);
    bytes = now.param_bytes;
    return cuda_launch_any(function,
                           &(struct launch_request){.grid = {(unsigned)width, (unsigned)height, 1},
                                                    .block = now.block,
                                                    .shared_bytes = now.shared_bytes,
                                                    .stream = stream},
                           NULL,
                           (void *[]){CU_LAUNCH_PARAM_BUFFER_POINTER, now.params, CU_LAUNCH_PARAM_BUFFER_SIZE,
                                      &bytes, CU_LAUNCH_PARAM_END});
}

CU(cuLaunch, (function), CUfunction function)
{
    return launch(function, 1, 1, STREAM_LEGACY);
}

CU(cuLaunchGrid, (function, width, height), CUfunction function, int width, int height)
{
    return launch(function, width, height, STREAM_LEGACY);
}

CU(cuLaunchGridAsync, (function, width, height, stream), CUfunction function, int width, int height,
   cudaStream_t stream)
{
    return cuda_stream_known(stream) ? launch(function, width, height, stream)
                                     : cudaErrorInvalidResourceHandle;
}
