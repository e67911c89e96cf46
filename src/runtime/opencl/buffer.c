/* Reading, writing, copying and filling buffers. */
#include "runtime/opencl/transfer.h"
#include "base/bits.h"
#include "runtime/opencl/errors.h"

static bool fits(cl_mem mem, size_t offset, size_t bytes)
{
    return bytes && offset <= mem->bytes && bytes <= mem->bytes - offset;
}

/* ---- between a buffer and the host ---- */

static cl_int linear(const struct opencl_call *call, cl_mem mem, size_t offset, size_t bytes, void *host)
{
    bool writes = call->type == CL_COMMAND_WRITE_BUFFER;
    cl_int error = opencl_check_transfer(call->queue, mem, false, call->wait_count, call->waits);
    if (!error)
        error = opencl_check_host_access(mem, writes);
    if (error)
        return error;
    if (!fits(mem, offset, bytes) || !host)
        return CL_INVALID_VALUE;
    struct copy copy = {.width_bytes = bytes, .height = 1, .depth = 1};
    struct copy_side *device = writes ? &copy.to : &copy.from, *other = writes ? &copy.from : &copy.to;
    device->address = offset;
    other->address = (uint64_t)(uintptr_t)host;
    return opencl_transfer(call, writes ? mem : NULL, writes ? NULL : mem, &copy);
}

cl_int API(clEnqueueReadBuffer)(cl_command_queue queue, cl_mem mem, cl_bool blocking, size_t offset,
                                size_t bytes, void *host, cl_uint wait_count, const cl_event *waits,
                                cl_event *event)
{
    OPENCL_CALL;
    struct opencl_call call = {queue, CL_COMMAND_READ_BUFFER, blocking, wait_count, waits, event};
    return linear(&call, mem, offset, bytes, host);
}

cl_int API(clEnqueueWriteBuffer)(cl_command_queue queue, cl_mem mem, cl_bool blocking, size_t offset,
                                 size_t bytes, const void *host, cl_uint wait_count, const cl_event *waits,
                                 cl_event *event)
{
    OPENCL_CALL;
    struct opencl_call call = {queue, CL_COMMAND_WRITE_BUFFER, blocking, wait_count, waits, event};
    return linear(&call, mem, offset, bytes, (void *)(uintptr_t)host);
}

/* ---- rectangles ---- */

struct rect {
    const size_t *origin;
    size_t row_pitch, slice_pitch;
};

static bool has_size(const size_t region[3])
{
    return region && region[0] && region[1] && region[2];
}

static cl_int rectangle(const struct opencl_call *call, cl_mem mem, const struct rect *device_rect,
                        const struct rect *host_rect, const size_t *region, void *host)
{
    bool writes = call->type == CL_COMMAND_WRITE_BUFFER_RECT;
    cl_int error = opencl_check_transfer(call->queue, mem, false, call->wait_count, call->waits);
    if (!error)
        error = opencl_check_host_access(mem, writes);
    if (error)
        return error;
    if (!has_size(region) || !host || !device_rect->origin || !host_rect->origin)
        return CL_INVALID_VALUE;
    struct copy copy = {.width_bytes = region[0], .height = region[1], .depth = region[2]};
    struct copy_side *device = writes ? &copy.to : &copy.from, *other = writes ? &copy.from : &copy.to;
    error = opencl_rect_side(device_rect->origin, region, device_rect->row_pitch, device_rect->slice_pitch,
                             mem->bytes, device);
    if (!error)
        error = opencl_rect_side(host_rect->origin, region, host_rect->row_pitch, host_rect->slice_pitch,
                                 UINT64_MAX, other);
    if (error)
        return error;
    other->address += (uint64_t)(uintptr_t)host;
    return opencl_transfer(call, writes ? mem : NULL, writes ? NULL : mem, &copy);
}

cl_int API(clEnqueueReadBufferRect)(cl_command_queue queue, cl_mem mem, cl_bool blocking,
                                    const size_t *origin, const size_t *host_origin, const size_t *region,
                                    size_t row_pitch, size_t slice_pitch, size_t host_row_pitch,
                                    size_t host_slice_pitch, void *host, cl_uint wait_count,
                                    const cl_event *waits, cl_event *event)
{
    OPENCL_CALL;
    struct opencl_call call = {queue, CL_COMMAND_READ_BUFFER_RECT, blocking, wait_count, waits, event};
    return rectangle(&call, mem, &(struct rect){origin, row_pitch, slice_pitch},
                     &(struct rect){host_origin, host_row_pitch, host_slice_pitch}, region, host);
}

cl_int API(clEnqueueWriteBufferRect)(cl_command_queue queue, cl_mem mem, cl_bool blocking,
                                     const size_t *origin, const size_t *host_origin, const size_t *region,
                                     size_t row_pitch, size_t slice_pitch, size_t host_row_pitch,
                                     size_t host_slice_pitch, const void *host, cl_uint wait_count,
                                     const cl_event *waits, cl_event *event)
{
    OPENCL_CALL;
    struct opencl_call call = {queue, CL_COMMAND_WRITE_BUFFER_RECT, blocking, wait_count, waits, event};
    return rectangle(&call, mem, &(struct rect){origin, row_pitch, slice_pitch},
                     &(struct rect){host_origin, host_row_pitch, host_slice_pitch}, region,
                     (void *)(uintptr_t)host);
}

/* ---- from buffer to buffer ---- */

static cl_int check_two(const struct opencl_call *call, cl_mem from, cl_mem to)
{
    cl_int error = opencl_check_transfer(call->queue, from, false, call->wait_count, call->waits);
    return error ? error : opencl_check_transfer(call->queue, to, false, call->wait_count, call->waits);
}

/* Where a byte of a buffer is in the one that holds it: two parts of one buffer can overlap. */
static cl_mem whole(cl_mem mem, uint64_t *at)
{
    *at += mem->parent ? mem->offset : 0;
    return mem->parent ? mem->parent : mem;
}

cl_int API(clEnqueueCopyBuffer)(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset,
                                size_t to_offset, size_t bytes, cl_uint wait_count, const cl_event *waits,
                                cl_event *event)
{
    OPENCL_CALL;
    struct opencl_call call = {queue, CL_COMMAND_COPY_BUFFER, false, wait_count, waits, event};
    cl_int error = check_two(&call, from, to);
    if (error)
        return error;
    if (!fits(from, from_offset, bytes) || !fits(to, to_offset, bytes))
        return CL_INVALID_VALUE;
    uint64_t a = from_offset, b = to_offset;
    if (whole(from, &a) == whole(to, &b) && a < b + bytes && b < a + bytes)
        return CL_MEM_COPY_OVERLAP;
    struct copy copy = {
        .from.address = from_offset, .to.address = to_offset, .width_bytes = bytes, .height = 1, .depth = 1};
    return opencl_transfer(&call, to, from, &copy);
}

/* Whether two boxes of one layout have bytes in common; boxes of different layouts count as if their extents
 * were solid. */
static bool overlap(const struct copy *copy, uint64_t a, uint64_t b)
{
    const struct copy_side *from = &copy->from, *to = &copy->to;
    uint64_t slice = from->pitch * from->rows;
    uint64_t extent_a = (copy->depth - 1) * slice + (copy->height - 1) * from->pitch + copy->width_bytes;
    uint64_t extent_b =
        (copy->depth - 1) * to->pitch * to->rows + (copy->height - 1) * to->pitch + copy->width_bytes;
    if (a >= b + extent_b || b >= a + extent_a)
        return false;
    if (from->pitch != to->pitch || from->rows != to->rows)
        return true;
    uint64_t first[3] = {a % from->pitch, a % slice / from->pitch, a / slice};
    uint64_t second[3] = {b % from->pitch, b % slice / from->pitch, b / slice};
    uint64_t size[3] = {copy->width_bytes, copy->height, copy->depth};
    for (unsigned i = 0; i < 3; i++) {
        if (first[i] >= second[i] + size[i] || second[i] >= first[i] + size[i])
            return false;
    }
    return true;
}

cl_int API(clEnqueueCopyBufferRect)(cl_command_queue queue, cl_mem from, cl_mem to, const size_t *from_origin,
                                    const size_t *to_origin, const size_t *region, size_t from_row_pitch,
                                    size_t from_slice_pitch, size_t to_row_pitch, size_t to_slice_pitch,
                                    cl_uint wait_count, const cl_event *waits, cl_event *event)
{
    OPENCL_CALL;
    struct opencl_call call = {queue, CL_COMMAND_COPY_BUFFER_RECT, false, wait_count, waits, event};
    cl_int error = check_two(&call, from, to);
    if (error)
        return error;
    if (!has_size(region) || !from_origin || !to_origin)
        return CL_INVALID_VALUE;
    struct copy copy = {.width_bytes = region[0], .height = region[1], .depth = region[2]};
    error = opencl_rect_side(from_origin, region, from_row_pitch, from_slice_pitch, from->bytes, &copy.from);
    if (!error)
        error = opencl_rect_side(to_origin, region, to_row_pitch, to_slice_pitch, to->bytes, &copy.to);
    if (error)
        return error;
    uint64_t a = copy.from.address, b = copy.to.address;
    if (whole(from, &a) == whole(to, &b) && overlap(&copy, a, b))
        return CL_MEM_COPY_OVERLAP;
    return opencl_transfer(&call, to, from, &copy);
}

/* ---- fills ---- */

enum { PATTERN_MOST = 128, WORD = 4 };

struct fill_command {
    struct opencl_command base;
    unsigned char pattern[PATTERN_MOST];
    size_t pattern_bytes;
    uint64_t offset, bytes;
};

/* The driver fills with words; a longer pattern is one if its words are the same. */
static bool is_word(const struct fill_command *fill)
{
    for (size_t i = WORD; i < fill->pattern_bytes; i++) {
        if (fill->pattern[i] != fill->pattern[i - WORD])
            return false;
    }
    return true;
}

/* The pattern once, then what is there already, as often as it takes: each copy doubles it. */
static enum result fill_by_copies(const struct fill_command *fill, struct stream *stream, uint64_t at)
{
    enum result result = stream_copy_bytes(stream, at, (uint64_t)(uintptr_t)fill->pattern,
                                           fill->pattern_bytes, false); /* so few bytes are read at once */
    for (uint64_t done = fill->pattern_bytes; done < fill->bytes && !result; done *= 2)
        result = stream_copy_bytes(stream, at + done, at, min_u64(done, fill->bytes - done), false);
    return result;
}

static enum result submit_fill(struct opencl_command *command, struct stream *stream)
{
    struct fill_command *fill = (struct fill_command *)command;
    uint64_t at = 0;
    enum result result = RESULT_SUCCESS;
    if (command->mems[0])
        result = opencl_mem_at(command->mems[0], command->queue->device->device, &at);
    if (result || !fill->bytes)
        return result;
    at += fill->offset;
    if (!is_word(fill))
        return fill_by_copies(fill, stream, at);
    struct fill words = {.to.address = at, .height = 1, .depth = 1};
    words.element_bytes = (uint32_t)min_u64(fill->pattern_bytes, WORD);
    words.width = fill->bytes / words.element_bytes;
    memcpy(&words.value, fill->pattern, words.element_bytes);
    return stream_fill(stream, &words, false);
}

static const struct opencl_command_ops fill_ops = {sizeof(struct fill_command), submit_fill, NULL};

cl_int opencl_fill(const struct opencl_call *call, cl_mem mem, uint64_t offset, uint64_t bytes,
                   const void *pattern, size_t pattern_bytes)
{
    if (!pattern || !pattern_bytes || pattern_bytes > PATTERN_MOST || pattern_bytes & (pattern_bytes - 1) ||
        offset % pattern_bytes || bytes % pattern_bytes)
        return CL_INVALID_VALUE;
    struct fill_command *fill = (struct fill_command *)opencl_command_new(call->queue, &fill_ops, call->type);
    opencl_retain(mem);
    fill->base.mems[0] = mem;
    memcpy(fill->pattern, pattern, pattern_bytes);
    fill->pattern_bytes = pattern_bytes;
    fill->offset = offset;
    fill->bytes = bytes;
    return opencl_enqueue(&fill->base, call->blocking, call->wait_count, call->waits, call->event);
}

cl_int API(clEnqueueFillBuffer)(cl_command_queue queue, cl_mem mem, const void *pattern, size_t pattern_bytes,
                                size_t offset, size_t bytes, cl_uint wait_count, const cl_event *waits,
                                cl_event *event)
{
    OPENCL_CALL;
    struct opencl_call call = {queue, CL_COMMAND_FILL_BUFFER, false, wait_count, waits, event};
    cl_int error = opencl_check_transfer(queue, mem, false, wait_count, waits);
    if (error)
        return error;
    return fits(mem, offset, bytes) ? opencl_fill(&call, mem, offset, bytes, pattern, pattern_bytes)
                                    : CL_INVALID_VALUE;
}
