/* cudaMemset and its like: bytes, rows and boxes of one value. */
#include "runtime/cuda/api.h"

static cudaError_t fill(cudaStream_t stream, struct cudaPitchedPtr to, int value, struct cudaExtent extent,
                        bool wait)
{
    struct fill what = {.to = {.address = (uint64_t)(uintptr_t)to.ptr,
                               .pitch = extent.height * extent.depth > 1 ? to.pitch : 0,
                               .rows = to.ysize,
                               .must_be_device = true},
                        .value = (uint32_t)(value & 0xff),
                        .element_bytes = 1,
                        .width = extent.width,
                        .height = extent.height,
                        .depth = extent.depth};
    if (!extent.width || !extent.height || !extent.depth)
        return cudaSuccess;
    if (extent.height * extent.depth > 1 && extent.width > to.pitch)
        return cudaErrorInvalidValue;
    return stream_fill(cuda_stream(stream), &what, wait);
}

API_PTDS(cudaMemset, (to, value, bytes), void *to, int value, size_t bytes)
{
    return fill(stream, (struct cudaPitchedPtr){.ptr = to}, value, (struct cudaExtent){bytes, 1, 1}, true);
}

API_PTSZ(cudaMemsetAsync, (to, value, bytes, stream), void *to, int value, size_t bytes, cudaStream_t stream)
{
    return fill(stream, (struct cudaPitchedPtr){.ptr = to}, value, (struct cudaExtent){bytes, 1, 1}, false);
}

API_PTDS(cudaMemset2D, (to, pitch, value, width, height), void *to, size_t pitch, int value, size_t width,
         size_t height)
{
    return fill(stream, (struct cudaPitchedPtr){.ptr = to, .pitch = pitch, .ysize = height}, value,
                (struct cudaExtent){width, height, 1}, true);
}

API_PTSZ(cudaMemset2DAsync, (to, pitch, value, width, height, stream), void *to, size_t pitch, int value,
         size_t width, size_t height, cudaStream_t stream)
{
    return fill(stream, (struct cudaPitchedPtr){.ptr = to, .pitch = pitch, .ysize = height}, value,
                (struct cudaExtent){width, height, 1}, false);
}

API_PTDS(cudaMemset3D, (to, value, extent), struct cudaPitchedPtr to, int value, struct cudaExtent extent)
{
    return fill(stream, to, value, extent, true);
}

API_PTSZ(cudaMemset3DAsync, (to, value, extent, stream), struct cudaPitchedPtr to, int value,
         struct cudaExtent extent, cudaStream_t stream)
{
    return fill(stream, to, value, extent, false);
}
