/* The kernels of unified.c. unified.ptx is made from it: nvcc -ptx -arch=compute_75 -o unified.ptx unified.cu */
#include <cooperative_groups.h>

/* Each block's words, two times themselves and one. */
extern "C" __global__ void step(unsigned *words)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    words[i] = 2 * words[i] + 1;
}

/* On which SM each block runs. */
extern "C" __global__ void where(unsigned *sm_of)
{
    if (!threadIdx.x)
        asm volatile("mov.u32 %0, %%smid;" : "=r"(sm_of[blockIdx.x]));
}

/* Each round, all blocks add what the block behind them had in the round before. */
extern "C" __global__ void rounds(unsigned *words, unsigned count)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    for (unsigned round = 0; round < count; round++) {
        unsigned other = words[(i + blockDim.x) % all];
        grid.sync();
        words[i] += other;
        grid.sync();
    }
}
