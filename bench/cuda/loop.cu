#include "native.cuh"
#include "loop.c"

/* Written out rather than shared with the host's side: the reference must stand on its own. */
extern "C" __global__ void loop_int(unsigned rounds, unsigned *out)
{
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned a = thread, b = thread ^ 0x9e3779b9u, c = 1, d = 7;
    for (unsigned i = 0; i < rounds; i++) {
        a = a * 1664525u + b;
        b = (b >> 3 ^ c) + i;
        c = (c << 1) + (a & d);
        d = d ^ (a + c);
    }
    out[thread] = a ^ b ^ c ^ d;
}

extern "C" __global__ void loop_fma(unsigned rounds, float *out)
{
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    float a = (float)thread, b = 1.0f, c = 0.5f, d = 0.25f;
    for (unsigned i = 0; i < rounds; i++) {
        a = fmaf(a, 0.999f, b);
        b = fmaf(b, 0.998f, c);
        c = fmaf(c, 0.997f, d);
        d = fmaf(d, 0.996f, 0.001f);
    }
    out[thread] = __fadd_rn(__fadd_rn(__fadd_rn(a, b), c), d);
}

extern "C" __global__ void loop_diverge(unsigned rounds, unsigned *out)
{
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, steps = 0;
    for (unsigned long long x = thread + 1; x != 1 && steps < rounds; steps++)
        x = x & 1 ? 3 * x + 1 : x >> 1;
    out[thread] = steps;
}

WORKLOAD_MAIN(loop, KERNEL(loop_int) KERNEL(loop_fma) KERNEL(loop_diverge))
