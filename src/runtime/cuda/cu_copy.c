/* The driver API: copies and fills. */
#include "runtime/cuda/copy.h"

static uint64_t address_of(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer;
}

static CUresult bytes_copy(cudaStream_t stream, struct copy_side to, struct copy_side from, size_t bytes,
                           bool wait)
{
    struct copy copy = {.from = from, .to = to, .width_bytes = bytes, .height = 1, .depth = 1};
    return bytes ? (CUresult)stream_copy(cuda_stream(stream), &copy, wait) : cudaSuccess;
}

static struct copy_side of_device(CUdeviceptr address)
{
    return (struct copy_side){.address = address, .must_be_device = true};
}

static struct copy_side of_host(const void *pointer)
{
    return (struct copy_side){.address = address_of(pointer)};
}

/* Offsets into an array are bytes of its first row. */
static struct copy_side of_array(cudaArray_t array, size_t offset)
{
    return (struct copy_side){.array = array, .x_bytes = offset};
}

CU_PTDS(cuMemcpy, (to, from, bytes), CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    return bytes_copy(stream, of_host((void *)(uintptr_t)to), of_host((void *)(uintptr_t)from), bytes, true);
}

CU_PTSZ(cuMemcpyAsync, (to, from, bytes, stream), CUdeviceptr to, CUdeviceptr from, size_t bytes,
        cudaStream_t stream)
{
    return bytes_copy(stream, of_host((void *)(uintptr_t)to), of_host((void *)(uintptr_t)from), bytes, false);
}

CU_PTDS(cuMemcpyPeer, (to, to_context, from, from_context, bytes), CUdeviceptr to, CUcontext to_context,
        CUdeviceptr from, CUcontext from_context, size_t bytes)
{
    (void)to_context, (void)from_context;
    return bytes_copy(stream, of_device(to), of_device(from), bytes, true);
}

CU_PTSZ(cuMemcpyPeerAsync, (to, to_context, from, from_context, bytes, stream), CUdeviceptr to,
        CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes, cudaStream_t stream)
{
    (void)to_context, (void)from_context;
    return bytes_copy(stream, of_device(to), of_device(from), bytes, false);
}

CU_PTDS(cuMemcpyHtoD_v2, (to, from, bytes), CUdeviceptr to, const void *from, size_t bytes)
{
    return bytes_copy(stream, of_device(to), of_host(from), bytes, true);
}

CU_PTDS(cuMemcpyDtoH_v2, (to, from, bytes), void *to, CUdeviceptr from, size_t bytes)
{
    return bytes_copy(stream, of_host(to), of_device(from), bytes, true);
}

CU_PTDS(cuMemcpyDtoD_v2, (to, from, bytes), CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    return bytes_copy(stream, of_device(to), of_device(from), bytes, true);
}

CU_PTSZ(cuMemcpyHtoDAsync_v2, (to, from, bytes, stream), CUdeviceptr to, const void *from, size_t bytes,
        cudaStream_t stream)
{
    return bytes_copy(stream, of_device(to), of_host(from), bytes, false);
}

CU_PTSZ(cuMemcpyDtoHAsync_v2, (to, from, bytes, stream), void *to, CUdeviceptr from, size_t bytes,
        cudaStream_t stream)
{
    return bytes_copy(stream, of_host(to), of_device(from), bytes, false);
}

CU_PTSZ(cuMemcpyDtoDAsync_v2, (to, from, bytes, stream), CUdeviceptr to, CUdeviceptr from, size_t bytes,
        cudaStream_t stream)
{
    return bytes_copy(stream, of_device(to), of_device(from), bytes, false);
}

CU_PTDS(cuMemcpyHtoA_v2, (to, offset, from, bytes), cudaArray_t to, size_t offset, const void *from,
        size_t bytes)
{
    return bytes_copy(stream, of_array(to, offset), of_host(from), bytes, true);
}

CU_PTDS(cuMemcpyAtoH_v2, (to, from, offset, bytes), void *to, cudaArray_t from, size_t offset, size_t bytes)
{
    return bytes_copy(stream, of_host(to), of_array(from, offset), bytes, true);
}

CU_PTDS(cuMemcpyDtoA_v2, (to, offset, from, bytes), cudaArray_t to, size_t offset, CUdeviceptr from,
        size_t bytes)
{
    return bytes_copy(stream, of_array(to, offset), of_device(from), bytes, true);
}

CU_PTDS(cuMemcpyAtoD_v2, (to, from, offset, bytes), CUdeviceptr to, cudaArray_t from, size_t offset,
        size_t bytes)
{
    return bytes_copy(stream, of_device(to), of_array(from, offset), bytes, true);
}

CU_PTDS(cuMemcpyAtoA_v2, (to, to_offset, from, from_offset, bytes), cudaArray_t to, size_t to_offset,
        cudaArray_t from, size_t from_offset, size_t bytes)
{
    return bytes_copy(stream, of_array(to, to_offset), of_array(from, from_offset), bytes, true);
}

CU_PTSZ(cuMemcpyHtoAAsync_v2, (to, offset, from, bytes, stream), cudaArray_t to, size_t offset,
        const void *from, size_t bytes, cudaStream_t stream)
{
    return bytes_copy(stream, of_array(to, offset), of_host(from), bytes, false);
}

CU_PTSZ(cuMemcpyAtoHAsync_v2, (to, from, offset, bytes, stream), void *to, cudaArray_t from, size_t offset,
        size_t bytes, cudaStream_t stream)
{
    return bytes_copy(stream, of_host(to), of_array(from, offset), bytes, false);
}

/* ---- rows and boxes ---- */

/* One side of a copy as the API describes it: a kind of memory, and a field for each kind. */
static bool set_side(struct copy_side *side, int type, const void *host, CUdeviceptr device,
                     cudaArray_t array)
{
    switch (type) {
    case CU_MEMORY_HOST:
        side->address = address_of(host);
        return true;
    case CU_MEMORY_DEVICE:
        side->address = device;
        side->must_be_device = true;
        return true;
    case CU_MEMORY_UNIFIED:
        side->address = device;
        return true;
    case CU_MEMORY_ARRAY:
        side->array = array;
        return array != NULL;
    default:
        return false;
    }
}

bool cuda_copy_of_box(const struct CUDA_MEMCPY3D *box, struct copy *copy)
{
    *copy = (struct copy){.from = {.pitch = box->srcPitch,
                                   .rows = box->srcHeight,
                                   .x_bytes = box->srcXInBytes,
                                   .y = box->srcY,
                                   .z = box->srcZ},
                          .to = {.pitch = box->dstPitch,
                                 .rows = box->dstHeight,
                                 .x_bytes = box->dstXInBytes,
                                 .y = box->dstY,
                                 .z = box->dstZ},
                          .width_bytes = box->WidthInBytes,
                          .height = box->Height,
                          .depth = box->Depth};
    return set_side(&copy->from, box->srcMemoryType, box->srcHost, box->srcDevice, box->srcArray) &&
           set_side(&copy->to, box->dstMemoryType, box->dstHost, box->dstDevice, box->dstArray);
}

static CUresult box_copy(cudaStream_t stream, const struct CUDA_MEMCPY3D *box, bool wait)
{
    struct copy copy;
    if (!cuda_copy_of_box(box, &copy))
        return cudaErrorInvalidValue;
    if (!copy.width_bytes || !copy.height || !copy.depth)
        return cudaSuccess;
    return stream_copy(cuda_stream(stream), &copy, wait);
}

static CUresult rows_copy(cudaStream_t stream, const struct CUDA_MEMCPY2D *rows, bool wait)
{
    if (!rows)
        return cudaErrorInvalidValue;
    return box_copy(stream,
                    &(struct CUDA_MEMCPY3D){.srcXInBytes = rows->srcXInBytes,
                                            .srcY = rows->srcY,
                                            .srcMemoryType = rows->srcMemoryType,
                                            .srcHost = rows->srcHost,
                                            .srcDevice = rows->srcDevice,
                                            .srcArray = rows->srcArray,
                                            .srcPitch = rows->srcPitch,
                                            .dstXInBytes = rows->dstXInBytes,
                                            .dstY = rows->dstY,
                                            .dstMemoryType = rows->dstMemoryType,
                                            .dstHost = rows->dstHost,
                                            .dstDevice = rows->dstDevice,
                                            .dstArray = rows->dstArray,
                                            .dstPitch = rows->dstPitch,
                                            .WidthInBytes = rows->WidthInBytes,
                                            .Height = rows->Height,
                                            .Depth = 1},
                    wait);
}

CU_PTDS(cuMemcpy2D_v2, (rows), const struct CUDA_MEMCPY2D *rows)
{
    return rows_copy(stream, rows, true);
}

CU_PTDS(cuMemcpy2DUnaligned_v2, (rows), const struct CUDA_MEMCPY2D *rows)
{
    return rows_copy(stream, rows, true);
}

CU_PTSZ(cuMemcpy2DAsync_v2, (rows, stream), const struct CUDA_MEMCPY2D *rows, cudaStream_t stream)
{
    return rows_copy(stream, rows, false);
}

CU_PTDS(cuMemcpy3D_v2, (box), const struct CUDA_MEMCPY3D *box)
{
    return box ? box_copy(stream, box, true) : cudaErrorInvalidValue;
}

CU_PTSZ(cuMemcpy3DAsync_v2, (box, stream), const struct CUDA_MEMCPY3D *box, cudaStream_t stream)
{
    return box ? box_copy(stream, box, false) : cudaErrorInvalidValue;
}

CU_PTDS(cuMemcpy3DPeer, (box), const struct CUDA_MEMCPY3D *box)
{
    return box ? box_copy(stream, box, true) : cudaErrorInvalidValue;
}

CU_PTSZ(cuMemcpy3DPeerAsync, (box, stream), const struct CUDA_MEMCPY3D *box, cudaStream_t stream)
{
    return box ? box_copy(stream, box, false) : cudaErrorInvalidValue;
}

/* ---- fills ---- */

static CUresult fill(cudaStream_t stream, CUdeviceptr to, size_t pitch, uint32_t value,
                     uint32_t element_bytes, size_t width, size_t height, bool wait)
{
    struct fill what = {.to = {.address = to, .pitch = pitch, .must_be_device = true},
                        .value = value,
                        .element_bytes = element_bytes,
                        .width = width,
                        .height = height,
                        .depth = 1};
    if (to % element_bytes || pitch % element_bytes)
        return cudaErrorInvalidValue;
    return width && height ? (CUresult)stream_fill(cuda_stream(stream), &what, wait) : cudaSuccess;
}

/* Four functions for each size of an element: a run or rows, waiting or not. */
#define FILLS(bits, type)                                                                                    \
    CU_PTDS(cuMemsetD##bits##_v2, (to, value, count), CUdeviceptr to, type value, size_t count)              \
    {                                                                                                        \
        return fill(stream, to, 0, value, bits / 8, count, 1, true);                                         \
    }                                                                                                        \
    CU_PTSZ(cuMemsetD##bits##Async, (to, value, count, stream), CUdeviceptr to, type value, size_t count,    \
            cudaStream_t stream)                                                                             \
    {                                                                                                        \
        return fill(stream, to, 0, value, bits / 8, count, 1, false);                                        \
    }                                                                                                        \
    CU_PTDS(cuMemsetD2D##bits##_v2, (to, pitch, value, width, height), CUdeviceptr to, size_t pitch,         \
            type value, size_t width, size_t height)                                                         \
    {                                                                                                        \
        return fill(stream, to, pitch, value, bits / 8, width, height, true);                                \
    }                                                                                                        \
    CU_PTSZ(cuMemsetD2D##bits##Async, (to, pitch, value, width, height, stream), CUdeviceptr to,             \
            size_t pitch, type value, size_t width, size_t height, cudaStream_t stream)                      \
    {                                                                                                        \
        return fill(stream, to, pitch, value, bits / 8, width, height, false);                               \
    }
FILLS(8, unsigned char)
FILLS(16, unsigned short)
FILLS(32, unsigned)
