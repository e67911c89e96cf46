/* The driver API: tensor maps (exec/tensormap.h). */
#include "runtime/cuda/api.h"
#include "exec/tensormap.h"

#include <string.h>

struct tensor_modes {
    int interleave, swizzle, promotion, fill;
};

/* What both kinds of maps have; false: something is missing or has no meaning. */
static bool begin(struct tensormap *map, int type, uint32_t rank, const void *address, const uint64_t *dims,
                  const uint64_t *strides, const uint32_t *steps, const struct tensor_modes *modes)
{
    if (!dims || !strides || !steps || !rank || rank > TENSORMAP_DIMS || modes->fill < 0 || modes->fill > 1)
        return false;
    *map = (struct tensormap){.rank = rank,
                              .type = (uint32_t)type,
                              .interleave = (uint32_t)modes->interleave,
                              .swizzle = (uint32_t)modes->swizzle,
                              .promotion = (uint32_t)modes->promotion,
                              .fills_nan = modes->fill,
                              .address = (uintptr_t)address};
    for (uint32_t i = 0; i < rank; i++) {
        map->dim[i] = dims[i];
        map->stride[i] = i ? strides[i - 1] : 0;
        map->step[i] = steps[i];
    }
    return true;
}

static CUresult end(const struct tensormap *map, void *to)
{
    if (!tensormap_is_valid(map))
        return cudaErrorInvalidValue;
    tensormap_encode(map, to);
    return cudaSuccess;
}

CU(cuTensorMapEncodeTiled,
   (to, type, rank, address, dims, strides, box, steps, interleave, swizzle, promotion, fill), void *to,
   int type, uint32_t rank, void *address, const uint64_t *dims, const uint64_t *strides, const uint32_t *box,
   const uint32_t *steps, int interleave, int swizzle, int promotion, int fill)
{
    struct tensormap map;
    if (!to || !box ||
        !begin(&map, type, rank, address, dims, strides, steps,
               &(struct tensor_modes){interleave, swizzle, promotion, fill}))
        return cudaErrorInvalidValue;
    memcpy(map.box, box, rank * sizeof *box);
    return end(&map, to);
}

CU(cuTensorMapEncodeIm2col,
   (to, type, rank, address, dims, strides, lower, upper, channels, pixels, steps, interleave, swizzle,
    promotion, fill),
   void *to, int type, uint32_t rank, void *address, const uint64_t *dims, const uint64_t *strides,
   const int *lower, const int *upper, uint32_t channels, uint32_t pixels, const uint32_t *steps,
   int interleave, int swizzle, int promotion, int fill)
{
    struct tensormap map;
    if (!to || !lower || !upper ||
        !begin(&map, type, rank, address, dims, strides, steps,
               &(struct tensor_modes){interleave, swizzle, promotion, fill}))
        return cudaErrorInvalidValue;
    map.is_im2col = true;
    map.box[0] = channels;
    map.pixels = pixels;
    for (uint32_t i = 0; i + 2 < rank; i++) {
        map.lower[i] = lower[i];
        map.upper[i] = upper[i];
    }
    return end(&map, to);
}

CU(cuTensorMapReplaceAddress, (map, address), void *map, void *address)
{
    struct tensormap known;
    if (!map || !tensormap_decode(&known, map))
        return cudaErrorInvalidValue;
    known.address = (uintptr_t)address;
    if (!address || !tensormap_is_valid(&known)) /* as on an H200, though a new map may have no address */
        return cudaErrorInvalidValue;
    tensormap_replace(map, TENSORMAP_ADDRESS, 0, known.address);
    return cudaSuccess;
}
