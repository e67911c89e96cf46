/* Buffers and images. An image is a buffer with rows. */
#ifndef RUNTIME_OPENCL_MEMORY_H
#define RUNTIME_OPENCL_MEMORY_H

#include "runtime/opencl/objects.h"

/* A part that the program has mapped. */
struct opencl_mapping {
    struct opencl_mapping *next;
    void *pointer;
    cl_map_flags flags;
    struct copy to_host; /* how its bytes get to the host; back, with the sides exchanged */
};

struct opencl_image {
    cl_image_format format;
    cl_image_desc desc; /* heights and depths that it has not are 1 */
    size_t element_bytes;
    uint64_t pitch, slice;           /* bytes from row to row, from slice to slice */
    uint64_t rows;                   /* of a slice */
    uint64_t host_pitch, host_slice; /* likewise where the host sees it */
};

struct _cl_mem {
    struct opencl_object base;
    cl_context context;
    cl_mem parent; /* of a sub-buffer, or of an image of a buffer; or NULL */
    uint64_t offset;
    cl_mem_object_type type;
    cl_mem_flags flags;
    uint64_t bytes;
    void *host;           /* the program's memory: CL_MEM_USE_HOST_PTR */
    pthread_mutex_t lock; /* of the rest; of a sub-buffer, that of its parent counts */
    struct device *home;  /* the device that has it; NULL: none yet */
    uint64_t address;
    void *initial; /* what goes there then; or NULL */
    void *shadow;  /* where the host sees what it maps; or NULL */
    bool is_svm;   /* `host` is shared virtual memory, and its own: svm.h */
    struct opencl_mapping *mappings;
    cl_uint map_count;
    struct opencl_callback *destructors;
    struct opencl_image image; /* of an image */
};

static inline bool opencl_is_image(cl_mem mem)
{
    return mem->type != CL_MEM_OBJECT_BUFFER;
}

/* Whether its bytes are shared virtual memory. */
bool opencl_mem_is_svm(cl_mem mem);

/* CL_INVALID_VALUE when they do not go together. */
cl_int opencl_mem_check_flags(cl_mem_flags flags);

/* A buffer or image; the memory of devices comes later. host: as the flags say; initial: what goes there, if
 * that is known; or NULL. */
cl_int opencl_mem_new(cl_context context, cl_mem_object_type type, cl_mem_flags flags, uint64_t bytes,
                      void *host, const void *initial, cl_mem *made);

/* Where its first byte is. A device that is the first to use it becomes its home. */
enum result opencl_mem_at(cl_mem mem, struct device *device, uint64_t *address);

/* Moves it to the device, in the stream. */
enum result opencl_mem_move(cl_mem mem, struct device *device, struct stream *stream);

/* Where the host sees it while it is mapped, from its first byte on. */
enum result opencl_mem_shadow(cl_mem mem, void **shadow);

/* Frees memory of a device, and pinned memory (or NULL), now or later: also where nothing can wait for a
 * device. */
void opencl_mem_give_back(struct driver *driver, uint64_t address, void *pinned);
/* Frees what was released where nothing could wait for a device; to be called now and then. */
void opencl_mem_sweep(void);

#endif
