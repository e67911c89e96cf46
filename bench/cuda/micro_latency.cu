#include "native.cuh"
#include "micro_latency.c"

/* Loads that depend on each other: `before` untimed ones, then `steps` timed ones, in batches of 16. */
#define CHASE(name, load)                                                                                    \
    extern "C" __global__ void name(const void *from, unsigned before, unsigned steps, micro_time *time,     \
                                    uint64_t *last)                                                          \
    {                                                                                                        \
        uint64_t at = (uint64_t)from, start = 0, end = 0;                                                    \
        _Pragma("unroll 1") for (int timed = 0; timed < 2; timed++)                                          \
        {                                                                                                    \
            unsigned batches = (timed ? steps : before) / MICRO_LATENCY_BATCH;                               \
            start = micro_clock();                                                                           \
            _Pragma("unroll 1") for (unsigned i = 0; i < batches; i++)                                       \
            {                                                                                                \
                MICRO_16(asm volatile(load : "+l"(at)::"memory");)                                           \
            }                                                                                                \
            end = micro_clock();                                                                             \
        }                                                                                                    \
        time->start = start, time->end = end;                                                                \
        *last = at;                                                                                          \
    }
CHASE(micro_chase_l1, "ld.global.ca.u64 %0,[%0];")
CHASE(micro_chase_l2, "ld.global.cg.u64 %0,[%0];")

/* All words are 0, which only the loads can know. */
__constant__ unsigned micro_constants[MICRO_CONSTANT_WORDS];

extern "C" __global__ void micro_chase_constant(unsigned words, unsigned stride, unsigned before,
                                                unsigned steps, micro_time *time, uint64_t *last)
{
    uint64_t start = 0, end = 0;
    unsigned at =
        threadIdx.x; /* 0, which only the GPU knows: else the loads would be those of uniform registers */
#pragma unroll 1
    for (int timed = 0; timed < 2; timed++) {
        unsigned batches = (timed ? steps : before) / MICRO_LATENCY_BATCH;
        start = micro_clock();
#pragma unroll 1
        for (unsigned i = 0; i < batches; i++) {
            MICRO_16(at = (at + stride + micro_constants[at]) & (words - 1);)
        }
        end = micro_clock();
    }
    time->start = start, time->end = end;
    *last = at;
}

static __device__ __forceinline__ unsigned load_word(const char *at)
{
    unsigned word;
    asm volatile("ld.global.cg.u32 %0,[%1];" : "=r"(word) : "l"(at) : "memory");
    return word;
}

/* The block on the SM `toucher` loads all lines, then the one on `timer` times a load of each. All words are
 * 0. */
extern "C" __global__ void micro_lines(unsigned toucher, unsigned timer, const char *memory, unsigned lines,
                                       unsigned stride, volatile unsigned *touched, unsigned *cycles)
{
    unsigned here, word = 0;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(here));
    if (threadIdx.x)
        return;
    if (here == toucher) {
        for (unsigned i = 0; i < lines; i++)
            word |= load_word(memory + (size_t)i * stride);
        *touched = 1 + word;
    }
    if (here != timer)
        return;
    while (!*touched)
        ;
#pragma unroll 1
    for (unsigned i = 0; i < lines; i++) {
        uint64_t start = micro_clock(), end = 0;
        word = load_word(memory + (size_t)i * stride + word);
        asm volatile("{.reg .pred p; setp.ne.u32 p,%1,1; @p mov.u64 %0,%%clock64;}" /* waits for the word */
                     : "+l"(end)
                     : "r"(word)
                     : "memory");
        cycles[i] = (unsigned)(end - start);
    }
}

WORKLOAD_MAIN(micro_latency,
              KERNEL(micro_chase_l1) KERNEL(micro_chase_l2) KERNEL(micro_chase_constant) KERNEL(micro_lines))
