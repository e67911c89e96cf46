#include "native.cuh"
#include "micro_bandwidth.c"

/* One load, through L1 or past it, whose words are added up. */
template <typename T> static __device__ __forceinline__ unsigned load_l1(const void *at);
template <typename T> static __device__ __forceinline__ unsigned load_l2(const void *at);
#define LOAD(load, T, text, ...)                                                                             \
    template <> __device__ __forceinline__ unsigned load<T>(const void *at)                                  \
    {                                                                                                        \
        unsigned v[4] = {0, 0, 0, 0};                                                                        \
        asm volatile(text:__VA_ARGS__ : "l"(at) : "memory");                                                 \
        return v[0] ^ v[1] ^ v[2] ^ v[3];                                                                    \
    }
#define WORDS_4 "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
LOAD(load_l1, uint1, "ld.global.ca.u32 %0,[%1];", "=r"(v[0]))
LOAD(load_l1, uint2, "ld.global.ca.v2.u32 {%0,%1},[%2];", "=r"(v[0]), "=r"(v[1]))
LOAD(load_l1, uint4, "ld.global.ca.v4.u32 {%0,%1,%2,%3},[%4];", WORDS_4)
LOAD(load_l2, uint1, "ld.global.cg.u32 %0,[%1];", "=r"(v[0]))
LOAD(load_l2, uint2, "ld.global.cg.v2.u32 {%0,%1},[%2];", "=r"(v[0]), "=r"(v[1]))
LOAD(load_l2, uint4, "ld.global.cg.v4.u32 {%0,%1,%2,%3},[%4];", WORDS_4)

#define PARAMETERS                                                                                           \
    const char *from, char *to, uint64_t accesses, unsigned passes, unsigned warm, unsigned *out,            \
        micro_time *times

struct one {
    enum { count = 1 };
};
struct many {
    enum { count = MICRO_BANDWIDTH_UNROLL };
};

/* Every access of the thread, many at a time, over and over; the passes after a first one are timed. */
template <typename A>
static __device__ __forceinline__ void go_through(uint64_t accesses, unsigned passes, unsigned warm,
                                                  micro_time *times, A access)
{
    uint64_t start = micro_clock(), all = (uint64_t)gridDim.x * blockDim.x;
    uint64_t first = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
    for (unsigned pass = 0; pass < passes + warm; pass++) {
        if (pass == warm) {
            __syncthreads();
            start = micro_clock();
        }
        uint64_t i = first;
#pragma unroll 1
        for (; i + (MICRO_BANDWIDTH_UNROLL - 1) * all < accesses; i += MICRO_BANDWIDTH_UNROLL * all)
            access(many(), i, all);
#pragma unroll 1
        for (; i < accesses; i += all)
            access(one(), i, all);
    }
    __syncthreads();
    micro_note(times, start, micro_clock());
}

template <typename T> static __device__ __forceinline__ void read_through(PARAMETERS)
{
    unsigned sum = 0;
    go_through(accesses, passes, warm, times, [&](auto how, uint64_t i, uint64_t all) {
        enum { COUNT = decltype(how)::count };
        unsigned got[COUNT];
#pragma unroll
        for (int k = 0; k < COUNT; k++)
            got[k] = load_l2<T>(from + (i + k * all) * sizeof(T));
#pragma unroll
        for (int k = 0; k < COUNT; k++)
            sum ^= got[k];
    });
    if (sum == 1) /* never: all words are the same, and even in number */
        *out = sum;
}

extern "C" __global__ void micro_read4(PARAMETERS)
{
    read_through<uint1>(from, to, accesses, passes, warm, out, times);
}

extern "C" __global__ void micro_read8(PARAMETERS)
{
    read_through<uint2>(from, to, accesses, passes, warm, out, times);
}

extern "C" __global__ void micro_read16(PARAMETERS)
{
    read_through<uint4>(from, to, accesses, passes, warm, out, times);
}

extern "C" __global__ void micro_write16(PARAMETERS)
{
    go_through(accesses, passes, warm, times, [&](auto how, uint64_t i, uint64_t all) {
        enum { COUNT = decltype(how)::count };
#pragma unroll
        for (int k = 0; k < COUNT; k++)
            ((uint4 *)to)[i + k * all] = make_uint4(7, 7, 7, 7);
    });
}

extern "C" __global__ void micro_copy16(PARAMETERS)
{
    go_through(accesses, passes, warm, times, [&](auto how, uint64_t i, uint64_t all) {
        enum { COUNT = decltype(how)::count };
        uint4 got[COUNT];
#pragma unroll
        for (int k = 0; k < COUNT; k++)
            got[k] = __ldcg((const uint4 *)from + i + k * all);
#pragma unroll
        for (int k = 0; k < COUNT; k++)
            ((uint4 *)to)[i + k * all] = got[k];
    });
}

/* Pairs of threads load the halves of a sector; which sector is a hash of the pair's number. */
extern "C" __global__ void micro_read_random(PARAMETERS)
{
    unsigned sum = 0, mask = (unsigned)(accesses / 2 - 1);
    go_through(accesses, passes, warm, times, [&](auto how, uint64_t i, uint64_t all) {
        enum { COUNT = decltype(how)::count };
        unsigned got[COUNT];
#pragma unroll
        for (int k = 0; k < COUNT; k++) {
            unsigned pair = (unsigned)((i + k * all) / 2), hash = pair * 2654435761u;
            hash = (hash ^ hash >> 15) * 2246822519u;
            hash ^= hash >> 13;
            got[k] = load_l2<uint4>(from + (uint64_t)(hash & mask) * 32 + (i + k * all) % 2 * 16);
        }
#pragma unroll
        for (int k = 0; k < COUNT; k++)
            sum ^= got[k];
    });
    if (sum == 1)
        *out = sum;
}

/* One block; its warps load the same lines, 8 times a round. */
template <typename T>
static __device__ __forceinline__ void read_l1(const char *memory, unsigned stride, unsigned passes,
                                               unsigned *out, micro_time *times)
{
    const char *at = memory + threadIdx.x % 32 * stride;
    unsigned sum = 0;
    uint64_t start = 0, end = 0;
#pragma unroll 1
    for (int timed = 0; timed < 2; timed++) {
        __syncthreads();
        start = micro_clock();
#pragma unroll 1
        for (unsigned i = 0; i < passes; i++) {
            unsigned got[MICRO_BANDWIDTH_UNROLL];
#pragma unroll
            for (int k = 0; k < MICRO_BANDWIDTH_UNROLL; k++)
                got[k] = load_l1<T>(at + i % 4 * 4096 + k * 512); /* moving, or it would be loaded once */
#pragma unroll
            for (int k = 0; k < MICRO_BANDWIDTH_UNROLL; k++)
                sum += got[k];
        }
        end = micro_clock();
    }
    micro_note(times, start, end);
    if (sum)
        *out = sum;
}

#define L1_READ(name, T)                                                                                     \
    extern "C" __global__ void name(const char *memory, unsigned stride, unsigned passes, unsigned *out,     \
                                    micro_time *times)                                                       \
    {                                                                                                        \
        read_l1<T>(memory, stride, passes, out, times);                                                      \
    }
L1_READ(micro_l1_read4, uint1)
L1_READ(micro_l1_read8, uint2)
L1_READ(micro_l1_read16, uint4)

WORKLOAD_MAIN(micro_bandwidth, KERNEL(micro_read4) KERNEL(micro_read8) KERNEL(micro_read16)
                                   KERNEL(micro_write16) KERNEL(micro_copy16) KERNEL(micro_read_random)
                                       KERNEL(micro_l1_read4) KERNEL(micro_l1_read8) KERNEL(micro_l1_read16))
