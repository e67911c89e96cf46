/* Reading, writing, copying and filling images. */
#include "runtime/opencl/transfer.h"
#include "base/mem.h"
#include "runtime/opencl/errors.h"
#include "runtime/opencl/formats.h"

/* ---- between an image and the host ---- */

/* The host's rows; of an array of 1D images, the slice pitch is from layer to layer. */
static cl_int host_side(cl_mem mem, const size_t *region, size_t row_pitch, size_t slice_pitch,
                        const void *host, struct copy_side *side)
{
    size_t bytes[3] = {region[0] * mem->image.element_bytes, region[1], region[2]};
    static const size_t origin[3];
    if (row_pitch && row_pitch < bytes[0])
        return CL_INVALID_VALUE;
    if (mem->type == CL_MEM_OBJECT_IMAGE1D_ARRAY && slice_pitch) {
        row_pitch = slice_pitch;
        slice_pitch = 0;
    }
    if (mem->type == CL_MEM_OBJECT_IMAGE1D || mem->type == CL_MEM_OBJECT_IMAGE2D)
        slice_pitch = 0;
    cl_int error = opencl_rect_side(origin, bytes, row_pitch, slice_pitch, UINT64_MAX, side);
    side->address += (uint64_t)(uintptr_t)host;
    return error;
}

static cl_int transfer(const struct opencl_call *call, cl_mem mem, const size_t *origin, const size_t *region,
                       size_t row_pitch, size_t slice_pitch, void *host)
{
    bool writes = call->type == CL_COMMAND_WRITE_IMAGE;
    struct copy copy;
    struct copy_side *device = writes ? &copy.to : &copy.from, *other = writes ? &copy.from : &copy.to;
    cl_int error = opencl_check_transfer(call->queue, mem, true, call->wait_count, call->waits);
    if (!error)
        error = opencl_check_host_access(mem, writes);
    if (!error)
        error = host ? opencl_image_side(mem, origin, region, device) : CL_INVALID_VALUE;
    if (!error)
        error = host_side(mem, region, row_pitch, slice_pitch, host, other);
    if (error)
        return error;
    opencl_image_box(mem, region, &copy);
    return opencl_transfer(call, writes ? mem : NULL, writes ? NULL : mem, &copy);
}

cl_int API(clEnqueueReadImage)(cl_command_queue queue, cl_mem mem, cl_bool blocking, const size_t *origin,
                               const size_t *region, size_t row_pitch, size_t slice_pitch, void *host,
                               cl_uint wait_count, const cl_event *waits, cl_event *event)
{
    OPENCL_CALL;
    struct opencl_call call = {queue, CL_COMMAND_READ_IMAGE, blocking, wait_count, waits, event};
    return transfer(&call, mem, origin, region, row_pitch, slice_pitch, host);
}

cl_int API(clEnqueueWriteImage)(cl_command_queue queue, cl_mem mem, cl_bool blocking, const size_t *origin,
                                const size_t *region, size_t row_pitch, size_t slice_pitch, const void *host,
                                cl_uint wait_count, const cl_event *waits, cl_event *event)
{
    OPENCL_CALL;
    struct opencl_call call = {queue, CL_COMMAND_WRITE_IMAGE, blocking, wait_count, waits, event};
    return transfer(&call, mem, origin, region, row_pitch, slice_pitch, (void *)(uintptr_t)host);
}

/* ---- between images and buffers ---- */

static cl_int check_two(const struct opencl_call *call, cl_mem from, bool from_image, cl_mem to,
                        bool to_image)
{
    cl_int error = opencl_check_transfer(call->queue, from, from_image, call->wait_count, call->waits);
    return error ? error : opencl_check_transfer(call->queue, to, to_image, call->wait_count, call->waits);
}

static bool regions_overlap(const size_t *a, const size_t *b, const size_t *region)
{
    for (unsigned i = 0; i < 3; i++) {
        if (a[i] >= b[i] + region[i] || b[i] >= a[i] + region[i])
            return false;
    }
    return true;
}

cl_int API(clEnqueueCopyImage)(cl_command_queue queue, cl_mem from, cl_mem to, const size_t *from_origin,
                               const size_t *to_origin, const size_t *region, cl_uint wait_count,
                               const cl_event *waits, cl_event *event)
{
    OPENCL_CALL;
    struct opencl_call call = {queue, CL_COMMAND_COPY_IMAGE, false, wait_count, waits, event};
    struct copy copy;
    cl_int error = check_two(&call, from, true, to, true);
    if (!error && memcmp(&from->image.format, &to->image.format, sizeof from->image.format) != 0)
        error = CL_IMAGE_FORMAT_MISMATCH;
    if (!error)
        error = opencl_image_side(from, from_origin, region, &copy.from);
    if (!error)
        error = opencl_image_side(to, to_origin, region, &copy.to);
    if (!error && from == to && regions_overlap(from_origin, to_origin, region))
        error = CL_MEM_COPY_OVERLAP;
    if (error)
        return error;
    opencl_image_box(from, region, &copy);
    return opencl_transfer(&call, to, from, &copy);
}

/* The buffer has the elements of the region one behind another. */
static cl_int with_buffer(const struct opencl_call *call, cl_mem image, cl_mem buffer, const size_t *origin,
                          const size_t *region, size_t offset)
{
    bool to_buffer = call->type == CL_COMMAND_COPY_IMAGE_TO_BUFFER;
    struct copy copy;
    struct copy_side *rows = to_buffer ? &copy.from : &copy.to, *bytes = to_buffer ? &copy.to : &copy.from;
    cl_int error = check_two(call, image, true, buffer, false);
    if (!error)
        error = opencl_image_side(image, origin, region, rows);
    if (error)
        return error;
    opencl_image_box(image, region, &copy);
    uint64_t all = copy.width_bytes * copy.height * copy.depth;
    if (offset > buffer->bytes || all > buffer->bytes - offset)
        return CL_INVALID_VALUE;
    *bytes = (struct copy_side){.address = offset};
    return opencl_transfer(call, to_buffer ? buffer : image, to_buffer ? image : buffer, &copy);
}

cl_int API(clEnqueueCopyImageToBuffer)(cl_command_queue queue, cl_mem from, cl_mem to, const size_t *origin,
                                       const size_t *region, size_t offset, cl_uint wait_count,
                                       const cl_event *waits, cl_event *event)
{
    OPENCL_CALL;
    struct opencl_call call = {queue, CL_COMMAND_COPY_IMAGE_TO_BUFFER, false, wait_count, waits, event};
    return with_buffer(&call, from, to, origin, region, offset);
}

cl_int API(clEnqueueCopyBufferToImage)(cl_command_queue queue, cl_mem from, cl_mem to, size_t offset,
                                       const size_t *origin, const size_t *region, cl_uint wait_count,
                                       const cl_event *waits, cl_event *event)
{
    OPENCL_CALL;
    struct opencl_call call = {queue, CL_COMMAND_COPY_BUFFER_TO_IMAGE, false, wait_count, waits, event};
    return with_buffer(&call, to, from, origin, region, offset);
}

/* ---- fills ---- */

cl_int API(clEnqueueFillImage)(cl_command_queue queue, cl_mem mem, const void *colour, const size_t *origin,
                               const size_t *region, cl_uint wait_count, const cl_event *waits,
                               cl_event *event)
{
    OPENCL_CALL;
    struct opencl_call call = {queue, CL_COMMAND_FILL_IMAGE, false, wait_count, waits, event};
    struct copy copy = {0};
    cl_int error = opencl_check_transfer(queue, mem, true, wait_count, waits);
    if (!error)
        error = colour ? opencl_image_side(mem, origin, region, &copy.to) : CL_INVALID_VALUE;
    if (error)
        return error;
    opencl_image_box(mem, region, &copy);
    size_t bytes = mem->image.element_bytes, count = region[0] * region[1] * region[2];
    char *elements = mem_alloc(count, bytes);
    opencl_format_element(&mem->image.format, colour, elements);
    for (size_t done = 1; done < count; done *= 2)
        memcpy(elements + done * bytes, elements, (done < count - done ? done : count - done) * bytes);
    return opencl_transfer_owned(&call, mem, elements, &copy);
}
