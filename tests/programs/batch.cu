/* Several operations by one call (copies, prefetches, values of streams), and the driver API's launches before
 * CUDA 4. */
#include "check.h"

#include <cstring>
#include <cuda.h>

enum { N = 1024, SIDE = 8 };

static cudaStream_t stream;

static void check_copies()
{
    int *a, *b, host[N], back[N];
    for (int i = 0; i < N; i++)
        host[i] = i;
    GOOD(cudaMalloc(&a, sizeof host));
    GOOD(cudaMalloc(&b, sizeof host));
    CUdeviceptr to[] = {(CUdeviceptr)a, (CUdeviceptr)(a + N / 2)};
    CUdeviceptr from[] = {(CUdeviceptr)(host + N / 2), (CUdeviceptr)host};
    size_t bytes[] = {sizeof host / 2, sizeof host / 2}, first = 0;
    CUmemcpyAttributes attributes = {};
    attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    GOOD(cuMemcpyBatchAsync(to, from, bytes, 2, &attributes, &first, 1, stream));
    GOOD(cudaMemcpyAsync(back, a, sizeof back, cudaMemcpyDeviceToHost, stream));
    GOOD(cudaStreamSynchronize(stream));
    for (int i = 0; i < N; i++)
        CHECK(back[i] == (i + N / 2) % N);
    CHECK(cuMemcpyBatchAsync(to, from, bytes, 0, &attributes, &first, 1, stream) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuMemcpyBatchAsync(to, from, bytes, 2, &attributes, &first, 3, stream) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuMemcpyBatchAsync(to, from, bytes, 2, &attributes, &first, 1, 0) == CUDA_ERROR_INVALID_VALUE);
    GOOD(cudaFree(a));
    GOOD(cudaFree(b));
}

/* A part of an array to memory whose rows are longer, and from there to another array. */
static void check_boxes()
{
    float host[SIDE][SIDE], back[SIDE][SIDE] = {};
    float *rows;
    cudaArray_t first, second;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    for (int i = 0; i < SIDE * SIDE; i++)
        host[i / SIDE][i % SIDE] = (float)i;
    GOOD(cudaMallocArray(&first, &format, SIDE, SIDE));
    GOOD(cudaMallocArray(&second, &format, SIDE, SIDE));
    GOOD(cudaMemcpy2DToArray(first, 0, 0, host, sizeof host[0], sizeof host[0], SIDE, cudaMemcpyHostToDevice));
    GOOD(cudaMemcpy2DToArray(second, 0, 0, back, sizeof host[0], sizeof host[0], SIDE, cudaMemcpyHostToDevice));
    GOOD(cudaMalloc(&rows, 100 * sizeof *rows * SIDE));
    cudaMemcpy3DBatchOp ops[2] = {};
    ops[0].src.type = ops[1].dst.type = cudaMemcpyOperandTypeArray;
    ops[0].dst.type = ops[1].src.type = cudaMemcpyOperandTypePointer;
    ops[0].src.op.array.array = first;
    ops[0].src.op.array.offset = {2, 1, 0};
    ops[0].dst.op.ptr.ptr = ops[1].src.op.ptr.ptr = rows;
    ops[0].dst.op.ptr.rowLength = ops[1].src.op.ptr.rowLength = 100;
    ops[1].dst.op.array.array = second;
    ops[1].dst.op.array.offset = {1, 3, 0};
    for (int i = 0; i < 2; i++) {
        ops[i].extent = {4, 5, 1};
        ops[i].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    }
    GOOD(cudaMemcpy3DBatchAsync(2, ops, 0, stream));
    GOOD(cudaStreamSynchronize(stream));
    GOOD(cudaMemcpy2DFromArray(back, sizeof back[0], second, 0, 0, sizeof back[0], SIDE, cudaMemcpyDeviceToHost));
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            bool inside = x >= 1 && x < 5 && y >= 3;
            CHECK(back[y][x] == (inside ? host[y - 2][x + 1] : 0));
        }
    CHECK(cudaMemcpy3DBatchAsync(2, ops, 1, stream) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy3DBatchAsync(0, ops, 0, stream) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy3DBatchAsync(2, ops, 0, 0) == cudaErrorInvalidValue);
    ops[0].extent.depth = 0;
    CHECK(cudaMemcpy3DBatchAsync(1, ops, 0, stream) == cudaErrorInvalidValue);
    cudaGetLastError();
}

__global__ void raise(int *p, int n, int by)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        p[i] += by;
}

static void check_managed()
{
    int *m, *n, *plain;
    size_t bytes[] = {N * sizeof(int), N * sizeof(int)}, firsts[] = {0, 1}, bad_firsts[] = {1, 1};
    GOOD(cudaMallocManaged(&m, bytes[0]));
    GOOD(cudaMallocManaged(&n, bytes[1]));
    GOOD(cudaMalloc(&plain, bytes[0]));
    for (int i = 0; i < N; i++)
        m[i] = n[i] = i;
    void *both[] = {m, n}, *one_plain[] = {m, plain};
    cudaMemLocation places[2] = {};
    places[0].type = cudaMemLocationTypeDevice;
    places[1].type = cudaMemLocationTypeHost;
    GOOD(cudaMemPrefetchBatchAsync(both, bytes, 2, places, firsts, 2, 0, stream));
    raise<<<1, 64, 0, stream>>>(m, N, 5);
    GOOD(cudaStreamSynchronize(stream));
    CHECK(m[0] == 5 && m[N - 1] == N + 4 && n[N - 1] == N - 1);
    GOOD(cudaMemDiscardBatchAsync(both, bytes, 2, 0, stream)); /* what they hold may be anything now */
    GOOD(cudaMemDiscardAndPrefetchBatchAsync(both, bytes, 2, places, firsts, 2, 0, stream));
    GOOD(cudaMemsetAsync(m, 0, bytes[0], stream));
    GOOD(cudaStreamSynchronize(stream));
    CHECK(m[0] == 0 && m[N - 1] == 0);
    CHECK(cudaMemPrefetchBatchAsync(both, bytes, 2, places, bad_firsts, 2, 0, stream) == cudaErrorInvalidValue);
    CHECK(cudaMemPrefetchBatchAsync(both, bytes, 2, places, firsts, 3, 0, stream) == cudaErrorInvalidValue);
    CHECK(cudaMemPrefetchBatchAsync(one_plain, bytes, 2, places, firsts, 2, 0, stream) == cudaErrorInvalidValue);
    CHECK(cudaMemPrefetchBatchAsync(both, bytes, 2, places, firsts, 2, 1, stream) == cudaErrorInvalidValue);
    CHECK(cudaMemPrefetchBatchAsync(both, bytes, 2, places, firsts, 2, 0, 0) == cudaErrorInvalidValue);
    CHECK(cudaMemDiscardBatchAsync(one_plain, bytes, 2, 0, stream) == cudaErrorInvalidValue);
    cudaGetLastError();
}

static void check_values()
{
    uint32_t *words;
    GOOD(cudaMallocHost(&words, 64));
    memset(words, 0, 64);
    CUstreamBatchMemOpParams ops[3] = {};
    ops[0].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    ops[0].writeValue.address = (CUdeviceptr)words;
    ops[0].writeValue.value = 7;
    ops[1].operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    ops[1].waitValue.address = (CUdeviceptr)words;
    ops[1].waitValue.value = 7;
    ops[1].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
    ops[2].operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
    ops[2].writeValue.address = (CUdeviceptr)(words + 2);
    ops[2].writeValue.value64 = 0x500000009;
    GOOD(cuStreamBatchMemOp(stream, 3, ops, 0));
    GOOD(cudaStreamSynchronize(stream));
    CHECK(words[0] == 7 && words[2] == 9 && words[3] == 5);
    CHECK(cuStreamBatchMemOp(stream, 3, ops, 1) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuStreamBatchMemOp(stream, 257, ops, 0) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuStreamBatchMemOp(stream, 1, NULL, 0) == CUDA_ERROR_INVALID_VALUE);
}

static const char ptx[] = ".version 7.0\n.target sm_52\n.address_size 64\n"
                          ".visible .entry fill(.param .u64 p, .param .u32 value, .param .f32 factor)\n{\n"
                          ".reg .b64 %rd<4>;\n.reg .b32 %r<8>;\n.reg .f32 %f<3>;\nld.param.u64 %rd1, [p];\n"
                          "ld.param.u32 %r1, [value];\nld.param.f32 %f1, [factor];\nmov.u32 %r2, %tid.x;\n"
                          "mov.u32 %r3, %ctaid.x;\nmov.u32 %r4, %ntid.x;\nmad.lo.u32 %r5, %r3, %r4, %r2;\n"
                          "mov.u32 %r6, %ctaid.y;\nadd.u32 %r1, %r1, %r6;\ncvt.rzi.u32.f32 %r7, %f1;\n"
                          "mul.lo.u32 %r1, %r1, %r7;\nmul.wide.u32 %rd2, %r5, 4;\nadd.u64 %rd3, %rd1, %rd2;\n"
                          "atom.global.add.u32 %r7, [%rd3], %r1;\nret;\n}\n";

static void check_old_launches()
{
    CUmodule module;
    CUfunction fill;
    CUdeviceptr p;
    unsigned got[64];
    GOOD(cuModuleLoadData(&module, ptx));
    GOOD(cuModuleGetFunction(&fill, module, "fill"));
    GOOD(cuMemAlloc(&p, sizeof got));
    GOOD(cuMemsetD32(p, 0, 64));
    GOOD(cuFuncSetBlockShape(fill, 32, 1, 1));
    GOOD(cuFuncSetSharedSize(fill, 64));
    GOOD(cuParamSetv(fill, 0, &p, sizeof p));
    GOOD(cuParamSeti(fill, 8, 10));
    GOOD(cuParamSetf(fill, 12, 3.0f));
    GOOD(cuParamSetSize(fill, 16));
    GOOD(cuLaunchGrid(fill, 2, 2)); /* (10 + 0) * 3 + (10 + 1) * 3 */
    GOOD(cuLaunch(fill));           /* the first block: 30 more */
    GOOD(cuParamSeti(fill, 8, 100));
    GOOD(cuLaunchGridAsync(fill, 1, 1, 0));
    GOOD(cuMemcpyDtoH(got, p, sizeof got));
    for (int i = 0; i < 64; i++)
        CHECK(got[i] == (i < 32 ? 63 + 30 + 300 : 63));
    CHECK(cuParamSetSize(fill, 5000) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuParamSeti(fill, -1, 0) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuParamSetv(fill, 4090, &p, 8) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuFuncSetBlockShape(fill, 0, 1, 1) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuLaunchGrid(fill, 0, 1) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuLaunch(NULL) == CUDA_ERROR_INVALID_HANDLE);
    GOOD(cuParamSetSize(fill, 8));
    CHECK(cuLaunch(fill) == CUDA_ERROR_INVALID_VALUE); /* it takes 16 */
}

static void check_contexts()
{
    CUcontext context, own;
    CUexecAffinityParam affinity;
    int sms;
    GOOD(cuCtxGetCurrent(&own));
    GOOD(cuCtxAttach(&context, 0));
    CHECK(context == own);
    GOOD(cuCtxDetach(context));
    CHECK(cuCtxDetach(NULL) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuCtxAttach(NULL, 0) == CUDA_ERROR_INVALID_VALUE);
    GOOD(cuCtxGetExecAffinity(&affinity, CU_EXEC_AFFINITY_TYPE_SM_COUNT));
    GOOD(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    CHECK((int)affinity.param.smCount.val == sms);
    GOOD(cuCtxCreate(&context, NULL, 0, 0));
    GOOD(cuCtxDetach(context)); /* its last use */
    CHECK(cuCtxDestroy(context) == CUDA_ERROR_CONTEXT_IS_DESTROYED);
    GOOD(cuCtxSetCurrent(own));
}

int main()
{
    GOOD(cudaStreamCreate(&stream));
    check_copies();
    check_boxes();
    check_managed();
    check_values();
    check_old_launches();
    check_contexts();
    return check_end("batch");
}
