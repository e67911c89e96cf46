#include "native.cuh"
#include "floydwarshall.c"

/* Nobody writes what another one reads: a way to or from `through` is not shorter through it. */
extern "C" __global__ void floydwarshall(unsigned n, unsigned through, unsigned *lengths, unsigned *via)
{
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n)
        return;
    unsigned length = lengths[y * n + through] + lengths[through * n + x];
    if (length < lengths[y * n + x]) {
        lengths[y * n + x] = length;
        via[y * n + x] = through;
    }
}

WORKLOAD_MAIN(floydwarshall, KERNEL(floydwarshall))
