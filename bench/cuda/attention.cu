#include "native.cuh"
#include "attention.c"

enum { WIDTH = ATTENTION_WIDTH, TILE = ATTENTION_TILE, WARPS = ATTENTION_WARPS };
enum { PER_LANE = WIDTH / 32 }; /* elements of the result that a lane sums */

static __device__ float warp_max(float value)
{
    for (int distance = 16; distance > 0; distance /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, distance));
    return value;
}

static __device__ float warp_sum(float value)
{
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, distance);
    return value;
}

/* Rows from `start` on, by all threads of the block; those past the end are zero. */
static __device__ void load_tile(float (*tile)[WIDTH + 1], const float *from, unsigned start, unsigned rows)
{
    for (unsigned row = threadIdx.y; row < TILE; row += WARPS)
        for (unsigned i = threadIdx.x; i < WIDTH; i += 32)
            tile[row][i] = start + row < rows ? from[(start + row) * WIDTH + i] : 0;
}

extern "C" __global__ void attention(unsigned n, const float *queries, const float *keys, const float *values,
                                     float *out)
{
    __shared__ float query[WARPS][WIDTH], key[TILE][WIDTH + 1], value[TILE][WIDTH + 1];
    unsigned lane = threadIdx.x, warp = threadIdx.y, row = blockIdx.x * WARPS + warp;
    float most = -INFINITY, total = 0, sums[PER_LANE] = {};
    for (unsigned i = lane; i < WIDTH; i += 32)
        query[warp][i] = row < n ? queries[row * WIDTH + i] : 0;
    for (unsigned start = 0; start < n; start += TILE) {
        load_tile(key, keys, start, n);
        load_tile(value, values, start, n);
        __syncthreads();
        float score = 0; /* of the lane's key */
        for (unsigned i = 0; i < WIDTH; i++)
            score = fmaf(query[warp][i], key[lane][i], score);
        score = start + lane < n ? score * rsqrtf(WIDTH) : -INFINITY;
        float larger = fmaxf(most, warp_max(score)), rescale = expf(most - larger);
        float weight = expf(score - larger);
        most = larger;
        total = fmaf(total, rescale, warp_sum(weight));
        for (unsigned i = 0; i < PER_LANE; i++)
            sums[i] *= rescale;
        for (unsigned k = 0; k < TILE; k++) {
            float share = __shfl_sync(0xffffffffu, weight, k);
            for (unsigned i = 0; i < PER_LANE; i++)
                sums[i] = fmaf(share, value[k][i * 32 + lane], sums[i]);
        }
        __syncthreads();
    }
    if (row < n)
        for (unsigned i = 0; i < PER_LANE; i++)
            out[row * WIDTH + i * 32 + lane] = sums[i] / total;
}

WORKLOAD_MAIN(attention, KERNEL(attention))
