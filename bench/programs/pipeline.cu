/* Frames through a pipeline: while the GPU filters one, copies bring the next and take the last, and the CPU makes
 * frames and sums up results. */
#include "program.cuh"

enum { SIDE = 512, BYTES = SIDE * SIDE, FRAMES = 12, SLOTS = 3 };
static unsigned char *in[SLOTS], *out[SLOTS], *device_in[SLOTS], *device_out[SLOTS];
static cudaStream_t streams[SLOTS];

__global__ void blur(const unsigned char *in, unsigned char *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, sum = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            sum += in[((y + dy) & (SIDE - 1)) * SIDE + ((x + dx) & (SIDE - 1))];
    out[y * SIDE + x] = (unsigned char)(sum / 9);
}

static void make(unsigned char *frame, unsigned number)
{
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            frame[y * SIDE + x] = (unsigned char)((x + number) * (y + 3) >> 3);
}

/* A frame's mean hardly changes. */
static bool is_right(const unsigned char *frame, const unsigned char *blurred)
{
    long before = 0, after = 0;
    for (int i = 0; i < BYTES; i++) {
        before += frame[i];
        after += blurred[i];
    }
    return after <= before && before - after <= BYTES;
}

static bool region(struct run *run)
{
    bool good = true;
    for (int i = 0; i < FRAMES + SLOTS; i++) {
        int slot = i % SLOTS;
        if (i >= SLOTS) {
            CHECK(cudaStreamSynchronize(streams[slot]));
            run_was(run, OVERLAP);
            good &= is_right(in[slot], out[slot]);
            run_was(run, CPU);
        }
        if (i >= FRAMES)
            continue;
        make(in[slot], (unsigned)i);
        run_was(run, CPU);
        CHECK(cudaMemcpyAsync(device_in[slot], in[slot], BYTES, cudaMemcpyHostToDevice, streams[slot]));
        blur<<<dim3(SIDE / 32, SIDE / 8), dim3(32, 8), 0, streams[slot]>>>(device_in[slot], device_out[slot]);
        CHECK(cudaMemcpyAsync(out[slot], device_out[slot], BYTES, cudaMemcpyDeviceToHost, streams[slot]));
        run_was(run, OVERLAP);
    }
    return good;
}

int main(int count, char **words)
{
    for (int i = 0; i < SLOTS; i++) {
        CHECK(cudaMallocHost(&in[i], BYTES));
        CHECK(cudaMallocHost(&out[i], BYTES));
        CHECK(cudaMalloc(&device_in[i], BYTES));
        CHECK(cudaMalloc(&device_out[i], BYTES));
        CHECK(cudaStreamCreate(&streams[i]));
    }
    return program_main(count, words, "pipeline", region);
}
