/* malloc and free in kernels of many blocks: pieces of their own and of other blocks, in the same kernel and in later ones. Which
 * addresses they get is printed: in simulated time they, and so every statistic, must not depend on the number of threads. */
#include "check.h"

#include <cooperative_groups.h>

namespace groups = cooperative_groups;

enum { BLOCKS = 24, THREADS = 64, N = BLOCKS * THREADS, ROUNDS = 5 };

__device__ unsigned *pieces[N];

__device__ unsigned words_of(unsigned me, unsigned round)
{
    return 1 + (me * 7 + round * 13) % 40;
}

/* Every thread takes pieces, reads what another wrote and frees it: its own block's, or the next one's. */
__global__ void exchange(unsigned *sums, unsigned long long *places)
{
    groups::grid_group grid = groups::this_grid();
    unsigned me = blockIdx.x * THREADS + threadIdx.x, sum = 0;
    unsigned long long place = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned words = words_of(me, round);
        unsigned *own = (unsigned *)malloc(words * sizeof *own);
        for (unsigned i = 0; i < words; i++)
            own[i] = me + i * round;
        place = place * 31 + (unsigned long long)own;
        pieces[me] = own;
        grid.sync();
        unsigned other = (me + (round & 1 ? 1 : THREADS)) % N, others = words_of(other, round);
        for (unsigned i = 0; i < others; i++)
            sum += pieces[other][i];
        free(pieces[other]);
        grid.sync();
    }
    sums[me] = sum;
    places[me] = place;
}

/* Blocks that do not wait for each other: those that start later take what was freed before. */
__global__ void churn(unsigned *sums)
{
    unsigned me = blockIdx.x * THREADS + threadIdx.x, sum = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned words = words_of(me, round);
        unsigned *own = (unsigned *)malloc(words * sizeof *own);
        for (unsigned i = 0; i < words; i++)
            own[i] = me + i;
        for (unsigned i = 0; i < words; i++)
            sum += own[words - 1 - i];
        if (round + 1 == ROUNDS)
            pieces[me] = own;
        else
            free(own);
    }
    sums[me] = sum;
}

/* Pieces of an earlier kernel, mostly of another SM. */
__global__ void give(unsigned *sums)
{
    unsigned me = blockIdx.x * THREADS + threadIdx.x, other = N - 1 - me;
    sums[me] += pieces[other][0];
    free(pieces[other]);
}

int main(void)
{
    unsigned *sums;
    unsigned long long *places, all = 0;
    static unsigned back[N];
    static unsigned long long places_back[N];
    GOOD(cudaMalloc(&sums, sizeof back));
    GOOD(cudaMalloc(&places, sizeof places_back));
    for (int run = 0; run < 2; run++) {
        void *arguments[] = {&sums, &places};
        GOOD(cudaLaunchCooperativeKernel((void *)exchange, BLOCKS, THREADS, arguments, 0, 0));
        GOOD(cudaMemcpy(back, sums, sizeof back, cudaMemcpyDeviceToHost));
        GOOD(cudaMemcpy(places_back, places, sizeof places_back, cudaMemcpyDeviceToHost));
        for (unsigned me = 0; me < N; me++) {
            unsigned sum = 0;
            for (unsigned round = 0; round < ROUNDS; round++) {
                unsigned other = (me + (round & 1 ? 1 : THREADS)) % N;
                unsigned words = 1 + (other * 7 + round * 13) % 40;
                sum += words * other + round * (words * (words - 1) / 2);
            }
            CHECK(back[me] == sum);
            all = all * 1000003 + places_back[me];
        }
        churn<<<BLOCKS, THREADS>>>(sums);
        give<<<BLOCKS, THREADS>>>(sums);
        GOOD(cudaMemcpy(back, sums, sizeof back, cudaMemcpyDeviceToHost));
        for (unsigned me = 0; me < N; me++) {
            unsigned sum = N - 1 - me;
            for (unsigned round = 0; round < ROUNDS; round++) {
                unsigned words = 1 + (me * 7 + round * 13) % 40;
                sum += words * me + words * (words - 1) / 2;
            }
            CHECK(back[me] == sum);
        }
    }
    printf("places: %llx\n", all);
    return check_end("heap");
}
