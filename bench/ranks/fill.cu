/* One kernel of FMAs on each GPU: fill BLOCKS ROUNDS. For figures of docs/mpi.md. */
#include <cstdio>
#include <cstdlib>
__global__ void fill(float *a, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = a[i], y = 1.0001f;
    for (int r = 0; r < rounds; r++) {
        x = x * y + 0.5f;
        y = y * 0.9999f + 0.0001f * x;
        x = x * y - 0.25f;
        y += 1e-6f;
    }
    a[i] = x + y;
}
int main(int c, char **v)
{
    int blocks = c > 1 ? atoi(v[1]) : 1056, rounds = c > 2 ? atoi(v[2]) : 500;
    int g;
    cudaGetDeviceCount(&g);
    float *a[64];
    int n = blocks * 256;
    float *h = (float *)malloc(n * 4);
    for (int i = 0; i < n; i++)
        h[i] = i % 13;
    for (int d = 0; d < g; d++) {
        cudaSetDevice(d);
        cudaMalloc(&a[d], n * 4);
        cudaMemcpy(a[d], h, n * 4, cudaMemcpyHostToDevice);
    }
    for (int d = 0; d < g; d++) {
        cudaSetDevice(d);
        fill<<<blocks, 256>>>(a[d], rounds);
    }
    double s = 0;
    for (int d = 0; d < g; d++) {
        cudaSetDevice(d);
        cudaMemcpy(h, a[d], n * 4, cudaMemcpyDeviceToHost);
        for (int i = 0; i < n; i++)
            s += h[i];
    }
    printf("total %.3f %s\n", s, cudaGetErrorString(cudaGetLastError()));
    return 0;
}
