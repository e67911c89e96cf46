/* Managed memory and variables, constants, symbols, pinned memory, and what is known about pointers. */
#include "check.h"

__constant__ int constants[4] = {1, 2, 3, 4};
__device__ int global[8] = {10, 20};
__managed__ int managed = 5;
__managed__ int list[3] = {7, 8, 9};

__global__ void use(int *out)
{
    int i = threadIdx.x;
    out[i] = constants[i] + global[i];
    global[i] += 100;
    if (!i) {
        managed += 1;
        list[2] = 42;
    }
}

static cudaPointerAttributes about(const void *p)
{
    cudaPointerAttributes a;
    GOOD(cudaPointerGetAttributes(&a, p));
    return a;
}

int main()
{
    int *d, *m, *pinned, h[4], more[4] = {40, 50, 60, 70};
    size_t bytes, available, total;
    void *address;

    CHECK(managed == 5 && list[0] == 7);
    managed = 6;
    GOOD(cudaMalloc(&d, 16));
    use<<<1, 4>>>(d);
    GOOD(cudaDeviceSynchronize());
    CHECK(managed == 7 && list[2] == 42);
    GOOD(cudaMemcpy(h, d, 16, cudaMemcpyDefault));
    CHECK(h[0] == 11 && h[1] == 22 && h[2] == 3 && h[3] == 4);

    GOOD(cudaMemcpyToSymbol(constants, more, 8, 8));
    GOOD(cudaMemcpyFromSymbol(h, global, 16));
    CHECK(h[0] == 110 && h[1] == 120 && h[2] == 100);
    use<<<1, 4>>>(d);
    GOOD(cudaMemcpy(h, d, 16, cudaMemcpyDeviceToHost));
    CHECK(h[0] == 111 && h[2] == 140 && h[3] == 150);
    GOOD(cudaGetSymbolSize(&bytes, global));
    CHECK(bytes == 32);
    GOOD(cudaGetSymbolAddress(&address, global));
    CHECK(about(address).type == cudaMemoryTypeDevice);
    GOOD(cudaGetSymbolAddress(&address, managed));
    CHECK(address == (void *)&managed);

    GOOD(cudaMallocManaged(&m, 64));
    GOOD(cudaMemset(m, 0, 64));
    m[1] = 3;
    use<<<1, 4>>>(m);
    GOOD(cudaDeviceSynchronize());
    CHECK(m[0] == 211 && m[1] == 222);
    GOOD(cudaMallocHost(&pinned, 64));
    use<<<1, 4>>>(pinned);
    GOOD(cudaDeviceSynchronize());
    CHECK(pinned[1] == 322);
    GOOD(cudaHostGetDevicePointer(&address, pinned, 0));
    CHECK(address == pinned);

    CHECK(about(d + 1).type == cudaMemoryTypeDevice && about(d + 1).devicePointer == d + 1);
    CHECK(!about(d).hostPointer && about(d).device == 0);
    CHECK(about(m).type == cudaMemoryTypeManaged && about(m).hostPointer == m);
    CHECK(about(pinned).type == cudaMemoryTypeHost);
    CHECK(about(h).type == cudaMemoryTypeUnregistered && about(h).device == -2);

    GOOD(cudaMemGetInfo(&available, &total));
    CHECK(available < total);
    GOOD(cudaFree(d));
    GOOD(cudaFree(m));
    GOOD(cudaFreeHost(pinned));
    return check_end("memory");
}
