/* What nodes of graphs do: parameters as the program gives them, and the driver's commands made of them. */
#include "runtime/cuda/graph_parts.h"
#include "driver/memory_graph.h"
#include "driver/updates.h"
#include "runtime/cuda/copy.h"
#include "runtime/cuda/launch.h"
#include "runtime/cuda/register.h"
#include "runtime/cuda/stream.h"
#include "base/mem.h"

/* ---- to commands ---- */

/* Collects what is submitted to a stream of its own. */
struct caught {
    struct action **actions;
    size_t count, capacity;
};

static void *catch (void *graph, struct command *command, struct stream_event *event, struct device *device,
                    const struct captured_list *after)
{
    struct caught *caught = graph;
    (void)event, (void)device, (void)after;
    mem_grow(caught->actions, caught->count, caught->capacity);
    caught->actions[caught->count++] = action_new(command);
    return caught;
}

static bool catch_covers(void *graph, const struct captured_list *ends, const struct captured_list *before)
{
    (void)graph, (void)ends, (void)before;
    return true;
}

static cudaError_t submit_kernel(struct stream *stream, const struct node_work *work)
{
    const struct cudaKernelNodeParams *kernel = &work->kernel;
    struct cudaLaunchAttribute attributes[KERNEL_NODE_ATTRIBUTES];
    unsigned count = 0;
    for (int i = 0; i < KERNEL_NODE_ATTRIBUTES; i++) {
        if (work->attributes[i].id)
            attributes[count++] = work->attributes[i];
    }
    if (!kernel->func)
        return cudaErrorInvalidDeviceFunction;
    return cuda_launch_any(cuda_function(kernel->func),
                           &(struct launch_request){.grid = kernel->gridDim,
                                                    .block = kernel->blockDim,
                                                    .shared_bytes = kernel->sharedMemBytes,
                                                    .stream = stream,
                                                    .attributes = attributes,
                                                    .attribute_count = count,
                                                    .updates = work->updates},
                           kernel->kernelParams, kernel->extra);
}

static cudaError_t submit_fill(struct stream *stream, const struct cudaMemsetParams *what)
{
    struct fill fill = {.to = {.address = (uint64_t)(uintptr_t)what->dst,
                               .pitch = what->height > 1 ? what->pitch : 0,
                               .must_be_device = true},
                        .value = what->value,
                        .element_bytes = what->elementSize,
                        .width = what->width,
                        .height = what->height,
                        .depth = 1};
    bool fits = what->elementSize == 1 || what->elementSize == 2 || what->elementSize == 4;
    return fits && what->width && what->height ? (cudaError_t)stream_fill(stream, &fill, false)
                                               : cudaErrorInvalidValue;
}

static cudaError_t submit_copy(struct stream *stream, const struct cudaMemcpy3DParms *copy)
{
    const struct cudaExtent *extent = &copy->extent;
    if (!extent->width || !extent->height || !extent->depth)
        return cudaErrorInvalidValue;
    return cuda_copy_box(stream, copy, false);
}

/* A bit for each device that is named. */
static cudaError_t peers_of(const struct cudaMemAllocNodeParams *what, uint64_t *peers)
{
    *peers = 0;
    for (size_t i = 0; i < what->accessDescCount; i++) {
        const struct cudaMemAccessDesc *one = &what->accessDescs[i];
        if (one->location.type != LOCATION_DEVICE || !cuda_device_at(one->location.id))
            return cudaErrorInvalidValue;
        *peers |= one->flags ? UINT64_C(1) << one->location.id : 0;
    }
    return cudaSuccess;
}

cudaError_t graph_alloc_request(const struct node_work *work, struct memory_graph_request *request)
{
    enum { PINNED = 1 };
    const struct cudaMemPoolProps *pool = &work->alloc.poolProps;
    struct device *device = pool->location.type == LOCATION_DEVICE ? cuda_device_at(pool->location.id) : NULL;
    if (!device || pool->allocType != PINNED || !work->alloc.bytesize)
        return cudaErrorInvalidValue;
    if (pool->handleTypes)
        return cudaErrorNotSupported;
    *request =
        (struct memory_graph_request){.device = device, .bytes = work->alloc.bytesize, .again = work->again};
    return peers_of(&work->alloc, &request->peers);
}

static cudaError_t submit_alloc(struct stream *stream, struct node_work *work)
{
    struct memory_graph_request request;
    uint64_t address = 0;
    cudaError_t error = graph_alloc_request(work, &request);
    error = error ? error : (cudaError_t)memory_graph_alloc(stream, &request, &address);
    work->alloc.dptr = (void *)(uintptr_t)address;
    work->alloc.accessDescs = NULL; /* they were read, and may be gone */
    work->alloc.accessDescCount = 0;
    return error;
}

static cudaError_t submit_value(struct stream *stream, const union CUstreamBatchMemOpParams *what)
{
    unsigned bytes = what->operation == CU_WAIT_VALUE_64 || what->operation == CU_WRITE_VALUE_64 ? 8 : 4;
    switch (what->operation) {
    case CU_WAIT_VALUE_32:
    case CU_WAIT_VALUE_64:
        return stream_wait_value(stream, what->value.address, what->value.value, bytes,
                                 (enum stream_compare)(what->value.flags & 3));
    case CU_WRITE_VALUE_32:
    case CU_WRITE_VALUE_64:
        return stream_write_value(stream, what->value.address, what->value.value, bytes);
    case CU_BARRIER:
    case CU_FLUSH_WRITES:
        return cudaSuccess; /* memory is written in order here */
    default:
        return cudaErrorInvalidValue;
    }
}

cudaError_t cuda_stream_values(struct stream *stream, const struct CUDA_BATCH_MEM_OP_NODE_PARAMS *what)
{
    cudaError_t error = what->count && !what->paramArray ? cudaErrorInvalidValue : cudaSuccess;
    for (unsigned i = 0; i < what->count && !error; i++)
        error = submit_value(stream, &what->paramArray[i]);
    return error;
}

static cudaError_t submit(struct stream *stream, struct node_work *work)
{
    switch (work->kind) {
    case NODE_KERNEL:
        return submit_kernel(stream, work);
    case NODE_COPY:
        return submit_copy(stream, &work->copy);
    case NODE_FILL:
        return submit_fill(stream, &work->fill);
    case NODE_HOST:
        return cuda_host_function(stream, work->host.fn, work->host.userData);
    case NODE_ALLOC:
        return submit_alloc(stream, work);
    case NODE_FREE:
        return memory_graph_free(stream, (uint64_t)(uintptr_t)work->freed);
    case NODE_RECORD: /* an H200 takes any handle here, too */
        return common_has_event(work->event) ? (cudaError_t)event_record_external(work->event, stream)
                                             : cudaSuccess;
    case NODE_VALUES:
        return cuda_stream_values(stream, &work->values);
    default:
        return cudaSuccess;
    }
}

cudaError_t node_make_actions(struct node_work *work, struct action ***actions, size_t *count)
{
    struct caught caught = {0};
    struct stream *stream;
    void *unused;
    *actions = NULL;
    *count = 0;
    if (work->kind == NODE_WAIT || work->kind == NODE_RECORD) {
        if (!work->event)
            return cudaErrorInvalidValue;
    }
    if (work->kind == NODE_CHILD || work->kind == NODE_EMPTY || work->kind == NODE_WAIT ||
        work->kind == NODE_CONDITION)
        return cudaSuccess;
    cudaError_t error = stream_new(work->device, STREAM_NON_BLOCKING, 0, &stream);
    if (error)
        return error;
    const struct capture_owner owner = {&caught, catch, catch_covers};
    error = capture_begin(stream, CAPTURE_PRIVATE, &owner, NULL);
    if (!error) {
        error = submit(stream, work);
        cudaError_t end = capture_end(stream, &unused);
        error = error ? error : end;
    }
    stream_free(stream);
    if (error)
        node_release_actions(caught.actions, caught.count);
    else
        *actions = caught.actions, *count = caught.count;
    return error;
}

void node_release_actions(struct action **actions, size_t count)
{
    for (size_t i = 0; i < count; i++)
        action_release(actions[i]);
    mem_free(actions);
}

/* ---- and back ---- */

/* The node's own copy of the arguments is that of its command. */
static void take_arguments(struct graph_node *node)
{
    struct action_launch facts;
    uint32_t count = 0;
    uint64_t offset, bytes;
    action_launch(node->actions[0], &facts);
    while (action_parameter(&facts, node->work.device, count, &offset, &bytes))
        count++;
    mem_free(node->arguments);
    node->arguments = mem_alloc(count + 1, sizeof *node->arguments);
    for (uint32_t i = 0; action_parameter(&facts, node->work.device, i, &offset, &bytes); i++)
        node->arguments[i] = (char *)(uintptr_t)facts.arguments + offset;
    node->work.kernel.kernelParams = node->arguments;
    node->work.kernel.extra = NULL;
}

static void take_values(struct graph_node *node)
{
    struct CUDA_BATCH_MEM_OP_NODE_PARAMS *values = &node->work.values;
    union CUstreamBatchMemOpParams *own = mem_alloc(values->count, sizeof *own);
    for (unsigned i = 0; i < values->count; i++)
        own[i] = values->paramArray[i];
    mem_free(node->arguments);
    values->paramArray = own;
    node->arguments = (void **)own;
}

/* What kernels change begins with what the node is now. */
static void describe(const struct graph_node *node)
{
    struct action_launch facts;
    action_launch(node->actions[0], &facts);
    updates_describe(node->work.updates, node->work.device, facts.config, facts.arguments, facts.bytes);
}

void node_take_work(struct graph_node *node, const struct node_work *work, struct action **actions,
                    size_t count)
{
    struct updates *before = node->work.updates;
    node->work = *work;
    updates_keep(work->updates);
    updates_release(before);
    node->actions = actions;
    node->action_count = count;
    if (work->kind == NODE_KERNEL && count)
        take_arguments(node);
    if (work->kind == NODE_KERNEL && count && work->updates)
        describe(node);
    if (work->kind == NODE_VALUES)
        take_values(node);
}

static void read_launch(struct node_work *work, const struct action *action)
{
    struct action_launch facts;
    action_launch(action, &facts);
    const struct launch_config *config = facts.config;
    work->kernel =
        (struct cudaKernelNodeParams){.func = facts.function,
                                      .gridDim = {config->grid[0], config->grid[1], config->grid[2]},
                                      .blockDim = {config->block[0], config->block[1], config->block[2]},
                                      .sharedMemBytes = config->shared_bytes};
    if (config->cooperative)
        work->attributes[LAUNCH_COOPERATIVE] =
            (struct cudaLaunchAttribute){.id = LAUNCH_COOPERATIVE, .value.cooperative = 1};
    if (config->cluster[0])
        work->attributes[LAUNCH_CLUSTER] = (struct cudaLaunchAttribute){
            .id = LAUNCH_CLUSTER,
            .value.cluster = {config->cluster[0], config->cluster[1], config->cluster[2]}};
    if (config->updates) {
        work->updates = config->updates;
        work->attributes[LAUNCH_UPDATABLE] = (struct cudaLaunchAttribute){
            .id = LAUNCH_UPDATABLE, .value.updatable = {1, updates_handle(config->updates)}};
    }
    cuda_keep_function(facts.function);
}

static void read_fill(struct cudaMemsetParams *to, const struct action *action)
{
    struct fill fill;
    action_fill(action, &fill);
    *to = (struct cudaMemsetParams){.dst = (void *)(uintptr_t)fill.to.address,
                                    .pitch = fill.to.pitch,
                                    .value = fill.value,
                                    .elementSize = fill.element_bytes,
                                    .width = fill.width,
                                    .height = fill.height};
}

static void read_alloc(struct cudaMemAllocNodeParams *to, const struct action *action)
{
    enum { PINNED = 1 };
    struct memory_graph_request made = {0};
    uint64_t address = action_address(action);
    memory_graph_find(cuda_driver(), address, &made);
    *to = (struct cudaMemAllocNodeParams){
        .poolProps = {.allocType = PINNED, .location = {LOCATION_DEVICE, (int)device_index(made.device)}},
        .bytesize = made.bytes,
        .dptr = (void *)(uintptr_t)address};
}

/* A captured command as the node that would have been made for it. */
void node_read_action(struct node_work *work, const struct action *action)
{
    struct copy copy;
    void *user;
    switch (action_kind(action)) {
    case ACTION_LAUNCH:
        work->kind = NODE_KERNEL;
        read_launch(work, action);
        break;
    case ACTION_COPY:
        work->kind = NODE_COPY;
        action_copy(action, &copy);
        work->copy = cuda_box_of(&copy);
        break;
    case ACTION_FILL:
        work->kind = NODE_FILL;
        read_fill(&work->fill, action);
        break;
    case ACTION_HOST:
        work->kind = NODE_HOST;
        action_host(action, &user);
        work->host = (struct cudaHostNodeParams){common_call_of(user)->function, common_call_of(user)->user};
        break;
    case ACTION_ALLOC:
        work->kind = NODE_ALLOC;
        read_alloc(&work->alloc, action);
        break;
    case ACTION_FREE:
        work->kind = NODE_FREE;
        work->freed = (void *)(uintptr_t)action_address(action);
        break;
    case ACTION_RECORD:
        work->kind = NODE_RECORD;
        work->event = action_event(action);
        break;
    default: /* values that are waited for, or written */
        work->kind = NODE_VALUES;
    }
}
