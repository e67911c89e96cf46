/* Arrays, textures and surfaces. */
#include <string.h>
#include "check.h"

__global__ void fetch(cudaTextureObject_t t, float *out, int w)
{
    int x = threadIdx.x, y = threadIdx.y;
    out[y * w + x] = tex2D<float>(t, x + 0.5f, y + 0.5f);
}

__global__ void between(cudaTextureObject_t t, float *out)
{
    out[0] = tex2D<float>(t, 1.0f, 0.5f);
    out[1] = tex2D<float>(t, -3.0f, 0.5f);
}

__global__ void linear(cudaTextureObject_t t, int *out)
{
    out[threadIdx.x] = tex1Dfetch<int>(t, threadIdx.x);
}

__global__ void turn(cudaSurfaceObject_t s, int w, int h)
{
    int x = threadIdx.x, y = threadIdx.y;
    float v = surf2Dread<float>(s, x * 4, y);
    __syncthreads();
    surf2Dwrite(v, s, (w - 1 - x) * 4, h - 1 - y);
}

__global__ void fill(int *p, int value)
{
    p[threadIdx.x] = value;
}

enum { W = 8, H = 4 };

int main()
{
    float from[H][W], to[H][W], *d;
    cudaArray_t array;
    cudaResourceDesc resource;
    cudaTextureDesc sampling;
    cudaTextureObject_t texture;
    cudaSurfaceObject_t surface;
    cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>(), told;
    cudaExtent extent;
    unsigned flags;
    for (int i = 0; i < W * H; i++)
        from[0][i] = (float)(i * i);

    GOOD(cudaMallocArray(&array, &channels, W, H, cudaArraySurfaceLoadStore));
    GOOD(cudaArrayGetInfo(&told, &extent, &flags, array));
    CHECK(extent.width == W && extent.height == H && told.x == 32 && flags == cudaArraySurfaceLoadStore);
    GOOD(cudaMemcpy2DToArray(array, 0, 0, from, sizeof from[0], sizeof from[0], H, cudaMemcpyHostToDevice));
    memset(&resource, 0, sizeof resource);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    memset(&sampling, 0, sizeof sampling);
    sampling.addressMode[0] = sampling.addressMode[1] = cudaAddressModeClamp;
    GOOD(cudaMalloc(&d, sizeof from));
    GOOD(cudaCreateTextureObject(&texture, &resource, &sampling, NULL));
    fetch<<<1, dim3(W, H)>>>(texture, d, W);
    GOOD(cudaMemcpy(to, d, sizeof to, cudaMemcpyDeviceToHost));
    CHECK(!memcmp(from, to, sizeof to));
    GOOD(cudaDestroyTextureObject(texture));

    sampling.filterMode = cudaFilterModeLinear;
    GOOD(cudaCreateTextureObject(&texture, &resource, &sampling, NULL));
    between<<<1, 1>>>(texture, d);
    GOOD(cudaMemcpy(to, d, 8, cudaMemcpyDeviceToHost));
    CHECK(to[0][0] == 0.5f && to[0][1] == 0);
    GOOD(cudaDestroyTextureObject(texture));

    GOOD(cudaCreateSurfaceObject(&surface, &resource));
    turn<<<1, dim3(W, H)>>>(surface, W, H);
    GOOD(cudaMemcpy2DFromArray(to, sizeof to[0], array, 0, 0, sizeof to[0], H, cudaMemcpyDeviceToHost));
    CHECK(to[0][0] == from[H - 1][W - 1] && to[1][2] == from[2][5]);
    GOOD(cudaDestroySurfaceObject(surface));
    GOOD(cudaFreeArray(array));

    int numbers[16], *n;
    for (int i = 0; i < 16; i++)
        numbers[i] = 100 - i;
    GOOD(cudaMalloc(&n, sizeof numbers));
    GOOD(cudaMemcpy(n, numbers, sizeof numbers, cudaMemcpyHostToDevice));
    memset(&resource, 0, sizeof resource);
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = n;
    resource.res.linear.desc = cudaCreateChannelDesc<int>();
    resource.res.linear.sizeInBytes = sizeof numbers;
    memset(&sampling, 0, sizeof sampling);
    GOOD(cudaCreateTextureObject(&texture, &resource, &sampling, NULL));
    linear<<<1, 16>>>(texture, (int *)d);
    GOOD(cudaMemcpy(to, d, sizeof numbers, cudaMemcpyDeviceToHost));
    CHECK(!memcmp(to, numbers, sizeof numbers));
    fill<<<1, 16>>>(n, 5); /* what a kernel wrote, the next one fetches */
    linear<<<1, 16>>>(texture, (int *)d);
    GOOD(cudaMemcpy(numbers, d, sizeof numbers, cudaMemcpyDeviceToHost));
    CHECK(numbers[0] == 5 && numbers[15] == 5);
    return check_end("texture");
}
