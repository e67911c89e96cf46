/* Kernels that bench/cuda does not have: of programs whose other half is the CPU's, and of memory
 * measurements. Made into kernels.ptx by ./regenerate. */
#include "shapes.h"

typedef unsigned long long u64;

/* ---- backprop: a block has 16 inputs and all hidden units ---- */

extern "C" __global__ void hetero_forward(const float *input, const float *weights, float *partial)
{
    __shared__ float products[BACKPROP_HIDDEN][BACKPROP_HIDDEN];
    unsigned unit = threadIdx.x, mine = threadIdx.y, row = blockIdx.x * BACKPROP_HIDDEN + mine;
    products[mine][unit] = input[row] * weights[row * BACKPROP_HIDDEN + unit];
    for (unsigned half = BACKPROP_HIDDEN / 2; half; half /= 2) {
        __syncthreads();
        if (mine < half)
            products[mine][unit] += products[mine + half][unit];
    }
    if (mine == 0)
        partial[blockIdx.x * BACKPROP_HIDDEN + unit] = products[0][unit];
}

extern "C" __global__ void hetero_adjust(const float *input, const float *delta, float *weights, float *before)
{
    unsigned unit = threadIdx.x, row = blockIdx.x * BACKPROP_HIDDEN + threadIdx.y;
    unsigned at = row * BACKPROP_HIDDEN + unit;
    float change = BACKPROP_RATE * delta[unit] * input[row] + BACKPROP_MOMENTUM * before[at];
    weights[at] += change;
    before[at] = change;
}

/* ---- kmeans: the CPU makes the new centers ---- */

extern "C" __global__ void hetero_assign(unsigned n, unsigned k, const int4 *points, const int4 *centers,
                                         unsigned *labels)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, nearest = 0, least = 0xffffffff;
    if (i >= n)
        return;
    int4 point = points[i];
    for (unsigned c = 0; c < k; c++) {
        int4 center = centers[c];
        int x = point.x - center.x, y = point.y - center.y, z = point.z - center.z, w = point.w - center.w;
        unsigned square = x * x + y * y + z * z + w * w;
        if (square < least)
            least = square, nearest = c;
    }
    labels[i] = nearest;
}

/* ---- srad: coefficients by the gradients, then the image by the coefficients ---- */

extern "C" __global__ void hetero_coefficients(unsigned side, float spread, const float *image, float *c)
{
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < side && y < side)
        c[y * side + x] = srad_coefficient(side, spread, image, x, y);
}

extern "C" __global__ void hetero_diffuse(unsigned side, const float *from, const float *c, float *to)
{
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < side && y < side)
        to[y * side + x] = srad_diffused(side, from, c, x, y);
}

/* ---- memory ---- */

/* Each thread reads a word; those of a warp are `stride` words apart, and together the threads read all. */
extern "C" __global__ void hetero_strided(unsigned n, unsigned stride, const unsigned *from, unsigned *to)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, columns = n / stride;
    if (i < n)
        to[i] = from[i % columns * stride + i / columns] + 1;
}

/* One thread follows indices; all of them once before, if told, so that caches know them. */
extern "C" __global__ void hetero_chase(unsigned steps, unsigned warm, const unsigned *next, u64 *result)
{
    unsigned at = 0;
    for (unsigned i = 0; i < warm; i++)
        at = next[at];
    u64 begin = clock64();
    for (unsigned i = 0; i < steps; i++)
        at = next[at];
    result[1] = at;
    result[0] = clock64() - begin;
}

extern "C" __global__ void hetero_add(unsigned n, unsigned value, const unsigned *from, unsigned *to)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        to[i] = from[i] + value;
}

/* ---- together with the CPU ---- */

static __device__ unsigned acquire(const unsigned *at)
{
    unsigned value;
    asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
}

static __device__ void release(unsigned *at, unsigned value)
{
    asm volatile("st.release.sys.global.u32 [%0], %1;" : : "l"(at), "r"(value) : "memory");
}

/* Waits for round 1, 2, ... of the CPU, and answers each. What the CPU wrote before is read in between. */
extern "C" __global__ void hetero_answer(unsigned rounds, const unsigned *asked, unsigned *answered,
                                         const unsigned *question, unsigned *sum)
{
    unsigned total = 0;
    for (unsigned round = 1; round <= rounds; round++) {
        while (acquire(asked) < round)
            ;
        total += *(const volatile unsigned *)question;
        *(volatile unsigned *)sum = total;
        release(answered, round);
    }
}

extern "C" __global__ void hetero_count(unsigned rounds, unsigned counters, unsigned *counts)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned round = 0; round < rounds; round++)
        atomicAdd_system(&counts[(i + round) % counters * COUNTER_APART], 1);
}

extern "C" __global__ void hetero_mix(unsigned n, unsigned rounds, unsigned *data)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = mixed(data[i], rounds);
}
