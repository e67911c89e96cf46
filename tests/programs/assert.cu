/* A device-side assert: told on stderr, and an error that stays. */
#include <assert.h>
#include "check.h"

__global__ void careful(int limit)
{
    assert((int)threadIdx.x < limit);
}

int main()
{
    void *d;
    careful<<<1, 32>>>(32);
    GOOD(cudaDeviceSynchronize());
    careful<<<2, 32>>>(31);
    GIVES(cudaErrorAssert, cudaDeviceSynchronize());
    GIVES(cudaErrorAssert, cudaMalloc(&d, 4));
    return check_end("assert");
}
