/* Several copies, prefetches and discards at a time. What order their accesses may have is not looked at:
 * they are made in the stream's. */
#include "runtime/cuda/array.h"
#include "runtime/cuda/copy.h"
#include "runtime/cuda/memory.h"

/* Only copies can be made in a default stream of the legacy kind, and not even these by a batch. */
static bool takes_batches(cudaStream_t stream)
{
    return stream && stream != STREAM_LEGACY;
}

/* ---- copies ---- */

static cudaError_t copy_batch(void *const *to, const void *const *from, const size_t *bytes, size_t count,
                              const void *attributes, const size_t *firsts, size_t attribute_count,
                              cudaStream_t stream)
{
    bool listed =
        to && from && bytes && count && attributes && firsts && attribute_count && attribute_count <= count;
    cudaError_t error = listed && takes_batches(stream) ? cudaSuccess : cudaErrorInvalidValue;
    for (size_t i = 0; i < count && !error; i++)
        error = cuda_copy_bytes(stream, to[i], from[i], bytes[i]);
    return error;
}

API_PTSZ(cudaMemcpyBatchAsync, (to, from, bytes, count, attributes, firsts, attribute_count, stream),
         void *const *to, const void *const *from, const size_t *bytes, size_t count, const void *attributes,
         const size_t *firsts, size_t attribute_count, cudaStream_t stream)
{
    return copy_batch(to, from, bytes, count, attributes, firsts, attribute_count, stream);
}

CU_PTSZ(cuMemcpyBatchAsync_v2, (to, from, bytes, count, attributes, firsts, attribute_count, stream),
        void *const *to, const void *const *from, const size_t *bytes, size_t count, const void *attributes,
        const size_t *firsts, size_t attribute_count, cudaStream_t stream)
{
    return copy_batch(to, from, bytes, count, attributes, firsts, attribute_count, stream);
}

/* Of CUDA 12: which of them failed is not known when this returns, as copies are made later. */
CU_PTSZ(cuMemcpyBatchAsync, (to, from, bytes, count, attributes, firsts, attribute_count, failed, stream),
        void *const *to, const void *const *from, const size_t *bytes, size_t count, const void *attributes,
        const size_t *firsts, size_t attribute_count, size_t *failed, cudaStream_t stream)
{
    CUresult result = copy_batch(to, from, bytes, count, attributes, firsts, attribute_count, stream);
    if (result && failed)
        *failed = SIZE_MAX;
    return result;
}

enum { OPERAND_POINTER = 1, OPERAND_ARRAY = 2 }; /* CUDA's */

struct operand {
    int type;
    union {
        struct {
            void *pointer;
            size_t row_length, layer_height; /* in elements; 0: as the box is */
            struct cudaMemLocation hint;
        };
        struct {
            cudaArray_t array;
            struct cudaPos at;
        };
    };
};

struct batch_op { /* cudaMemcpy3DBatchOp */
    struct operand from, to;
    struct cudaExtent extent;
    int order;
    unsigned flags;
};
_Static_assert(sizeof(struct batch_op) == 112, "as CUDA 13 has it");

static bool is_good(const struct operand *operand)
{
    return (operand->type == OPERAND_POINTER && operand->pointer) ||
           (operand->type == OPERAND_ARRAY && operand->array);
}

static struct cudaPitchedPtr pitched(const struct operand *operand, const struct cudaExtent *extent,
                                     size_t element)
{
    size_t row = operand->row_length ? operand->row_length : extent->width;
    size_t height = operand->layer_height ? operand->layer_height : extent->height;
    return (struct cudaPitchedPtr){operand->pointer, row * element, row * element, height};
}

static cudaError_t copy_box(const struct batch_op *op, cudaStream_t stream)
{
    const struct cudaExtent *extent = &op->extent;
    struct cudaMemcpy3DParms box = {.extent = *extent, .kind = COPY_DEFAULT};
    bool from_array = op->from.type == OPERAND_ARRAY, to_array = op->to.type == OPERAND_ARRAY;
    if (!is_good(&op->from) || !is_good(&op->to) || !extent->width || !extent->height || !extent->depth)
        return cudaErrorInvalidValue;
    size_t element = from_array ? op->from.array->element_bytes : to_array ? op->to.array->element_bytes : 1;
    if (from_array)
        box.srcArray = op->from.array, box.srcPos = op->from.at;
    else
        box.srcPtr = pitched(&op->from, extent, element);
    if (to_array)
        box.dstArray = op->to.array, box.dstPos = op->to.at;
    else
        box.dstPtr = pitched(&op->to, extent, element);
    return cuda_copy_box(stream, &box, false);
}

static cudaError_t copy_boxes(size_t count, const struct batch_op *ops, unsigned long long flags,
                              cudaStream_t stream)
{
    cudaError_t error = count && ops && !flags && takes_batches(stream) ? cudaSuccess : cudaErrorInvalidValue;
    for (size_t i = 0; i < count && !error; i++)
        error = copy_box(&ops[i], stream);
    return error;
}

API_PTSZ(cudaMemcpy3DBatchAsync, (count, ops, flags, stream), size_t count, const struct batch_op *ops,
         unsigned long long flags, cudaStream_t stream)
{
    return copy_boxes(count, ops, flags, stream);
}

CU_PTSZ(cuMemcpy3DBatchAsync_v2, (count, ops, flags, stream), size_t count, const struct batch_op *ops,
        unsigned long long flags, cudaStream_t stream)
{
    return copy_boxes(count, ops, flags, stream);
}

CU_PTSZ(cuMemcpy3DBatchAsync, (count, ops, failed, flags, stream), size_t count, const struct batch_op *ops,
        size_t *failed, unsigned long long flags, cudaStream_t stream)
{
    CUresult result = copy_boxes(count, ops, flags, stream);
    if (result && failed)
        *failed = SIZE_MAX;
    return result;
}

/* ---- managed memory ---- */

/* Each location is for the ranges from its index on. */
static bool locations_fit(const struct cudaMemLocation *locations, const size_t *firsts,
                          size_t location_count, size_t count)
{
    if (!locations || !firsts || !location_count || location_count > count || firsts[0])
        return false;
    for (size_t i = 1; i < location_count; i++)
        if (firsts[i] <= firsts[i - 1] || firsts[i] >= count)
            return false;
    return true;
}

static cudaError_t check_ranges(void *const *pointers, const size_t *bytes, size_t count,
                                unsigned long long flags, cudaStream_t stream)
{
    cudaError_t error =
        pointers && bytes && count && !flags && takes_batches(stream) ? cudaSuccess : cudaErrorInvalidValue;
    for (size_t i = 0; i < count && !error; i++)
        error = cuda_managed_range(pointers[i], bytes[i]);
    return error;
}

static cudaError_t prefetch(void *const *pointers, const size_t *bytes, size_t count,
                            const struct cudaMemLocation *locations, const size_t *firsts,
                            size_t location_count, unsigned long long flags, cudaStream_t stream)
{
    cudaError_t error = check_ranges(pointers, bytes, count, flags, stream);
    if (!error && !locations_fit(locations, firsts, location_count, count))
        error = cudaErrorInvalidValue;
    for (size_t i = 0, at = 0; i < count && !error; i++) {
        at += at + 1 < location_count && firsts[at + 1] == i;
        error = cuda_prefetch(pointers[i], bytes[i], locations[at], 0, stream);
    }
    return error;
}

/* What is discarded may as well stay as it is, which programs must not rely on. */
#define MANAGED_FUNCTIONS(KIND, PREFIX)                                                                      \
    KIND(PREFIX##MemPrefetchBatchAsync,                                                                      \
         (pointers, bytes, count, locations, firsts, location_count, flags, stream), void *const *pointers,  \
         const size_t *bytes, size_t count, const struct cudaMemLocation *locations, const size_t *firsts,   \
         size_t location_count, unsigned long long flags, cudaStream_t stream)                               \
    {                                                                                                        \
        return prefetch(pointers, bytes, count, locations, firsts, location_count, flags, stream);           \
    }                                                                                                        \
    KIND(PREFIX##MemDiscardAndPrefetchBatchAsync,                                                            \
         (pointers, bytes, count, locations, firsts, location_count, flags, stream), void *const *pointers,  \
         const size_t *bytes, size_t count, const struct cudaMemLocation *locations, const size_t *firsts,   \
         size_t location_count, unsigned long long flags, cudaStream_t stream)                               \
    {                                                                                                        \
        return prefetch(pointers, bytes, count, locations, firsts, location_count, flags, stream);           \
    }                                                                                                        \
    KIND(PREFIX##MemDiscardBatchAsync, (pointers, bytes, count, flags, stream), void *const *pointers,       \
         const size_t *bytes, size_t count, unsigned long long flags, cudaStream_t stream)                   \
    {                                                                                                        \
        return check_ranges(pointers, bytes, count, flags, stream);                                          \
    }

MANAGED_FUNCTIONS(API_PTSZ, cuda)
MANAGED_FUNCTIONS(CU_PTSZ, cu)
