/* Capturing streams, and launching what was captured. */
#include "check.h"

__global__ void add(int *p, int value)
{
    p[threadIdx.x] += value;
}

int main()
{
    int *d, h[32];
    cudaStream_t stream, side;
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamCaptureStatus status;
    size_t nodes = 0;
    GOOD(cudaStreamCreate(&stream));
    GOOD(cudaStreamCreate(&side));
    GOOD(cudaEventCreate(&fork));
    GOOD(cudaEventCreate(&join));
    GOOD(cudaMalloc(&d, sizeof h));
    GOOD(cudaMemset(d, 0, sizeof h));

    GOOD(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    GOOD(cudaStreamIsCapturing(stream, &status));
    CHECK(status == cudaStreamCaptureStatusActive);
    add<<<1, 32, 0, stream>>>(d, 1);
    GOOD(cudaEventRecord(fork, stream));
    GOOD(cudaStreamWaitEvent(side, fork, 0));
    add<<<1, 32, 0, side>>>(d, 10);
    GOOD(cudaEventRecord(join, side));
    GOOD(cudaStreamWaitEvent(stream, join, 0));
    GOOD(cudaMemcpyAsync(h, d, sizeof h, cudaMemcpyDeviceToHost, stream));
    GOOD(cudaStreamEndCapture(stream, &graph));
    GOOD(cudaGraphGetNodes(graph, NULL, &nodes));
    CHECK(nodes == 3);

    GOOD(cudaGraphInstantiate(&exec, graph, 0));
    GOOD(cudaGraphDestroy(graph));
    for (int i = 0; i < 5; i++)
        GOOD(cudaGraphLaunch(exec, stream));
    GOOD(cudaStreamSynchronize(stream));
    CHECK(h[0] == 55 && h[31] == 55);
    GOOD(cudaGraphExecDestroy(exec));
    return check_end("graph");
}
