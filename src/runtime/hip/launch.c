/* Launches: a kernel's arguments are laid out as its metadata says, and the hidden ones beside them. */
#include "runtime/hip/launch.h"
#include "base/demangle.h"
#include "base/mem.h"
#include "runtime/hip/register.h"

#include <string.h>

/* ---- checks ---- */

static int refuse(const char *why)
{
    err_set(driver_detail_err(), "%s", why);
    return hipErrorInvalidConfiguration;
}

/* The work-items of a grid in a dimension are a number of 32 bits. */
static int check_size(const struct hip_launch *launch, struct gcn3_geometry *geometry)
{
    const uint32_t grid[3] = {launch->grid.x, launch->grid.y, launch->grid.z};
    const uint32_t block[3] = {launch->block.x, launch->block.y, launch->block.z};
    const struct gpu_spec *gpu = device_spec(hip_device());
    *geometry = (struct gcn3_geometry){.dims = 3};
    for (unsigned i = 0; i < 3; i++) {
        uint64_t items = (uint64_t)grid[i] * block[i];
        if (!items || items > UINT32_MAX)
            return refuse("a grid has 1 to 4294967295 work-items in each dimension");
        geometry->grid[i] = (uint32_t)items;
        geometry->group[i] = block[i];
    }
    if ((uint64_t)block[0] * block[1] > gpu->threads_per_block ||
        (uint64_t)block[0] * block[1] * block[2] > gpu->threads_per_block) {
        err_set(driver_detail_err(), "a block has at most %llu threads, not %u x %u x %u",
                (unsigned long long)gpu->threads_per_block, block[0], block[1], block[2]);
        return hipErrorInvalidConfiguration;
    }
    return hipSuccess;
}

static int check_events(const struct hip_launch *launch)
{
    bool known = (!launch->start || hip_event_known(launch->start)) &&
                 (!launch->stop || hip_event_known(launch->stop));
    return known ? hipSuccess : hipErrorInvalidHandle;
}

/* ---- arguments ---- */

/* The explicit arguments as one segment: the caller has laid them out. */
static int take_segment(const struct gcn3_kernel_info *info, void **extra, struct gcn3_arg_value *values)
{
    const uint8_t *segment = NULL;
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
        values[i] = (struct gcn3_arg_value){segment + arg->offset, arg->bytes};
    }
    return hipSuccess;
}

static int take_pointers(const struct gcn3_kernel_info *info, void **arguments, struct gcn3_arg_value *values)
{
    for (uint32_t i = 0; i < info->explicit_count; i++) {
        if (!arguments || !arguments[i]) {
            err_set(driver_detail_err(), "argument %u of %u is missing", i, info->explicit_count);
            return hipErrorInvalidValue;
        }
        values[i] = (struct gcn3_arg_value){arguments[i], info->args[i].bytes};
    }
    return hipSuccess;
}

/* ---- launches ---- */

static int submit(struct hip_function *function, const struct hip_launch *launch, const void *segment)
{
    struct launch_config config = {.grid = {launch->grid.x, launch->grid.y, launch->grid.z},
                                   .block = {launch->block.x, launch->block.y, launch->block.z},
                                   .shared_bytes = (uint32_t)launch->shared_bytes,
                                   .cooperative = launch->cooperative};
    struct stream *stream = hip_stream(launch->stream);
    int error = launch->start ? (int)event_note(launch->start, stream) : hipSuccess;
    if (!error)
        error =
            stream_launch_packed(stream, function->function, &config, segment, function->info->kernarg_bytes);
    return error || !launch->stop ? error : (int)event_note(launch->stop, stream);
}

static int fill_and_submit(struct hip_function *function, const struct hip_launch *launch, void **arguments,
                           void **extra, const struct gcn3_geometry *geometry)
{
    const struct gcn3_kernel_info *info = function->info;
    struct gcn3_arg_value *values = mem_alloc(info->explicit_count + 1, sizeof *values);
    void *segment = mem_alloc(info->kernarg_bytes + 1, 1);
    uint64_t lds;
    int error =
        !arguments && extra ? take_segment(info, extra, values) : take_pointers(info, arguments, values);
    if (!error && !gcn3_args_fill(info, values, geometry, segment, &lds, driver_detail_err()))
        error = hipErrorInvalidValue;
    if (!error)
        error = submit(function, launch, segment);
    mem_free(segment);
    mem_free(values);
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
    struct gcn3_geometry geometry;
    if (!function)
        return hipErrorInvalidDeviceFunction;
    if (launch->shared_bytes > INT32_MAX)
        return hipErrorInvalidValue;
    err_set(driver_detail_err(), "%s", "");
    int error = check_events(launch);
    if (!error)
        error = check_size(launch, &geometry);
    if (!error)
        error = fill_and_submit(function, launch, arguments, extra, &geometry);
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
