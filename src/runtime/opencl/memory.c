#include "runtime/opencl/memory.h"
#include "base/bits.h"
#include "base/mem.h"
#include "runtime/opencl/command.h"
#include "runtime/opencl/device.h"
#include "runtime/opencl/errors.h"
#include "runtime/opencl/info.h"
#include "runtime/opencl/svm.h"

static const cl_mem_flags access_flags = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
static const cl_mem_flags host_access_flags =
    CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;
static const cl_mem_flags host_flags = CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;

static bool at_most_one(cl_mem_flags flags)
{
    return !(flags & (flags - 1));
}

cl_int opencl_mem_check_flags(cl_mem_flags flags)
{
    bool good = !(flags & ~(access_flags | host_access_flags | host_flags)) &&
                at_most_one(flags & access_flags) && at_most_one(flags & host_access_flags) &&
                !(flags & CL_MEM_USE_HOST_PTR && flags & (CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR));
    return good ? CL_SUCCESS : CL_INVALID_VALUE;
}

/* ---- the memory of devices ---- */

static cl_mem root_of(cl_mem mem, uint64_t *offset)
{
    *offset = 0;
    for (; mem->parent; mem = mem->parent)
        *offset += mem->offset;
    return mem;
}

bool opencl_mem_is_svm(cl_mem mem)
{
    uint64_t offset;
    return root_of(mem, &offset)->is_svm;
}

static struct driver *driver_of(cl_mem mem)
{
    return device_driver(mem->context->devices[0]->device);
}

/* With its lock held. */
static enum result settle(cl_mem mem, struct device *device)
{
    enum result result = memory_alloc(device, mem->bytes, &mem->address);
    if (result)
        return result;
    mem->home = device;
    const void *from = mem->initial ? mem->initial : mem->host;
    if (from)
        result = stream_copy_bytes(device_default_stream(device), mem->address, (uint64_t)(uintptr_t)from,
                                   mem->bytes, true);
    mem_free(mem->initial);
    mem->initial = NULL;
    return result;
}

enum result opencl_mem_at(cl_mem mem, struct device *device, uint64_t *address)
{
    uint64_t offset;
    cl_mem root = root_of(mem, &offset);
    pthread_mutex_lock(&root->lock);
    enum result result = root->home ? RESULT_SUCCESS : settle(root, device);
    *address = root->address + offset;
    pthread_mutex_unlock(&root->lock);
    return result;
}

enum result opencl_mem_move(cl_mem mem, struct device *device, struct stream *stream)
{
    uint64_t offset, to;
    cl_mem root = root_of(mem, &offset);
    pthread_mutex_lock(&root->lock);
    enum result result = RESULT_SUCCESS;
    if (!root->home) {
        result = settle(root, device);
    } else if (root->home != device && !root->is_svm) {
        result = memory_alloc(device, root->bytes, &to);
        if (!result)
            result = stream_copy_bytes(stream, to, root->address, root->bytes, false);
        if (!result)
            result = memory_free_async(stream, root->address);
        if (!result) {
            root->address = to;
            root->home = device;
        }
    }
    pthread_mutex_unlock(&root->lock);
    return result;
}

enum result opencl_mem_shadow(cl_mem mem, void **shadow)
{
    uint64_t offset;
    cl_mem root = root_of(mem, &offset);
    enum result result = RESULT_SUCCESS;
    pthread_mutex_lock(&root->lock);
    if (!root->host && !root->shadow)
        result = memory_host_alloc(driver_of(root), root->bytes, 0, &root->shadow);
    *shadow = (char *)(root->host ? root->host : root->shadow) + offset;
    pthread_mutex_unlock(&root->lock);
    return result;
}

/* ---- the end of one ---- */

/* Memory that was released in a callback, where waiting for a device is waiting for oneself. */
struct leftover {
    struct leftover *next;
    struct driver *driver;
    uint64_t address;
    void *shadow;
};

static pthread_mutex_t leftover_lock = PTHREAD_MUTEX_INITIALIZER;
static struct leftover *leftovers;

static void give_back(const struct leftover *one)
{
    if (one->address)
        memory_free(one->driver, one->address);
    if (one->shadow)
        memory_host_free(one->driver, one->shadow);
}

void opencl_mem_sweep(void)
{
    if (opencl_is_in_callback())
        return;
    pthread_mutex_lock(&leftover_lock);
    struct leftover *list = leftovers;
    leftovers = NULL;
    pthread_mutex_unlock(&leftover_lock);
    for (struct leftover *next; list; list = next) {
        next = list->next;
        give_back(list);
        mem_free(list);
    }
}

static void end_memory(const struct leftover *one)
{
    if (!opencl_is_in_callback() || !(one->address || one->shadow)) {
        give_back(one);
        return;
    }
    struct leftover *kept = mem_alloc(1, sizeof *kept);
    *kept = *one;
    pthread_mutex_lock(&leftover_lock);
    kept->next = leftovers;
    leftovers = kept;
    pthread_mutex_unlock(&leftover_lock);
}

void opencl_mem_give_back(struct driver *driver, uint64_t address, void *pinned)
{
    end_memory(&(struct leftover){.driver = driver, .address = address, .shadow = pinned});
}

void opencl_mem_end(cl_mem mem)
{
    struct leftover one = {NULL, driver_of(mem), mem->is_svm ? 0 : mem->address, mem->shadow};
    for (struct opencl_callback *next, *call = mem->destructors; call; call = next) {
        next = call->next;
        ((void(CL_CALLBACK *)(cl_mem, void *))call->function)(mem, call->user);
        mem_free(call);
    }
    end_memory(&one);
    for (struct opencl_mapping *next, *mapping = mem->mappings; mapping; mapping = next) {
        next = mapping->next;
        mem_free(mapping);
    }
    mem_free(mem->initial);
    pthread_mutex_destroy(&mem->lock);
    opencl_release(mem->parent);
    opencl_release(mem->context);
}

/* ---- making them ---- */

/* A buffer in shared virtual memory is that memory. */
static void use_host(cl_mem mem, void *host)
{
    struct opencl_svm svm;
    mem->host = host;
    mem->is_svm = mem->type == CL_MEM_OBJECT_BUFFER && opencl_svm_find(mem->context, host, &svm);
    if (mem->is_svm) {
        mem->home = svm.home;
        mem->address = (uint64_t)(uintptr_t)host;
    }
}

/* Whether it is all within shared virtual memory, if its beginning is. */
static bool fits_svm(cl_context context, cl_mem_flags flags, size_t bytes, const void *host)
{
    struct opencl_svm svm;
    return !(flags & CL_MEM_USE_HOST_PTR) || !opencl_svm_find(context, host, &svm) ||
           opencl_svm_holds(context, host, bytes);
}

cl_int opencl_mem_new(cl_context context, cl_mem_object_type type, cl_mem_flags flags, uint64_t bytes,
                      void *host, const void *initial, cl_mem *made)
{
    opencl_mem_sweep();
    cl_mem mem = opencl_object_new(OPENCL_MEM, sizeof *mem);
    pthread_mutex_init(&mem->lock, NULL);
    opencl_retain(context);
    mem->context = context;
    mem->type = type;
    mem->flags = flags & access_flags ? flags : flags | CL_MEM_READ_WRITE;
    mem->bytes = bytes;
    if (flags & CL_MEM_USE_HOST_PTR)
        use_host(mem, host);
    if (initial)
        mem->initial = memcpy(mem_alloc(bytes, 1), initial, bytes);
    uint64_t address;
    enum result result = RESULT_SUCCESS;
    if (context->device_count == 1) /* else the first that uses it */
        result = opencl_mem_at(mem, context->devices[0]->device, &address);
    if (result)
        opencl_release(mem);
    else
        *made = mem;
    return opencl_result(context, result);
}

static cl_int make_buffer(cl_context context, cl_mem_flags flags, size_t bytes, void *host, cl_mem *made)
{
    if (!opencl_is(context, OPENCL_CONTEXT))
        return CL_INVALID_CONTEXT;
    cl_int error = opencl_mem_check_flags(flags);
    if (error)
        return error;
    if (!bytes || bytes > opencl_device_largest_buffer(context->devices[0]))
        return CL_INVALID_BUFFER_SIZE;
    bool needs_host = flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR);
    if (!host == needs_host)
        return CL_INVALID_HOST_PTR;
    if (!fits_svm(context, flags, bytes, host))
        return CL_INVALID_BUFFER_SIZE;
    const void *initial = flags & CL_MEM_COPY_HOST_PTR ? host : NULL;
    return opencl_mem_new(context, CL_MEM_OBJECT_BUFFER, flags, bytes, host, initial, made);
}

cl_mem API(clCreateBuffer)(cl_context context, cl_mem_flags flags, size_t bytes, void *host,
                           cl_int *errcode_ret)
{
    OPENCL_CALL;
    cl_mem mem = NULL;
    return opencl_made(errcode_ret, make_buffer(context, flags, bytes, host, &mem), mem);
}

cl_mem API(clCreateBufferWithProperties)(cl_context context, const cl_mem_properties *properties,
                                         cl_mem_flags flags, size_t bytes, void *host, cl_int *errcode_ret)
{
    OPENCL_CALL;
    cl_mem mem = NULL;
    cl_int error =
        properties && *properties ? CL_INVALID_PROPERTY : make_buffer(context, flags, bytes, host, &mem);
    return opencl_made(errcode_ret, error, mem);
}

/* What a sub-buffer does not say, it has from its buffer; it cannot allow what that does not. */
static cl_int inherit_flags(cl_mem_flags parent, cl_mem_flags *flags)
{
    if (opencl_mem_check_flags(*flags) || *flags & host_flags)
        return CL_INVALID_VALUE;
    bool reads_only = parent & CL_MEM_READ_ONLY, writes_only = parent & CL_MEM_WRITE_ONLY;
    bool bad = (writes_only && *flags & (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY)) ||
               (reads_only && *flags & (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY)) ||
               (parent & CL_MEM_HOST_WRITE_ONLY && *flags & CL_MEM_HOST_READ_ONLY) ||
               (parent & CL_MEM_HOST_READ_ONLY && *flags & CL_MEM_HOST_WRITE_ONLY) ||
               (parent & CL_MEM_HOST_NO_ACCESS && *flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY));
    if (!(*flags & access_flags))
        *flags |= parent & access_flags;
    if (!(*flags & host_access_flags))
        *flags |= parent & host_access_flags;
    *flags |= parent & host_flags;
    return bad ? CL_INVALID_VALUE : CL_SUCCESS;
}

static cl_int make_part(cl_mem parent, cl_mem_flags flags, cl_buffer_create_type type, const void *info,
                        cl_mem *made)
{
    const cl_buffer_region *region = info;
    if (!opencl_is(parent, OPENCL_MEM) || opencl_is_image(parent) || parent->parent)
        return CL_INVALID_MEM_OBJECT;
    cl_int error = inherit_flags(parent->flags, &flags);
    if (error || type != CL_BUFFER_CREATE_TYPE_REGION || !region)
        return CL_INVALID_VALUE;
    if (!region->size)
        return CL_INVALID_BUFFER_SIZE;
    if (region->origin > parent->bytes || region->size > parent->bytes - region->origin)
        return CL_INVALID_VALUE;
    if (region->origin % OPENCL_ALIGNMENT)
        return CL_MISALIGNED_SUB_BUFFER_OFFSET;
    cl_mem mem = *made = opencl_object_new(OPENCL_MEM, sizeof *mem);
    pthread_mutex_init(&mem->lock, NULL);
    opencl_retain(parent->context);
    opencl_retain(parent);
    mem->context = parent->context;
    mem->parent = parent;
    mem->offset = region->origin;
    mem->type = CL_MEM_OBJECT_BUFFER;
    mem->flags = flags;
    mem->bytes = region->size;
    mem->host = parent->host ? (char *)parent->host + region->origin : NULL;
    return CL_SUCCESS;
}

cl_mem API(clCreateSubBuffer)(cl_mem parent, cl_mem_flags flags, cl_buffer_create_type type, const void *info,
                              cl_int *errcode_ret)
{
    OPENCL_CALL;
    cl_mem mem = NULL;
    return opencl_made(errcode_ret, make_part(parent, flags, type, info, &mem), mem);
}

/* ---- what is known of one ---- */

cl_int API(clGetMemObjectInfo)(cl_mem mem, cl_mem_info name, size_t bytes, void *value, size_t *needed)
{
    OPENCL_CALL;
    if (!opencl_is(mem, OPENCL_MEM))
        return CL_INVALID_MEM_OBJECT;
    switch (name) {
        INFO(CL_MEM_TYPE, cl_mem_object_type, mem->type)
        INFO(CL_MEM_FLAGS, cl_mem_flags, mem->flags)
        INFO(CL_MEM_SIZE, size_t, mem->bytes)
        INFO(CL_MEM_HOST_PTR, void *, mem->host)
        INFO(CL_MEM_MAP_COUNT, cl_uint, mem->map_count)
        INFO(CL_MEM_REFERENCE_COUNT, cl_uint, mem->base.references)
        INFO(CL_MEM_CONTEXT, cl_context, mem->context)
        INFO(CL_MEM_ASSOCIATED_MEMOBJECT, cl_mem, mem->parent)
        INFO(CL_MEM_OFFSET, size_t, mem->offset)
        INFO(CL_MEM_USES_SVM_POINTER, cl_bool, opencl_mem_is_svm(mem))
    default:
        return CL_INVALID_VALUE;
    }
}

cl_int API(clSetMemObjectDestructorCallback)(cl_mem mem, void(CL_CALLBACK *function)(cl_mem, void *),
                                             void *user)
{
    OPENCL_CALL;
    if (!opencl_is(mem, OPENCL_MEM))
        return CL_INVALID_MEM_OBJECT;
    if (!function)
        return CL_INVALID_VALUE;
    struct opencl_callback *call = mem_alloc(1, sizeof *call);
    pthread_mutex_lock(&mem->lock);
    *call = (struct opencl_callback){mem->destructors, (void *)(uintptr_t)function, user};
    mem->destructors = call;
    pthread_mutex_unlock(&mem->lock);
    return CL_SUCCESS;
}
