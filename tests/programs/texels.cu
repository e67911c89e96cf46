// Texture fetches of which many are under way at any time: for checkpoints among them. Filtering a plane gives
// the plane.
#include <cmath>
#include <cstdio>

enum { SIDE = 128, BLOCKS = 8, THREADS = 256, ROUNDS = 20 };

// The differences from the plane x + 10 y, in whose texels' middles x and y are whole and a half.
__global__ void fetch(cudaTextureObject_t texture, float *out)
{
    unsigned random = blockIdx.x * THREADS + threadIdx.x;
    float worst = 0;
    for (int i = 0; i < ROUNDS; i++) {
        random = random * 1664525u + 1013904223u;
        float x = 1 + random / 512 % (SIDE - 2) + 0.3f, y = 1 + random / 131072 % (SIDE - 2) + 0.7f;
        worst = fmaxf(worst, fabsf(tex2D<float>(texture, x, y) - (x + 10 * y)));
    }
    out[blockIdx.x * THREADS + threadIdx.x] = worst;
}

int main()
{
    static float texels[SIDE * SIDE], differences[BLOCKS * THREADS];
    cudaArray_t array;
    cudaTextureObject_t texture;
    float *out;
    float worst = 0;
    for (int i = 0; i < SIDE * SIDE; i++)
        texels[i] = i % SIDE + 0.5f + 10 * (i / SIDE + 0.5f);
    cudaChannelFormatDesc channel = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &channel, SIDE, SIDE);
    cudaMemcpy2DToArray(array, 0, 0, texels, SIDE * sizeof(float), SIDE * sizeof(float), SIDE, cudaMemcpyHostToDevice);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc description = {};
    description.filterMode = cudaFilterModeLinear;
    cudaCreateTextureObject(&texture, &resource, &description, nullptr);
    cudaMalloc(&out, sizeof differences);
    fetch<<<BLOCKS, THREADS>>>(texture, out);
    cudaMemcpy(differences, out, sizeof differences, cudaMemcpyDeviceToHost);
    for (int i = 0; i < BLOCKS * THREADS; i++)
        worst = fmaxf(worst, differences[i]);
    bool good = cudaGetLastError() == cudaSuccess && worst < 11.0f / 256; // weights have 8 bits
    if (good)
        printf("texels: ok\n");
    else
        printf("texels: off by %g\n", worst);
    return !good;
}
