/* Programmatic dependent launch: the second kernel may begin early, and waits for what the first one wrote; in a stream and
 * captured. Built for compute capability 9.0. */
#include "check.h"

__global__ void first(int *p)
{
    p[0] = 5;
    cudaTriggerProgrammaticLaunchCompletion();
    p[1] = 6;
}

__global__ void second(int *p)
{
    cudaGridDependencySynchronize();
    p[2] += p[0] + p[1];
}

static void launch_second(cudaStream_t stream, int *p)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = config.blockDim = dim3(1);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    GOOD(cudaLaunchKernelEx(&config, second, p));
}

int main()
{
    int *p, host[3];
    cudaStream_t stream;
    GOOD(cudaMalloc(&p, sizeof host));
    GOOD(cudaMemset(p, 0, sizeof host));
    GOOD(cudaStreamCreate(&stream));
    first<<<1, 1, 0, stream>>>(p);
    launch_second(stream, p);
    GOOD(cudaStreamSynchronize(stream));
    GOOD(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host[2] == 11);

    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t from, to;
    cudaGraphEdgeData edge;
    size_t count = 1;
    GOOD(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    first<<<1, 1, 0, stream>>>(p);
    launch_second(stream, p);
    GOOD(cudaStreamEndCapture(stream, &graph));
    GOOD(cudaGraphGetEdges(graph, &from, &to, &edge, &count));
    CHECK(count == 1 && edge.type == cudaGraphDependencyTypeProgrammatic);
    CHECK(edge.from_port == cudaGraphKernelNodePortProgrammatic);
    GOOD(cudaGraphInstantiate(&exec, graph, 0));
    GOOD(cudaGraphLaunch(exec, stream));
    GOOD(cudaStreamSynchronize(stream));
    GOOD(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host[2] == 22);
    return check_end("pdl");
}
