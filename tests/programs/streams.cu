/* Streams, events, host functions; copies and fills of one, two and three dimensions; pools. */
#include "check.h"

__global__ void add(int *p, int n, int value)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        p[i] += value;
}

enum { N = 1 << 16 };

static void CUDART_CB count(void *user)
{
    ++*(int *)user;
}

static void CUDART_CB callback(cudaStream_t, cudaError_t status, void *user)
{
    CHECK(status == cudaSuccess);
    *(int *)user += 10;
}

/* Two streams that add to the same numbers, in the order that an event gives. */
static void order()
{
    int *d, *h, calls = 0;
    cudaStream_t a, b;
    cudaEvent_t done;
    GOOD(cudaMalloc(&d, N * sizeof *d));
    GOOD(cudaHostAlloc(&h, N * sizeof *h, cudaHostAllocDefault));
    GOOD(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    GOOD(cudaStreamCreateWithPriority(&b, cudaStreamNonBlocking, -1));
    GOOD(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    GOOD(cudaMemsetAsync(d, 0, N * sizeof *d, a));
    for (int i = 0; i < 10; i++)
        add<<<32, 256, 0, a>>>(d, N, 1);
    GOOD(cudaLaunchHostFunc(a, count, &calls));
    GOOD(cudaStreamAddCallback(a, callback, &calls, 0));
    GOOD(cudaEventRecord(done, a));
    GOOD(cudaStreamWaitEvent(b, done, 0));
    add<<<32, 256, 0, b>>>(d, N, 100);
    GOOD(cudaMemcpyAsync(h, d, N * sizeof *h, cudaMemcpyDeviceToHost, b));
    GOOD(cudaStreamSynchronize(b));
    GOOD(cudaStreamQuery(a));
    CHECK(calls == 11);
    for (int i = 0; i < N; i++) {
        if (h[i] != 110) {
            CHECK(h[i] == 110);
            break;
        }
    }
    GOOD(cudaEventDestroy(done));
    GOOD(cudaStreamDestroy(a));
    GOOD(cudaStreamDestroy(b));
    GOOD(cudaFree(d));
    GOOD(cudaFreeHost(h));
}

static void times()
{
    cudaEvent_t from, to;
    float ms = -1;
    int *d;
    GOOD(cudaMalloc(&d, N * sizeof *d));
    GOOD(cudaEventCreate(&from));
    GOOD(cudaEventCreate(&to));
    GOOD(cudaEventRecord(from));
    add<<<32, 256>>>(d, N, 1);
    GOOD(cudaEventRecord(to));
    GOOD(cudaEventSynchronize(to));
    GOOD(cudaEventElapsedTime(&ms, from, to));
    CHECK(ms >= 0);
    GOOD(cudaFree(d));
}

static void rows()
{
    enum { W = 100, H = 7 };
    char from[H][W], to[H][W];
    char *d;
    size_t pitch;
    for (int y = 0; y < H; y++) {
        for (int x = 0; x < W; x++)
            from[y][x] = (char)(x + 3 * y), to[y][x] = 0;
    }
    GOOD(cudaMallocPitch(&d, &pitch, W, H));
    CHECK(pitch == 512);
    GOOD(cudaMemset2D(d, pitch, 0x55, W, H));
    GOOD(cudaMemcpy2D(d + pitch, pitch, from[1], W, W - 10, H - 2, cudaMemcpyHostToDevice));
    GOOD(cudaMemcpy2D(to, W, d, pitch, W, H, cudaMemcpyDeviceToHost));
    CHECK(to[0][0] == 0x55 && to[H - 1][0] == 0x55 && to[1][W - 1] == 0x55);
    CHECK(to[1][5] == from[1][5] && to[H - 2][W - 11] == from[H - 2][W - 11]);
    GOOD(cudaFree(d));
}

static void boxes()
{
    enum { W = 12, H = 5, D = 4 };
    unsigned char from[D][H][W], to[D][H][W];
    cudaPitchedPtr box;
    cudaMemcpy3DParms up = {}, down = {};
    for (int i = 0; i < W * H * D; i++)
        from[0][0][i] = (unsigned char)i;
    GOOD(cudaMalloc3D(&box, make_cudaExtent(W, H, D)));
    GOOD(cudaMemset3D(box, 9, make_cudaExtent(W, H, D)));
    up.srcPtr = make_cudaPitchedPtr(from, W, W, H);
    up.srcPos = make_cudaPos(1, 1, 1);
    up.dstPtr = box;
    up.dstPos = make_cudaPos(2, 1, 0);
    up.extent = make_cudaExtent(6, 3, 2);
    up.kind = cudaMemcpyHostToDevice;
    GOOD(cudaMemcpy3D(&up));
    down.srcPtr = box;
    down.dstPtr = make_cudaPitchedPtr(to, W, W, H);
    down.extent = make_cudaExtent(W, H, D);
    down.kind = cudaMemcpyDeviceToHost;
    GOOD(cudaMemcpy3D(&down));
    CHECK(to[0][1][2] == from[1][1][1] && to[1][3][7] == from[2][3][6]);
    CHECK(to[0][0][0] == 9 && to[0][1][8] == 9 && to[2][1][2] == 9);
    GOOD(cudaFree(box.ptr));
}

static void pools()
{
    int *d, h[4] = {0};
    cudaStream_t stream;
    cudaMemPool_t pool;
    unsigned long long used = 1;
    GOOD(cudaStreamCreate(&stream));
    GOOD(cudaDeviceGetDefaultMemPool(&pool, 0));
    GOOD(cudaMallocAsync(&d, sizeof h, stream));
    GOOD(cudaMemsetAsync(d, 0, sizeof h, stream));
    add<<<1, 4, 0, stream>>>(d, 4, 7);
    GOOD(cudaMemcpyAsync(h, d, sizeof h, cudaMemcpyDeviceToHost, stream));
    GOOD(cudaFreeAsync(d, stream));
    GOOD(cudaStreamSynchronize(stream));
    CHECK(h[0] == 7 && h[3] == 7);
    GOOD(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
    CHECK(used == 0);
    GOOD(cudaStreamDestroy(stream));
}

int main()
{
    order();
    times();
    rows();
    boxes();
    pools();
    return check_end("streams");
}
