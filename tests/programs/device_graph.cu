/* Graphs launched by kernels: at once, behind the end, as siblings; a graph that launches itself. Built with -rdc=true. */
#include "check.h"

__device__ cudaGraphExec_t child_exec, middle_exec;

__global__ void add(int *p, int value)
{
    p[0] += value;
}

__global__ void times_two(int *p)
{
    p[0] *= 2;
}

/* Of a graph: p[0] comes last, as the child is launched behind the end of the whole graph. */
__global__ void launch_tail(int *p)
{
    p[1] = cudaGraphLaunch(child_exec, cudaStreamGraphTailLaunch);
}

__global__ void launch_at_once(int *p)
{
    p[1] = cudaGraphLaunch(child_exec, cudaStreamGraphFireAndForget);
}

__global__ void launch_sibling(int *p)
{
    p[1] = cudaGraphLaunch(child_exec, cudaStreamGraphFireAndForgetAsSibling);
}

__global__ void launch_middle(int *p)
{
    p[2] = cudaGraphLaunch(middle_exec, cudaStreamGraphFireAndForget);
}

/* Launches its own graph until it has counted down. */
__global__ void again(int *p)
{
    p[2]++;
    if (--p[3] > 0)
        p[1] = cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch);
}

__global__ void no_graph(int *p)
{
    p[4] = cudaGetCurrentGraphExec() == 0;
    p[5] = cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch);
}

/* The kernels one after another. */
static cudaGraphExec_t instantiate(void (*const *kernels)(int *), int count, int *p, cudaStream_t stream)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    GOOD(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < count; i++)
        kernels[i]<<<1, 1, 0, stream>>>(p);
    GOOD(cudaStreamEndCapture(stream, &graph));
    GOOD(cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagDeviceLaunch));
    GOOD(cudaGraphUpload(exec, stream));
    return exec;
}

static void run(void (*const *kernels)(int *), int count, int *p, int *host, cudaStream_t stream)
{
    int start[6] = {1, -1, 0, 5, -1, -1};
    GOOD(cudaMemcpy(p, start, sizeof start, cudaMemcpyHostToDevice));
    cudaGraphExec_t exec = instantiate(kernels, count, p, stream);
    for (int i = 0; i < 2; i++)
        GOOD(cudaGraphLaunch(exec, stream));
    GOOD(cudaStreamSynchronize(stream));
    GOOD(cudaGraphExecDestroy(exec));
    GOOD(cudaMemcpy(host, p, 6 * sizeof *p, cudaMemcpyDeviceToHost));
}

int main()
{
    int *p, host[6];
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t child;
    GOOD(cudaMalloc(&p, 4096));
    GOOD(cudaStreamCreate(&stream));
    GOOD(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<1, 1, 0, stream>>>(p, 10);
    GOOD(cudaStreamEndCapture(stream, &graph));
    GOOD(cudaGraphInstantiate(&child, graph, cudaGraphInstantiateFlagDeviceLaunch));
    GOOD(cudaGraphUpload(child, stream));
    GOOD(cudaMemcpyToSymbol(child_exec, &child, sizeof child));

    void (*const tail[])(int *) = {launch_tail, times_two};
    run(tail, 2, p, host, stream);
    CHECK(host[0] == (1 * 2 + 10) * 2 + 10 && host[1] == 0);
    void (*const at_once[])(int *) = {times_two, launch_at_once};
    run(at_once, 2, p, host, stream);
    CHECK(host[0] == (1 * 2 + 10) * 2 + 10 && host[1] == 0);
    void (*const sibling[])(int *) = {times_two, launch_sibling};
    run(sibling, 2, p, host, stream);
    CHECK(host[0] == (1 * 2 + 10) * 2 + 10 && host[1] == 0);
    cudaGraphExec_t middle = instantiate(sibling, 2, p, stream); /* whose sibling is of the graph around it */
    GOOD(cudaMemcpyToSymbol(middle_exec, &middle, sizeof middle));
    void (*const around[])(int *) = {times_two, launch_middle};
    run(around, 2, p, host, stream);
    CHECK(host[0] == (1 * 4 + 10) * 4 + 10 && host[1] == 0 && host[2] == 0);
    void (*const itself[])(int *) = {again};
    run(itself, 1, p, host, stream);
    CHECK(host[2] == 6 && host[3] == -1 && host[1] == 0);
    no_graph<<<1, 1>>>(p);
    GOOD(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host[4] == 1 && host[5] == cudaErrorInvalidValue);
    return check_end("device_graph");
}
