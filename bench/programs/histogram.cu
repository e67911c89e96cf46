/* A histogram of bytes: each block counts in shared memory, the CPU adds the blocks' counts and checks them. */
#include "program.cuh"

enum { N = 4 << 20, BLOCKS = 264, THREADS = 256, BINS = 256 };
static unsigned char *bytes, *device_bytes;
static unsigned *counts, *device_counts;

__global__ void histogram(const uchar4 *bytes, int words, unsigned *counts)
{
    __shared__ unsigned own[BINS];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < words; i += BLOCKS * THREADS) {
        uchar4 four = bytes[i];
        atomicAdd(&own[four.x], 1u);
        atomicAdd(&own[four.y], 1u);
        atomicAdd(&own[four.z], 1u);
        atomicAdd(&own[four.w], 1u);
    }
    __syncthreads();
    counts[blockIdx.x * BINS + threadIdx.x] = own[threadIdx.x];
}

static bool region(struct run *run)
{
    unsigned state = 7, expected[BINS] = {0}, all[BINS] = {0};
    for (int i = 0; i < N; i++) {
        bytes[i] = (unsigned char)next_random(&state);
        expected[bytes[i]]++;
    }
    run_was(run, CPU);
    run_copy(run, device_bytes, bytes, N, cudaMemcpyHostToDevice);
    histogram<<<BLOCKS, THREADS>>>((uchar4 *)device_bytes, N / 4, device_counts);
    run_kernels(run);
    run_copy(run, counts, device_counts, BLOCKS * BINS * sizeof *counts, cudaMemcpyDeviceToHost);
    for (int block = 0; block < BLOCKS; block++)
        for (int bin = 0; bin < BINS; bin++)
            all[bin] += counts[block * BINS + bin];
    bool good = !memcmp(all, expected, sizeof all);
    run_was(run, CPU);
    return good;
}

int main(int count, char **words)
{
    bytes = (unsigned char *)malloc(N);
    counts = (unsigned *)malloc(BLOCKS * BINS * sizeof *counts);
    CHECK(cudaMalloc(&device_bytes, N));
    CHECK(cudaMalloc(&device_counts, BLOCKS * BINS * sizeof *counts));
    return program_main(count, words, "histogram", region);
}
