#include "native.cuh"
#include "pathfinder.c"

enum { BLOCK = PATHFINDER_BLOCK };

/* Rows `row` to `row + rows - 1`; from: the costs above them. */
extern "C" __global__ void pathfinder(int columns, int row, int rows, const int *wall, const int *from,
                                      int *to)
{
    __shared__ int costs[BLOCK];
    int me = threadIdx.x, x = blockIdx.x * (BLOCK - 2 * rows) + me - rows;
    bool inside = x >= 0 && x < columns;
    int cost = inside ? from[x] : INT32_MAX; /* no way leads outside */
    costs[me] = cost;
    for (int step = 1; step <= rows; step++, row++) {
        __syncthreads();
        if (inside && me >= step && me < BLOCK - step)
            cost = min(cost, min(costs[me - 1], costs[me + 1])) + wall[row * columns + x];
        __syncthreads(); /* all have read their neighbours */
        costs[me] = cost;
    }
    if (inside && me >= rows && me < BLOCK - rows)
        to[x] = cost;
}

WORKLOAD_MAIN(pathfinder, KERNEL(pathfinder))
