#include "native.cuh"
#include "convolution.c"

enum { X = CONVOLUTION_X, Y = CONVOLUTION_Y, RADIUS = CONVOLUTION_RADIUS, TAPS = CONVOLUTION_TAPS };

static __device__ int clamp(int at, int size)
{
    return min(max(at, 0), size - 1);
}

extern "C" __global__ void convolution_rows(struct convolution_filter filter, int width, int height,
                                            const float *from, float *to)
{
    __shared__ float tile[Y][X + 2 * RADIUS];
    int x = blockIdx.x * X + threadIdx.x, y = blockIdx.y * Y + threadIdx.y;
    const float *row = from + clamp(y, height) * width;
    for (int i = threadIdx.x; i < X + 2 * RADIUS; i += X)
        tile[threadIdx.y][i] = row[clamp((int)(blockIdx.x * X) + i - RADIUS, width)];
    __syncthreads();
    if (x < width && y < height) {
        float sum = 0;
        for (int tap = 0; tap < TAPS; tap++)
            sum = fmaf(filter.weights[tap], tile[threadIdx.y][threadIdx.x + tap], sum);
        to[y * width + x] = sum;
    }
}

extern "C" __global__ void convolution_columns(struct convolution_filter filter, int width, int height,
                                               const float *from, float *to)
{
    __shared__ float tile[Y + 2 * RADIUS][X];
    int x = blockIdx.x * X + threadIdx.x, y = blockIdx.y * Y + threadIdx.y;
    const float *column = from + clamp(x, width);
    for (int i = threadIdx.y; i < Y + 2 * RADIUS; i += Y)
        tile[i][threadIdx.x] = column[clamp((int)(blockIdx.y * Y) + i - RADIUS, height) * width];
    __syncthreads();
    if (x < width && y < height) {
        float sum = 0;
        for (int tap = 0; tap < TAPS; tap++)
            sum = fmaf(filter.weights[tap], tile[threadIdx.y + tap][threadIdx.x], sum);
        to[y * width + x] = sum;
    }
}

WORKLOAD_MAIN(convolution, KERNEL(convolution_rows) KERNEL(convolution_columns))
