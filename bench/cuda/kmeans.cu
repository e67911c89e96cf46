#include "native.cuh"
#include "kmeans.c"

static __device__ unsigned square_distance(int4 a, int4 b)
{
    int x = a.x - b.x, y = a.y - b.y, z = a.z - b.z, w = a.w - b.w;
    return x * x + y * y + z * z + w * w;
}

extern "C" __global__ void kmeans_assign(unsigned n, unsigned k, const int4 *points, const int4 *centers,
                                         unsigned *labels, unsigned long long *sums, unsigned *counts)
{
    __shared__ int4 local[KMEANS_MOST];
    unsigned i = blockIdx.x * KMEANS_BLOCK + threadIdx.x, nearest = 0, least = UINT32_MAX;
    for (unsigned c = threadIdx.x; c < k; c += KMEANS_BLOCK)
        local[c] = centers[c];
    __syncthreads();
    if (i >= n)
        return;
    int4 point = points[i];
    for (unsigned c = 0; c < k; c++) {
        unsigned square = square_distance(point, local[c]);
        if (square < least)
            least = square, nearest = c;
    }
    labels[i] = nearest;
    atomicAdd(&counts[nearest], 1);
    atomicAdd(&sums[nearest * KMEANS_DIMENSIONS], point.x);
    atomicAdd(&sums[nearest * KMEANS_DIMENSIONS + 1], point.y);
    atomicAdd(&sums[nearest * KMEANS_DIMENSIONS + 2], point.z);
    atomicAdd(&sums[nearest * KMEANS_DIMENSIONS + 3], point.w);
}

/* A block to a center, a thread to a dimension; sums and counts are zero again afterwards. */
extern "C" __global__ void kmeans_update(int *centers, unsigned long long *sums, unsigned *counts)
{
    unsigned i = blockIdx.x * KMEANS_DIMENSIONS + threadIdx.x, count = counts[blockIdx.x];
    if (count) /* else it stays where it is */
        centers[i] = sums[i] / count;
    sums[i] = 0;
    __syncthreads(); /* all have read the count */
    if (threadIdx.x == 0)
        counts[blockIdx.x] = 0;
}

WORKLOAD_MAIN(kmeans, KERNEL(kmeans_assign) KERNEL(kmeans_update))
