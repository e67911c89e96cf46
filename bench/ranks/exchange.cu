/* Three kernels on each GPU, which read the next GPU's memory: exchange ELEMENTS. For figures of docs/mpi.md.
 */
#include <cstdio>
#include <cstdlib>
__constant__ float scale = 2.0f;
__device__ int counter = 5;
__global__ void work(float *a, const float *b, int n, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float x = a[i];
        for (int r = 0; r < rounds; r++)
            x = x * scale * 0.5f + b[(i * 7 + r) % n];
        a[i] = x;
        if (i == 0) {
            atomicAdd(&counter, 1);
            printf("dev hello %d\n", n);
        }
    }
}
int main(int c, char **v)
{
    int n = c > 1 ? atoi(v[1]) : 1 << 16;
    int g;
    cudaGetDeviceCount(&g);
    float *a[16], *b[16];
    float *h = (float *)malloc(n * 4);
    for (int i = 0; i < n; i++)
        h[i] = i % 13;
    for (int d = 0; d < g; d++) {
        cudaSetDevice(d);
        cudaMalloc(&a[d], n * 4);
        cudaMalloc(&b[d], n * 4);
        cudaMemcpy(a[d], h, n * 4, cudaMemcpyHostToDevice);
        cudaMemcpy(b[d], h, n * 4, cudaMemcpyHostToDevice);
        for (int p = 0; p < g; p++)
            if (p != d)
                cudaDeviceEnablePeerAccess(p, 0);
    }
    for (int r = 0; r < 3; r++)
        for (int d = 0; d < g; d++) {
            cudaSetDevice(d);
            work<<<(n + 255) / 256, 256>>>(a[d], b[(d + r) % g], n, 20);
        }
    double s = 0;
    for (int d = 0; d < g; d++) {
        cudaSetDevice(d);
        cudaDeviceSynchronize();
        int k = 0;
        cudaMemcpyFromSymbol(&k, counter, 4);
        cudaMemcpy(h, a[d], n * 4, cudaMemcpyDeviceToHost);
        double t = 0;
        for (int i = 0; i < n; i++)
            t += h[i];
        printf("gpu %d sum %.3f counter %d %s\n", d, t, k, cudaGetErrorString(cudaGetLastError()));
        s += t;
    }
    printf("total %.3f\n", s);
    for (int d = 0; d < g; d++) {
        cudaFree(a[d]);
        cudaFree(b[d]);
    }
    return 0;
}
