/* Copies of bytes, rows and boxes, between memory and variables. All end in the driver's one copy, which
 * finds out by itself where an address is; the kind of a copy is only checked to be one, as by AMD's library.
 */
#include "runtime/hip/register.h"

static int submit(hipStream_t stream, const struct copy *copy, int kind, bool wait)
{
    if (kind < HIP_COPY_FIRST || kind > HIP_COPY_LAST)
        return hipErrorInvalidMemcpyDirection;
    if (!copy->width_bytes || !copy->height || !copy->depth)
        return hipSuccess;
    if (!copy->to.address || !copy->from.address)
        return hipErrorInvalidValue;
    return stream_copy(hip_stream(stream), copy, wait);
}

/* ---- bytes ---- */

static int copy_bytes(hipStream_t stream, void *to, const void *from, size_t bytes, int kind, bool wait)
{
    struct copy copy = common_bytes(to, from, bytes);
    return submit(stream, &copy, kind, wait);
}

HIP_TWINS(hipMemcpy, (to, from, bytes, kind), void *to, const void *from, size_t bytes, int kind)
{
    return copy_bytes(stream, to, from, bytes, kind, true);
}

HIP_STREAM_TWINS(hipMemcpyAsync, (to, from, bytes, kind, stream), void *to, const void *from, size_t bytes,
                 int kind, hipStream_t stream)
{
    return copy_bytes(stream, to, from, bytes, kind, false);
}

HIP_STREAM(hipMemcpyWithStream, (to, from, bytes, kind, stream), void *to, const void *from, size_t bytes,
           int kind, hipStream_t stream)
{
    int error = copy_bytes(stream, to, from, bytes, kind, false);
    return error ? error : (int)stream_synchronize(hip_stream(stream));
}

/*      name, what its sides are */
#define ONE_WAY(name, to_type, from_type)                                                                    \
    HIP(name, (to, from, bytes), to_type to, from_type from, size_t bytes)                                   \
    {                                                                                                        \
        return copy_bytes(NULL, to, from, bytes, HIP_COPY_LAST, true);                                       \
    }                                                                                                        \
    HIP_STREAM(name##Async, (to, from, bytes, stream), to_type to, from_type from, size_t bytes,             \
               hipStream_t stream)                                                                           \
    {                                                                                                        \
        return copy_bytes(stream, to, from, bytes, HIP_COPY_LAST, false);                                    \
    }
ONE_WAY(hipMemcpyHtoD, hipDeviceptr_t, void *)
ONE_WAY(hipMemcpyDtoH, void *, hipDeviceptr_t)
ONE_WAY(hipMemcpyDtoD, hipDeviceptr_t, hipDeviceptr_t)
#undef ONE_WAY

/* Addresses tell which device they are of. */
HIP(hipMemcpyPeer, (to, to_device, from, from_device, bytes), void *to, int to_device, const void *from,
    int from_device, size_t bytes)
{
    if (!hip_device_at(to_device) || !hip_device_at(from_device))
        return hipErrorInvalidDevice;
    return copy_bytes(NULL, to, from, bytes, HIP_COPY_LAST, true);
}

HIP_STREAM(hipMemcpyPeerAsync, (to, to_device, from, from_device, bytes, stream), void *to, int to_device,
           const void *from, int from_device, size_t bytes, hipStream_t stream)
{
    if (!hip_device_at(to_device) || !hip_device_at(from_device))
        return hipErrorInvalidDevice;
    return copy_bytes(stream, to, from, bytes, HIP_COPY_LAST, false);
}

/* ---- variables ---- */

static int in_symbol(const void *key, size_t bytes, size_t offset, void **pointer)
{
    struct symbol symbol;
    int error = hip_symbol(key, &symbol);
    uint64_t address = 0;
    if (!error)
        error = common_in_symbol(&symbol, bytes, offset, &address);
    *pointer = (void *)(uintptr_t)address;
    return error;
}

static int to_symbol(hipStream_t stream, const void *key, const void *from, size_t bytes, size_t offset,
                     int kind, bool wait)
{
    void *to;
    int error = in_symbol(key, bytes, offset, &to);
    return error ? error : copy_bytes(stream, to, from, bytes, kind, wait);
}

static int from_symbol(hipStream_t stream, void *to, const void *key, size_t bytes, size_t offset, int kind,
                       bool wait)
{
    void *from;
    int error = in_symbol(key, bytes, offset, &from);
    return error ? error : copy_bytes(stream, to, from, bytes, kind, wait);
}

HIP_TWINS(hipMemcpyToSymbol, (key, from, bytes, offset, kind), const void *key, const void *from,
          size_t bytes, size_t offset, int kind)
{
    return to_symbol(stream, key, from, bytes, offset, kind, true);
}

HIP_STREAM(hipMemcpyToSymbolAsync, (key, from, bytes, offset, kind, stream), const void *key,
           const void *from, size_t bytes, size_t offset, int kind, hipStream_t stream)
{
    return to_symbol(stream, key, from, bytes, offset, kind, false);
}

HIP_TWINS(hipMemcpyFromSymbol, (to, key, bytes, offset, kind), void *to, const void *key, size_t bytes,
          size_t offset, int kind)
{
    return from_symbol(stream, to, key, bytes, offset, kind, true);
}

HIP_STREAM(hipMemcpyFromSymbolAsync, (to, key, bytes, offset, kind, stream), void *to, const void *key,
           size_t bytes, size_t offset, int kind, hipStream_t stream)
{
    return from_symbol(stream, to, key, bytes, offset, kind, false);
}

/* ---- rows and boxes ---- */

static int copy_rows(hipStream_t stream, struct copy_side to, struct copy_side from, size_t width,
                     size_t height, int kind, bool wait)
{
    struct copy copy = {.from = from, .to = to, .width_bytes = width, .height = height, .depth = 1};
    if (width > to.pitch || width > from.pitch)
        return hipErrorInvalidPitchValue;
    return submit(stream, &copy, kind, wait);
}

HIP_TWINS(hipMemcpy2D, (to, to_pitch, from, from_pitch, width, height, kind), void *to, size_t to_pitch,
          const void *from, size_t from_pitch, size_t width, size_t height, int kind)
{
    return copy_rows(stream, common_memory(to, to_pitch), common_memory(from, from_pitch), width, height,
                     kind, true);
}

HIP_STREAM(hipMemcpy2DAsync, (to, to_pitch, from, from_pitch, width, height, kind, stream), void *to,
           size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int kind,
           hipStream_t stream)
{
    return copy_rows(stream, common_memory(to, to_pitch), common_memory(from, from_pitch), width, height,
                     kind, false);
}

static struct copy_side box_side(const struct hipPitchedPtr *pointer, const struct hipPos *at)
{
    return (struct copy_side){.address = (uint64_t)(uintptr_t)pointer->ptr,
                              .pitch = pointer->pitch,
                              .rows = pointer->ysize,
                              .x_bytes = at->x,
                              .y = at->y,
                              .z = at->z};
}

static int copy_box(hipStream_t stream, const struct hipMemcpy3DParms *box, bool wait)
{
    if (!box)
        return hipErrorInvalidValue;
    if (box->srcArray || box->dstArray)
        return hipErrorNotSupported; /* no array can have been made */
    struct copy copy = {.from = box_side(&box->srcPtr, &box->srcPos),
                        .to = box_side(&box->dstPtr, &box->dstPos),
                        .width_bytes = box->extent.width,
                        .height = box->extent.height,
                        .depth = box->extent.depth};
    return submit(stream, &copy, box->kind, wait);
}

HIP_TWINS(hipMemcpy3D, (box), const struct hipMemcpy3DParms *box)
{
    return copy_box(stream, box, true);
}

HIP_STREAM(hipMemcpy3DAsync, (box, stream), const struct hipMemcpy3DParms *box, hipStream_t stream)
{
    return copy_box(stream, box, false);
}
