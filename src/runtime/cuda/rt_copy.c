/* Copies: of bytes, of rows, of boxes, between memory, arrays and variables. All end in the driver's one
 * copy. */
#include "runtime/cuda/copy.h"
#include "runtime/cuda/register.h"

/* What a kind of copy asks of its sides: what must be the device's is checked, the host's side may be any
 * memory. */
static cudaError_t direct(struct copy *copy, int kind)
{
    if (kind < COPY_HOST_TO_HOST || kind > COPY_DEFAULT)
        return cudaErrorInvalidMemcpyDirection;
    copy->from.must_be_device |= kind == COPY_DEVICE_TO_HOST || kind == COPY_DEVICE_TO_DEVICE;
    copy->to.must_be_device |= kind == COPY_HOST_TO_DEVICE || kind == COPY_DEVICE_TO_DEVICE;
    return cudaSuccess;
}

static cudaError_t submit(cudaStream_t stream, struct copy *copy, int kind, bool wait)
{
    if (!copy->width_bytes || !copy->height || !copy->depth)
        return cudaSuccess;
    cudaError_t error = direct(copy, kind);
    if (error)
        return error;
    return stream_copy(cuda_stream(stream), copy, wait);
}

static struct copy_side array_side(cudaArray_t array, size_t x_bytes, size_t y)
{
    return (struct copy_side){.array = array, .x_bytes = x_bytes, .y = y};
}

/* ---- bytes ---- */

static cudaError_t bytes_copy(cudaStream_t stream, void *to, const void *from, size_t bytes, int kind,
                              bool wait)
{
    struct copy copy = common_bytes(to, from, bytes);
    return submit(stream, &copy, kind, wait);
}

cudaError_t cuda_copy_bytes(cudaStream_t stream, void *to, const void *from, size_t bytes)
{
    return bytes_copy(stream, to, from, bytes, COPY_DEFAULT, false);
}

API_PTDS(cudaMemcpy, (to, from, bytes, kind), void *to, const void *from, size_t bytes, int kind)
{
    return bytes_copy(stream, to, from, bytes, kind, true);
}

API_PTSZ(cudaMemcpyAsync, (to, from, bytes, kind, stream), void *to, const void *from, size_t bytes, int kind,
         cudaStream_t stream)
{
    return bytes_copy(stream, to, from, bytes, kind, false);
}

/* Addresses tell which device they are of, so peers need no telling. */
API(cudaMemcpyPeer, (to, to_device, from, from_device, bytes), void *to, int to_device, const void *from,
    int from_device, size_t bytes)
{
    if (!cuda_device_at(to_device) || !cuda_device_at(from_device))
        return cudaErrorInvalidDevice;
    return bytes_copy(STREAM_LEGACY, to, from, bytes, COPY_DEVICE_TO_DEVICE, true);
}

API(cudaMemcpyPeerAsync, (to, to_device, from, from_device, bytes, stream), void *to, int to_device,
    const void *from, int from_device, size_t bytes, cudaStream_t stream)
{
    if (!cuda_device_at(to_device) || !cuda_device_at(from_device))
        return cudaErrorInvalidDevice;
    return bytes_copy(stream, to, from, bytes, COPY_DEVICE_TO_DEVICE, false);
}

/* ---- variables ---- */

cudaError_t cuda_in_symbol(const void *key, size_t bytes, size_t offset, uint64_t *address)
{
    struct symbol symbol;
    cudaError_t error = cuda_symbol(key, &symbol);
    return error ? error : (cudaError_t)common_in_symbol(&symbol, bytes, offset, address);
}

static cudaError_t to_symbol(cudaStream_t stream, const void *key, const void *from, size_t bytes,
                             size_t offset, int kind, bool wait)
{
    uint64_t to;
    cudaError_t error = kind == COPY_DEVICE_TO_HOST ? cudaErrorInvalidMemcpyDirection
                                                    : cuda_in_symbol(key, bytes, offset, &to);
    return error ? error : bytes_copy(stream, (void *)(uintptr_t)to, from, bytes, kind, wait);
}

static cudaError_t from_symbol(cudaStream_t stream, void *to, const void *key, size_t bytes, size_t offset,
                               int kind, bool wait)
{
    uint64_t from;
    cudaError_t error = kind == COPY_HOST_TO_DEVICE ? cudaErrorInvalidMemcpyDirection
                                                    : cuda_in_symbol(key, bytes, offset, &from);
    return error ? error : bytes_copy(stream, to, (void *)(uintptr_t)from, bytes, kind, wait);
}

API_PTDS(cudaMemcpyToSymbol, (key, from, bytes, offset, kind), const void *key, const void *from,
         size_t bytes, size_t offset, int kind)
{
    return to_symbol(stream, key, from, bytes, offset, kind, true);
}

API_PTSZ(cudaMemcpyToSymbolAsync, (key, from, bytes, offset, kind, stream), const void *key, const void *from,
         size_t bytes, size_t offset, int kind, cudaStream_t stream)
{
    return to_symbol(stream, key, from, bytes, offset, kind, false);
}

API_PTDS(cudaMemcpyFromSymbol, (to, key, bytes, offset, kind), void *to, const void *key, size_t bytes,
         size_t offset, int kind)
{
    return from_symbol(stream, to, key, bytes, offset, kind, true);
}

API_PTSZ(cudaMemcpyFromSymbolAsync, (to, key, bytes, offset, kind, stream), void *to, const void *key,
         size_t bytes, size_t offset, int kind, cudaStream_t stream)
{
    return from_symbol(stream, to, key, bytes, offset, kind, false);
}

/* ---- rows ---- */

static cudaError_t rows_copy(cudaStream_t stream, struct copy_side to, struct copy_side from, size_t width,
                             size_t height, int kind, bool wait)
{
    struct copy copy = {.from = from, .to = to, .width_bytes = width, .height = height, .depth = 1};
    bool fits =
        (to.array || !to.pitch || width <= to.pitch) && (from.array || !from.pitch || width <= from.pitch);
    if (!fits || height > 1)
        fits = (to.array || width <= to.pitch) && (from.array || width <= from.pitch);
    if (!fits)
        return cudaErrorInvalidValue;
    return submit(stream, &copy, kind, wait);
}

API_PTDS(cudaMemcpy2D, (to, to_pitch, from, from_pitch, width, height, kind), void *to, size_t to_pitch,
         const void *from, size_t from_pitch, size_t width, size_t height, int kind)
{
    return rows_copy(stream, common_memory(to, to_pitch), common_memory(from, from_pitch), width, height,
                     kind, true);
}

API_PTSZ(cudaMemcpy2DAsync, (to, to_pitch, from, from_pitch, width, height, kind, stream), void *to,
         size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int kind,
         cudaStream_t stream)
{
    return rows_copy(stream, common_memory(to, to_pitch), common_memory(from, from_pitch), width, height,
                     kind, false);
}

/* The array's side is named, so the kind must be one that goes there. */
static cudaError_t check_array(cudaArray_t array, int kind, int not_this)
{
    if (!array)
        return cudaErrorInvalidResourceHandle;
    return kind == not_this || kind == COPY_HOST_TO_HOST ? cudaErrorInvalidMemcpyDirection : cudaSuccess;
}

API_PTDS(cudaMemcpy2DToArray, (to, x, y, from, pitch, width, height, kind), cudaArray_t to, size_t x,
         size_t y, const void *from, size_t pitch, size_t width, size_t height, int kind)
{
    cudaError_t error = check_array(to, kind, COPY_DEVICE_TO_HOST);
    return error ? error
                 : rows_copy(stream, array_side(to, x, y), common_memory(from, pitch), width, height, kind,
                             true);
}

API_PTSZ(cudaMemcpy2DToArrayAsync, (to, x, y, from, pitch, width, height, kind, stream), cudaArray_t to,
         size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height, int kind,
         cudaStream_t stream)
{
    return rows_copy(stream, array_side(to, x, y), common_memory(from, pitch), width, height, kind, false);
}

API_PTDS(cudaMemcpy2DFromArray, (to, pitch, from, x, y, width, height, kind), void *to, size_t pitch,
         cudaArray_t from, size_t x, size_t y, size_t width, size_t height, int kind)
{
    cudaError_t error = check_array(from, kind, COPY_HOST_TO_DEVICE);
    return error ? error
                 : rows_copy(stream, common_memory(to, pitch), array_side(from, x, y), width, height, kind,
                             true);
}

API_PTSZ(cudaMemcpy2DFromArrayAsync, (to, pitch, from, x, y, width, height, kind, stream), void *to,
         size_t pitch, cudaArray_t from, size_t x, size_t y, size_t width, size_t height, int kind,
         cudaStream_t stream)
{
    return rows_copy(stream, common_memory(to, pitch), array_side(from, x, y), width, height, kind, false);
}

API_PTDS(cudaMemcpy2DArrayToArray, (to, to_x, to_y, from, from_x, from_y, width, height, kind),
         cudaArray_t to, size_t to_x, size_t to_y, cudaArray_t from, size_t from_x, size_t from_y,
         size_t width, size_t height, int kind)
{
    return rows_copy(stream, array_side(to, to_x, to_y), array_side(from, from_x, from_y), width, height,
                     kind, true);
}

/* ---- bytes of an array, row behind row: from a place in one row to a place in a later one ---- */

static cudaError_t array_run(cudaStream_t stream, cudaArray_t array, size_t x, size_t y, void *memory,
                             size_t bytes, bool to_array, int kind, bool wait)
{
    size_t row = array ? array->shape.width * array->element_bytes : 0;
    cudaError_t error = row && x < row ? cudaSuccess : cudaErrorInvalidValue;
    while (!error && bytes) {
        bool whole_rows = !x && bytes >= row;
        size_t width = whole_rows ? row : bytes < row - x ? bytes : row - x;
        size_t height = whole_rows ? bytes / row : 1;
        struct copy_side inside = array_side(array, x, y), outside = common_memory(memory, width);
        error = to_array ? rows_copy(stream, inside, outside, width, height, kind, wait)
                         : rows_copy(stream, outside, inside, width, height, kind, wait);
        memory = (char *)memory + width * height;
        bytes -= width * height;
        y += height;
        x = 0;
    }
    return error;
}

API_PTDS(cudaMemcpyToArray, (to, x, y, from, bytes, kind), cudaArray_t to, size_t x, size_t y,
         const void *from, size_t bytes, int kind)
{
    return array_run(stream, to, x, y, (void *)(uintptr_t)from, bytes, true, kind, true);
}

API_PTSZ(cudaMemcpyToArrayAsync, (to, x, y, from, bytes, kind, stream), cudaArray_t to, size_t x, size_t y,
         const void *from, size_t bytes, int kind, cudaStream_t stream)
{
    return array_run(stream, to, x, y, (void *)(uintptr_t)from, bytes, true, kind, false);
}

API_PTDS(cudaMemcpyFromArray, (to, from, x, y, bytes, kind), void *to, cudaArray_t from, size_t x, size_t y,
         size_t bytes, int kind)
{
    return array_run(stream, from, x, y, to, bytes, false, kind, true);
}

API_PTSZ(cudaMemcpyFromArrayAsync, (to, from, x, y, bytes, kind, stream), void *to, cudaArray_t from,
         size_t x, size_t y, size_t bytes, int kind, cudaStream_t stream)
{
    return array_run(stream, from, x, y, to, bytes, false, kind, false);
}

API_PTDS(cudaMemcpyArrayToArray, (to, to_x, to_y, from, from_x, from_y, bytes, kind), cudaArray_t to,
         size_t to_x, size_t to_y, cudaArray_t from, size_t from_x, size_t from_y, size_t bytes, int kind)
{
    if (!to || !from || to_x || from_x || to->shape.width * to->element_bytes > bytes)
        return rows_copy(stream, array_side(to, to_x, to_y), array_side(from, from_x, from_y), bytes, 1, kind,
                         true);
    size_t row = to->shape.width * to->element_bytes;
    return rows_copy(stream, array_side(to, 0, to_y), array_side(from, 0, from_y), row, bytes / row, kind,
                     true);
}

/* ---- boxes ---- */

/* Positions are in elements of the side's array, or in bytes; the width in elements of whichever array there
 * is. */
static struct copy_side box_side(cudaArray_t array, const struct cudaPitchedPtr *pointer,
                                 const struct cudaPos *at)
{
    return (struct copy_side){.array = array,
                              .address = array ? 0 : (uint64_t)(uintptr_t)pointer->ptr,
                              .pitch = array ? 0 : pointer->pitch,
                              .rows = array ? 0 : pointer->ysize,
                              .x_bytes = at->x * (array ? array->element_bytes : 1),
                              .y = at->y,
                              .z = at->z};
}

cudaError_t cuda_copy_box(cudaStream_t stream, const struct cudaMemcpy3DParms *box, bool wait)
{
    if (!box)
        return cudaErrorInvalidValue;
    if (!box->extent.width || !box->extent.height || !box->extent.depth)
        return cudaSuccess;
    if (!box->srcArray == !box->srcPtr.ptr || !box->dstArray == !box->dstPtr.ptr)
        return cudaErrorInvalidValue;
    const struct array *array = box->srcArray ? box->srcArray : box->dstArray;
    struct copy copy = {.from = box_side(box->srcArray, &box->srcPtr, &box->srcPos),
                        .to = box_side(box->dstArray, &box->dstPtr, &box->dstPos),
                        .width_bytes = box->extent.width * (array ? array->element_bytes : 1),
                        .height = box->extent.height,
                        .depth = box->extent.depth};
    return submit(stream, &copy, box->kind, wait);
}

static void place_box(const struct copy_side *side, cudaArray_t *array, struct cudaPitchedPtr *pointer,
                      struct cudaPos *at)
{
    *array = side->array;
    *at = (struct cudaPos){side->x_bytes / (side->array ? side->array->element_bytes : 1), side->y, side->z};
    if (!side->array)
        *pointer = (struct cudaPitchedPtr){(void *)(uintptr_t)side->address, side->pitch, 0, side->rows};
}

struct cudaMemcpy3DParms cuda_box_of(const struct copy *copy)
{
    const struct array *array = copy->from.array ? copy->from.array : copy->to.array;
    static const int kinds[2][2] = {{COPY_DEFAULT, COPY_HOST_TO_DEVICE},
                                    {COPY_DEVICE_TO_HOST, COPY_DEVICE_TO_DEVICE}};
    struct cudaMemcpy3DParms box = {
        .extent = {copy->width_bytes / (array ? array->element_bytes : 1), copy->height, copy->depth},
        .kind = kinds[copy->from.must_be_device][copy->to.must_be_device]};
    place_box(&copy->from, &box.srcArray, &box.srcPtr, &box.srcPos);
    place_box(&copy->to, &box.dstArray, &box.dstPtr, &box.dstPos);
    return box;
}

struct CUDA_MEMCPY3D cuda_box_for_driver(const struct cudaMemcpy3DParms *box)
{
    const struct array *array = box->srcArray ? box->srcArray : box->dstArray;
    size_t from_bytes = box->srcArray ? box->srcArray->element_bytes : 1;
    size_t to_bytes = box->dstArray ? box->dstArray->element_bytes : 1;
    static const int from_types[] = {CU_MEMORY_HOST, CU_MEMORY_HOST, CU_MEMORY_DEVICE, CU_MEMORY_DEVICE,
                                     CU_MEMORY_UNIFIED};
    static const int to_types[] = {CU_MEMORY_HOST, CU_MEMORY_DEVICE, CU_MEMORY_HOST, CU_MEMORY_DEVICE,
                                   CU_MEMORY_UNIFIED};
    return (struct CUDA_MEMCPY3D){.srcXInBytes = box->srcPos.x * from_bytes,
                                  .srcY = box->srcPos.y,
                                  .srcZ = box->srcPos.z,
                                  .srcMemoryType = box->srcArray ? CU_MEMORY_ARRAY : from_types[box->kind],
                                  .srcHost = box->srcPtr.ptr,
                                  .srcDevice = (CUdeviceptr)(uintptr_t)box->srcPtr.ptr,
                                  .srcArray = box->srcArray,
                                  .srcPitch = box->srcPtr.pitch,
                                  .srcHeight = box->srcPtr.ysize,
                                  .dstXInBytes = box->dstPos.x * to_bytes,
                                  .dstY = box->dstPos.y,
                                  .dstZ = box->dstPos.z,
                                  .dstMemoryType = box->dstArray ? CU_MEMORY_ARRAY : to_types[box->kind],
                                  .dstHost = box->dstPtr.ptr,
                                  .dstDevice = (CUdeviceptr)(uintptr_t)box->dstPtr.ptr,
                                  .dstArray = box->dstArray,
                                  .dstPitch = box->dstPtr.pitch,
                                  .dstHeight = box->dstPtr.ysize,
                                  .WidthInBytes = box->extent.width * (array ? array->element_bytes : 1),
                                  .Height = box->extent.height,
                                  .Depth = box->extent.depth};
}

struct cudaMemcpy3DParms cuda_run_of_bytes(void *to, const void *from, size_t bytes, int kind)
{
    return (struct cudaMemcpy3DParms){.srcPtr = {(void *)(uintptr_t)from, bytes, bytes, 1},
                                      .dstPtr = {to, bytes, bytes, 1},
                                      .extent = {bytes, 1, 1},
                                      .kind = kind};
}

static struct cudaMemcpy3DParms without_devices(const struct cudaMemcpy3DPeerParms *box)
{
    return (struct cudaMemcpy3DParms){.srcArray = box->srcArray,
                                      .srcPos = box->srcPos,
                                      .srcPtr = box->srcPtr,
                                      .dstArray = box->dstArray,
                                      .dstPos = box->dstPos,
                                      .dstPtr = box->dstPtr,
                                      .extent = box->extent,
                                      .kind = COPY_DEFAULT};
}

API_PTDS(cudaMemcpy3D, (box), const struct cudaMemcpy3DParms *box)
{
    return cuda_copy_box(stream, box, true);
}

API_PTSZ(cudaMemcpy3DAsync, (box, stream), const struct cudaMemcpy3DParms *box, cudaStream_t stream)
{
    return cuda_copy_box(stream, box, false);
}

API_PTDS(cudaMemcpy3DPeer, (box), const struct cudaMemcpy3DPeerParms *box)
{
    if (!box)
        return cudaErrorInvalidValue;
    struct cudaMemcpy3DParms plain = without_devices(box);
    return cuda_copy_box(stream, &plain, true);
}

API_PTSZ(cudaMemcpy3DPeerAsync, (box, stream), const struct cudaMemcpy3DPeerParms *box, cudaStream_t stream)
{
    if (!box)
        return cudaErrorInvalidValue;
    struct cudaMemcpy3DParms plain = without_devices(box);
    return cuda_copy_box(stream, &plain, false);
}
