/* Atomics in global memory and LDS. */
#include "../check.h"

#include <hip/hip_runtime.h>
#include <vector>

enum { BINS = 64 };

__global__ void histogram(const unsigned char *in, int n, unsigned *bins)
{
    __shared__ unsigned own[BINS];
    for (int i = (int)threadIdx.x; i < BINS; i += (int)blockDim.x)
        own[i] = 0;
    __syncthreads();
    for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += (int)(gridDim.x * blockDim.x))
        atomicAdd(&own[in[i] % BINS], 1u);
    __syncthreads();
    for (int i = (int)threadIdx.x; i < BINS; i += (int)blockDim.x)
        atomicAdd(&bins[i], own[i]);
}

struct results {
    int sum, least, most;
    unsigned bits_or, bits_and, bits_xor, exchanged, swapped;
    unsigned long long wide;
    float real;
};

__global__ void each(results *r)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    atomicAdd(&r->sum, i);
    atomicSub(&r->sum, 1);
    atomicMin(&r->least, -i);
    atomicMax(&r->most, i);
    atomicOr(&r->bits_or, 1u << i % 31);
    atomicAnd(&r->bits_and, ~(1u << i % 7));
    atomicXor(&r->bits_xor, (unsigned)i);
    atomicExch(&r->exchanged, 77u);
    unsigned seen = r->swapped, old;
    do {
        old = seen;
        seen = atomicCAS(&r->swapped, old, old + 3);
    } while (seen != old);
    atomicAdd(&r->wide, (unsigned long long)i << 30);
    atomicAdd(&r->real, 0.5f);
}

int main(void)
{
    const int n = 20000, blocks = 5, threads = 192;
    std::vector<unsigned char> in(n);
    std::vector<unsigned> want(BINS), bins(BINS);
    unsigned char *device_in;
    unsigned *device_bins;
    for (int i = 0; i < n; i++)
        want[(in[i] = (unsigned char)(i * i >> 3)) % BINS]++;
    GOOD(hipMalloc((void **)&device_in, n));
    GOOD(hipMalloc((void **)&device_bins, BINS * sizeof(unsigned)));
    GOOD(hipMemcpy(device_in, in.data(), n, hipMemcpyHostToDevice));
    GOOD(hipMemset(device_bins, 0, BINS * sizeof(unsigned)));
    histogram<<<blocks, threads>>>(device_in, n, device_bins);
    GOOD(hipGetLastError());
    GOOD(hipMemcpy(bins.data(), device_bins, BINS * sizeof(unsigned), hipMemcpyDeviceToHost));
    CHECK(bins == want);

    const int items = blocks * threads;
    results start = {0, 0, 0, 0, ~0u, 0, 0, 0, 0, 0}, got, expected = start, *device;
    for (int i = 0; i < items; i++) {
        expected.sum += i - 1;
        expected.bits_or |= 1u << i % 31;
        expected.bits_and &= ~(1u << i % 7);
        expected.bits_xor ^= (unsigned)i;
        expected.swapped += 3;
        expected.wide += (unsigned long long)i << 30;
        expected.real += 0.5f;
    }
    GOOD(hipMalloc((void **)&device, sizeof *device));
    GOOD(hipMemcpy(device, &start, sizeof start, hipMemcpyHostToDevice));
    each<<<blocks, threads>>>(device);
    GOOD(hipGetLastError());
    GOOD(hipMemcpy(&got, device, sizeof got, hipMemcpyDeviceToHost));
    CHECK(got.sum == expected.sum);
    CHECK(got.least == 1 - items && got.most == items - 1);
    CHECK(got.bits_or == expected.bits_or && got.bits_and == expected.bits_and);
    CHECK(got.bits_xor == expected.bits_xor);
    CHECK(got.exchanged == 77 && got.swapped == expected.swapped);
    CHECK(got.wide == expected.wide && got.real == expected.real);
    return check_end("atomics");
}
