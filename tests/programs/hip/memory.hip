/* Memory: allocations, copies, fills, pinned and managed memory, what is known of a pointer. No kernel runs. */
#include "../check.h"

#include <hip/hip_runtime.h>
#include <string.h>
#include <vector>

__device__ int numbers[100];
__device__ int initialized[4] = {4, 3, 2, 1};
__constant__ float factor;
__managed__ int shared_count = 7;

/* Keeps the variables in the code. */
__global__ void touch(void)
{
    numbers[threadIdx.x] += initialized[0] + (int)factor + shared_count;
}

static void copies(void)
{
    const int n = 1000;
    std::vector<int> in(n), out(n);
    int *a = nullptr, *b = nullptr;
    for (int i = 0; i < n; i++)
        in[i] = i * 7;
    GOOD(hipMalloc((void **)&a, n * sizeof(int)));
    GOOD(hipMalloc((void **)&b, n * sizeof(int)));
    GOOD(hipMemcpy(a, in.data(), n * sizeof(int), hipMemcpyHostToDevice));
    GOOD(hipMemcpy(b, a, n * sizeof(int), hipMemcpyDeviceToDevice));
    GOOD(hipMemcpy(out.data(), b, n * sizeof(int), hipMemcpyDeviceToHost));
    CHECK(in == out);
    GOOD(hipMemset(a, 0x11, 400));
    GOOD(hipMemsetD32(b, 42, 10));
    GOOD(hipMemcpy(out.data(), a, 404, hipMemcpyDefault));
    CHECK(out[99] == 0x11111111 && out[100] == in[100]);
    GOOD(hipMemcpyDtoH(out.data(), b, 44));
    CHECK(out[9] == 42 && out[10] == in[10]);
    GIVES(hipErrorInvalidValue, hipMemcpy(a, in.data(), 5000, hipMemcpyHostToDevice)); /* too long */
    GIVES(hipErrorInvalidMemcpyDirection, hipMemcpy(a, b, 4, (hipMemcpyKind)9));
    GOOD(hipFree(a));
    GOOD(hipFree(b));
    GOOD(hipFree(nullptr));
    GIVES(hipErrorInvalidValue, hipFree(in.data()));
}

static void rows(void)
{
    const size_t width = 100, height = 5;
    size_t pitch = 0;
    char *memory, in[500], out[500];
    for (int i = 0; i < 500; i++)
        in[i] = (char)i;
    GOOD(hipMallocPitch((void **)&memory, &pitch, width, height));
    CHECK(pitch >= width);
    GOOD(hipMemcpy2D(memory, pitch, in, width, width, height, hipMemcpyHostToDevice));
    GOOD(hipMemset2D(memory + 10, pitch, 0x55, 3, 2));
    GOOD(hipMemcpy2D(out, width, memory, pitch, width, height, hipMemcpyDeviceToHost));
    for (int i = 0; i < 500; i++) {
        bool filled = i < 200 && i % 100 >= 10 && i % 100 < 13;
        CHECK(out[i] == (filled ? 0x55 : in[i]));
    }
    GOOD(hipFree(memory));
}

static void variables(void)
{
    int in[100], out[100], first[4];
    float value = 2.5f, back = 0;
    void *address = nullptr;
    size_t bytes = 0;
    for (int i = 0; i < 100; i++)
        in[i] = i * i;
    GOOD(hipMemcpyToSymbol(HIP_SYMBOL(numbers), in, sizeof in));
    GOOD(hipMemcpyFromSymbol(out, HIP_SYMBOL(numbers), 50 * sizeof(int), 50 * sizeof(int)));
    CHECK(!memcmp(out, in + 50, 50 * sizeof(int)));
    GIVES(hipErrorInvalidValue, hipMemcpyToSymbol(HIP_SYMBOL(numbers), in, sizeof in, 4));
    GOOD(hipMemcpyFromSymbol(first, HIP_SYMBOL(initialized), sizeof first));
    CHECK(first[0] == 4 && first[3] == 1);
    GOOD(hipMemcpyToSymbol(HIP_SYMBOL(factor), &value, sizeof value));
    GOOD(hipGetSymbolAddress(&address, HIP_SYMBOL(factor)));
    GOOD(hipGetSymbolSize(&bytes, HIP_SYMBOL(factor)));
    CHECK(bytes == sizeof value);
    GOOD(hipMemcpy(&back, address, sizeof back, hipMemcpyDeviceToHost));
    CHECK(back == value);
    GIVES(hipErrorInvalidSymbol, hipGetSymbolSize(&bytes, &bytes));
    CHECK(shared_count == 7);
    shared_count = 8;
    CHECK(shared_count == 8);
}

static void pointers(void)
{
    hipPointerAttribute_t facts;
    void *device, *host, *managed, *mapped = nullptr, *base = nullptr;
    char own[4096];
    unsigned flags = 0;
    size_t bytes = 0;
    GOOD(hipMalloc(&device, 1000));
    GOOD(hipHostMalloc(&host, 1000, hipHostMallocPortable));
    GOOD(hipMallocManaged(&managed, 1000));
    GOOD(hipPointerGetAttributes(&facts, (char *)device + 10));
    CHECK(facts.memoryType == hipMemoryTypeDevice && facts.device == 0 && !facts.isManaged);
    GOOD(hipPointerGetAttributes(&facts, host));
    CHECK(facts.memoryType == hipMemoryTypeHost && facts.hostPointer == host);
    GOOD(hipPointerGetAttributes(&facts, managed));
    CHECK(facts.isManaged);
    GIVES(hipErrorInvalidValue, hipPointerGetAttributes(&facts, own));
    GOOD(hipHostGetFlags(&flags, host));
    CHECK(flags & hipHostMallocPortable);
    GOOD(hipHostGetDevicePointer(&mapped, host, 0));
    CHECK(mapped);
    GOOD(hipMemGetAddressRange(&base, &bytes, (char *)device + 500));
    CHECK(base == device && bytes == 1000);
    memset(managed, 3, 1000);
    GOOD(hipMemcpy(device, managed, 1000, hipMemcpyDefault));
    GOOD(hipMemcpy(host, device, 1000, hipMemcpyDeviceToHost));
    CHECK(((char *)host)[999] == 3);
    GOOD(hipHostRegister(own, sizeof own, hipHostRegisterDefault));
    GIVES(hipErrorHostMemoryAlreadyRegistered, hipHostRegister(own, sizeof own, hipHostRegisterDefault));
    GOOD(hipHostUnregister(own));
    GIVES(hipErrorHostMemoryNotRegistered, hipHostUnregister(own));
    GOOD(hipFree(device));
    GOOD(hipHostFree(host));
    GOOD(hipFree(managed));
}

static void limits(void)
{
    void *pointer = (void *)1;
    GIVES(hipErrorOutOfMemory, hipMalloc(&pointer, (size_t)1 << 50));
    GOOD(hipMalloc(&pointer, 0));
    CHECK(!pointer);
    GIVES(hipErrorInvalidValue, hipMalloc((void **)nullptr, 4));
    GIVES(hipErrorInvalidValue, hipHostMalloc(&pointer, 4, 0x1000));
}

int main(void)
{
    copies();
    rows();
    variables();
    pointers();
    limits();
    return check_end("memory");
}
