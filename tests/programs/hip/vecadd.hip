/* Vector addition in pieces, each in a stream of its own; events take the time. */
#include "../check.h"

#include <hip/hip_runtime.h>
#include <vector>

__global__ void add(const float *a, const float *b, float *c, int n, float scale)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        c[i] = a[i] + scale * b[i];
}

int main(void)
{
    const int n = 100003, pieces = 4, piece = (n + pieces - 1) / pieces;
    std::vector<float> a(n), b(n), c(n);
    float *at[3], time = -1, kernel_time = -1;
    hipStream_t streams[pieces];
    hipEvent_t start, stop, before, behind;
    for (int i = 0; i < n; i++) {
        a[i] = (float)i;
        b[i] = (float)(i % 17) - 8;
    }
    for (float *&pointer : at)
        GOOD(hipMalloc((void **)&pointer, n * sizeof(float)));
    GOOD(hipEventCreate(&start));
    GOOD(hipEventCreate(&stop));
    GOOD(hipEventCreate(&before));
    GOOD(hipEventCreate(&behind));
    GOOD(hipEventRecord(start));
    for (int p = 0; p < pieces; p++) {
        int from = p * piece, count = n - from < piece ? n - from : piece;
        size_t bytes = count * sizeof(float);
        GOOD(hipStreamCreate(&streams[p]));
        GOOD(hipMemcpyAsync(at[0] + from, &a[from], bytes, hipMemcpyHostToDevice, streams[p]));
        GOOD(hipMemcpyAsync(at[1] + from, &b[from], bytes, hipMemcpyHostToDevice, streams[p]));
        add<<<(count + 255) / 256, 256, 0, streams[p]>>>(at[0] + from, at[1] + from, at[2] + from, count, 0.5f);
        GOOD(hipGetLastError());
        GOOD(hipMemcpyAsync(&c[from], at[2] + from, bytes, hipMemcpyDeviceToHost, streams[p]));
    }
    GOOD(hipDeviceSynchronize());
    GOOD(hipEventRecord(stop));
    GOOD(hipEventSynchronize(stop));
    GOOD(hipEventElapsedTime(&time, start, stop));
    CHECK(time > 0);
    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += c[i] != a[i] + 0.5f * b[i];
    CHECK(!wrong);

    /* the same with events around the kernel alone */
    int count = n;
    float scale = 2;
    void *arguments[] = {&at[0], &at[1], &at[2], &count, &scale};
    GOOD(hipExtLaunchKernel((const void *)add, dim3((n + 127) / 128), dim3(128), arguments, 0, streams[1], before,
                            behind, 0));
    GOOD(hipStreamSynchronize(streams[1]));
    GOOD(hipEventElapsedTime(&kernel_time, before, behind));
    CHECK(kernel_time > 0);
    GOOD(hipMemcpy(c.data(), at[2], n * sizeof(float), hipMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        wrong += c[i] != a[i] + 2 * b[i];
    CHECK(!wrong);
    return check_end("vecadd");
}
