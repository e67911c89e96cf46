// Arrays of single bytes in private memory: every byte can be written, to the last of every work-item.
#include <hip/hip_runtime.h>
#include <stdio.h>

enum { BYTES = 1024, THREADS = 256 };

__global__ void sums(int count, int *result)
{
    volatile unsigned char bytes[BYTES];
    int sum = 0;
    for (int i = 0; i < count; i++)
        bytes[i] = (unsigned char)(i + threadIdx.x);
    for (int i = 0; i < count; i++)
        sum += bytes[i];
    result[threadIdx.x] = sum;
}

int main()
{
    int *result, wrong = 0;
    if (hipMallocManaged((void **)&result, THREADS * sizeof *result, hipMemAttachGlobal))
        return 1;
    sums<<<1, THREADS>>>(BYTES, result);
    if (hipDeviceSynchronize())
        return 1;
    for (int thread = 0; thread < THREADS; thread++) {
        int sum = 0;
        for (int i = 0; i < BYTES; i++)
            sum += (unsigned char)(i + thread);
        wrong += result[thread] != sum;
    }
    printf("private: %s\n", wrong ? "wrong" : "ok");
    return wrong != 0;
}
