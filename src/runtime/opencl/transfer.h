/* Copies between buffers, images and the host: one kind of command for all of them. */
#ifndef RUNTIME_OPENCL_TRANSFER_H
#define RUNTIME_OPENCL_TRANSFER_H

#include "runtime/opencl/command.h"
#include "runtime/opencl/memory.h"

/* What an enqueue of a copy has beside the copy. */
struct opencl_call {
    cl_command_queue queue;
    cl_command_type type;
    bool blocking;
    cl_uint wait_count;
    const cl_event *waits;
    cl_event *event;
};

/* A side that is of a buffer or image has an offset in it for its address. */
cl_int opencl_transfer(const struct opencl_call *call, cl_mem to, cl_mem from, const struct copy *copy);

/* Likewise, from memory that is the command's own (mem_alloc) and ends with it. */
cl_int opencl_transfer_owned(const struct opencl_call *call, cl_mem to, void *owned, const struct copy *copy);

/* A pattern of 1, 2, 4, ... 128 bytes, as often as it takes; mem NULL: `offset` is an address. */
cl_int opencl_fill(const struct opencl_call *call, cl_mem mem, uint64_t offset, uint64_t bytes,
                   const void *pattern, size_t pattern_bytes);

/* The queue's, the memory's and the wait list's checks, in this order; of another context:
 * CL_INVALID_CONTEXT. */
cl_int opencl_check_transfer(cl_command_queue queue, cl_mem mem, bool image, cl_uint wait_count,
                             const cl_event *waits);

/* Whether the host may read (or write) it: CL_INVALID_OPERATION when its flags say no. */
cl_int opencl_check_host_access(cl_mem mem, bool writes);

/* A side with rows at this origin, where a pitch of 0 is what the region needs. CL_INVALID_VALUE when it does
 * not fit into `most` bytes. */
cl_int opencl_rect_side(const size_t origin[3], const size_t region[3], size_t row_pitch, size_t slice_pitch,
                        uint64_t most, struct copy_side *side);

/* Of an image; the origin and region are in elements. */
cl_int opencl_image_side(cl_mem image, const size_t *origin, const size_t *region, struct copy_side *side);
/* The same where the host sees it; the origin was checked. */
void opencl_image_host_side(cl_mem image, const size_t *origin, struct copy_side *side);
/* The size of a copy of this region of the image. */
void opencl_image_box(cl_mem image, const size_t *region, struct copy *copy);

#endif
