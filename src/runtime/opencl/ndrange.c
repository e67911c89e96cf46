/* Launches: the size of a range, and the arguments as the kernel gets them. */
#include "runtime/opencl/command.h"
#include "base/bits.h"
#include "base/mem.h"
#include "driver/locality.h"
#include "gcn3_run/program.h"
#include "runtime/opencl/descriptors.h"
#include "runtime/opencl/device.h"
#include "runtime/opencl/errors.h"
#include "runtime/opencl/kernel.h"
#include "runtime/opencl/memory.h"
#include "runtime/opencl/print.h"

struct launch_command {
    struct opencl_command base;
    cl_kernel kernel;
    struct opencl_arg *args;
    struct gcn3_geometry geometry;
    struct locality_blocks *places; /* that the thread which enqueued it said; or NULL */
};

/* ---- on its way ---- */

/* Of a buffer, or of what describes an image or sampler. */
static enum result find_object(const struct opencl_arg *arg, cl_device_id device, uint64_t *address)
{
    if (arg->sampler)
        return opencl_sampler_at(arg->sampler, device, address);
    if (!arg->mem) {
        *address = arg->svm;
        return RESULT_SUCCESS;
    }
    return opencl_is_image(arg->mem) ? opencl_image_at(arg->mem, device, address)
                                     : opencl_mem_at(arg->mem, device->device, address);
}

static bool is_object(enum gcn3_arg_kind kind)
{
    return kind == GCN3_ARG_GLOBAL_BUFFER || kind == GCN3_ARG_IMAGE || kind == GCN3_ARG_SAMPLER;
}

/* What the explicit arguments are: addresses of objects, bytes of local memory, values. */
static enum result resolve(struct launch_command *launch, struct gcn3_arg_value *values, uint64_t *addresses)
{
    enum result result = RESULT_SUCCESS;
    for (uint32_t i = 0; i < launch->kernel->info->explicit_count && !result; i++) {
        const struct opencl_arg *arg = &launch->args[i];
        values[i] = (struct gcn3_arg_value){arg->value, arg->bytes};
        if (!is_object(launch->kernel->info->args[i].kind))
            continue;
        result = find_object(arg, launch->base.queue->device, &addresses[i]);
        values[i].value = &addresses[i];
    }
    return result;
}

/* It may be another thread that submits it, which said something of a launch of its own. */
static enum result launch_placed(struct launch_command *launch, struct stream *stream,
                                 const struct launch_config *config, const void *segment)
{
    struct locality_blocks *others = locality_take_blocks();
    locality_give_blocks(launch->places);
    launch->places = NULL;
    enum result result = stream_launch_packed(stream, launch->kernel->function, config, segment,
                                              launch->kernel->info->kernarg_bytes);
    locality_give_blocks(others);
    return result;
}

static enum result start(struct launch_command *launch, struct stream *stream,
                         const struct gcn3_arg_value *values)
{
    const struct gcn3_kernel_info *info = launch->kernel->info;
    const struct gcn3_geometry *g = &launch->geometry;
    struct err err;
    uint64_t lds;
    void *segment = mem_alloc(info->kernarg_bytes + 1, 1);
    struct launch_config config = {.block = {g->group[0], g->group[1], g->group[2]}, .dimensions = g->dims};
    for (unsigned i = 0; i < 3; i++)
        config.grid[i] = g->grid[i] / g->group[i];
    enum result result = RESULT_SUCCESS;
    if (!gcn3_args_fill(info, values, g, segment, &lds, &err)) {
        *driver_detail_err() = err;
        result = RESULT_INVALID_VALUE;
    } else {
        config.shared_bytes = (uint32_t)(lds - info->group_bytes);
        result = launch_placed(launch, stream, &config, segment);
    }
    mem_free(segment);
    return result;
}

static enum result submit(struct opencl_command *command, struct stream *stream)
{
    struct launch_command *launch = (struct launch_command *)command;
    uint32_t count = launch->kernel->info->explicit_count;
    struct gcn3_arg_value *values = mem_alloc(count + 1, sizeof *values);
    uint64_t *addresses = mem_alloc(count + 1, sizeof *addresses);
    struct opencl_print *print = NULL;
    enum result result = resolve(launch, values, addresses);
    if (!result && opencl_kernel_prints(launch->kernel))
        result = opencl_print_begin(launch->kernel, &print, &launch->geometry.printf_buffer);
    if (!result)
        result = start(launch, stream, values);
    if (print)
        opencl_print_end(print, stream);
    mem_free(values);
    mem_free(addresses);
    return result;
}

static void fini(struct opencl_command *command)
{
    struct launch_command *launch = (struct launch_command *)command;
    opencl_args_free(launch->args, launch->kernel->info->explicit_count);
    opencl_release(launch->kernel);
    locality_free_blocks(launch->places);
}

static const struct opencl_command_ops ops = {sizeof(struct launch_command), submit, fini};

/* ---- checks ---- */

static cl_int check_args(cl_kernel kernel)
{
    const struct gcn3_kernel_info *info = kernel->info;
    for (uint32_t i = 0; i < info->explicit_count; i++) {
        if (!kernel->args[i].is_set)
            return opencl_fail(kernel->program->context, CL_INVALID_KERNEL_ARGS,
                               "argument %u of kernel %s was not set", i, info->name);
        const struct opencl_arg *arg = &kernel->args[i];
        if ((arg->mem && !opencl_is(arg->mem, OPENCL_MEM)) ||
            (arg->sampler && !opencl_is(arg->sampler, OPENCL_SAMPLER)))
            return opencl_fail(kernel->program->context, CL_INVALID_KERNEL_ARGS,
                               "argument %u of kernel %s was released before the launch", i, info->name);
    }
    return CL_SUCCESS;
}

static cl_int check_local(cl_kernel kernel, cl_device_id device)
{
    uint64_t asked = opencl_kernel_local_bytes(kernel), most = device_spec(device->device)->shared_per_block;
    return asked <= most
               ? CL_SUCCESS
               : opencl_fail(kernel->program->context, CL_OUT_OF_RESOURCES,
                             "kernel %s asks for %llu bytes of local memory; there are %llu",
                             kernel->info->name, (unsigned long long)asked, (unsigned long long)most);
}

/* The largest divisor that is not above `most`. */
static uint32_t divisor(uint64_t size, uint64_t most)
{
    uint64_t found = 1;
    for (uint64_t i = 1; i <= most && i <= size; i++)
        found = size % i ? found : i;
    return (uint32_t)found;
}

static uint64_t most_items(cl_kernel kernel)
{
    uint32_t most = kernel->info->max_group_items;
    return most ? most : OPENCL_GROUP_MOST;
}

static void choose_group(cl_kernel kernel, struct gcn3_geometry *g)
{
    uint64_t left = min_u64(most_items(kernel), OPENCL_GROUP_MOST);
    for (unsigned i = 0; i < 3; i++) {
        g->group[i] = divisor(g->grid[i], left);
        left /= g->group[i];
    }
}

static cl_int take_group(cl_kernel kernel, const size_t *local, struct gcn3_geometry *g)
{
    const uint32_t *required = kernel->info->required;
    uint64_t items = 1;
    for (unsigned i = 0; i < g->dims; i++) {
        if (!local[i])
            return CL_INVALID_WORK_GROUP_SIZE;
        if (local[i] > OPENCL_GROUP_MOST && local[i] > most_items(kernel))
            return CL_INVALID_WORK_ITEM_SIZE;
        g->group[i] = (uint32_t)local[i];
        items *= local[i];
    }
    if (items > most_items(kernel))
        return opencl_fail(kernel->program->context, CL_INVALID_WORK_GROUP_SIZE,
                           "a work-group of kernel %s has at most %llu work-items, not %llu",
                           kernel->info->name, (unsigned long long)most_items(kernel),
                           (unsigned long long)items);
    for (unsigned i = 0; i < 3; i++) {
        if (g->grid[i] % g->group[i] || (required[0] && max_u64(required[i], 1) != g->group[i]))
            return CL_INVALID_WORK_GROUP_SIZE;
    }
    return CL_SUCCESS;
}

static cl_int take_range(cl_kernel kernel, cl_uint dims, const size_t *offset, const size_t *global,
                         const size_t *local, struct gcn3_geometry *g)
{
    *g = (struct gcn3_geometry){.dims = dims,
                                .grid = {1, 1, 1},
                                .group = {1, 1, 1},
                                .private_base = gcn3_private_base,
                                .shared_base = gcn3_shared_base};
    if (dims < 1 || dims > 3)
        return CL_INVALID_WORK_DIMENSION;
    if (!global)
        return CL_INVALID_GLOBAL_WORK_SIZE;
    for (cl_uint i = 0; i < dims; i++) {
        if (!global[i] || global[i] > UINT32_MAX)
            return CL_INVALID_GLOBAL_WORK_SIZE;
        g->grid[i] = (uint32_t)global[i];
        g->offset[i] = offset ? offset[i] : 0;
        if (g->offset[i] + global[i] < global[i])
            return CL_INVALID_GLOBAL_OFFSET;
    }
    if (local)
        return take_group(kernel, local, g);
    if (kernel->info->required[0])
        return CL_INVALID_WORK_GROUP_SIZE;
    choose_group(kernel, g);
    return CL_SUCCESS;
}

/* ---- the calls ---- */

static cl_int enqueue(cl_command_queue queue, cl_command_type type, cl_kernel kernel,
                      const struct gcn3_geometry *geometry, cl_uint wait_count, const cl_event *waits,
                      cl_event *event)
{
    opencl_mem_sweep();
    struct launch_command *launch = (struct launch_command *)opencl_command_new(queue, &ops, type);
    opencl_retain(kernel);
    launch->kernel = kernel;
    launch->args = opencl_args_copy(kernel);
    launch->geometry = *geometry;
    launch->places = locality_take_blocks();
    return opencl_enqueue(&launch->base, false, wait_count, waits, event);
}

static cl_int check(cl_command_queue queue, cl_kernel kernel, cl_uint wait_count, const cl_event *waits)
{
    cl_int error = opencl_check_enqueue(queue, wait_count, waits);
    if (error == CL_INVALID_COMMAND_QUEUE)
        return error;
    if (!opencl_is(kernel, OPENCL_KERNEL))
        return CL_INVALID_KERNEL;
    if (kernel->program->context != queue->context)
        return CL_INVALID_CONTEXT;
    if (!error)
        error = check_args(kernel);
    return error ? error : check_local(kernel, queue->device);
}

cl_int API(clEnqueueNDRangeKernel)(cl_command_queue queue, cl_kernel kernel, cl_uint dims,
                                   const size_t *offset, const size_t *global, const size_t *local,
                                   cl_uint wait_count, const cl_event *waits, cl_event *event)
{
    OPENCL_CALL;
    struct gcn3_geometry geometry;
    cl_int error = check(queue, kernel, wait_count, waits);
    if (!error)
        error = take_range(kernel, dims, offset, global, local, &geometry);
    return error ? error
                 : enqueue(queue, CL_COMMAND_NDRANGE_KERNEL, kernel, &geometry, wait_count, waits, event);
}

cl_int API(clEnqueueTask)(cl_command_queue queue, cl_kernel kernel, cl_uint wait_count, const cl_event *waits,
                          cl_event *event)
{
    OPENCL_CALL;
    const size_t one = 1;
    struct gcn3_geometry geometry;
    cl_int error = check(queue, kernel, wait_count, waits);
    if (!error)
        error = take_range(kernel, 1, NULL, &one, &one, &geometry);
    return error ? error : enqueue(queue, CL_COMMAND_TASK, kernel, &geometry, wait_count, waits, event);
}
