/* Memory of devices and of the host: allocations, arrays, pools, and what is known about a pointer.
 *
 * Device memory starts at a multiple of 512 bytes, has gaps between allocations, and reads as zero when new.
 * Kernels may access exactly the bytes that were allocated. Freed addresses are not reused soon. */
#ifndef DRIVER_MEMORY_H
#define DRIVER_MEMORY_H

#include "driver/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct driver;
struct device;
struct stream;

/* 0 bytes: address 0 and success, as cudaMalloc gives. */
enum result memory_alloc(struct device *device, uint64_t bytes, uint64_t *address);
/* Rows of `width_bytes`, `height` of them; pitch is what a row takes. */
enum result memory_alloc_pitch(struct device *device, uint64_t width_bytes, uint64_t height,
                               uint64_t *address, uint64_t *pitch);
/* Waits for the device, as cudaFree does. 0 is fine. Any device, managed memory too. */
enum result memory_free(struct driver *driver, uint64_t address);
enum result memory_info(struct device *device, uint64_t *free_bytes, uint64_t *total_bytes);
uint64_t memory_used(struct device *device); /* also when the device has an error, or in a child of fork */

enum { /* CUDA's bits, of cudaHostAlloc and cudaHostRegister: kept, and told again by memory_find */
       HOST_PORTABLE = 1,
       HOST_MAPPED = 2,
       HOST_WRITE_COMBINED = 4,
       HOST_READ_ONLY = 8, /* cudaHostRegisterReadOnly: kernels may not write */
};

/* Pinned memory of the host; every kernel may touch it, at the same address. */
enum result memory_host_alloc(struct driver *driver, uint64_t bytes, unsigned flags, void **pointer);
enum result memory_host_free(struct driver *driver, void *pointer);
/* Memory of the program becomes pinned. */
enum result memory_host_register(struct driver *driver, void *pointer, uint64_t bytes, unsigned flags);
enum result memory_host_unregister(struct driver *driver, void *pointer);

/* Managed memory: the host and every device, at one address. */
enum result memory_managed_alloc(struct driver *driver, uint64_t bytes, unsigned flags, uint64_t *address);

/* Stream-ordered: may be used in work that comes later in the stream, and is freed when the stream gets
 * there. pool NULL: the current one of the stream's device. */
struct memory_pool;
enum result memory_alloc_async(struct stream *stream, struct memory_pool *pool, uint64_t bytes,
                               uint64_t *address);
enum result memory_free_async(struct stream *stream, uint64_t address);

enum result memory_pool_new(struct device *device, uint64_t max_bytes, struct memory_pool **pool);
enum result memory_pool_free(struct memory_pool *pool); /* ends with its last allocation */
struct memory_pool *memory_pool_default(struct device *device);
struct memory_pool *memory_pool_current(struct device *device);
enum result memory_pool_set_current(struct device *device, struct memory_pool *pool);
struct device *memory_pool_device(const struct memory_pool *pool);

struct memory_pool_facts {
    uint64_t release_threshold; /* kept for cudaMemPoolAttrReleaseThreshold; memory is given back at once */
    uint64_t used, used_high, reserved, reserved_high;
};
void memory_pool_facts(struct memory_pool *pool, struct memory_pool_facts *facts);
void memory_pool_set_threshold(struct memory_pool *pool, uint64_t bytes);
void memory_pool_reset_high(struct memory_pool *pool); /* both */
/* Whether kernels of a device may touch the pool's memory, that is allocated or will be. A peer's kernels
 * may, too, where peer access to the pool's device is enabled. */
enum result memory_pool_set_access(struct memory_pool *pool, struct device *device, bool on);
bool memory_pool_has_access(struct memory_pool *pool, const struct device *device);

/* Pools that processes share (ipc.h says which can). From before its first memory on, others may open it, by
 * a file descriptor, which is the caller's; what is opened gives no memory, but opens that of the first
 * process. */
enum result memory_pool_share(struct memory_pool *pool);
enum result memory_pool_export(struct memory_pool *pool, int *file);
enum result memory_pool_import(struct driver *driver, int file, struct memory_pool **pool);
struct ipc_handle;
enum result memory_pool_export_pointer(struct driver *driver, uint64_t address, struct ipc_handle *handle);
enum result memory_pool_import_pointer(struct memory_pool *pool, const struct ipc_handle *handle,
                                       uint64_t *address);

/* What is known about an address, of any byte of an allocation. */
enum memory_kind {
    MEMORY_UNKNOWN, /* the program's own: pageable */
    MEMORY_DEVICE,
    MEMORY_HOST,       /* pinned */
    MEMORY_REGISTERED, /* pinned by registration */
    MEMORY_MANAGED,
    MEMORY_ARRAY,
    MEMORY_VARIABLE, /* of a module */
    MEMORY_INTERNAL, /* the heap of device-side malloc */
    MEMORY_MAPPED,   /* of a device, where the program mapped it: mapping.h */
};
struct memory_facts {
    enum memory_kind kind;
    struct device *device; /* NULL: of the host (of managed memory: none yet) */
    uint64_t base, bytes;
    unsigned flags;           /* of MEMORY_MAPPED: 1 when it can be exported */
    uint64_t id;              /* a number of its own: CU_POINTER_ATTRIBUTE_BUFFER_ID */
    struct memory_pool *pool; /* or NULL */
    bool borrowed;            /* of another process, opened by a handle: ipc.h */
};
/* False, and kind MEMORY_UNKNOWN, when it is of no allocation. */
bool memory_find(struct driver *driver, uint64_t address, struct memory_facts *facts);

/* ---- arrays ---- */

enum array_format { /* of a channel, CUDA's CUarray_format numbers */
                    ARRAY_U8 = 1,
                    ARRAY_U16 = 2,
                    ARRAY_U32 = 3,
                    ARRAY_S8 = 8,
                    ARRAY_S16 = 9,
                    ARRAY_S32 = 10,
                    ARRAY_F16 = 16,
                    ARRAY_F32 = 32,
};

enum { /* CUDA's bits */
       ARRAY_LAYERED = 1,
       ARRAY_SURFACE = 2,
       ARRAY_CUBEMAP = 4,
       ARRAY_GATHER = 8,
       ARRAY_SPARSE = 64,
       ARRAY_DEFERRED = 128,
};

struct array_shape {
    uint64_t width, height, depth; /* elements; height and depth 0 where there is none; depth: layers, too */
    enum array_format format;
    unsigned channels; /* 1, 2 or 4 */
    unsigned flags;
};

/* Laid out row by row: element (x, y, z) is at address + (z * rows + y) * pitch + x * element_bytes. */
struct array {
    struct array_shape shape;
    struct device *device;
    uint64_t address, pitch, rows, element_bytes, bytes;
};

enum result array_new(struct device *device, const struct array_shape *shape, struct array **array);
enum result array_free(struct driver *driver, struct array *array); /* waits for the device */

#endif
