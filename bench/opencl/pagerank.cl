#define DAMPING 0.85f

__kernel void pagerank(uint nodes, float base, __global const uint *starts, __global const uint *from,
                       __global const float *shares, __global const float *ranks, __global float *next)
{
    uint page = get_global_id(0);
    float sum = 0;
    if (page >= nodes)
        return;
    for (uint i = starts[page]; i < starts[page + 1]; i++)
        sum = fma(ranks[from[i]], shares[from[i]], sum);
    next[page] = fma(DAMPING, sum, base);
}
