#include "native.cuh"
#include "bfs.c"

/* Several threads may reach a node; all of them write the same. */
extern "C" __global__ void bfs(unsigned nodes, unsigned level, const unsigned *starts, const unsigned *ends,
                               unsigned *levels, unsigned *more)
{
    unsigned node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= nodes || levels[node] != level)
        return;
    for (unsigned edge = starts[node]; edge < starts[node + 1]; edge++) {
        unsigned end = ends[edge];
        if (levels[end] == UINT32_MAX) {
            levels[end] = level + 1;
            *more = 1;
        }
    }
}

WORKLOAD_MAIN(bfs, KERNEL(bfs))
