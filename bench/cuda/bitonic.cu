#include "native.cuh"
#include "bitonic.c"

/* The lower place of pair `pair`, where the two of a pair are `distance` apart. */
static __device__ unsigned lower_of(unsigned pair, unsigned distance)
{
    return 2 * pair - pair % distance;
}

static __device__ void order(unsigned *low, unsigned *high, bool up)
{
    unsigned a = *low, b = *high;
    if ((a > b) == up)
        *low = b, *high = a;
}

extern "C" __global__ void bitonic_far(unsigned *data, unsigned size, unsigned distance)
{
    unsigned low = lower_of(blockIdx.x * BITONIC_THREADS + threadIdx.x, distance);
    order(&data[low], &data[low + distance], (low & size) == 0);
}

/* The steps within tiles of the merges of `first` to `last` elements. */
extern "C" __global__ void bitonic_near(unsigned *data, unsigned first, unsigned last)
{
    __shared__ unsigned tile[BITONIC_TILE];
    unsigned base = blockIdx.x * BITONIC_TILE;
    for (unsigned i = threadIdx.x; i < BITONIC_TILE; i += BITONIC_THREADS)
        tile[i] = data[base + i];
    for (unsigned size = first; size <= last; size *= 2)
        for (unsigned distance = min(size, (unsigned)BITONIC_TILE) / 2; distance > 0; distance /= 2) {
            unsigned low = lower_of(threadIdx.x, distance);
            __syncthreads();
            order(&tile[low], &tile[low + distance], ((base + low) & size) == 0);
        }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < BITONIC_TILE; i += BITONIC_THREADS)
        data[base + i] = tile[i];
}

WORKLOAD_MAIN(bitonic, KERNEL(bitonic_far) KERNEL(bitonic_near))
