#include "native.cuh"
#include "wgmma.cuh"
#include "gemm_tma.c"

enum {
    ROWS = GEMM_TMA_ROWS,
    COLUMNS = GEMM_TMA_COLUMNS,
    DEPTH = GEMM_TMA_DEPTH,
    STAGES = GEMM_TMA_STAGES,
    GROUPS = GEMM_TMA_GROUPS,
    LINE = 128,  /* bytes of k in a step: what a swizzle permutes 16 bytes in */
    ATOM = 1024, /* 8 lines */
    STEP = 16,   /* places of k in a product */
    SUMS = COLUMNS / 2,
};

/* In shared memory, as 32-bit addresses: where stages begin, and barriers of each. */
struct pipeline {
    unsigned tiles, full, empty; /* full: the tiles are there; empty: all have multiplied them */
};

/* Which stage a step has, and the parity of its barriers' phase. */
struct turn {
    unsigned stage, parity;
};

static __device__ __forceinline__ unsigned shared_at(const void *place)
{
    return (unsigned)__cvta_generic_to_shared(place);
}

static __device__ __forceinline__ void next(struct turn *turn)
{
    if (++turn->stage == STAGES)
        turn->stage = 0, turn->parity ^= 1;
}

static __device__ __forceinline__ void barrier_wait(unsigned barrier, unsigned parity)
{
    asm volatile("{\n.reg .pred done;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra again;\n}" ::"r"(barrier), "r"(parity) : "memory");
}

static __device__ __forceinline__ unsigned rank_here(void)
{
    unsigned rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

/* All threads of the cluster that have not ended. */
static __device__ __forceinline__ void meet(void)
{
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

static __device__ __forceinline__ bool elected(void)
{
    unsigned is;
    asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(is));
    return is;
}

static __device__ __forceinline__ void copy(unsigned to, const struct dev_tensor *map, unsigned k, unsigned row,
                                            unsigned barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 ::"r"(to), "l"(map), "r"(k), "r"(row), "r"(barrier) : "memory");
}

/* To the same place of both blocks, whose barriers count it. */
static __device__ __forceinline__ void copy_to_both(unsigned to, const struct dev_tensor *map, unsigned k, unsigned row,
                                                    unsigned barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
                 "[%0], [%1, {%2, %3}], [%4], %5;"
                 ::"r"(to), "l"(map), "r"(k), "r"(row), "r"(barrier), "h"((unsigned short)3) : "memory");
}

static __device__ __forceinline__ void arrive(unsigned barrier, unsigned rank)
{
    asm volatile("{\n.reg .b32 at;\nmapa.shared::cluster.u32 at, %0, %1;\n"
                 "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [at];\n}" ::"r"(barrier), "r"(rank) : "memory");
}

/* One thread: keeps the stages full. Blocks of a cluster have tiles of the same columns, in rows one after the other. */
template <unsigned CLUSTER>
static __device__ __forceinline__ void produce(struct pipeline pipeline, const struct dev_tensor *a,
                                               const struct dev_tensor *b, unsigned tiles_m, unsigned tiles, unsigned steps)
{
    struct turn turn = {0, 1}; /* no stage is in use */
    unsigned rank = CLUSTER > 1 ? rank_here() : 0;
    for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        unsigned row = tile % tiles_m * ROWS, column = tile / tiles_m * COLUMNS;
        for (unsigned step = 0; step < steps; step++, next(&turn)) {
            unsigned full = pipeline.full + turn.stage * 8, to = pipeline.tiles + turn.stage * (GEMM_TMA_A + GEMM_TMA_B);
            barrier_wait(pipeline.empty + turn.stage * 8, turn.parity);
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(full), "r"(GEMM_TMA_A + GEMM_TMA_B)
                         : "memory");
            copy(to, a, step * DEPTH, row, full);
            if (CLUSTER == 1)
                copy(to + GEMM_TMA_A, b, step * DEPTH, column, full);
            else
                copy_to_both(to + GEMM_TMA_A + rank * (GEMM_TMA_B / CLUSTER), b, step * DEPTH,
                             column + rank * (COLUMNS / CLUSTER), full);
        }
    }
}

template <bool BRAIN>
static __device__ __forceinline__ void multiply(unsigned a, unsigned b, unsigned *sums, bool adds)
{
    wgmma_begin();
#pragma unroll
    for (unsigned k = 0; k < DEPTH; k += STEP) {
        uint64_t lines_a = wgmma_descriptor_at(a + k * 2, 16, ATOM, WGMMA_SWIZZLE_128);
        uint64_t lines_b = wgmma_descriptor_at(b + k * 2, 16, ATOM, WGMMA_SWIZZLE_128);
        if (BRAIN)
            asm volatile("{ .reg .pred p; setp.ne.u32 p, %130, 0;\n"
                         "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 " WGMMA_LIST_128
                         ", %128, %129, p, 1, 1, 0, 0; }"
                         : WGMMA_SUMS_128(sums, 0)
                         : "l"(lines_a), "l"(lines_b), "r"((unsigned)adds)
                         : "memory");
        else
            asm volatile("{ .reg .pred p; setp.ne.u32 p, %130, 0;\n"
                         "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 " WGMMA_LIST_128
                         ", %128, %129, p, 1, 1, 0, 0; }"
                         : WGMMA_SUMS_128(sums, 0)
                         : "l"(lines_a), "l"(lines_b), "r"((unsigned)adds)
                         : "memory");
        adds = true;
    }
    wgmma_commit();
}

/* Whoever fills the stage waits for every group of each block whose tiles it fills. */
template <unsigned CLUSTER> static __device__ __forceinline__ void give_back(unsigned empty)
{
    if (threadIdx.x % 128 < CLUSTER)
        arrive(empty, CLUSTER > 1 ? threadIdx.x % 128 : 0);
}

/* One product is on its way while the next step's tiles are waited for: then the stage before is empty. */
template <bool BRAIN, unsigned CLUSTER>
static __device__ __forceinline__ void consume(struct pipeline pipeline, float *c, unsigned tiles_m, unsigned tiles,
                                               unsigned steps, unsigned group)
{
    struct turn turn = {0, 0};
    unsigned sums[SUMS], n = tiles / tiles_m * COLUMNS;
    unsigned at = group * (ROWS / GROUPS) + threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
#pragma unroll
    for (unsigned i = 0; i < SUMS; i++)
        sums[i] = 0;
    for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        unsigned before = 0;
        for (unsigned step = 0; step < steps; step++, next(&turn)) {
            unsigned lines = pipeline.tiles + turn.stage * (GEMM_TMA_A + GEMM_TMA_B);
            barrier_wait(pipeline.full + turn.stage * 8, turn.parity);
            multiply<BRAIN>(lines + group * (GEMM_TMA_A / GROUPS), lines + GEMM_TMA_A, sums, step);
            if (step) {
                wgmma_wait_but<1>();
                give_back<CLUSTER>(before);
            }
            before = pipeline.empty + turn.stage * 8;
        }
        wgmma_wait();
        give_back<CLUSTER>(before);
        size_t row = (size_t)(tile % tiles_m) * ROWS + at;
        float *out = c + row * n + tile / tiles_m * COLUMNS + threadIdx.x % 4 * 2;
#pragma unroll
        for (unsigned i = 0; i < SUMS; i += 2) {
            float2 pair = {__uint_as_float(sums[i]), __uint_as_float(sums[i + 1])};
            *(float2 *)(out + (size_t)(i % 4 / 2 * 8) * n + i / 4 * 8) = pair;
        }
    }
}

template <bool BRAIN, unsigned CLUSTER>
static __device__ __forceinline__ void gemm(const struct dev_tensor *a, const struct dev_tensor *b, float *c,
                                            unsigned tiles_m, unsigned tiles_n, unsigned steps)
{
    extern __shared__ char shared[];
    __shared__ uint64_t full[STAGES], empty[STAGES];
    struct pipeline pipeline = {(shared_at(shared) + 1023) & ~1023u, shared_at(full), shared_at(empty)};
    unsigned tiles = tiles_m * tiles_n;
    if (threadIdx.x == 0) {
        for (unsigned i = 0; i < STAGES; i++) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(pipeline.full + i * 8) : "memory");
            asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(pipeline.empty + i * 8), "r"(GROUPS * CLUSTER)
                         : "memory");
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    if (CLUSTER > 1)
        meet();
    else
        __syncthreads();
    if (threadIdx.x / 128 == GROUPS) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x / 32 != GROUPS * 4)
            return; /* one warp is enough */
        if (elected())
            produce<CLUSTER>(pipeline, a, b, tiles_m, tiles, steps);
        __syncwarp();
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        consume<BRAIN, CLUSTER>(pipeline, c, tiles_m, tiles, steps, threadIdx.x / 128);
    }
    if (CLUSTER > 1)
        meet(); /* the other block's copies and arrivals end here, too */
}

#define KERNEL_OF(type, brain, cluster)                                                                      \
    extern "C" __global__ void __cluster_dims__(cluster, 1, 1) __launch_bounds__(GEMM_TMA_THREADS, 1)        \
        gemm_tma_##type##_##cluster(const __grid_constant__ struct dev_tensor a,                             \
                                    const __grid_constant__ struct dev_tensor b, float *c, unsigned tiles_m, \
                                    unsigned tiles_n, unsigned steps)                                        \
    {                                                                                                        \
        gemm<brain, cluster>(&a, &b, c, tiles_m, tiles_n, steps);                                            \
    }
KERNEL_OF(f16, false, 1) KERNEL_OF(f16, false, 2) KERNEL_OF(bf16, true, 1) KERNEL_OF(bf16, true, 2)

WORKLOAD_MAIN(gemm_tma, KERNEL(gemm_tma_f16_1) KERNEL(gemm_tma_f16_2) KERNEL(gemm_tma_bf16_1) KERNEL(gemm_tma_bf16_2))
