#include "native.cuh"
#include "pagerank.c"

extern "C" __global__ void pagerank(unsigned nodes, float base, const unsigned *starts, const unsigned *from,
                                    const float *shares, const float *ranks, float *next)
{
    unsigned page = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    if (page >= nodes)
        return;
    for (unsigned i = starts[page]; i < starts[page + 1]; i++)
        sum = fmaf(ranks[from[i]], shares[from[i]], sum);
    next[page] = fmaf(PAGERANK_DAMPING, sum, base);
}

WORKLOAD_MAIN(pagerank, KERNEL(pagerank))
