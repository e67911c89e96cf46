/* A product of two matrices by tiles; the CPU makes them and verifies a sample of the result. */
#include "program.cuh"

enum { N = 512, TILE = 16, SAMPLES = 1000 };
static float *a, *b, *c, *device_a, *device_b, *device_c;

__global__ void matmul(const float *a, const float *b, float *c)
{
    __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < N; k += TILE) {
        tile_a[threadIdx.y][threadIdx.x] = a[row * N + k + threadIdx.x];
        tile_b[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * N + column];
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
        __syncthreads();
    }
    c[row * N + column] = sum;
}

/* Small whole numbers: sums are exact in any order. */
static void make(float *matrix, unsigned state)
{
    for (int i = 0; i < N * N; i++)
        matrix[i] = (float)(next_random(&state) % 8);
}

static bool region(struct run *run)
{
    make(a, 1);
    make(b, 2);
    run_was(run, CPU);
    run_copy(run, device_a, a, N * N * sizeof *a, cudaMemcpyHostToDevice);
    run_copy(run, device_b, b, N * N * sizeof *b, cudaMemcpyHostToDevice);
    matmul<<<dim3(N / TILE, N / TILE), dim3(TILE, TILE)>>>(device_a, device_b, device_c);
    run_kernels(run);
    run_copy(run, c, device_c, N * N * sizeof *c, cudaMemcpyDeviceToHost);
    unsigned state = 3;
    int wrong = 0;
    for (int i = 0; i < SAMPLES; i++) {
        int row = (int)(next_random(&state) % N), column = (int)(next_random(&state) % N);
        float sum = 0;
        for (int k = 0; k < N; k++)
            sum += a[row * N + k] * b[k * N + column];
        wrong += sum != c[row * N + column];
    }
    run_was(run, CPU);
    return !wrong;
}

int main(int count, char **words)
{
    float **host[] = {&a, &b, &c}, **device[] = {&device_a, &device_b, &device_c};
    for (int i = 0; i < 3; i++) {
        *host[i] = (float *)malloc(N * N * sizeof(float));
        CHECK(cudaMalloc(device[i], N * N * sizeof(float)));
    }
    return program_main(count, words, "matmul", region);
}
