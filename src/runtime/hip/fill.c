/* hipMemset and its like: bytes, rows and boxes of one value. */
#include "runtime/hip/api.h"

static int fill(hipStream_t stream, struct hipPitchedPtr to, int value, unsigned element_bytes,
                struct hipExtent extent, bool wait)
{
    uint32_t mask = element_bytes == 4 ? UINT32_MAX : (1u << 8 * element_bytes) - 1;
    struct fill what = {.to = {.address = (uint64_t)(uintptr_t)to.ptr,
                               .pitch = to.pitch,
                               .rows = to.ysize,
                               .must_be_device = true},
                        .value = (uint32_t)value & mask,
                        .element_bytes = element_bytes,
                        .width = extent.width,
                        .height = extent.height,
                        .depth = extent.depth};
    if (!extent.width || !extent.height || !extent.depth)
        return hipSuccess;
    if (!to.ptr || (extent.height * extent.depth > 1 && extent.width > to.pitch))
        return hipErrorInvalidValue;
    return stream_fill(hip_stream(stream), &what, wait);
}

static int fill_run(hipStream_t stream, void *to, int value, unsigned element_bytes, size_t count, bool wait)
{
    return fill(stream, (struct hipPitchedPtr){.ptr = to}, value, element_bytes,
                (struct hipExtent){count, 1, 1}, wait);
}

HIP_TWINS(hipMemset, (to, value, bytes), void *to, int value, size_t bytes)
{
    return fill_run(stream, to, value, 1, bytes, true);
}

HIP_STREAM(hipMemsetAsync, (to, value, bytes, stream), void *to, int value, size_t bytes, hipStream_t stream)
{
    return fill_run(stream, to, value, 1, bytes, false);
}

#define ELEMENTS(name, type)                                                                                 \
    HIP(name, (to, value, count), hipDeviceptr_t to, type value, size_t count)                               \
    {                                                                                                        \
        return fill_run(NULL, to, (int)value, sizeof value, count, true);                                    \
    }                                                                                                        \
    HIP_STREAM(name##Async, (to, value, count, stream), hipDeviceptr_t to, type value, size_t count,         \
               hipStream_t stream)                                                                           \
    {                                                                                                        \
        return fill_run(stream, to, (int)value, sizeof value, count, false);                                 \
    }
ELEMENTS(hipMemsetD8, unsigned char)
ELEMENTS(hipMemsetD16, unsigned short)
ELEMENTS(hipMemsetD32, int)
#undef ELEMENTS

HIP_TWINS(hipMemset2D, (to, pitch, value, width, height), void *to, size_t pitch, int value, size_t width,
          size_t height)
{
    return fill(stream, (struct hipPitchedPtr){.ptr = to, .pitch = pitch, .ysize = height}, value, 1,
                (struct hipExtent){width, height, 1}, true);
}

HIP_STREAM(hipMemset2DAsync, (to, pitch, value, width, height, stream), void *to, size_t pitch, int value,
           size_t width, size_t height, hipStream_t stream)
{
    return fill(stream, (struct hipPitchedPtr){.ptr = to, .pitch = pitch, .ysize = height}, value, 1,
                (struct hipExtent){width, height, 1}, false);
}

HIP_TWINS(hipMemset3D, (to, value, extent), struct hipPitchedPtr to, int value, struct hipExtent extent)
{
    return fill(stream, to, value, 1, extent, true);
}

HIP_STREAM(hipMemset3DAsync, (to, value, extent, stream), struct hipPitchedPtr to, int value,
           struct hipExtent extent, hipStream_t stream)
{
    return fill(stream, to, value, 1, extent, false);
}
