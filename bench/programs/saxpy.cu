/* y = a x + y over pageable memory; the CPU makes the vectors and checks all of the result. */
#include "program.cuh"

enum { N = 1 << 20 };
static const float A = 3;
static float *x, *y, *device_x, *device_y;

__global__ void saxpy(float a, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

static bool region(struct run *run)
{
    for (int i = 0; i < N; i++) {
        x[i] = (float)(i & 1023);
        y[i] = (float)(i >> 10);
    }
    run_was(run, CPU);
    run_copy(run, device_x, x, N * sizeof *x, cudaMemcpyHostToDevice);
    run_copy(run, device_y, y, N * sizeof *y, cudaMemcpyHostToDevice);
    saxpy<<<N / 256, 256>>>(A, device_x, device_y, N);
    run_kernels(run);
    run_copy(run, y, device_y, N * sizeof *y, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < N; i++)
        wrong += y[i] != A * (float)(i & 1023) + (float)(i >> 10);
    run_was(run, CPU);
    return !wrong;
}

int main(int count, char **words)
{
    x = (float *)malloc(N * sizeof *x);
    y = (float *)malloc(N * sizeof *y);
    CHECK(cudaMalloc(&device_x, N * sizeof *x));
    CHECK(cudaMalloc(&device_y, N * sizeof *y));
    return program_main(count, words, "saxpy", region);
}
