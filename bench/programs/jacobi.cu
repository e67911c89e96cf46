/* Jacobi iterations on a square; after every few steps the CPU looks at what changed most. */
#include "program.cuh"

enum { N = 512, TILE = 16, BLOCKS = N / TILE, STEPS = 5, ROUNDS = 20 };
static float *grid, *changes, *device_grids[2], *device_changes;

__global__ void jacobi(const float *from, float *to, float *changes)
{
    __shared__ float most[TILE * TILE];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    int thread = threadIdx.y * TILE + threadIdx.x, at = y * N + x;
    float before = from[at], value = before;
    if (x > 0 && y > 0 && x < N - 1 && y < N - 1)
        value = 0.25f * (from[at - 1] + from[at + 1] + from[at - N] + from[at + N]);
    to[at] = value;
    most[thread] = fabsf(value - before);
    for (int half = TILE * TILE / 2; half; half /= 2) {
        __syncthreads();
        if (thread < half)
            most[thread] = fmaxf(most[thread], most[thread + half]);
    }
    if (!thread)
        changes[blockIdx.y * gridDim.x + blockIdx.x] = most[0];
}

static bool region(struct run *run)
{
    for (int i = 0; i < N * N; i++)
        grid[i] = i < N ? 100.0f : 0;
    run_was(run, CPU);
    for (int i = 0; i < 2; i++)
        run_copy(run, device_grids[i], grid, N * N * sizeof *grid, cudaMemcpyHostToDevice);
    float change = 0, before = 1e30f;
    bool good = true;
    for (int round = 0, step = 0; round < ROUNDS; round++) {
        for (int i = 0; i < STEPS; i++, step++)
            jacobi<<<dim3(BLOCKS, BLOCKS), dim3(TILE, TILE)>>>(device_grids[step % 2], device_grids[1 - step % 2],
                                                               device_changes);
        run_kernels(run);
        run_copy(run, changes, device_changes, BLOCKS * BLOCKS * sizeof *changes, cudaMemcpyDeviceToHost);
        change = 0;
        for (int i = 0; i < BLOCKS * BLOCKS; i++)
            change = changes[i] > change ? changes[i] : change;
        good &= change <= before;
        before = change;
        run_was(run, CPU);
    }
    run_copy(run, grid, device_grids[STEPS * ROUNDS % 2], N * N * sizeof *grid, cudaMemcpyDeviceToHost);
    return good && change > 0 && grid[N + N / 2] > 50;
}

int main(int count, char **words)
{
    grid = (float *)malloc(N * N * sizeof *grid);
    changes = (float *)malloc(BLOCKS * BLOCKS * sizeof *changes);
    for (int i = 0; i < 2; i++)
        CHECK(cudaMalloc(&device_grids[i], N * N * sizeof *grid));
    CHECK(cudaMalloc(&device_changes, BLOCKS * BLOCKS * sizeof *changes));
    return program_main(count, words, "jacobi", region);
}
