#include "runtime/opencl/transfer.h"
#include "base/mem.h"
#include "runtime/opencl/errors.h"
#include "runtime/opencl/svm.h"

enum { TO, FROM }; /* of a command's mems */

struct transfer_command {
    struct opencl_command base;
    struct copy copy;
    void *owned; /* the source, if that is the command's own; or NULL */
};

static enum result resolve(const struct opencl_command *command, unsigned which, struct copy_side *side)
{
    uint64_t address;
    if (!command->mems[which])
        return RESULT_SUCCESS;
    enum result result = opencl_mem_at(command->mems[which], command->queue->device->device, &address);
    side->address += address;
    return result;
}

static void free_owned(void *user, enum result result)
{
    (void)result;
    mem_free(user);
}

static enum result submit(struct opencl_command *command, struct stream *stream)
{
    struct transfer_command *transfer = (struct transfer_command *)command;
    enum result result = resolve(command, TO, &transfer->copy.to);
    if (!result)
        result = resolve(command, FROM, &transfer->copy.from);
    if (!result)
        result = stream_copy_later(stream, &transfer->copy);
    if (!result && transfer->owned) {
        result = stream_host(stream, free_owned, transfer->owned, true);
        transfer->owned = result ? transfer->owned : NULL;
    }
    return result;
}

static void fini(struct opencl_command *command)
{
    mem_free(((struct transfer_command *)command)->owned);
}

static const struct opencl_command_ops ops = {sizeof(struct transfer_command), submit, fini};

static struct transfer_command *new_transfer(const struct opencl_call *call, cl_mem to, cl_mem from,
                                             const struct copy *copy)
{
    struct transfer_command *command =
        (struct transfer_command *)opencl_command_new(call->queue, &ops, call->type);
    opencl_retain(to);
    opencl_retain(from);
    command->base.mems[TO] = to;
    command->base.mems[FROM] = from;
    command->copy = *copy;
    command->copy.to.is_lent = !to && opencl_svm_is_mapped(copy->to.address);
    command->copy.from.is_lent = !from && opencl_svm_is_mapped(copy->from.address);
    return command;
}

cl_int opencl_transfer(const struct opencl_call *call, cl_mem to, cl_mem from, const struct copy *copy)
{
    struct transfer_command *command = new_transfer(call, to, from, copy);
    return opencl_enqueue(&command->base, call->blocking, call->wait_count, call->waits, call->event);
}

cl_int opencl_transfer_owned(const struct opencl_call *call, cl_mem to, void *owned, const struct copy *copy)
{
    struct transfer_command *command = new_transfer(call, to, NULL, copy);
    command->owned = owned;
    command->copy.from.address = (uint64_t)(uintptr_t)owned;
    return opencl_enqueue(&command->base, call->blocking, call->wait_count, call->waits, call->event);
}

/* ---- checks ---- */

cl_int opencl_check_transfer(cl_command_queue queue, cl_mem mem, bool image, cl_uint wait_count,
                             const cl_event *waits)
{
    opencl_mem_sweep();
    cl_int error = opencl_check_enqueue(queue, wait_count, waits);
    if (error == CL_INVALID_COMMAND_QUEUE)
        return error;
    if (!opencl_is(mem, OPENCL_MEM) || opencl_is_image(mem) != image)
        return CL_INVALID_MEM_OBJECT;
    return mem->context != queue->context ? CL_INVALID_CONTEXT : error;
}

cl_int opencl_check_host_access(cl_mem mem, bool writes)
{
    cl_mem_flags forbids = CL_MEM_HOST_NO_ACCESS | (writes ? CL_MEM_HOST_READ_ONLY : CL_MEM_HOST_WRITE_ONLY);
    return mem->flags & forbids ? CL_INVALID_OPERATION : CL_SUCCESS;
}

cl_int opencl_rect_side(const size_t origin[3], const size_t region[3], size_t row_pitch, size_t slice_pitch,
                        uint64_t most, struct copy_side *side)
{
    uint64_t row = row_pitch ? row_pitch : region[0], slice, rows, slices, first, last;
    if (__builtin_mul_overflow(row, region[1], &slice))
        return CL_INVALID_VALUE;
    if (slice_pitch && (slice_pitch < slice || slice_pitch % row))
        return CL_INVALID_VALUE;
    slice = slice_pitch ? slice_pitch : slice;
    if (row < region[0] || __builtin_mul_overflow(row, origin[1], &rows) ||
        __builtin_mul_overflow(slice, origin[2], &slices) || __builtin_add_overflow(rows, slices, &first) ||
        __builtin_add_overflow(first, origin[0], &first))
        return CL_INVALID_VALUE;
    if (__builtin_mul_overflow(slice, region[2] - 1, &slices) ||
        __builtin_add_overflow(slices, row * (region[1] - 1) + region[0], &last) ||
        __builtin_add_overflow(first, last, &last) || last > most)
        return CL_INVALID_VALUE;
    *side = (struct copy_side){.address = first, .pitch = row, .rows = slice / row};
    return CL_SUCCESS;
}
