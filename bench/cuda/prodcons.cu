#include "native.cuh"
#include "prodcons.c"

static __device__ unsigned load_acquire(const unsigned *from)
{
    unsigned value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                 : "=r"(value)
                 : "l"(__cvta_generic_to_global(from))
                 : "memory");
    return value;
}

static __device__ void store_release(unsigned *to, unsigned value)
{
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(to)), "r"(value)
                 : "memory");
}

/* The block waits until the count is above `least`; one thread looks. */
static __device__ void wait_above(const unsigned *count, unsigned least)
{
    if (threadIdx.x == 0)
        while (load_acquire(count) <= least)
            ;
    __syncthreads();
}

static __device__ void announce(unsigned *count, unsigned value)
{
    __syncthreads(); /* all threads are done with the tile */
    if (threadIdx.x == 0)
        store_release(count, value);
}

static __device__ void produce(unsigned pair, unsigned tiles, unsigned slots, unsigned *ring, unsigned *made,
                               const unsigned *used)
{
    for (unsigned tile = 0; tile < tiles; tile++) {
        if (tile >= slots) /* the slot has been used before */
            wait_above(used, tile - slots);
        ring[tile % slots * blockDim.x + threadIdx.x] =
            (pair + 1) * 2654435761u ^ tile * 40503u ^ threadIdx.x;
        announce(made, tile + 1);
    }
}

static __device__ unsigned consume(unsigned tiles, unsigned slots, const unsigned *ring, const unsigned *made,
                                   unsigned *used)
{
    unsigned sum = 0;
    for (unsigned tile = 0; tile < tiles; tile++) {
        wait_above(made, tile);
        sum = sum * 31 + ring[tile % slots * blockDim.x + threadIdx.x];
        announce(used, tile + 1);
    }
    return sum;
}

/* made, used: tiles of each pair so far */
extern "C" __global__ void prodcons(unsigned tiles, unsigned slots, unsigned *rings, unsigned *made,
                                    unsigned *used, unsigned *sums)
{
    unsigned pairs = gridDim.x / 2, pair = blockIdx.x % pairs;
    unsigned *ring = rings + pair * slots * blockDim.x;
    if (blockIdx.x < pairs)
        sums[pair * blockDim.x + threadIdx.x] = consume(tiles, slots, ring, &made[pair], &used[pair]);
    else
        produce(pair, tiles, slots, ring, &made[pair], &used[pair]);
}

WORKLOAD_MAIN(prodcons, KERNEL(prodcons))
