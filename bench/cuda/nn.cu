#include "native.cuh"
#include "nn.c"

extern "C" __global__ void nn(unsigned n, struct nn_record target, const struct nn_record *records,
                              float *distances)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float y = records[i].latitude - target.latitude, x = records[i].longitude - target.longitude;
        distances[i] = sqrtf(fmaf(y, y, x * x));
    }
}

WORKLOAD_MAIN(nn, KERNEL(nn))
