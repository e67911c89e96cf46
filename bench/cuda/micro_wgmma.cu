#include "native.cuh"
#include "wgmma.cuh"
#include "micro_wgmma.c"

/* Shared memory is filled with ones, so what descriptors say does not matter to the sums. */
enum { WORDS = MICRO_WGMMA_BYTES / 4, OFFSET_B = 16384 };

/* One product; sums are 32-bit registers of any type. */
#define PRODUCT(count, op, first, second, tail)                                                              \
    asm volatile("{ .reg .pred p; setp.eq.u32 p, 0, 0;\n"                                                    \
                 "wgmma.mma_async." op " " WGMMA_LIST_##count ", " first ", " second ", " tail "; }"         \
                 : WGMMA_SUMS_##count(sums, 0)                                                               \
                 : "l"(a), "l"(b), "r"(ones), "r"(0x44444444u)                                                                \
                 : "memory");

/* Rounds of products, and a wait behind each. */
#define KERNEL_OF(name, count, ones_, products, op, first, second, tail)                                     \
    extern "C" __global__ void name(unsigned rounds, unsigned *out, struct micro_time *times)                \
    {                                                                                                        \
        __shared__ __align__(1024) unsigned memory[WORDS];                                                   \
        const unsigned ones = ones_;                                                                         \
        unsigned sums[count];                                                                                \
        uint64_t start = 0, end = 0;                                                                         \
        for (unsigned i = threadIdx.x; i < WORDS; i += blockDim.x)                                           \
            memory[i] = ones;                                                                                \
        for (int i = 0; i < count; i++)                                                                      \
            sums[i] = 0;                                                                                     \
        wgmma_publish();                                                                                     \
        uint64_t a = wgmma_descriptor(memory, 16, 1024, WGMMA_SWIZZLE_128);                                  \
        uint64_t b = wgmma_descriptor(memory + OFFSET_B / 4, 16, 1024, WGMMA_SWIZZLE_128);                   \
        _Pragma("unroll 1") for (int pass = 0; pass < 2; pass++)                                             \
        {                                                                                                    \
            __syncthreads();                                                                                 \
            start = micro_clock();                                                                           \
            _Pragma("unroll 1") for (unsigned i = 0; i < rounds; i++)                                        \
            {                                                                                                \
                wgmma_begin();                                                                               \
                products(PRODUCT(count, op, first, second, tail)) wgmma_commit();                            \
                wgmma_wait();                                                                                \
            }                                                                                                \
            end = micro_clock();                                                                             \
        }                                                                                                    \
        unsigned same = sums[0];                                                                             \
        for (int i = 1; i < count; i++)                                                                      \
            same = sums[i] == same ? same : ~0u;                                                             \
        out[threadIdx.x] = same;                                                                             \
        micro_note(times, start, end);                                                                       \
    }

/* With 16 products a round, and with one. */
#define BOTH(kind, count, ones, op, first, second, tail)                                                     \
    KERNEL_OF(micro_wgmma_##kind, count, ones, MICRO_16, op, first, second, tail)                            \
    KERNEL_OF(micro_wgmma_##kind##_one, count, ones, MICRO_1, op, first, second, tail)
#define MICRO_1(x) x

/* %N behind the accumulators: a, b, ones, metadata */
BOTH(f16_n16, 8, 0x3c003c00u, "sync.aligned.m64n16k16.f32.f16.f16", "%8", "%9", "p, 1, 1, 0, 0")
BOTH(f16_n64, 32, 0x3c003c00u, "sync.aligned.m64n64k16.f32.f16.f16", "%32", "%33", "p, 1, 1, 0, 0")
BOTH(f16_n128, 64, 0x3c003c00u, "sync.aligned.m64n128k16.f32.f16.f16", "%64", "%65", "p, 1, 1, 0, 0")
BOTH(f16_n256, 128, 0x3c003c00u, "sync.aligned.m64n256k16.f32.f16.f16", "%128", "%129", "p, 1, 1, 0, 0")
BOTH(registers_n64, 32, 0x3c003c00u, "sync.aligned.m64n64k16.f32.f16.f16", "{%34, %34, %34, %34}", "%33",
     "p, 1, 1, 0")
BOTH(e4m3_n128, 64, 0x38383838u, "sync.aligned.m64n128k32.f32.e4m3.e4m3", "%64", "%65", "p, 1, 1")
BOTH(tf32_n128, 64, 0x3f800000u, "sync.aligned.m64n128k8.f32.tf32.tf32", "%64", "%65", "p, 1, 1")
BOTH(s8_n128, 64, 0x01010101u, "sync.aligned.m64n128k32.s32.s8.s8", "%64", "%65", "p")
BOTH(sparse_n128, 64, 0x3c003c00u, "sp.sync.aligned.m64n128k32.f32.f16.f16", "%64", "%65",
     "%67, 0, p, 1, 1, 0, 0")

#define KERNELS(kind) KERNEL(micro_wgmma_##kind) KERNEL(micro_wgmma_##kind##_one)
WORKLOAD_MAIN(micro_wgmma, KERNELS(f16_n16) KERNELS(f16_n64) KERNELS(f16_n128) KERNELS(f16_n256)
                  KERNELS(registers_n64) KERNELS(e4m3_n128) KERNELS(tf32_n128) KERNELS(s8_n128) KERNELS(sparse_n128))
