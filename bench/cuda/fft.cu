#include "native.cuh"
#include "fft.c"

/* Each step reads one half of the shared memory and writes the other. */
extern "C" __global__ void fft(unsigned n, const float2 *roots, float2 *data)
{
    __shared__ float2 halves[2][FFT_MOST];
    unsigned now = 0;
    data += blockIdx.x * n;
    for (unsigned i = threadIdx.x; i < n; i += FFT_BLOCK)
        halves[0][i] = data[i];
    for (unsigned size = 1; size < n; size *= 2, now ^= 1) {
        const float2 *from = halves[now];
        float2 *to = halves[now ^ 1];
        __syncthreads();
        for (unsigned i = threadIdx.x; i < n / 2; i += FFT_BLOCK) {
            unsigned within = i & (size - 1), out = 2 * i - within;
            float2 a = from[i], b = from[i + n / 2], root = roots[within * (n / 2 / size)];
            float x = fmaf(b.x, root.x, -(b.y * root.y)), y = fmaf(b.x, root.y, b.y * root.x);
            to[out] = make_float2(a.x + x, a.y + y);
            to[out + size] = make_float2(a.x - x, a.y - y);
        }
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < n; i += FFT_BLOCK)
        data[i] = halves[now][i];
}

WORKLOAD_MAIN(fft, KERNEL(fft))
