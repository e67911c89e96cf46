#include "runtime/opencl/svm.h"
#include "base/bits.h"
#include "base/mem.h"
#include "driver/lend.h"
#include "runtime/opencl/device.h"
#include "runtime/opencl/errors.h"
#include "runtime/opencl/kernel.h"

struct opencl_svm_map {
    struct opencl_svm_map *next;
    uint64_t address, bytes;
    cl_map_flags flags;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct opencl_svm *all;

static uint64_t as_number(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer;
}

/* With the lock held. */
static struct opencl_svm *holding(uint64_t address)
{
    struct opencl_svm *one = all;
    while (one && address - one->address >= one->bytes)
        one = one->next;
    return one;
}

bool opencl_svm_find(cl_context context, const void *pointer, struct opencl_svm *found)
{
    pthread_mutex_lock(&lock);
    const struct opencl_svm *one = holding(as_number(pointer));
    bool is_there = one && one->context == context;
    if (is_there)
        *found = *one;
    pthread_mutex_unlock(&lock);
    return is_there;
}

bool opencl_svm_holds(cl_context context, const void *pointer, uint64_t bytes)
{
    struct opencl_svm svm;
    return opencl_svm_find(context, pointer, &svm) && bytes <= svm.bytes - (as_number(pointer) - svm.address);
}

bool opencl_svm_is_mapped(uint64_t address)
{
    pthread_mutex_lock(&lock);
    const struct opencl_svm *one = holding(address);
    const struct opencl_svm_map *map = one ? one->maps : NULL;
    while (map && address - map->address >= map->bytes)
        map = map->next;
    pthread_mutex_unlock(&lock);
    return map;
}

/* ---- making and ending them ---- */

static bool can_have(cl_context context, cl_svm_mem_flags flags, size_t bytes, cl_uint alignment)
{
    enum { LARGEST_TYPE = 128 }; /* long16 */
    const cl_svm_mem_flags access = flags & (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY);
    if (!opencl_is(context, OPENCL_CONTEXT) || flags != access || access & (access - 1) || !bytes ||
        alignment > LARGEST_TYPE || alignment & (alignment - 1))
        return false;
    for (cl_uint i = 0; i < context->device_count; i++) {
        if (bytes > opencl_device_largest_buffer(context->devices[i]))
            return false;
    }
    return true;
}

void *API(clSVMAlloc)(cl_context context, cl_svm_mem_flags flags, size_t bytes, cl_uint alignment)
{
    OPENCL_CALL;
    uint64_t address;
    if (!can_have(context, flags, bytes, alignment))
        return NULL;
    opencl_mem_sweep();
    struct device *home = context->devices[0]->device;
    if (opencl_result(context, memory_alloc_lendable(home, bytes, &address)))
        return NULL;
    struct opencl_svm *made = mem_alloc(1, sizeof *made);
    *made = (struct opencl_svm){.context = context, .home = home, .address = address, .bytes = bytes};
    pthread_mutex_lock(&lock);
    made->next = all;
    all = made;
    pthread_mutex_unlock(&lock);
    return (void *)(uintptr_t)address;
}

static void end(struct opencl_svm *svm)
{
    opencl_mem_give_back(device_driver(svm->home), svm->address, svm->mirror);
    for (struct opencl_svm_map *next, *map = svm->maps; map; map = next) {
        next = map->next;
        mem_free(map);
    }
    mem_free(svm);
}

/* One of the context's: the one that begins there, or (address 0) any; NULL. */
static struct opencl_svm *take(cl_context context, uint64_t address)
{
    pthread_mutex_lock(&lock);
    struct opencl_svm **at = &all;
    while (*at && ((*at)->context != context || (address && (*at)->address != address)))
        at = &(*at)->next;
    struct opencl_svm *taken = *at;
    if (taken)
        *at = taken->next;
    pthread_mutex_unlock(&lock);
    return taken;
}

void opencl_svm_end_all(cl_context context)
{
    for (struct opencl_svm *one; (one = take(context, 0));)
        end(one);
}

void API(clSVMFree)(cl_context context, void *pointer)
{
    OPENCL_CALL;
    struct opencl_svm *svm = pointer ? take(context, as_number(pointer)) : NULL;
    if (svm)
        end(svm);
}

struct free_call {
    cl_command_queue queue;
    void(CL_CALLBACK *function)(cl_command_queue queue, cl_uint count, void *pointers[], void *user);
    void *user, **pointers;
    cl_uint count;
};

struct free_command {
    struct opencl_command base;
    struct free_call *call; /* until it is submitted */
};

static void CL_CALLBACK free_them(cl_command_queue queue, cl_uint count, void *pointers[], void *user)
{
    (void)user;
    for (cl_uint i = 0; i < count; i++)
        API(clSVMFree)(queue->context, pointers[i]);
}

static void end_free_call(struct free_call *call)
{
    opencl_release(call->queue);
    mem_free(call->pointers);
    mem_free(call);
}

static void run_free(void *user, enum result result)
{
    struct free_call *call = user;
    (void)result; /* it is freed after a fault, too */
    call->function(call->queue, call->count, call->pointers, call->user);
    end_free_call(call);
}

static enum result submit_free(struct opencl_command *command, struct stream *stream)
{
    struct free_command *free_command = (struct free_command *)command;
    enum result result = opencl_call_in(stream, run_free, free_command->call);
    free_command->call = result ? free_command->call : NULL;
    return result;
}

static void fini_free(struct opencl_command *command)
{
    struct free_command *free_command = (struct free_command *)command;
    if (free_command->call)
        end_free_call(free_command->call);
}

static const struct opencl_command_ops free_ops = {sizeof(struct free_command), submit_free, fini_free};

cl_int API(clEnqueueSVMFree)(cl_command_queue queue, cl_uint count, void *pointers[],
                             void(CL_CALLBACK *function)(cl_command_queue, cl_uint, void *[], void *),
                             void *user, cl_uint wait_count, const cl_event *waits, cl_event *event)
{
    OPENCL_CALL;
    cl_int error = opencl_check_enqueue(queue, wait_count, waits);
    if (error)
        return error;
    if (!pointers != !count)
        return CL_INVALID_VALUE;
    struct free_command *command =
        (struct free_command *)opencl_command_new(queue, &free_ops, CL_COMMAND_SVM_FREE);
    struct free_call *call = command->call = mem_alloc(1, sizeof *call);
    *call = (struct free_call){.queue = queue, .function = function ? function : free_them, .user = user};
    opencl_retain(queue);
    call->pointers = mem_alloc(count + 1, sizeof *pointers);
    for (; call->count < count; call->count++)
        call->pointers[call->count] = pointers[call->count];
    return opencl_enqueue(&command->base, false, wait_count, waits, event);
}

/* ---- maps ---- */

/* The host's end of these bytes. */
static enum result mirror_of(uint64_t address, void **mirror)
{
    enum result result = RESULT_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    struct opencl_svm *svm = holding(address);
    if (svm)
        result = svm->mirror ? RESULT_SUCCESS
                             : memory_host_alloc(device_driver(svm->home), svm->bytes, 0, &svm->mirror);
    if (!result)
        *mirror = (char *)svm->mirror + (address - svm->address);
    pthread_mutex_unlock(&lock);
    return result;
}

enum result opencl_svm_pass(struct stream *stream, uint64_t address, uint64_t bytes, bool to_host, bool moves,
                            bool writes)
{
    struct lend lend = {.address = address, .bytes = bytes, .moves = moves, .writes = writes};
    enum result result = mirror_of(address, &lend.mirror);
    if (result)
        return result;
    return to_host ? stream_lend(stream, &lend) : stream_take_back(stream, &lend);
}

struct pass_command {
    struct opencl_command base;
    uint64_t address, bytes;
    bool to_host, moves, writes;
};

static enum result submit_pass(struct opencl_command *command, struct stream *stream)
{
    const struct pass_command *pass = (struct pass_command *)command;
    return opencl_svm_pass(stream, pass->address, pass->bytes, pass->to_host, pass->moves, pass->writes);
}

static const struct opencl_command_ops pass_ops = {sizeof(struct pass_command), submit_pass, NULL};

static cl_int enqueue_pass(const struct opencl_call *call, cl_mem mem, const struct opencl_svm_map *map,
                           bool to_host)
{
    struct pass_command *pass = (struct pass_command *)opencl_command_new(call->queue, &pass_ops, call->type);
    opencl_retain(mem);
    pass->base.mems[0] = mem;
    pass->address = map->address;
    pass->bytes = map->bytes;
    pass->to_host = to_host;
    pass->writes = map->flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION);
    pass->moves = to_host ? map->flags & (CL_MAP_READ | CL_MAP_WRITE) : pass->writes;
    return opencl_enqueue(&pass->base, call->blocking, call->wait_count, call->waits, call->event);
}

static void keep_map(const struct opencl_svm_map *map)
{
    pthread_mutex_lock(&lock);
    struct opencl_svm *svm = holding(map->address);
    if (svm) {
        struct opencl_svm_map *kept = mem_alloc(1, sizeof *kept);
        *kept = *map;
        kept->next = svm->maps;
        svm->maps = kept;
    }
    pthread_mutex_unlock(&lock);
}

/* The last one of those that begin there. */
static bool take_map(uint64_t address, struct opencl_svm_map *taken)
{
    pthread_mutex_lock(&lock);
    struct opencl_svm *svm = holding(address);
    struct opencl_svm_map **at = svm ? &svm->maps : NULL, *found = NULL;
    while (at && *at && (*at)->address != address)
        at = &(*at)->next;
    if (at && (found = *at)) {
        *taken = *found;
        *at = found->next;
    }
    pthread_mutex_unlock(&lock);
    mem_free(found);
    return found;
}

cl_int opencl_svm_map(const struct opencl_call *call, cl_mem mem, uint64_t address, uint64_t bytes,
                      cl_map_flags flags)
{
    struct opencl_svm_map map = {.address = address, .bytes = bytes, .flags = flags};
    cl_int error = enqueue_pass(call, mem, &map, true);
    if (!error)
        keep_map(&map);
    return error;
}

cl_int opencl_svm_unmap(const struct opencl_call *call, cl_mem mem, uint64_t address)
{
    struct opencl_svm_map map;
    return take_map(address, &map) ? enqueue_pass(call, mem, &map, false) : CL_INVALID_VALUE;
}

cl_int API(clEnqueueSVMMap)(cl_command_queue queue, cl_bool blocking, cl_map_flags flags, void *pointer,
                            size_t bytes, cl_uint wait_count, const cl_event *waits, cl_event *event)
{
    OPENCL_CALL;
    struct opencl_call call = {queue, CL_COMMAND_SVM_MAP, blocking, wait_count, waits, event};
    opencl_mem_sweep();
    cl_int error = opencl_check_enqueue(queue, wait_count, waits);
    if (error)
        return error;
    if (!bytes || opencl_check_map_flags(flags) || !opencl_svm_holds(queue->context, pointer, bytes))
        return CL_INVALID_VALUE;
    return opencl_svm_map(&call, NULL, as_number(pointer), bytes, flags);
}

cl_int API(clEnqueueSVMUnmap)(cl_command_queue queue, void *pointer, cl_uint wait_count,
                              const cl_event *waits, cl_event *event)
{
    OPENCL_CALL;
    struct opencl_call call = {queue, CL_COMMAND_SVM_UNMAP, false, wait_count, waits, event};
    cl_int error = opencl_check_enqueue(queue, wait_count, waits);
    if (error)
        return error;
    return opencl_svm_holds(queue->context, pointer, 1) ? opencl_svm_unmap(&call, NULL, as_number(pointer))
                                                        : CL_INVALID_VALUE;
}

/* ---- copies, fills, migration ---- */

cl_int API(clEnqueueSVMMemcpy)(cl_command_queue queue, cl_bool blocking, void *to, const void *from,
                               size_t bytes, cl_uint wait_count, const cl_event *waits, cl_event *event)
{
    OPENCL_CALL;
    struct opencl_call call = {queue, CL_COMMAND_SVM_MEMCPY, blocking, wait_count, waits, event};
    opencl_mem_sweep();
    cl_int error = opencl_check_enqueue(queue, wait_count, waits);
    if (error)
        return error;
    if (!to || !from)
        return CL_INVALID_VALUE;
    uint64_t a = as_number(to), b = as_number(from);
    if (a - b < bytes || b - a < bytes)
        return CL_MEM_COPY_OVERLAP;
    struct copy copy = {.to.address = a, .from.address = b, .width_bytes = bytes, .height = 1, .depth = 1};
    return opencl_transfer(&call, NULL, NULL, &copy);
}

cl_int API(clEnqueueSVMMemFill)(cl_command_queue queue, void *pointer, const void *pattern,
                                size_t pattern_bytes, size_t bytes, cl_uint wait_count, const cl_event *waits,
                                cl_event *event)
{
    OPENCL_CALL;
    struct opencl_call call = {queue, CL_COMMAND_SVM_MEMFILL, false, wait_count, waits, event};
    opencl_mem_sweep();
    cl_int error = opencl_check_enqueue(queue, wait_count, waits);
    if (error)
        return error;
    if (!opencl_svm_holds(queue->context, pointer, bytes))
        return CL_INVALID_VALUE;
    return opencl_fill(&call, NULL, as_number(pointer), bytes, pattern, pattern_bytes);
}

/* A hint: an address says which device has the memory, so it stays there. */
cl_int API(clEnqueueSVMMigrateMem)(cl_command_queue queue, cl_uint count, const void **pointers,
                                   const size_t *sizes, cl_mem_migration_flags flags, cl_uint wait_count,
                                   const cl_event *waits, cl_event *event)
{
    OPENCL_CALL;
    const cl_mem_migration_flags known = CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
    struct opencl_call call = {queue, CL_COMMAND_SVM_MIGRATE_MEM, false, wait_count, waits, event};
    cl_int error = opencl_check_enqueue(queue, wait_count, waits);
    if (error)
        return error;
    if (!count || !pointers || flags & ~known)
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < count; i++) {
        if (!opencl_svm_holds(queue->context, pointers[i], sizes && sizes[i] ? sizes[i] : 1))
            return CL_INVALID_VALUE;
    }
    return opencl_transfer(&call, NULL, NULL, &(struct copy){0});
}

/* ---- what kernels may use beside their arguments: all of the context's memory ---- */

cl_int API(clSetKernelExecInfo)(cl_kernel kernel, cl_kernel_exec_info name, size_t bytes, const void *value)
{
    OPENCL_CALL;
    if (!opencl_is(kernel, OPENCL_KERNEL))
        return CL_INVALID_KERNEL;
    if (!value)
        return CL_INVALID_VALUE;
    if (name == CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM) {
        if (bytes != sizeof(cl_bool))
            return CL_INVALID_VALUE;
        return *(const cl_bool *)value ? CL_INVALID_OPERATION : CL_SUCCESS;
    }
    if (name != CL_KERNEL_EXEC_INFO_SVM_PTRS || !bytes || bytes % sizeof(void *))
        return CL_INVALID_VALUE;
    void *const *pointers = value;
    for (size_t i = 0; i < bytes / sizeof *pointers; i++) {
        if (!opencl_svm_holds(kernel->program->context, pointers[i], 1))
            return CL_INVALID_VALUE;
    }
    return CL_SUCCESS;
}
