#include "native.cuh"
#include "micro_atomic.c"

/* `step` is one operation at `at`; `a` chains those that have a result. */
#define ATOMIC(name, type, step)                                                                             \
    extern "C" __global__ void name(char *memory, unsigned lane, unsigned warp, unsigned steps, type *out,   \
                                    micro_time *times)                                                       \
    {                                                                                                        \
        unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;                                             \
        unsigned number = blockIdx.x * ((blockDim.x + 31) / 32) + threadIdx.x / 32;                          \
        char *at = memory + (size_t)number * warp + threadIdx.x % 32 * lane;                                 \
        type a = 0;                                                                                          \
        __syncthreads();                                                                                     \
        uint64_t start = micro_clock(), end;                                                                 \
        _Pragma("unroll 4") for (unsigned i = 0; i < steps; i++) step;                                       \
        __syncthreads();                                                                                     \
        end = micro_clock();                                                                                 \
        if (threadIdx.x % 32 == 0)                                                                           \
            times[number].start = start, times[number].end = end;                                            \
        out[thread] = a;                                                                                     \
    }
ATOMIC(micro_atom_add_u32, unsigned, a = atomicAdd((unsigned *)at, a == 0xffffffffu ? 2 : 1))
ATOMIC(micro_atom_cas_u32, unsigned, a = atomicCAS((unsigned *)at, a, a + 1))
ATOMIC(micro_atom_exch_u32, unsigned, a = atomicExch((unsigned *)at, a + 1))
ATOMIC(micro_red_add_u32, unsigned, atomicAdd((unsigned *)at, 1))
ATOMIC(micro_red_add_f32, float, atomicAdd((float *)at, 1.0f))
ATOMIC(micro_red_add_u64, unsigned long long, atomicAdd((unsigned long long *)at, 1))
ATOMIC(micro_red_max_u32, unsigned, atomicMax((unsigned *)at, i))

#define A(name, type, adds) KERNEL(micro_##name)
WORKLOAD_MAIN(micro_atomic, MICRO_ATOMICS(A))
