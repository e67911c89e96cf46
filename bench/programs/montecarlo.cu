/* Pi by random points; each thread leaves its share, the CPU computes mean and variance. */
#include "program.cuh"

enum { THREADS = 1 << 19, SAMPLES = 32 };
static float *shares, *device_shares;

__global__ void sample(float *shares)
{
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x, state = at * 2654435761u + 12345u, inside = 0;
    for (int i = 0; i < SAMPLES; i++) {
        float place[2];
        for (int k = 0; k < 2; k++) {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            place[k] = (float)(state >> 8) * (1.0f / (1 << 24));
        }
        inside += place[0] * place[0] + place[1] * place[1] < 1;
    }
    shares[at] = (float)inside / SAMPLES;
}

static bool region(struct run *run)
{
    sample<<<THREADS / 256, 256>>>(device_shares);
    run_kernels(run);
    run_copy(run, shares, device_shares, THREADS * sizeof *shares, cudaMemcpyDeviceToHost);
    double sum = 0, squares = 0;
    for (int i = 0; i < THREADS; i++)
        sum += shares[i];
    double mean = sum / THREADS;
    for (int i = 0; i < THREADS; i++)
        squares += (shares[i] - mean) * (shares[i] - mean);
    double variance = squares / THREADS;
    run_was(run, CPU);
    return 4 * mean > 3.12 && 4 * mean < 3.16 && variance > 0 && variance < 0.02;
}

int main(int count, char **words)
{
    shares = (float *)malloc(THREADS * sizeof *shares);
    CHECK(cudaMalloc(&device_shares, THREADS * sizeof *shares));
    return program_main(count, words, "montecarlo", region);
}
