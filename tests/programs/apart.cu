/* Separate compilation: kernel and function in different files, linked with -rdc=true (with apart_more.cu). */
#include "check.h"

extern __device__ int shared_number;
__device__ int more(int x);

__global__ void use(int *out)
{
    out[threadIdx.x] = more((int)threadIdx.x) + shared_number;
}

int main()
{
    int *d, h[8];
    GOOD(cudaMalloc(&d, sizeof h));
    use<<<1, 8>>>(d);
    GOOD(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    CHECK(h[0] == 1000 && h[7] == 1021);
    return check_end("apart");
}
