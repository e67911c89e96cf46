/* Launches by kernels: in order in a block's streams, without order, behind the end of all; with copies and fills, deep,
 * with errors; questions of kernels. Built with -rdc=true and cudadevrt. */
#include "check.h"

__global__ void add(int *p, int value)
{
    p[threadIdx.x] += value;
}

__global__ void times_two(int *p)
{
    p[threadIdx.x] *= 2;
}

__global__ void in_order(int *p)
{
    add<<<1, 4>>>(p, 1);
    times_two<<<1, 4>>>(p);
    add<<<1, 4>>>(p, 3);
}

__global__ void at_the_end(int *p)
{
    times_two<<<1, 4, 0, cudaStreamTailLaunch>>>(p);
    add<<<1, 4, 0, cudaStreamTailLaunch>>>(p, 100);
    add<<<1, 4, 0, cudaStreamFireAndForget>>>(p, 5);
}

__global__ void in_a_stream(int *p)
{
    cudaStream_t stream;
    cudaEvent_t event;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    add<<<1, 4, 0, stream>>>(p, 7);
    cudaEventRecord(event, stream);
    cudaStreamWaitEvent(0, event, 0);
    times_two<<<1, 4>>>(p);
    cudaEventDestroy(event);
    cudaStreamDestroy(stream);
}

__global__ void each_block(int *p)
{
    if (threadIdx.x == 0)
        add<<<1, 4>>>(p + 4 * blockIdx.x, blockIdx.x + 1);
}

/* A tree of kernels; each leaf adds one. */
__global__ void tree(int *p, int depth)
{
    if (!depth) {
        atomicAdd(p, 1);
        return;
    }
    tree<<<1, 1, 0, cudaStreamFireAndForget>>>(p, depth - 1);
    tree<<<1, 1, 0, cudaStreamFireAndForget>>>(p, depth - 1);
}

__global__ void moves(int *p, int *q)
{
    p[0] = 11;
    cudaMemcpyAsync(q, p, 8, cudaMemcpyDeviceToDevice, 0);
    cudaMemsetAsync(p, 0, 4, 0);
}

__global__ void wrong(int *p)
{
    int *q = p;
    add<<<1, 2048>>>(q, 1);
    p[1] = cudaGetLastError();
    p[2] = cudaGetLastError();
    add<<<1, 1>>>(q, 9);
    p[3] = cudaPeekAtLastError();
}

__device__ bool same(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

__global__ void asks(int *p)
{
    int value = 0;
    size_t wide = 0;
    cudaFuncAttributes attributes;
    void *memory = NULL;
    p[0] = cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, 0) == cudaSuccess && value == 1024;
    p[1] = cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 99) == cudaErrorInvalidValue;
    p[2] = cudaDeviceGetLimit(&wide, cudaLimitDevRuntimePendingLaunchCount) == cudaSuccess && wide == 2048;
    p[3] = cudaFuncGetAttributes(&attributes, add) == cudaSuccess && attributes.maxThreadsPerBlock == 1024;
    p[4] = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, add, 1024, 0) == cudaSuccess && value == 2;
    p[5] = same(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue");
    p[6] = same(cudaGetErrorString(cudaSuccess), "no error");
    p[7] = cudaMalloc(&memory, 64) == cudaSuccess && memory && cudaFree(memory) == cudaSuccess;
    p[8] = cudaRuntimeGetVersion(&value) == cudaSuccess && value >= 12000;
}

/* A box of 2 x 2 x 2 words out of one of 4 x 4 x 4, to a place of its own; and rows of zeros. */
__global__ void moves_boxes(int *from, int *to)
{
    cudaMemcpy3DParms box = {};
    for (int i = 0; i < 64; i++)
        from[i] = i;
    box.srcPtr = {from, 16, 16, 4};
    box.srcPos = {4, 1, 1};
    box.dstPtr = {to, 8, 8, 2};
    box.extent = {8, 2, 2};
    box.kind = cudaMemcpyDeviceToDevice;
    cudaMemcpy3DAsync(&box, 0);
    cudaMemcpy2DAsync(to + 8, 8, from, 16, 8, 2, cudaMemcpyDeviceToDevice, 0);
    cudaMemset2DAsync(from, 16, 0, 4, 4, 0);
}

int main()
{
    int *p, host[16];
    GOOD(cudaMalloc(&p, 4096));
#define RUN(call)                                                                                            \
    GOOD(cudaMemset(p, 0, 4096));                                                                            \
    call;                                                                                                    \
    GOOD(cudaGetLastError());                                                                                \
    GOOD(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost))
    RUN((in_order<<<1, 1>>>(p)));
    CHECK(host[0] == 5 && host[3] == 5);
    RUN((at_the_end<<<1, 1>>>(p)));
    CHECK(host[0] == 110 && host[3] == 110);
    RUN((in_a_stream<<<1, 1>>>(p)));
    CHECK(host[0] == 14);
    RUN((each_block<<<4, 32>>>(p)));
    CHECK(host[0] == 1 && host[7] == 2 && host[15] == 4);
    RUN((tree<<<1, 1>>>(p, 6)));
    CHECK(host[0] == 64);
    RUN((moves<<<1, 1>>>(p, p + 8)));
    CHECK(host[0] == 0 && host[8] == 11);
    RUN((wrong<<<1, 1>>>(p)));
    printf("codes %d %d %d\n", host[1], host[2], host[3]);
    CHECK(host[0] == 9);
    RUN((asks<<<1, 1>>>(p)));
    for (int i = 0; i < 9; i++)
        CHECK(host[i] == 1);
    RUN((moves_boxes<<<1, 1>>>(p + 64, p)));
    CHECK(host[0] == 21 && host[1] == 22 && host[2] == 25 && host[7] == 42);
    CHECK(host[8] == 0 && host[9] == 1 && host[10] == 4 && host[11] == 5);
    GOOD(cudaMemcpy(host, p + 64, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host[0] == 0 && host[1] == 1 && host[4] == 0 && host[5] == 5);
    return check_end("launches");
}
