/* Conjugate gradients on a square grid: kernels for vectors, and in each iteration the CPU adds partial dot products
 * twice and decides how to go on. Many small launches and copies. */
#include "program.cuh"

enum { SIDE = 256, N = SIDE * SIDE, THREADS = 256, BLOCKS = N / THREADS, ROUNDS = 40 };
static float *partial, *device_partial, *x, *r, *p, *ap;

__device__ static void add_up(float value, float *partial)
{
    __shared__ float sums[THREADS / 32];
    for (int far = 16; far; far /= 2)
        value += __shfl_down_sync(~0u, value, far);
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = value;
    __syncthreads();
    if (!threadIdx.x) {
        for (int i = 1; i < THREADS / 32; i++)
            value += sums[i];
        partial[blockIdx.x] = value;
    }
}

__global__ void start(float *x, float *r, float *p)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    x[i] = 0;
    r[i] = p[i] = 1;
}

/* ap = A p, with partial sums of p ap. */
__global__ void multiply(const float *p, float *ap, float *partial)
{
    int i = blockIdx.x * THREADS + threadIdx.x, column = i % SIDE, row = i / SIDE;
    float value = 4 * p[i];
    value -= column > 0 ? p[i - 1] : 0;
    value -= column < SIDE - 1 ? p[i + 1] : 0;
    value -= row > 0 ? p[i - SIDE] : 0;
    value -= row < SIDE - 1 ? p[i + SIDE] : 0;
    ap[i] = value;
    add_up(value * p[i], partial);
}

__global__ void step(float alpha, float *x, float *r, const float *p, const float *ap, float *partial)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    x[i] += alpha * p[i];
    float rest = r[i] -= alpha * ap[i];
    add_up(rest * rest, partial);
}

__global__ void turn(float beta, const float *r, float *p)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    p[i] = r[i] + beta * p[i];
}

static double take_sum(struct run *run)
{
    double sum = 0;
    run_copy(run, partial, device_partial, BLOCKS * sizeof *partial, cudaMemcpyDeviceToHost);
    for (int i = 0; i < BLOCKS; i++)
        sum += partial[i];
    run_was(run, CPU);
    return sum;
}

static bool region(struct run *run)
{
    double rest = N;
    start<<<BLOCKS, THREADS>>>(x, r, p);
    for (int i = 0; i < ROUNDS; i++) {
        multiply<<<BLOCKS, THREADS>>>(p, ap, device_partial);
        run_kernels(run);
        double alpha = rest / take_sum(run);
        step<<<BLOCKS, THREADS>>>((float)alpha, x, r, p, ap, device_partial);
        run_kernels(run);
        double next = take_sum(run);
        turn<<<BLOCKS, THREADS>>>((float)(next / rest), r, p);
        rest = next;
    }
    run_kernels(run);
    return rest > 0 && rest == rest && rest < 1e9;
}

int main(int count, char **words)
{
    partial = (float *)malloc(BLOCKS * sizeof *partial);
    CHECK(cudaMalloc(&device_partial, BLOCKS * sizeof *partial));
    float **all[] = {&x, &r, &p, &ap};
    for (int i = 0; i < 4; i++)
        CHECK(cudaMalloc(all[i], N * sizeof(float)));
    return program_main(count, words, "cg", region);
}
