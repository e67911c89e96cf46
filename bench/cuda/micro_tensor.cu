#include <mma.h>
#include "native.cuh"
#include "micro_tensor.c"

using namespace nvcuda;

/* All elements of a are 1, all of b `one`, which only the GPU knows: of halves of the tile that are the same
 * for sure the compiler would make one product. Halves, which could not hold the sum, multiply by 0. */
template <typename T, typename S>
static __device__ void chain(unsigned rounds, T one, float *out, struct micro_time *times)
{
    __shared__ __align__(32) T ones[256];
    for (unsigned i = threadIdx.x; i < 256; i += blockDim.x)
        ones[i] = one;
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, T, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, T, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, S> sum;
    wmma::fill_fragment(a, (T)1);
    wmma::load_matrix_sync(b, ones, 16);
    wmma::fill_fragment(sum, (S)0);
    uint64_t start = 0, end = 0;
#pragma unroll 1
    for (int pass = 0; pass < 2; pass++) {
        __syncthreads();
        start = micro_clock();
#pragma unroll 1
        for (unsigned i = 0; i < rounds; i++) {
            MICRO_8(wmma::mma_sync(sum, a, b, sum);)
        }
        float all = 0; /* of both halves; the end waits for them */
        for (int i = 0; i < sum.num_elements; i++)
            all += (float)sum.x[i];
        out[threadIdx.x] = all / sum.num_elements;
        end = micro_clock();
    }
    micro_note(times, start, end);
}

extern "C" __global__ void micro_mma_f32(unsigned rounds, float *out, struct micro_time *times)
{
    chain<half, float>(rounds, __float2half(1.0f), out, times);
}

extern "C" __global__ void micro_mma_f16(unsigned rounds, float *out, struct micro_time *times)
{
    chain<half, half>(rounds, __float2half(0.0f), out, times);
}

extern "C" __global__ void micro_mma_s32(unsigned rounds, float *out, struct micro_time *times)
{
    chain<signed char, int>(rounds, (signed char)1, out, times);
}

WORKLOAD_MAIN(micro_tensor, KERNEL(micro_mma_f32) KERNEL(micro_mma_f16) KERNEL(micro_mma_s32))
