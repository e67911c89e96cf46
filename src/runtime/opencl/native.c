/* Native kernels: functions of the program that run in a queue, on the host. Their buffers are copied to the
 * host before them and back behind them. */
#include "base/mem.h"
#include "runtime/opencl/command.h"
#include "runtime/opencl/errors.h"
#include "runtime/opencl/memory.h"
#include "runtime/opencl/svm.h"

struct native_buffer {
    cl_mem mem;
    size_t place; /* of its address in the arguments */
};

struct native_command {
    struct opencl_command base;
    void(CL_CALLBACK *function)(void *arguments);
    char *arguments; /* a copy */
    struct native_buffer *buffers;
    size_t buffer_count;
};

struct native_call {
    void(CL_CALLBACK *function)(void *arguments);
    void *arguments;
};

static void run_native(void *user, enum result result)
{
    struct native_call *call = user;
    if (!result)
        call->function(call->arguments);
    mem_free(call->arguments);
    mem_free(call);
}

static enum result copy_buffer(cl_mem mem, struct stream *stream, struct device *device, bool to_host,
                               void **shadow)
{
    uint64_t address;
    enum result result = opencl_mem_at(mem, device, &address);
    if (!result)
        result = opencl_mem_shadow(mem, shadow);
    if (result)
        return result;
    if (opencl_mem_is_svm(mem))
        return opencl_svm_pass(stream, address, mem->bytes, to_host, true, true);
    uint64_t host = (uint64_t)(uintptr_t)*shadow;
    struct copy copy = {.to.address = to_host ? host : address,
                        .from.address = to_host ? address : host,
                        .width_bytes = mem->bytes,
                        .height = 1,
                        .depth = 1};
    return stream_copy_later(stream, &copy);
}

static enum result copy_buffers(struct native_command *native, struct stream *stream, bool to_host)
{
    enum result result = RESULT_SUCCESS;
    for (size_t i = 0; i < native->buffer_count && !result; i++) {
        const struct native_buffer *buffer = &native->buffers[i];
        void *shadow;
        result = copy_buffer(buffer->mem, stream, native->base.queue->device->device, to_host, &shadow);
        if (!result && to_host)
            memcpy(native->arguments + buffer->place, &shadow, sizeof shadow);
    }
    return result;
}

static enum result submit_native(struct opencl_command *command, struct stream *stream)
{
    struct native_command *native = (struct native_command *)command;
    enum result result = copy_buffers(native, stream, true);
    if (result)
        return result;
    struct native_call *call = mem_alloc(1, sizeof *call);
    *call = (struct native_call){native->function, native->arguments};
    native->arguments = NULL; /* the call's now */
    result = opencl_call_in(stream, run_native, call);
    return result ? result : copy_buffers(native, stream, false);
}

static void fini_native(struct opencl_command *command)
{
    struct native_command *native = (struct native_command *)command;
    for (size_t i = 0; i < native->buffer_count; i++)
        opencl_release(native->buffers[i].mem);
    mem_free(native->buffers);
    mem_free(native->arguments);
}

static const struct opencl_command_ops native_ops = {sizeof(struct native_command), submit_native,
                                                     fini_native};

static cl_int check_buffers(cl_context context, const char *arguments, size_t bytes, cl_uint count,
                            const cl_mem *mems, const void **places)
{
    for (cl_uint i = 0; i < count; i++) {
        size_t place = (size_t)((const char *)places[i] - arguments);
        if (!opencl_is(mems[i], OPENCL_MEM) || opencl_is_image(mems[i]) || mems[i]->context != context)
            return CL_INVALID_MEM_OBJECT;
        if (bytes < sizeof(void *) || place > bytes - sizeof(void *))
            return CL_INVALID_VALUE;
    }
    return CL_SUCCESS;
}

cl_int API(clEnqueueNativeKernel)(cl_command_queue queue, void(CL_CALLBACK *function)(void *),
                                  void *arguments, size_t bytes, cl_uint mem_count, const cl_mem *mems,
                                  const void **places, cl_uint wait_count, const cl_event *waits,
                                  cl_event *event)
{
    OPENCL_CALL;
    cl_int error = opencl_check_enqueue(queue, wait_count, waits);
    if (error)
        return error;
    if (!function || (!arguments && (bytes || mem_count)) || (arguments && !bytes) ||
        (mem_count && (!mems || !places)) || (!mem_count && (mems || places)))
        return CL_INVALID_VALUE;
    error = check_buffers(queue->context, arguments, bytes, mem_count, mems, places);
    if (error)
        return error;
    struct native_command *native =
        (struct native_command *)opencl_command_new(queue, &native_ops, CL_COMMAND_NATIVE_KERNEL);
    native->function = function;
    native->arguments = mem_alloc(bytes + 1, 1);
    if (bytes)
        memcpy(native->arguments, arguments, bytes);
    native->buffers = mem_alloc(mem_count + 1, sizeof *native->buffers);
    for (; native->buffer_count < mem_count; native->buffer_count++) {
        size_t i = native->buffer_count, place = (size_t)((const char *)places[i] - (char *)arguments);
        opencl_retain(mems[i]);
        native->buffers[i] = (struct native_buffer){mems[i], place};
    }
    return opencl_enqueue(&native->base, false, wait_count, waits, event);
}
