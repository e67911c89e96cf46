// Loads from constant memory of which some are under way at any time: for checkpoints among them.
#include <cstdio>

enum { WORDS = 8192, BLOCKS = 8, THREADS = 128, ROUNDS = 12 };

__constant__ unsigned table[WORDS];

__global__ void walk(unsigned *out)
{
    unsigned at = blockIdx.x * THREADS + threadIdx.x, sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        at = table[at % WORDS]; // threads go to different lines
        sum += at;
    }
    out[blockIdx.x * THREADS + threadIdx.x] = sum;
}

int main()
{
    static unsigned words[WORDS], sums[BLOCKS * THREADS];
    unsigned *out, wrong = 0;
    cudaMalloc(&out, sizeof sums);
    for (unsigned launch = 0; launch < 2; launch++) { // the second one sees other constants
        for (unsigned i = 0; i < WORDS; i++)
            words[i] = i * 1664525u + 1013904223u + launch;
        cudaMemcpyToSymbol(table, words, sizeof words);
        walk<<<BLOCKS, THREADS>>>(out);
        cudaMemcpy(sums, out, sizeof sums, cudaMemcpyDeviceToHost);
        for (unsigned i = 0; i < BLOCKS * THREADS; i++) {
            unsigned at = i, sum = 0;
            for (int k = 0; k < ROUNDS; k++) {
                at = words[at % WORDS];
                sum += at;
            }
            wrong += sum != sums[i];
        }
    }
    bool good = cudaGetLastError() == cudaSuccess && !wrong;
    if (good)
        printf("constants: ok\n");
    else
        printf("constants: %u sums are wrong\n", wrong);
    return !good;
}
