#include <cuda_fp16.h>
#include "native.cuh"
#include "wgmma.cuh"
#include "matmul_wgmma.c"

enum {
    ROWS = MATMUL_WGMMA_ROWS,
    COLUMNS = MATMUL_WGMMA_COLUMNS,
    DEPTH = MATMUL_WGMMA_DEPTH,
    THREADS = MATMUL_WGMMA_THREADS,
    LINE = 128,  /* bytes that a swizzle permutes 16 bytes in */
    PIECES = 8,  /* of 16 bytes in a line */
    ATOM = 1024, /* 8 lines */
    STEP = 16,   /* places of k in a product */
};

/* Tiles in shared memory. Lines of a are along k, those of b along columns, 64 of them after the others. */
struct stage {
    char a[ROWS * LINE], b[COLUMNS / 64 * DEPTH * LINE];
};

/* Piece `piece` of a line. */
static __device__ __forceinline__ void put(char *lines, unsigned line, unsigned piece, uint4 value)
{
    *(uint4 *)(lines + line * LINE + ((piece ^ (line & 7)) * 16)) = value;
}

static __device__ __forceinline__ void load(struct stage *to, const half *a, const half *b, unsigned n, unsigned k)
{
#pragma unroll
    for (unsigned i = threadIdx.x; i < ROWS * PIECES; i += THREADS)
        put(to->a, i / PIECES, i % PIECES, *(const uint4 *)(a + i / PIECES * k + i % PIECES * 8));
#pragma unroll
    for (unsigned i = threadIdx.x; i < DEPTH * COLUMNS / 8; i += THREADS) {
        unsigned line = i / (COLUMNS / 8), piece = i % (COLUMNS / 8);
        put(to->b + piece / PIECES * DEPTH * LINE, line, piece % PIECES,
            *(const uint4 *)(b + line * n + piece * 8));
    }
}

static __device__ __forceinline__ void multiply(const struct stage *of, unsigned *sums)
{
    wgmma_begin();
#pragma unroll
    for (unsigned k = 0; k < DEPTH; k += STEP) {
        uint64_t a = wgmma_descriptor(of->a + k * 2, 16, ATOM, WGMMA_SWIZZLE_128);
        uint64_t b = wgmma_descriptor(of->b + k * LINE, DEPTH * LINE, ATOM, WGMMA_SWIZZLE_128);
        asm volatile("{ .reg .pred p; setp.eq.u32 p, 0, 0;\n"
                     "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 " WGMMA_LIST_64
                     ", %64, %65, p, 1, 1, 0, 1; }"
                     : WGMMA_SUMS_64(sums, 0)
                     : "l"(a), "l"(b)
                     : "memory");
    }
    wgmma_commit();
}

/* Two stages: one is filled while the other is multiplied. */
extern "C" __global__ void __launch_bounds__(THREADS)
    matmul_wgmma(unsigned n, unsigned k, const half *a, const half *b, float *c)
{
    __shared__ __align__(1024) struct stage stages[2];
    unsigned sums[COLUMNS / 2];
    a += blockIdx.y * ROWS * k;
    b += blockIdx.x * COLUMNS;
    c += blockIdx.y * ROWS * n + blockIdx.x * COLUMNS;
#pragma unroll
    for (unsigned i = 0; i < COLUMNS / 2; i++)
        sums[i] = 0;
    load(&stages[0], a, b, n, k);
    for (unsigned at = 0; at < k; at += DEPTH) {
        wgmma_publish();
        __syncthreads();
        multiply(&stages[at / DEPTH & 1], sums);
        if (at + DEPTH < k)
            load(&stages[(at / DEPTH & 1) ^ 1], a + at + DEPTH, b + (at + DEPTH) * n, n, k);
        wgmma_wait();
    }
    unsigned row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
#pragma unroll
    for (unsigned i = 0; i < COLUMNS / 2; i += 2) {
        float2 pair = {__uint_as_float(sums[i]), __uint_as_float(sums[i + 1])};
        *(float2 *)(c + (row + i % 4 / 2 * 8) * n + column + i / 4 * 8) = pair;
    }
}

WORKLOAD_MAIN(matmul_wgmma, KERNEL(matmul_wgmma))
