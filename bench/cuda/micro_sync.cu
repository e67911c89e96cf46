#include "native.cuh"
#include "micro_sync.c"

#define SYNC(name, step)                                                                                     \
    extern "C" __global__ void name(unsigned steps, unsigned *words, micro_time *times)                      \
    {                                                                                                        \
        uint64_t start = 0, end = 0;                                                                         \
        _Pragma("unroll 1") for (unsigned pass = 0; pass < 2; pass++)                                        \
        {                                                                                                    \
            __syncthreads();                                                                                 \
            start = micro_clock();                                                                           \
            _Pragma("unroll 4") for (unsigned i = 0; i < steps; i++)                                         \
            {                                                                                                \
                step;                                                                                        \
            }                                                                                                \
            end = micro_clock();                                                                             \
        }                                                                                                    \
        micro_note(times, start, end);                                                                       \
    }

/* A store that no compiler takes out of the loop; a thread's word is behind the one that counts arrivals. */
static __device__ __forceinline__ void put(unsigned *words, unsigned value)
{
    unsigned *word = words + 1 + blockIdx.x * blockDim.x + threadIdx.x;
    asm volatile("st.global.u32 [%0],%1;" ::"l"(word), "r"(value) : "memory");
}

/* All blocks: the n-th wait ends when all have arrived n times. */
static __device__ __forceinline__ void wait_for_all(unsigned *arrived, unsigned n)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(arrived, 1);
        while (*(volatile unsigned *)arrived < n * gridDim.x)
            ;
        __threadfence();
    }
    __syncthreads();
}

SYNC(micro_barrier, __syncthreads())
SYNC(micro_syncwarp, __syncwarp(); asm volatile("" ::: "memory"))
SYNC(micro_fence_block, put(words, i); __threadfence_block())
SYNC(micro_fence_gpu, put(words, i); __threadfence())
SYNC(micro_fence_sys, put(words, i); __threadfence_system())
SYNC(micro_fence_only, __threadfence())
SYNC(micro_grid_barrier, wait_for_all(words, pass *steps + i + 1))

WORKLOAD_MAIN(micro_sync,
              KERNEL(micro_barrier) KERNEL(micro_syncwarp) KERNEL(micro_fence_block) KERNEL(micro_fence_gpu)
                  KERNEL(micro_fence_sys) KERNEL(micro_fence_only) KERNEL(micro_grid_barrier))
