/* Launches, and what is known about kernels. */
#include "runtime/cuda/launch.h"
#include "runtime/cuda/register.h"
#include "driver/capture.h"
#include "driver/updates.h"
#include "base/demangle.h"

#include <string.h>

/* ---- launches ---- */

/* An event that a kernel records by itself keeps no time. */
static cudaError_t check_event(cudaEvent_t event)
{
    if (!common_has_event(event))
        return cudaErrorInvalidResourceHandle;
    return event_flags(event) & EVENT_NO_TIMING ? cudaSuccess : cudaErrorNotSupported;
}

/* Events that a launch records: when its blocks have triggered, and when they have begun. */
struct launch_events {
    struct {
        cudaEvent_t event; /* or NULL */
        enum launch_wait how;
    } at[2];
};

/* For a launch that becomes a node of a graph: kernels may change it. */
static cudaError_t make_updatable(const struct launch_request *request, struct cudaLaunchAttribute *attribute,
                                  struct launch_config *config)
{
    int is_on = attribute->value.updatable.is_on;
    if (is_on != 0 && is_on != 1)
        return cudaErrorInvalidValue;
    if (!stream_is_captured(cuda_stream(request->stream)))
        return cudaErrorInvalidValue;
    if (!is_on || config->updates)
        return cudaSuccess;
    config->updates = updates_new();
    attribute->value.updatable.node = updates_handle(config->updates);
    return cudaSuccess;
}

/* Turns a request into what the driver takes. */
static cudaError_t configure(const struct launch_request *request, struct launch_config *config,
                             struct launch_events *events)
{
    *config = (struct launch_config){.grid = {request->grid.x, request->grid.y, request->grid.z},
                                     .block = {request->block.x, request->block.y, request->block.z},
                                     .shared_bytes = (uint32_t)request->shared_bytes,
                                     .cooperative = request->cooperative};
    if (request->attribute_count && !request->attributes)
        return cudaErrorInvalidValue;
    config->updates = updates_keep(request->updates);
    for (unsigned i = 0; i < request->attribute_count; i++) {
        struct cudaLaunchAttribute *attribute = &request->attributes[i];
        bool event = attribute->id == LAUNCH_PROGRAMMATIC_EVENT || attribute->id == LAUNCH_COMPLETION_EVENT;
        if (attribute->id < 0 || attribute->id > LAUNCH_LAST)
            return cudaErrorInvalidValue;
        cudaError_t error = event ? check_event(attribute->value.event) : cudaSuccess;
        if (error)
            return error;
        switch (attribute->id) {
        case LAUNCH_UPDATABLE:
            error = make_updatable(request, attribute, config);
            break;
        case LAUNCH_COOPERATIVE:
            config->cooperative |= attribute->value.cooperative != 0;
            break;
        case LAUNCH_CLUSTER:
            config->cluster[0] = attribute->value.cluster.x;
            config->cluster[1] = attribute->value.cluster.y;
            config->cluster[2] = attribute->value.cluster.z;
            break;
        case LAUNCH_PROGRAMMATIC:
            config->programmatic = attribute->value.programmatic != 0;
            break;
        case LAUNCH_PROGRAMMATIC_EVENT:
            events->at[0].event = attribute->value.event;
            events->at[0].how = attribute->value.record.at_block_start ? WAIT_FOR_START : WAIT_FOR_TRIGGER;
            break;
        case LAUNCH_COMPLETION_EVENT:
            events->at[1].event = attribute->value.event;
            events->at[1].how = WAIT_FOR_START_APART;
            break;
        default:; /* the others are about speed */
        }
        if (error)
            return error;
    }
    return cudaSuccess;
}

static cudaError_t record_events(cudaError_t error, struct stream *stream, const struct launch_events *events)
{
    for (int i = 0; !error && i < 2; i++)
        error = events->at[i].event ? event_record_launch(events->at[i].event, stream, events->at[i].how)
                                    : RESULT_SUCCESS;
    return error;
}

/* Programs seldom look at what a launch answers: one line says why there was none, but not over and over, and
 * not what the line before it said. */
static cudaError_t tell_refused(const struct function *function, struct stream *stream, cudaError_t error)
{
    static _Thread_local struct err told;
    const char *why = driver_detail();
    if (error && *why && strcmp(told.text, why) != 0) {
        err_set(&told, "%s", why);
        bool known = driver_reported(why);
        fprintf(stderr, "heddle: kernel %s was not launched%s%s\n", demangled(function_name(function)),
                known ? "" : ": ", known ? "" : why);
    }
    if (error)
        capture_poison(stream);
    return error;
}

/* If all is well, updates_release ends config->updates. */
static cudaError_t begin_launch(const struct function *function, const struct launch_request *request,
                                struct launch_config *config, struct launch_events *events)
{
    config->updates = NULL;
    cudaError_t error = function ? configure(request, config, events) : cudaErrorInvalidResourceHandle;
    if (error)
        updates_release(config->updates);
    return error;
}

cudaError_t cuda_launch(struct function *function, const struct launch_request *request, void **arguments)
{
    struct launch_config config;
    struct launch_events events = {0};
    cudaError_t error = begin_launch(function, request, &config, &events);
    if (error)
        return error;
    struct stream *stream = cuda_stream(request->stream);
    err_set(driver_detail_err(), "%s", "");
    error = tell_refused(function, stream, stream_launch(stream, function, &config, arguments));
    updates_release(config.updates);
    return record_events(error, stream, &events);
}

static cudaError_t launch_packed(struct function *function, const struct launch_request *request,
                                 const void *arguments, size_t bytes)
{
    struct launch_config config;
    struct launch_events events = {0};
    cudaError_t error = begin_launch(function, request, &config, &events);
    if (error)
        return error;
    struct stream *stream = cuda_stream(request->stream);
    err_set(driver_detail_err(), "%s", "");
    error = tell_refused(function, stream, stream_launch_packed(stream, function, &config, arguments, bytes));
    updates_release(config.updates);
    return record_events(error, stream, &events);
}

cudaError_t cuda_launch_any(struct function *function, const struct launch_request *request, void **arguments,
                            void **extra)
{
    const void *buffer = NULL;
    size_t bytes = 0;
    if (arguments && extra)
        return cudaErrorInvalidValue;
    if (arguments || !extra)
        return cuda_launch(function, request, arguments);
    for (; extra[0] != CU_LAUNCH_PARAM_END; extra += 2) {
        if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[1];
        else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE)
            bytes = *(size_t *)extra[1];
        else
            return cudaErrorInvalidValue;
    }
    return launch_packed(function, request, buffer, bytes);
}

API_PTSZ(cudaLaunchKernel, (function, grid, block, arguments, shared_bytes, stream), const void *function,
         struct dim3 grid, struct dim3 block, void **arguments, size_t shared_bytes, cudaStream_t stream)
{
    if (!function)
        return cudaErrorInvalidDeviceFunction;
    return cuda_launch(cuda_function(function),
                       &(struct launch_request){
                           .grid = grid, .block = block, .shared_bytes = shared_bytes, .stream = stream},
                       arguments);
}

/* <<<>>> in programs of nvcc 13: the kernel is what __cudaGetKernel gave. */
API_PTSZ(__cudaLaunchKernel, (kernel, grid, block, arguments, shared_bytes, stream), cudaKernel_t kernel,
         struct dim3 grid, struct dim3 block, void **arguments, size_t shared_bytes, cudaStream_t stream)
{
    return cuda_launch(kernel,
                       &(struct launch_request){
                           .grid = grid, .block = block, .shared_bytes = shared_bytes, .stream = stream},
                       arguments);
}

API_PTSZ(cudaLaunchCooperativeKernel, (function, grid, block, arguments, shared_bytes, stream),
         const void *function, struct dim3 grid, struct dim3 block, void **arguments, size_t shared_bytes,
         cudaStream_t stream)
{
    return cuda_launch(cuda_function(function),
                       &(struct launch_request){.grid = grid,
                                                .block = block,
                                                .shared_bytes = shared_bytes,
                                                .stream = stream,
                                                .cooperative = true},
                       arguments);
}

static cudaError_t launch_ex(const struct cudaLaunchConfig *config, const void *function, void **arguments,
                             cudaStream_t default_stream)
{
    if (!config || !cuda_stream_known(config->stream))
        return config ? cudaErrorInvalidResourceHandle : cudaErrorInvalidValue;
    return cuda_launch(cuda_function(function),
                       &(struct launch_request){.grid = config->gridDim,
                                                .block = config->blockDim,
                                                .shared_bytes = config->dynamicSmemBytes,
                                                .stream = config->stream ? config->stream : default_stream,
                                                .attributes = config->attrs,
                                                .attribute_count = config->numAttrs},
                       arguments);
}

API(cudaLaunchKernelExC, (config, function, arguments), const struct cudaLaunchConfig *config,
    const void *function, void **arguments)
{
    return launch_ex(config, function, arguments, STREAM_LEGACY);
}

API(cudaLaunchKernelExC_ptsz, (config, function, arguments), const struct cudaLaunchConfig *config,
    const void *function, void **arguments)
{
    return launch_ex(config, function, arguments, STREAM_PER_THREAD);
}

/* What stands between <<< and >>> waits here while the arguments behind it are evaluated, which may launch
 * something themselves. */
struct call_configuration {
    struct dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;
};
enum { MOST_CALLS = 64 };
static __thread struct call_configuration calls[MOST_CALLS];
static __thread unsigned call_count;

EXPORT unsigned __cudaPushCallConfiguration(struct dim3 grid, struct dim3 block, size_t shared_bytes,
                                            cudaStream_t stream);
unsigned __cudaPushCallConfiguration(struct dim3 grid, struct dim3 block, size_t shared_bytes,
                                     cudaStream_t stream)
{
    if (call_count == MOST_CALLS)
        return 1;
    calls[call_count++] = (struct call_configuration){grid, block, shared_bytes, stream};
    return 0;
}

API_ANY(__cudaPopCallConfiguration, (grid, block, shared_bytes, stream), struct dim3 *grid,
        struct dim3 *block, size_t *shared_bytes, cudaStream_t *stream)
{
    if (!call_count)
        return cudaErrorMissingConfiguration;
    const struct call_configuration *call = &calls[--call_count];
    *grid = call->grid;
    *block = call->block;
    *shared_bytes = call->shared_bytes;
    *stream = call->stream;
    return cudaSuccess;
}

/* ---- about kernels ---- */

static void fill_attributes(const struct function_facts *facts, struct cudaFuncAttributes *attributes)
{
    memset(attributes, 0, offsetof(struct cudaFuncAttributes, reserved));
    attributes->sharedSizeBytes = facts->kernel->shared_bytes;
    attributes->constSizeBytes = facts->kernel->const_bytes;
    attributes->localSizeBytes = facts->kernel->local_bytes;
    attributes->maxThreadsPerBlock = (int)facts->max_threads;
    attributes->numRegs = (int)facts->kernel->registers;
    attributes->ptxVersion = (int)facts->kernel->target;
    attributes->binaryVersion = (int)facts->binary_version;
    attributes->maxDynamicSharedSizeBytes = (int)facts->max_dynamic_shared;
    attributes->preferredShmemCarveout = facts->carveout;
    attributes->clusterDimMustBeSet = facts->kernel->explicit_cluster;
    attributes->requiredClusterWidth = (int)facts->kernel->cluster[0];
    attributes->requiredClusterHeight = (int)facts->kernel->cluster[1];
    attributes->requiredClusterDepth = (int)facts->kernel->cluster[2];
    attributes->nonPortableClusterSizeAllowed = facts->non_portable;
}

uint32_t cuda_fill_attributes(const struct function_facts *facts, void *to, size_t room)
{
    struct cudaFuncAttributes attributes = {0};
    fill_attributes(facts, &attributes);
    REQUIRE(room >= sizeof attributes);
    memcpy(to, &attributes, sizeof attributes);
    return sizeof attributes;
}

cudaError_t cuda_function_attributes(struct function *function, struct device *device,
                                     struct cudaFuncAttributes *attributes)
{
    struct function_facts facts;
    cudaError_t error = function ? function_facts(function, device, &facts) : cudaErrorInvalidResourceHandle;
    if (error)
        return error == cudaErrorSymbolNotFound ? cudaErrorInvalidResourceHandle : error;
    fill_attributes(&facts, attributes);
    return cudaSuccess;
}

API(cudaFuncGetAttributes, (attributes, function), struct cudaFuncAttributes *attributes,
    const void *function)
{
    if (!attributes || !function)
        return attributes ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidValue;
    return cuda_function_attributes(cuda_function(function), cuda_device(), attributes);
}

API(cudaFuncSetAttribute, (function, attribute, value), const void *function, int attribute, int value)
{
    struct function *found = cuda_function(function);
    return found ? function_set(found, cuda_device(), attribute, value) : cudaErrorInvalidResourceHandle;
}

API(cudaKernelSetAttributeForDevice, (kernel, attribute, value, index), cudaKernel_t kernel, int attribute,
    int value, int index)
{
    if (!cuda_device_at(index))
        return cudaErrorInvalidDevice;
    return kernel ? function_set(kernel, cuda_device_at(index), attribute, value)
                  : cudaErrorInvalidResourceHandle;
}

API(cudaFuncSetCacheConfig, (function, config), const void *function, int config)
{
    struct function *found = cuda_function(function);
    return found ? function_set(found, cuda_device(), FUNCTION_CACHE, config)
                 : cudaErrorInvalidResourceHandle;
}

API(cudaFuncSetSharedMemConfig, (function, config), const void *function, int config)
{
    (void)config; /* banks have four bytes, whatever is wished for */
    return cuda_function(function) ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

cudaError_t cuda_parameter(struct function *function, size_t index, size_t *offset, size_t *bytes)
{
    uint64_t at, size;
    if (!offset)
        return cudaErrorInvalidValue;
    if (!function)
        return cudaErrorInvalidResourceHandle;
    cudaError_t error = function_parameter(function, cuda_device(), index, &at, &size);
    if (error)
        return error;
    *offset = at;
    if (bytes)
        *bytes = size;
    return cudaSuccess;
}

API(cudaFuncGetParamInfo, (function, index, offset, bytes), const void *function, size_t index,
    size_t *offset, size_t *bytes)
{
    return cuda_parameter(cuda_function(function), index, offset, bytes);
}

API(cudaFuncGetName, (name, function), const char **name, const void *function)
{
    struct function *found = cuda_function(function);
    if (!name || !found)
        return name ? cudaErrorInvalidResourceHandle : cudaErrorInvalidValue;
    *name = function_name(found);
    return cudaSuccess;
}

API(cudaGetFuncBySymbol, (function, symbol), cudaFunction_t *function, const void *symbol)
{
    struct function *found = cuda_function(symbol);
    if (found)
        cuda_keep_function(found);
    if (function)
        *function = found;
    return found ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

API(cudaGetKernel, (kernel, symbol), cudaKernel_t *kernel, const void *symbol)
{
    return kernel ? __cudaGetKernel(kernel, symbol) : cudaErrorInvalidValue;
}
