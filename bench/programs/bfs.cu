/* Breadth-first search: the CPU starts a level, asks whether anything was reached, and checks the result by a search
 * of its own. */
#include "program.cuh"

enum { NODES = 1 << 16, DEGREE = 6 };
static int *edges, *levels, *queue, *expected, *device_edges, *device_levels, *device_reached;

__global__ void expand(const int *edges, int *levels, int level, int *reached)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (levels[node] != level)
        return;
    for (int i = 0; i < DEGREE; i++) {
        int next = edges[node * DEGREE + i];
        if (levels[next] < 0) {
            levels[next] = level + 1;
            *reached = 1;
        }
    }
}

static void search(void)
{
    int count = 1;
    for (int i = 0; i < NODES; i++)
        expected[i] = i ? -1 : 0;
    queue[0] = 0;
    for (int at = 0; at < count; at++) {
        for (int i = 0; i < DEGREE; i++) {
            int next = edges[queue[at] * DEGREE + i];
            if (expected[next] >= 0)
                continue;
            expected[next] = expected[queue[at]] + 1;
            queue[count++] = next;
        }
    }
}

static bool region(struct run *run)
{
    for (int i = 0; i < NODES; i++)
        levels[i] = i ? -1 : 0;
    run_was(run, CPU);
    run_copy(run, device_edges, edges, NODES * DEGREE * sizeof *edges, cudaMemcpyHostToDevice);
    run_copy(run, device_levels, levels, NODES * sizeof *levels, cudaMemcpyHostToDevice);
    for (int level = 0, reached = 1; reached; level++) {
        reached = 0;
        run_copy(run, device_reached, &reached, sizeof reached, cudaMemcpyHostToDevice);
        expand<<<NODES / 256, 256>>>(device_edges, device_levels, level, device_reached);
        run_kernels(run);
        run_copy(run, &reached, device_reached, sizeof reached, cudaMemcpyDeviceToHost);
    }
    run_copy(run, levels, device_levels, NODES * sizeof *levels, cudaMemcpyDeviceToHost);
    search();
    bool good = !memcmp(levels, expected, NODES * sizeof *levels);
    run_was(run, CPU);
    return good;
}

int main(int count, char **words)
{
    unsigned state = 13;
    edges = (int *)malloc(NODES * DEGREE * sizeof *edges);
    levels = (int *)malloc(NODES * sizeof *levels);
    queue = (int *)malloc(NODES * sizeof *queue);
    expected = (int *)malloc(NODES * sizeof *expected);
    for (int i = 0; i < NODES * DEGREE; i++)
        edges[i] = (int)(next_random(&state) % NODES);
    CHECK(cudaMalloc(&device_edges, NODES * DEGREE * sizeof *edges));
    CHECK(cudaMalloc(&device_levels, NODES * sizeof *levels));
    CHECK(cudaMalloc(&device_reached, sizeof *device_reached));
    return program_main(count, words, "bfs", region);
}
