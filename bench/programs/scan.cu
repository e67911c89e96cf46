/* Prefix sums, chunk by chunk: copies and kernels of different chunks overlap in streams. The CPU adds what came
 * before each block, and checks the last sum. */
#include "program.cuh"

enum { CHUNKS = 8, STREAMS = 4, THREADS = 256, PER_CHUNK = 1 << 18, N = CHUNKS * PER_CHUNK };
static unsigned *numbers, *sums, *device;
static cudaStream_t streams[STREAMS];

/* The sums of a block's own numbers. */
__global__ void scan(unsigned *numbers)
{
    __shared__ unsigned warps[THREADS / 32];
    unsigned at = blockIdx.x * THREADS + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned sum = numbers[at];
    for (unsigned far = 1; far < 32; far *= 2) {
        unsigned other = __shfl_up_sync(~0u, sum, far);
        sum += lane >= far ? other : 0;
    }
    if (lane == 31)
        warps[warp] = sum;
    __syncthreads();
    for (unsigned i = 0; i < warp; i++)
        sum += warps[i];
    numbers[at] = sum;
}

static bool region(struct run *run)
{
    unsigned total = 0, state = 5;
    for (int i = 0; i < N; i++) {
        numbers[i] = next_random(&state) & 15;
        total += numbers[i];
    }
    run_was(run, CPU);
    for (int i = 0; i < CHUNKS; i++) {
        size_t first = (size_t)i * PER_CHUNK, bytes = PER_CHUNK * sizeof *numbers;
        cudaStream_t stream = streams[i % STREAMS];
        CHECK(cudaMemcpyAsync(device + first, numbers + first, bytes, cudaMemcpyHostToDevice, stream));
        scan<<<PER_CHUNK / THREADS, THREADS, 0, stream>>>(device + first);
        CHECK(cudaMemcpyAsync(sums + first, device + first, bytes, cudaMemcpyDeviceToHost, stream));
    }
    CHECK(cudaDeviceSynchronize());
    run_was(run, OVERLAP);
    unsigned before = 0;
    for (int block = 0; block < N / THREADS; block++) {
        for (int i = 0; i < THREADS; i++)
            sums[block * THREADS + i] += before;
        before = sums[block * THREADS + THREADS - 1];
    }
    run_was(run, CPU);
    return before == total;
}

int main(int count, char **words)
{
    CHECK(cudaMallocHost(&numbers, N * sizeof *numbers));
    CHECK(cudaMallocHost(&sums, N * sizeof *sums));
    CHECK(cudaMalloc(&device, N * sizeof *device));
    for (int i = 0; i < STREAMS; i++)
        CHECK(cudaStreamCreate(&streams[i]));
    return program_main(count, words, "scan", region);
}
