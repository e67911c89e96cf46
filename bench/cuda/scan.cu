#include "native.cuh"
#include "scan.c"

/* Scans a tile by a tree of sums, up and then down; the strides walk into bank conflicts, as they do in
 * programs that nobody tuned. */
extern "C" __global__ void scan_tiles(unsigned n, unsigned *data, unsigned *totals)
{
    __shared__ unsigned tile[SCAN_TILE];
    unsigned base = blockIdx.x * SCAN_TILE, me = threadIdx.x + 1;
    for (unsigned i = threadIdx.x; i < SCAN_TILE; i += SCAN_THREADS)
        tile[i] = base + i < n ? data[base + i] : 0;
    for (unsigned stride = 1; stride < SCAN_TILE; stride *= 2) {
        unsigned right = 2 * stride * me - 1;
        __syncthreads();
        if (right < SCAN_TILE)
            tile[right] += tile[right - stride];
    }
    for (unsigned stride = SCAN_TILE / 4; stride > 0; stride /= 2) {
        unsigned left = 2 * stride * me - 1;
        __syncthreads();
        if (left + stride < SCAN_TILE)
            tile[left + stride] += tile[left];
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < SCAN_TILE; i += SCAN_THREADS)
        if (base + i < n)
            data[base + i] = tile[i];
    if (threadIdx.x == 0)
        totals[blockIdx.x] = tile[SCAN_TILE - 1];
}

/* totals: scanned by now */
extern "C" __global__ void scan_add(unsigned n, unsigned *data, const unsigned *totals)
{
    unsigned base = blockIdx.x * SCAN_TILE;
    if (blockIdx.x == 0)
        return;
    for (unsigned i = base + threadIdx.x; i < base + SCAN_TILE && i < n; i += SCAN_THREADS)
        data[i] += totals[blockIdx.x - 1];
}

WORKLOAD_MAIN(scan, KERNEL(scan_tiles) KERNEL(scan_add))
