#include "native.cuh"
#include "micro_cluster.c"

static __device__ __forceinline__ unsigned shared_at(const void *place)
{
    return (unsigned)__cvta_generic_to_shared(place);
}

static __device__ __forceinline__ unsigned rank_here(void)
{
    unsigned rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

/* The same place in the shared memory of another block. */
static __device__ __forceinline__ unsigned map(unsigned at, unsigned rank)
{
    asm("mapa.shared::cluster.u32 %0, %0, %1;" : "+r"(at) : "r"(rank));
    return at;
}

static __device__ __forceinline__ void meet(void)
{
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

static __device__ __forceinline__ void barrier_wait(unsigned barrier, unsigned parity)
{
    asm volatile("{\n.reg .pred done;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra again;\n}" ::"r"(barrier), "r"(parity) : "memory");
}

/* Two passes: the second finds its code near. */
#define MEASURED(...)                                                                                        \
    uint64_t start = 0, end = 0;                                                                             \
    _Pragma("unroll 1") for (unsigned pass = 0; pass < 2; pass++)                                            \
    {                                                                                                        \
        meet();                                                                                              \
        start = micro_clock();                                                                               \
        __VA_ARGS__                                                                                          \
        end = micro_clock();                                                                                 \
    }                                                                                                        \
    meet();                                                                                                  \
    micro_note(times, start, end);

#define KERNEL_OF(kind, size)                                                                                \
    extern "C" __global__ void __cluster_dims__(size, 1, 1)                                                  \
        micro_cluster_##kind##_##size(unsigned steps, unsigned bytes, const unsigned *in, unsigned *out,     \
                                      struct micro_time *times)                                              \
    {                                                                                                        \
        (void)bytes, (void)in;                                                                               \
        out[blockIdx.x * blockDim.x + threadIdx.x] = kind##_of(size, steps, bytes, in, times);               \
    }

/* A chain of addresses in the next block's shared memory. */
static __device__ __forceinline__ unsigned load_of(unsigned size, unsigned steps, unsigned, const unsigned *,
                                                   struct micro_time *times)
{
    __shared__ unsigned chain[MICRO_CLUSTER_WORDS];
    unsigned next = (rank_here() + 1) % size, far = map(shared_at(chain), next), at = far;
    unsigned here = map(shared_at(chain), rank_here());
    for (unsigned i = threadIdx.x; i < MICRO_CLUSTER_WORDS; i += 32)
        chain[i] = here + (i + MICRO_CLUSTER_STRIDE) % MICRO_CLUSTER_WORDS * 4;
    MEASURED(
        at = far;
        _Pragma("unroll 4") for (unsigned i = 0; i < steps; i++)
            asm volatile("ld.shared::cluster.u32 %0, [%0];" : "+r"(at)::"memory");)
    return at - far;
}

static __device__ __forceinline__ unsigned atomic_of(unsigned size, unsigned steps, unsigned, const unsigned *,
                                                     struct micro_time *times)
{
    __shared__ unsigned words[32];
    unsigned far = map(shared_at(words + threadIdx.x), (rank_here() + 1) % size), old = 0;
    words[threadIdx.x] = 0;
    MEASURED(
        _Pragma("unroll 4") for (unsigned i = 0; i < steps; i++)
        {
            unsigned at = far + (old & 0x80000000u);
            asm volatile("atom.shared::cluster.add.u32 %0, [%1], 1;" : "=r"(old) : "r"(at) : "memory");
        })
    return (old + 1) / 2;
}

/* All warps read what the next block has, 16 bytes a thread. */
static __device__ __forceinline__ unsigned stream_of(unsigned size, unsigned steps, unsigned, const unsigned *,
                                                     struct micro_time *times)
{
    __shared__ __align__(16) unsigned words[MICRO_CLUSTER_WORDS];
    unsigned far = map(shared_at(words), (rank_here() + 1) % size), sum = 0;
    for (unsigned i = threadIdx.x; i < MICRO_CLUSTER_WORDS; i += blockDim.x)
        words[i] = 1;
    MEASURED(
        sum = 0;
        _Pragma("unroll 8") for (unsigned i = 0; i < steps; i++)
        {
            unsigned a, b, c, d, at = far + (i * blockDim.x + threadIdx.x) * 16 % (MICRO_CLUSTER_WORDS * 4);
            asm volatile("ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                         : "r"(at));
            sum += a + b + c + d;
        })
    return sum;
}

static __device__ __forceinline__ unsigned barrier_of(unsigned, unsigned steps, unsigned, const unsigned *,
                                                      struct micro_time *times)
{
    unsigned count = 0;
    MEASURED(
        count = 0;
        _Pragma("unroll 4") for (unsigned i = 0; i < steps; i++)
        {
            meet();
            count++;
        })
    return count;
}

/* Each block reads a part of the bytes, which all get. */
static __device__ __forceinline__ unsigned multicast_of(unsigned size, unsigned steps, unsigned bytes,
                                                        const unsigned *in, struct micro_time *times)
{
    __shared__ __align__(128) unsigned words[MICRO_CLUSTER_BYTES / 4];
    __shared__ __align__(8) uint64_t barrier;
    unsigned rank = rank_here(), part = bytes / size, phase = 0, sum = 0, bar = shared_at(&barrier);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    MEASURED(
        _Pragma("unroll 1") for (unsigned i = 0; i < steps; i++)
        {
            if (threadIdx.x == 0)
                asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes)
                             : "memory");
            meet();
            if (threadIdx.x == 0)
                asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                             "[%0], [%1], %2, [%3], %4;" ::"r"(shared_at(words) + rank * part),
                             "l"((const char *)in + rank * part), "r"(part), "r"(bar), "h"((unsigned short)((1u << size) - 1))
                             : "memory");
            barrier_wait(bar, phase);
            phase ^= 1;
        })
    for (unsigned i = 0; i < bytes / 4; i++)
        sum += words[i];
    return sum;
}

#define SIZES(kind) KERNEL_OF(kind, 2) KERNEL_OF(kind, 4) KERNEL_OF(kind, 8)
SIZES(load) SIZES(stream) SIZES(barrier) SIZES(multicast) SIZES(atomic)

#define NAMES(kind) KERNEL(micro_cluster_##kind##_2) KERNEL(micro_cluster_##kind##_4) KERNEL(micro_cluster_##kind##_8)
WORKLOAD_MAIN(micro_cluster, NAMES(load) NAMES(stream) NAMES(barrier) NAMES(multicast) NAMES(atomic))
