#include "native.cuh"
#include "micro_shared.c"

struct result {
    unsigned x, y, z, w;
};

template <int width> static __device__ __forceinline__ result load(unsigned address, int offset)
{
    result r = {0, 0, 0, 0};
    if (width == 4)
        asm volatile("ld.shared.u32 %0,[%1];" : "=r"(r.x) : "r"(address + offset) : "memory");
    if (width == 8)
        asm volatile("ld.shared.v2.u32 {%0,%1},[%2];"
                     : "=r"(r.x), "=r"(r.y)
                     : "r"(address + offset)
                     : "memory");
    if (width == 16)
        asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3},[%4];"
                     : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w)
                     : "r"(address + offset)
                     : "memory");
    return r;
}

template <int width> static __device__ __forceinline__ void store(unsigned address, int offset, unsigned x)
{
    if (width == 4)
        asm volatile("st.shared.u32 [%0],%1;" ::"r"(address + offset), "r"(x) : "memory");
    if (width == 8)
        asm volatile("st.shared.v2.u32 [%0],{%1,%1};" ::"r"(address + offset), "r"(x) : "memory");
    if (width == 16)
        asm volatile("st.shared.v4.u32 [%0],{%1,%1,%1,%1};" ::"r"(address + offset), "r"(x) : "memory");
}

/* Runs a round again and again, and all of it twice: the first time fills the caches of instructions. A round
 * gets an offset of its own, a multiple of all banks, lest the compiler does its loads once for all rounds.
 */
template <typename R>
static __device__ __forceinline__ void measure(unsigned rounds, micro_time *times, R round)
{
    uint64_t start = 0, end = 0;
#pragma unroll 1
    for (int pass = 0; pass < 2; pass++) {
        __syncthreads();
        start = micro_clock();
#pragma unroll 1
        for (unsigned i = 0; i < rounds; i++)
            round(i % 4 * 1024);
        end = micro_clock();
    }
    micro_note(times, start, end);
}

#define PARAMETERS unsigned rounds, unsigned stride, unsigned *out, micro_time *times
#define SHARED_WORDS                                                                                         \
    __shared__ __align__(16) unsigned words[MICRO_SHARED_BYTES / 4];                                         \
    for (unsigned i = threadIdx.x; i < MICRO_SHARED_BYTES / 4; i += blockDim.x)                              \
        words[i] = 0;                                                                                        \
    __syncthreads();                                                                                         \
    unsigned base = (unsigned)__cvta_generic_to_shared(words), at = threadIdx.x % 32 * stride

/* Each lane's word holds its own address, so that a load's result is the address of the next. */
template <int width> static __device__ void chase(PARAMETERS)
{
    SHARED_WORDS;
    words[at / 4] = base + at;
    unsigned address = base + at;
    measure(rounds, times, [&](unsigned) { MICRO_16(address = load<width>(address, 0).x;) });
    out[threadIdx.x] = address - base;
}

/* Loads that do not wait for each other; what they give is used, or there would be none. */
template <int width> static __device__ void loads(PARAMETERS)
{
    SHARED_WORDS;
    unsigned sum = 0;
    measure(rounds, times, [&](unsigned offset) {
        result r[MICRO_SHARED_STEPS];
#pragma unroll
        for (int i = 0; i < MICRO_SHARED_STEPS; i++)
            r[i] = load<width>(base + at + offset, i * 512);
#pragma unroll
        for (int i = 0; i < MICRO_SHARED_STEPS; i++)
            sum += r[i].x ^ r[i].y ^ r[i].z ^ r[i].w;
    });
    out[threadIdx.x] = sum;
}

template <int width> static __device__ void stores(PARAMETERS)
{
    SHARED_WORDS;
    measure(rounds, times, [&](unsigned offset) {
#pragma unroll
        for (int i = 0; i < MICRO_SHARED_STEPS; i++)
            store<width>(base + at + offset, i * 512, at);
    });
    out[threadIdx.x] = words[at / 4];
}

#define WIDTHS(kernel, body)                                                                                 \
    extern "C" __global__ void kernel##4(PARAMETERS)                                                         \
    {                                                                                                        \
        body<4>(rounds, stride, out, times);                                                                 \
    }                                                                                                        \
    extern "C" __global__ void kernel##8(PARAMETERS)                                                         \
    {                                                                                                        \
        body<8>(rounds, stride, out, times);                                                                 \
    }                                                                                                        \
    extern "C" __global__ void kernel##16(PARAMETERS)                                                        \
    {                                                                                                        \
        body<16>(rounds, stride, out, times);                                                                \
    }
WIDTHS(micro_chase, chase)
WIDTHS(micro_load, loads)
WIDTHS(micro_store, stores)

extern "C" __global__ void micro_atom(PARAMETERS)
{
    SHARED_WORDS;
    unsigned address = base + at, old = 0;
    measure(rounds, times, [&](unsigned) {
        MICRO_16(asm volatile("{.reg .u32 x; atom.shared.add.u32 x,[%1],1; xor.b32 %0,%0,x;}"
                              : "+r"(old)
                              : "r"(address)
                              : "memory");)
    });
    __syncthreads();
    out[threadIdx.x] = words[at / 4] + (old == 0xffffffffu);
}

extern "C" __global__ void micro_red(PARAMETERS)
{
    SHARED_WORDS;
    unsigned address = base + at;
    measure(rounds, times, [&](unsigned) {
        MICRO_16(asm volatile("red.shared.add.u32 [%0],1;" ::"r"(address) : "memory");)
    });
    __syncthreads();
    out[threadIdx.x] = words[at / 4];
}

WORKLOAD_MAIN(micro_shared,
              KERNEL(micro_chase4) KERNEL(micro_chase8) KERNEL(micro_chase16) KERNEL(micro_load4)
                  KERNEL(micro_load8) KERNEL(micro_load16) KERNEL(micro_store4) KERNEL(micro_store8)
                      KERNEL(micro_store16) KERNEL(micro_atom) KERNEL(micro_red))
