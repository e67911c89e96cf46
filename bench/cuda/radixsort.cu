#include "native.cuh"
#include "radixsort.c"

enum { BLOCK = RADIXSORT_BLOCK, DIGITS = RADIXSORT_DIGITS, WARPS = BLOCK / 32 };

/* counts: for each digit, for each tile, how many keys of the tile have the digit */
extern "C" __global__ void radixsort_count(unsigned n, unsigned shift, const unsigned *keys, unsigned *counts)
{
    __shared__ unsigned local[DIGITS];
    unsigned i = blockIdx.x * BLOCK + threadIdx.x;
    if (threadIdx.x < DIGITS)
        local[threadIdx.x] = 0;
    __syncthreads();
    if (i < n)
        atomicAdd(&local[keys[i] >> shift & (DIGITS - 1)], 1);
    __syncthreads();
    if (threadIdx.x < DIGITS)
        counts[threadIdx.x * gridDim.x + blockIdx.x] = local[threadIdx.x];
}

static __device__ unsigned warp_scan(unsigned value) /* inclusive */
{
    for (unsigned distance = 1; distance < 32; distance *= 2) {
        unsigned before = __shfl_up_sync(0xffffffffu, value, distance);
        if (threadIdx.x % 32 >= distance)
            value += before;
    }
    return value;
}

/* Exclusive prefix sums in place, by one block. */
extern "C" __global__ void radixsort_scan(unsigned n, unsigned *counts)
{
    __shared__ unsigned totals[WARPS];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, carry = 0;
    for (unsigned start = 0; start < n; start += BLOCK) {
        unsigned i = start + threadIdx.x, value = i < n ? counts[i] : 0, sum = warp_scan(value);
        if (lane == 31)
            totals[warp] = sum;
        __syncthreads();
        if (warp == 0) {
            unsigned total = warp_scan(lane < WARPS ? totals[lane] : 0);
            if (lane < WARPS)
                totals[lane] = total;
        }
        __syncthreads();
        if (i < n)
            counts[i] = carry + (warp ? totals[warp - 1] : 0) + sum - value;
        carry += totals[WARPS - 1];
        __syncthreads();
    }
}

/* Each key goes where its digit starts in its tile, after the equal digits before it. */
extern "C" __global__ void radixsort_scatter(unsigned n, unsigned shift, const unsigned *keys,
                                             const unsigned *values, const unsigned *starts,
                                             unsigned *to_keys, unsigned *to_values)
{
    __shared__ unsigned places[WARPS][DIGITS + 1]; /* the last: lanes past the end */
    unsigned i = blockIdx.x * BLOCK + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned key = i < n ? keys[i] : 0, digit = i < n ? key >> shift & (DIGITS - 1) : DIGITS;
    for (unsigned d = lane; d <= DIGITS; d += 32)
        places[warp][d] = 0;
    __syncwarp();
    unsigned equals = __match_any_sync(0xffffffffu, digit), rank = __popc(equals & ((1u << lane) - 1));
    if (rank == 0)
        places[warp][digit] = __popc(equals);
    __syncthreads();
    if (threadIdx.x < DIGITS) { /* counts of warps become places of their first */
        unsigned place = starts[threadIdx.x * gridDim.x + blockIdx.x];
        for (unsigned w = 0; w < WARPS; w++) {
            unsigned count = places[w][threadIdx.x];
            places[w][threadIdx.x] = place;
            place += count;
        }
    }
    __syncthreads();
    if (i < n) {
        unsigned place = places[warp][digit] + rank;
        to_keys[place] = key;
        to_values[place] = values[i];
    }
}

WORKLOAD_MAIN(radixsort, KERNEL(radixsort_count) KERNEL(radixsort_scan) KERNEL(radixsort_scatter))
