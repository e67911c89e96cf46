/* Mapping buffers and images for the host, and moving them between devices. The host sees a copy: it is read
 * from the device when it is mapped and written back when it is unmapped, as the flags say. */
#include "runtime/opencl/transfer.h"
#include "base/mem.h"
#include "runtime/opencl/errors.h"
#include "runtime/opencl/svm.h"

static const cl_map_flags writes = CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;

cl_int opencl_check_map_flags(cl_map_flags flags)
{
    bool bad = flags & ~(CL_MAP_READ | writes) ||
               (flags & CL_MAP_WRITE_INVALIDATE_REGION && flags & (CL_MAP_READ | CL_MAP_WRITE));
    return bad ? CL_INVALID_VALUE : CL_SUCCESS;
}

static cl_int check_flags(cl_mem mem, cl_map_flags flags)
{
    if (opencl_check_map_flags(flags))
        return CL_INVALID_VALUE;
    if (flags & CL_MAP_READ && opencl_check_host_access(mem, false))
        return CL_INVALID_OPERATION;
    return flags & writes ? opencl_check_host_access(mem, true) : CL_SUCCESS;
}

/* A command that copies nothing, but keeps its place in the queue. */
static void set_empty(struct copy *copy)
{
    copy->width_bytes = 0;
}

static void keep(cl_mem mem, struct opencl_mapping *mapping)
{
    pthread_mutex_lock(&mem->lock);
    mapping->next = mem->mappings;
    mem->mappings = mapping;
    mem->map_count++;
    pthread_mutex_unlock(&mem->lock);
}

/* From the first byte to behind the last, where the host sees it. */
static uint64_t extent(const struct copy *copy)
{
    return ((copy->depth - 1) * copy->to.rows + copy->height - 1) * copy->to.pitch + copy->width_bytes;
}

/* The copy that a map makes, or nothing. */
static cl_int start_map(const struct opencl_call *call, cl_mem mem, const struct opencl_mapping *mapping)
{
    struct copy now = mapping->to_host;
    if (opencl_mem_is_svm(mem))
        return opencl_svm_map(call, mem, now.to.address, extent(&now), mapping->flags);
    if (!(mapping->flags &
          (CL_MAP_READ | CL_MAP_WRITE))) /* what is there does not matter, or has to be kept */
        set_empty(&now);
    return opencl_transfer(call, NULL, mem, &now);
}

/* `copy` is to the shadow, with offsets on both sides. */
static cl_int map(const struct opencl_call *call, cl_mem mem, cl_map_flags flags, struct copy *copy,
                  void **pointer)
{
    void *shadow;
    cl_int error = opencl_result(mem->context, opencl_mem_shadow(mem, &shadow));
    if (error)
        return error;
    copy->to.address += (uint64_t)(uintptr_t)shadow;
    struct opencl_mapping *mapping = mem_alloc(1, sizeof *mapping);
    *mapping = (struct opencl_mapping){
        .pointer = (void *)(uintptr_t)copy->to.address, .flags = flags, .to_host = *copy};
    error = start_map(call, mem, mapping);
    if (error) {
        mem_free(mapping);
        return error;
    }
    *pointer = mapping->pointer;
    keep(mem, mapping);
    return CL_SUCCESS;
}

static cl_int map_buffer(const struct opencl_call *call, cl_mem mem, cl_map_flags flags, size_t offset,
                         size_t bytes, void **pointer)
{
    cl_int error = opencl_check_transfer(call->queue, mem, false, call->wait_count, call->waits);
    if (!error)
        error = check_flags(mem, flags);
    if (error)
        return error;
    if (!bytes || offset > mem->bytes || bytes > mem->bytes - offset)
        return CL_INVALID_VALUE;
    struct copy copy = {
        .from.address = offset, .to.address = offset, .width_bytes = bytes, .height = 1, .depth = 1};
    return map(call, mem, flags, &copy, pointer);
}

void *API(clEnqueueMapBuffer)(cl_command_queue queue, cl_mem mem, cl_bool blocking, cl_map_flags flags,
                              size_t offset, size_t bytes, cl_uint wait_count, const cl_event *waits,
                              cl_event *event, cl_int *errcode_ret)
{
    OPENCL_CALL;
    struct opencl_call call = {queue, CL_COMMAND_MAP_BUFFER, blocking, wait_count, waits, event};
    void *pointer = NULL;
    return opencl_made(errcode_ret, map_buffer(&call, mem, flags, offset, bytes, &pointer), pointer);
}

static cl_int map_image(const struct opencl_call *call, cl_mem mem, cl_map_flags flags, const size_t *origin,
                        const size_t *region, void **pointer)
{
    struct copy copy;
    cl_int error = opencl_check_transfer(call->queue, mem, true, call->wait_count, call->waits);
    if (!error)
        error = check_flags(mem, flags);
    if (!error)
        error = opencl_image_side(mem, origin, region, &copy.from);
    if (error)
        return error;
    opencl_image_box(mem, region, &copy);
    opencl_image_host_side(mem, origin, &copy.to);
    return map(call, mem, flags, &copy, pointer);
}

void *API(clEnqueueMapImage)(cl_command_queue queue, cl_mem mem, cl_bool blocking, cl_map_flags flags,
                             const size_t *origin, const size_t *region, size_t *row_pitch,
                             size_t *slice_pitch, cl_uint wait_count, const cl_event *waits, cl_event *event,
                             cl_int *errcode_ret)
{
    OPENCL_CALL;
    struct opencl_call call = {queue, CL_COMMAND_MAP_IMAGE, blocking, wait_count, waits, event};
    void *pointer = NULL;
    cl_int error = CL_SUCCESS;
    bool has_slices = opencl_is(mem, OPENCL_MEM) &&
                      (mem->type == CL_MEM_OBJECT_IMAGE3D || mem->type == CL_MEM_OBJECT_IMAGE1D_ARRAY ||
                       mem->type == CL_MEM_OBJECT_IMAGE2D_ARRAY);
    if (!row_pitch || (has_slices && !slice_pitch))
        error = CL_INVALID_VALUE;
    if (!error)
        error = map_image(&call, mem, flags, origin, region, &pointer);
    if (!error) {
        bool rows_are_layers = mem->type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
        *row_pitch = mem->image.host_pitch;
        if (slice_pitch)
            *slice_pitch = !has_slices ? 0 : rows_are_layers ? mem->image.host_pitch : mem->image.host_slice;
    }
    return opencl_made(errcode_ret, error, pointer);
}

/* ---- unmapping ---- */

static struct opencl_mapping *take(cl_mem mem, const void *pointer)
{
    pthread_mutex_lock(&mem->lock);
    struct opencl_mapping **at = &mem->mappings;
    while (*at && (*at)->pointer != pointer)
        at = &(*at)->next;
    struct opencl_mapping *found = *at;
    if (found) {
        *at = found->next;
        mem->map_count--;
    }
    pthread_mutex_unlock(&mem->lock);
    return found;
}

cl_int API(clEnqueueUnmapMemObject)(cl_command_queue queue, cl_mem mem, void *pointer, cl_uint wait_count,
                                    const cl_event *waits, cl_event *event)
{
    OPENCL_CALL;
    struct opencl_call call = {queue, CL_COMMAND_UNMAP_MEM_OBJECT, false, wait_count, waits, event};
    bool image = opencl_is(mem, OPENCL_MEM) && opencl_is_image(mem);
    cl_int error = opencl_check_transfer(queue, mem, image, wait_count, waits);
    if (error)
        return error;
    struct opencl_mapping *mapping = take(mem, pointer);
    if (!mapping)
        return CL_INVALID_VALUE;
    struct copy back = mapping->to_host;
    back.from = mapping->to_host.to;
    back.to = mapping->to_host.from;
    if (!(mapping->flags & writes))
        set_empty(&back);
    mem_free(mapping);
    return opencl_mem_is_svm(mem) ? opencl_svm_unmap(&call, mem, back.from.address)
                                  : opencl_transfer(&call, mem, NULL, &back);
}

/* ---- between devices ---- */

struct migrate_command {
    struct opencl_command base;
    cl_mem *mems;
    size_t count;
    bool to_host;
};

static enum result submit_migrate(struct opencl_command *command, struct stream *stream)
{
    struct migrate_command *migrate = (struct migrate_command *)command;
    enum result result = RESULT_SUCCESS;
    for (size_t i = 0; i < migrate->count && !result && !migrate->to_host; i++)
        result = opencl_mem_move(migrate->mems[i], command->queue->device->device, stream);
    return result;
}

static void fini_migrate(struct opencl_command *command)
{
    struct migrate_command *migrate = (struct migrate_command *)command;
    for (size_t i = 0; i < migrate->count; i++)
        opencl_release(migrate->mems[i]);
    mem_free(migrate->mems);
}

static const struct opencl_command_ops migrate_ops = {sizeof(struct migrate_command), submit_migrate,
                                                      fini_migrate};

cl_int API(clEnqueueMigrateMemObjects)(cl_command_queue queue, cl_uint count, const cl_mem *mems,
                                       cl_mem_migration_flags flags, cl_uint wait_count,
                                       const cl_event *waits, cl_event *event)
{
    OPENCL_CALL;
    cl_int error = opencl_check_enqueue(queue, wait_count, waits);
    if (error)
        return error;
    if (!count || !mems ||
        flags &
            ~(cl_mem_migration_flags)(CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED))
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < count; i++) {
        if (!opencl_is(mems[i], OPENCL_MEM))
            return CL_INVALID_MEM_OBJECT;
        if (mems[i]->context != queue->context)
            return CL_INVALID_CONTEXT;
    }
    struct migrate_command *migrate =
        (struct migrate_command *)opencl_command_new(queue, &migrate_ops, CL_COMMAND_MIGRATE_MEM_OBJECTS);
    migrate->mems = mem_alloc(count, sizeof *mems);
    migrate->to_host = flags & CL_MIGRATE_MEM_OBJECT_HOST; /* a hint: it stays where it is */
    for (; migrate->count < count; migrate->count++) {
        migrate->mems[migrate->count] = mems[migrate->count];
        opencl_retain(mems[migrate->count]);
    }
    return opencl_enqueue(&migrate->base, false, wait_count, waits, event);
}
