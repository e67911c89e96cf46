/* Much that has state of its own while a kernel runs: grid-wide barriers, malloc, calls that call themselves on parting ways, locks,
 * asynchronous copies, printf, the host's memory; in several streams. heddle run is to save it in the middle (tests/cli/resume.sh). */
#include "check.h"

#include <string.h>

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

namespace groups = cooperative_groups;

enum { N = 4096, ROUNDS = 6 };

__global__ void rounds(unsigned *data)
{
    groups::grid_group grid = groups::this_grid();
    unsigned me = grid.thread_rank();
    for (int i = 0; i < ROUNDS; i++) {
        unsigned other = data[(me * 7 + i) % N];
        grid.sync();
        data[me] = data[me] * 3 + other;
        grid.sync();
    }
}

/* Memory of malloc that outlives its kernel. */
__device__ unsigned *kept[32];

__global__ void keep(void)
{
    unsigned *list = (unsigned *)malloc((threadIdx.x + 1) * sizeof *list);
    for (unsigned i = 0; i <= threadIdx.x; i++)
        list[i] = threadIdx.x + i;
    kept[threadIdx.x] = list;
}

__global__ void give(unsigned *sums)
{
    unsigned sum = 0;
    for (unsigned i = 0; i <= threadIdx.x; i++)
        sum += kept[threadIdx.x][i];
    free(kept[threadIdx.x]);
    sums[threadIdx.x] = sum;
}

__device__ __noinline__ unsigned climb(unsigned n)
{
    if (n < 2)
        return 1;
    return n & 1 ? climb(n - 1) + climb(n - 2) : climb(n / 2) * 3;
}

__global__ void climbs(unsigned *results)
{
    unsigned me = blockIdx.x * blockDim.x + threadIdx.x;
    results[me] = climb(me % 23);
    if (me % 100 == 99)
        printf("thread %u climbed %u\n", me, results[me]);
}

__global__ void locked(unsigned *lock, unsigned *counter)
{
    for (int i = 0; i < 4; i++) {
        bool done = false;
        while (!done) {
            if (atomicCAS(lock, 0, 1) == 0) {
                *(volatile unsigned *)counter = *(volatile unsigned *)counter + 1;
                __threadfence();
                atomicExch(lock, 0);
                done = true;
            }
        }
    }
}

__global__ void staged(const unsigned *in, unsigned *out)
{
    __shared__ unsigned tile[2][128];
    groups::thread_block block = groups::this_thread_block();
    unsigned sum = 0;
    groups::memcpy_async(block, tile[0], in, sizeof tile[0]);
    for (int i = 0; i < N / 128; i++) {
        if (i + 1 < N / 128)
            groups::memcpy_async(block, tile[(i + 1) % 2], in + (i + 1) * 128, sizeof tile[0]);
        if (i + 1 < N / 128)
            groups::wait_prior<1>(block);
        else
            groups::wait(block);
        block.sync();
        sum += tile[i % 2][(threadIdx.x * 5 + i) % 128];
        block.sync();
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void to_host(volatile unsigned *host, unsigned *managed)
{
    unsigned me = blockIdx.x * blockDim.x + threadIdx.x;
    host[me] = me * 3;
    atomicAdd(&managed[me % 7], me);
}

static unsigned climb_here(unsigned n)
{
    return n < 2 ? 1 : n & 1 ? climb_here(n - 1) + climb_here(n - 2) : climb_here(n / 2) * 3;
}

int main(void)
{
    unsigned *data, *sums, *climbed, *lock, *tiles, *host, *managed;
    static unsigned back[N];
    cudaStream_t streams[3];
    GOOD(cudaMalloc(&data, N * 4));
    GOOD(cudaMalloc(&sums, N * 4));
    GOOD(cudaMalloc(&climbed, N * 4));
    GOOD(cudaMalloc(&tiles, N * 4));
    GOOD(cudaMalloc(&lock, 8));
    GOOD(cudaMallocHost(&host, N * 4));
    GOOD(cudaMallocManaged(&managed, 7 * 4));
    for (int i = 0; i < 3; i++)
        GOOD(cudaStreamCreate(&streams[i]));
    static unsigned start[N];
    for (unsigned i = 0; i < N; i++)
        start[i] = i * i;
    for (int i = 0; i < 7; i++)
        managed[i] = i;
    GOOD(cudaMemset(lock, 0, 8));
    GOOD(cudaMemcpy(data, start, sizeof start, cudaMemcpyHostToDevice));
    GOOD(cudaMemcpy(tiles, start, sizeof start, cudaMemcpyHostToDevice));

    keep<<<1, 32, 0, streams[0]>>>();
    climbs<<<8, 96, 0, streams[1]>>>(climbed);
    locked<<<2, 32, 0, streams[2]>>>(lock, lock + 1);
    to_host<<<N / 128, 128, 0, streams[0]>>>(host, managed);
    GOOD(cudaStreamSynchronize(streams[0]));
    for (unsigned i = 0; i < N; i++)
        CHECK(host[i] == i * 3);
    unsigned all = 0;
    for (int i = 0; i < 7; i++)
        all += managed[i] - i;
    CHECK(all == N / 2 * (N - 1));
    GOOD(cudaDeviceSynchronize());

    give<<<1, 32>>>(sums);
    GOOD(cudaMemcpy(back, sums, 32 * 4, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < 32; i++)
        CHECK(back[i] == (i + 1) * i + i * (i + 1) / 2);
    GOOD(cudaMemcpy(back, climbed, 8 * 96 * 4, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < 8 * 96; i++)
        CHECK(back[i] == climb_here(i % 23));
    GOOD(cudaMemcpy(back, lock + 1, 4, cudaMemcpyDeviceToHost));
    CHECK(back[0] == 2 * 32 * 4);

    staged<<<2, 128>>>(tiles, climbed);
    GOOD(cudaMemcpy(back, climbed, 256 * 4, cudaMemcpyDeviceToHost));
    for (unsigned t = 0; t < 256; t++) {
        unsigned sum = 0;
        for (unsigned i = 0; i < N / 128; i++)
            sum += start[i * 128 + (t % 128 * 5 + i) % 128];
        CHECK(back[t] == sum);
    }

    void *arguments[] = {&data};
    GOOD(cudaLaunchCooperativeKernel((void *)rounds, N / 256, 256, arguments, 0, 0));
    GOOD(cudaMemcpy(back, data, sizeof back, cudaMemcpyDeviceToHost));
    static unsigned next[N];
    for (int i = 0; i < ROUNDS; i++) {
        for (unsigned k = 0; k < N; k++)
            next[k] = start[k] * 3 + start[(k * 7 + i) % N];
        memcpy(start, next, sizeof start);
    }
    CHECK(!memcmp(back, start, sizeof back));
    return check_end("checkpoint");
}
