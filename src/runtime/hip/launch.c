/* Launches. The driver lays out the arguments as the kernel's metadata says, with the hidden ones beside
 * them. */
#include "runtime/hip/launch.h"
#include "base/demangle.h"
#include "base/mem.h"
#include "runtime/hip/register.h"

#include <string.h>

/* ---- checks ---- */

/* The work-items of a grid in a dimension are a number of 32 bits. */
static int check_size(const struct hip_launch *launch)
{
    const uint32_t grid[3] = {launch->grid.x, launch->grid.y, launch->grid.z};
    const uint32_t block[3] = {launch->block.x, launch->block.y, launch->block.z};
    const struct gpu_spec *gpu = device_spec(hip_device());
    uint64_t threads = 1;
    for (unsigned i = 0; i < 3; i++) {
        uint64_t items = (uint64_t)grid[i] * block[i];
        if (!items || items > UINT32_MAX) {
            err_set(driver_detail_err(), "a grid has 1 to 4294967295 work-items in each dimension");
            return hipErrorInvalidConfiguration;
        }
        threads = threads <= gpu->threads_per_block ? threads * block[i] : threads;
    }
    if (threads <= gpu->threads_per_block)
        return hipSuccess;
    err_set(driver_detail_err(), "a block has at most %llu threads, not %u x %u x %u",
            (unsigned long long)gpu->threads_per_block, block[0], block[1], block[2]);
    return hipErrorInvalidConfiguration;
}

static int check_events(const struct hip_launch *launch)
{
    bool known = (!launch->start || common_has_event(launch->start)) &&
                 (!launch->stop || common_has_event(launch->stop));
    return known ? hipSuccess : hipErrorInvalidHandle;
}

/* ---- launches ---- */

static int submit(struct hip_function *function, const struct hip_launch *launch, void **arguments)
{
    struct launch_config config = {.grid = {launch->grid.x, launch->grid.y, launch->grid.z},
                                   .block = {launch->block.x, launch->block.y, launch->block.z},
                                   .shared_bytes = (uint32_t)launch->shared_bytes,
                                   .cooperative = launch->cooperative};
    struct stream *stream = hip_stream(launch->stream);
    int error = launch->start ? (int)event_note(launch->start, stream) : hipSuccess;
    if (!error)
        error = stream_launch(stream, function->function, &config, arguments);
    return error || !launch->stop ? error : (int)event_note(launch->stop, stream);
}

/* Arguments that the caller has laid out himself: each is where the kernel expects it. */
static int find_arguments(const struct gcn3_kernel_info *info, void **extra, void **arguments)
{
    uint8_t *segment = NULL;
    size_t bytes = 0;
    for (; extra[0] != HIP_LAUNCH_PARAM_END; extra += 2) {
        if (extra[0] == HIP_LAUNCH_PARAM_BUFFER_POINTER)
            segment = extra[1];
        else if (extra[0] == HIP_LAUNCH_PARAM_BUFFER_SIZE)
            bytes = *(size_t *)extra[1];
        else
            return hipErrorInvalidValue;
    }
    for (uint32_t i = 0; i < info->explicit_count; i++) {
        const struct gcn3_arg *arg = &info->args[i];
        if (!segment || arg->offset > bytes || arg->bytes > bytes - arg->offset) {
            err_set(driver_detail_err(), "argument %u lies behind the %zu bytes that were given", i, bytes);
            return hipErrorInvalidValue;
        }
        arguments[i] = segment + arg->offset;
    }
    return hipSuccess;
}

static int submit_segment(struct hip_function *function, const struct hip_launch *launch, void **extra)
{
    void **arguments = mem_alloc(function->info->explicit_count + 1, sizeof *arguments);
    int error = find_arguments(function->info, extra, arguments);
    if (!error)
        error = submit(function, launch, arguments);
    mem_free(arguments);
    return error;
}

/* Programs seldom look at what a launch answers: one line says why there was none, but not over and over, and
 * not what the line before it said. */
static int tell_refused(const struct hip_function *function, int error)
{
    static _Thread_local struct err told;
    const char *why = driver_detail();
    if (error && *why && strcmp(told.text, why) != 0) {
        err_set(&told, "%s", why);
        bool known = driver_reported(why);
        fprintf(stderr, "heddle: kernel %s was not launched%s%s\n", demangled(function->info->name),
                known ? "" : ": ", known ? "" : why);
    }
    return error;
}

int hip_start(struct hip_function *function, const struct hip_launch *launch, void **arguments, void **extra)
{
    if (!function)
        return hipErrorInvalidDeviceFunction;
    if (launch->shared_bytes > INT32_MAX)
        return hipErrorInvalidValue;
    err_set(driver_detail_err(), "%s", "");
    int error = check_events(launch);
    if (!error)
        error = check_size(launch);
    if (!error)
        error = !arguments && extra ? submit_segment(function, launch, extra)
                                    : submit(function, launch, arguments);
    return tell_refused(function, error);
}

/* ---- the calls ---- */

HIP_STREAM_TWINS(hipLaunchKernel, (function, grid, block, arguments, shared_bytes, stream),
                 const void *function, struct hip_dim3 grid, struct hip_dim3 block, void **arguments,
                 size_t shared_bytes, hipStream_t stream)
{
    return hip_start(
        hip_registered_function(function),
        &(struct hip_launch){.grid = grid, .block = block, .shared_bytes = shared_bytes, .stream = stream},
        arguments, NULL);
}

HIP_STREAM(hipExtLaunchKernel, (function, grid, block, arguments, shared_bytes, stream, start, stop, flags),
           const void *function, struct hip_dim3 grid, struct hip_dim3 block, void **arguments,
           size_t shared_bytes, hipStream_t stream, hipEvent_t start, hipEvent_t stop, int flags)
{
    (void)flags; /* allows another order, which need not be taken */
    return hip_start(hip_registered_function(function),
                     &(struct hip_launch){.grid = grid,
                                          .block = block,
                                          .shared_bytes = shared_bytes,
                                          .stream = stream,
                                          .start = start,
                                          .stop = stop},
                     arguments, NULL);
}

HIP_STREAM_TWINS(hipLaunchCooperativeKernel, (function, grid, block, arguments, shared_bytes, stream),
                 const void *function, struct hip_dim3 grid, struct hip_dim3 block, void **arguments,
                 unsigned shared_bytes, hipStream_t stream)
{
    return hip_start(hip_registered_function(function),
                     &(struct hip_launch){.grid = grid,
                                          .block = block,
                                          .shared_bytes = shared_bytes,
                                          .stream = stream,
                                          .cooperative = true},
                     arguments, NULL);
}

HIP_STREAM(hipModuleLaunchKernel,
           (function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, arguments,
            extra),
           hipFunction_t function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
           unsigned block_y, unsigned block_z, unsigned shared_bytes, hipStream_t stream, void **arguments,
           void **extra)
{
    return hip_start(hip_function_known(function) ? function : NULL,
                     &(struct hip_launch){.grid = {grid_x, grid_y, grid_z},
                                          .block = {block_x, block_y, block_z},
                                          .shared_bytes = shared_bytes,
                                          .stream = stream},
                     arguments, extra);
}

/* C++ functions of hip_ext.h, by their mangled names: the grid is in work-items. */
#define EXT_MODULE_LAUNCH                                                                                    \
    _Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j
HIP_EXPORT hipError_t EXT_MODULE_LAUNCH(hipFunction_t function, unsigned items_x, unsigned items_y,
                                        unsigned items_z, unsigned block_x, unsigned block_y,
                                        unsigned block_z, size_t shared_bytes, hipStream_t stream,
                                        void **arguments, void **extra, hipEvent_t start, hipEvent_t stop,
                                        unsigned flags);

static unsigned blocks_of(unsigned items, unsigned block)
{
    return block ? items / block + (items % block != 0) : 0;
}

hipError_t EXT_MODULE_LAUNCH(hipFunction_t function, unsigned items_x, unsigned items_y, unsigned items_z,
                             unsigned block_x, unsigned block_y, unsigned block_z, size_t shared_bytes,
                             hipStream_t stream, void **arguments, void **extra, hipEvent_t start,
                             hipEvent_t stop, unsigned flags)
{
    (void)flags;
    int error = hip_ready();
    if (!error && !hip_stream_known(stream))
        error = hipErrorInvalidHandle;
    if (!error)
        error =
            hip_start(hip_function_known(function) ? function : NULL,
                      &(struct hip_launch){.grid = {blocks_of(items_x, block_x), blocks_of(items_y, block_y),
                                                    blocks_of(items_z, block_z)},
                                           .block = {block_x, block_y, block_z},
                                           .shared_bytes = shared_bytes,
                                           .stream = stream,
                                           .start = start,
                                           .stop = stop},
                      arguments, extra);
    return hip_end(error);
}

/* ---- <<< and >>> ---- */

/* What stands between them waits here while the arguments behind are evaluated, which may launch something
 * themselves. */
struct call_configuration {
    struct hip_dim3 grid, block;
    size_t shared_bytes;
    hipStream_t stream;
};
enum { MOST_CALLS = 64 };
static __thread struct call_configuration calls[MOST_CALLS];
static __thread unsigned call_count;

HIP_ANY(__hipPushCallConfiguration, (grid, block, shared_bytes, stream), struct hip_dim3 grid,
        struct hip_dim3 block, size_t shared_bytes, hipStream_t stream)
{
    if (call_count == MOST_CALLS)
        return hipErrorInvalidConfiguration;
    calls[call_count++] = (struct call_configuration){grid, block, shared_bytes, stream};
    return hipSuccess;
}

HIP_ANY(__hipPopCallConfiguration, (grid, block, shared_bytes, stream), struct hip_dim3 *grid,
        struct hip_dim3 *block, size_t *shared_bytes, hipStream_t *stream)
{
    if (!call_count)
        return hipErrorMissingConfiguration;
    const struct call_configuration *call = &calls[--call_count];
    *grid = call->grid;
    *block = call->block;
    *shared_bytes = call->shared_bytes;
    *stream = call->stream;
    return hipSuccess;
}
