/* Memory that the program maps itself: cuMemCreate, cuMemMap and the like. Needs -lcuda. */
#include <cuda.h>
#include <stdint.h>
#include <unistd.h>
#include "check.h"

static const size_t unit = 2 << 20;
static const CUmemAllocationHandleType as_file = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
static CUmemAllocationProp on_device;
static CUmemAccessDesc may_write, may_read;

__global__ void fill(int *p, int value)
{
    p[threadIdx.x] = value;
}

__global__ void copy(int *to, const int *from)
{
    to[threadIdx.x] = from[threadIdx.x];
}

static void prepare()
{
    size_t bytes = 0;
    int value = 0;
    on_device.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    on_device.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    may_write.location = may_read.location = on_device.location;
    may_write.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    may_read.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
    GOOD(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0));
    CHECK(value == 1);
    GOOD(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 0));
    CHECK(value == 1);
    GOOD(cuMemGetAllocationGranularity(&bytes, &on_device, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    CHECK(bytes == unit);
}

static void two_side_by_side()
{
    CUmemGenericAllocationHandle first, second, again;
    CUdeviceptr p, base;
    size_t before, after, total, bytes;
    int h[256] = {0};
    GOOD(cuMemGetInfo(&before, &total));
    GOOD(cuMemAddressReserve(&p, 4 * unit, 0, 0, 0));
    GOOD(cuMemCreate(&first, unit, &on_device, 0));
    GOOD(cuMemCreate(&second, 2 * unit, &on_device, 0));
    GOOD(cuMemGetInfo(&after, &total));
    CHECK(before - after == 3 * unit);
    GOOD(cuMemMap(p, unit, 0, first, 0));
    GOOD(cuMemMap(p + unit, 2 * unit, 0, second, 0));
    GOOD(cuMemRelease(first)); /* the mappings keep the memory */
    GOOD(cuMemRelease(second));
    GOOD(cuMemSetAccess(p, 3 * unit, &may_write, 1));

    fill<<<1, 256>>>((int *)(p + unit - 512), 42); /* half in each */
    GOOD(cudaMemcpy(h, (void *)(p + unit - 512), sizeof h, cudaMemcpyDeviceToHost));
    CHECK(h[0] == 42 && h[255] == 42);
    GOOD(cudaMemset((void *)p, 1, 3 * unit));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemsetD8(p, 1, 3 * unit + 1));

    GOOD(cuMemGetAddressRange(&base, &bytes, p + 2 * unit));
    CHECK(base == p + unit && bytes == 2 * unit);
    GOOD(cuPointerGetAttribute(&bytes, CU_POINTER_ATTRIBUTE_RANGE_SIZE, p + 2 * unit));
    CHECK(bytes == 4 * unit);
    GOOD(cuMemRetainAllocationHandle(&again, (void *)(p + 5)));
    CHECK(again == first);
    GOOD(cuMemRelease(again));

    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(p, 4 * unit));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFree(p));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(p, 2 * unit)); /* would cut the second */
    GOOD(cuMemUnmap(p, 4 * unit));
    GOOD(cuMemAddressFree(p, 4 * unit));
    GOOD(cuMemGetInfo(&after, &total));
    CHECK(before == after);
}

/* What was written to one mapping is there when another one has gone. */
static void one_goes()
{
    CUmemGenericAllocationHandle memory[2];
    CUdeviceptr p;
    int h[256] = {0}, *d;
    GOOD(cudaMalloc(&d, sizeof h));
    GOOD(cuMemAddressReserve(&p, 2 * unit, 0, 0, 0));
    for (int i = 0; i < 2; i++) {
        GOOD(cuMemCreate(&memory[i], unit, &on_device, 0));
        GOOD(cuMemMap(p + i * unit, unit, 0, memory[i], 0));
    }
    GOOD(cuMemSetAccess(p, 2 * unit, &may_write, 1));
    fill<<<1, 256>>>((int *)(p + unit), 42);
    GOOD(cudaDeviceSynchronize());
    GOOD(cuMemUnmap(p, unit));
    copy<<<1, 256>>>(d, (const int *)(p + unit));
    GOOD(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    CHECK(h[0] == 42 && h[255] == 42);
    GOOD(cuMemUnmap(p + unit, unit));
    for (int i = 0; i < 2; i++)
        GOOD(cuMemRelease(memory[i]));
    GOOD(cuMemAddressFree(p, 2 * unit));
    GOOD(cudaFree(d));
}

static void access()
{
    CUmemGenericAllocationHandle memory;
    CUdeviceptr p;
    unsigned long long flags = 9;
    int h[256] = {7}, *d;
    CUmemAccessDesc none = may_read;
    none.location.id = 99;
    GOOD(cudaMalloc(&d, sizeof h));
    GOOD(cuMemAddressReserve(&p, 2 * unit, 0, 0, 0));
    GOOD(cuMemCreate(&memory, unit, &on_device, 0));
    GOOD(cuMemMap(p, unit, 0, memory, 0));
    GOOD(cuMemGetAccess(&flags, &on_device.location, p));
    CHECK(flags == 0);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(p, h, sizeof h));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemSetAccess(p, 2 * unit, &may_write, 1));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemSetAccess(p, unit, &none, 1));
    GIVES(CUDA_ERROR_INVALID_DEVICE, cuMemGetAccess(&flags, &none.location, p));

    GOOD(cuMemSetAccess(p, unit, &may_write, 1));
    GOOD(cuMemcpyHtoD(p, h, sizeof h));
    GOOD(cuMemSetAccess(p, unit, &may_read, 1));
    GOOD(cuMemGetAccess(&flags, &on_device.location, p));
    CHECK(flags == CU_MEM_ACCESS_FLAGS_PROT_READ);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(p, h, sizeof h));
    copy<<<1, 256>>>(d, (const int *)p);
    h[0] = 0;
    GOOD(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    CHECK(h[0] == 7);
    GOOD(cuMemUnmap(p, unit));
    GOOD(cuMemRelease(memory));
    GOOD(cuMemAddressFree(p, 2 * unit));
    GOOD(cudaFree(d));
}

static void mistakes()
{
    CUmemGenericAllocationHandle memory, other;
    CUmemAllocationProp properties = on_device;
    CUdeviceptr p, q;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&memory, 0, &on_device, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&memory, unit + 4096, &on_device, 0));
    GIVES(CUDA_ERROR_OUT_OF_MEMORY, cuMemCreate(&memory, (size_t)1 << 50, &on_device, 0));
    properties.location.id = 99;
    GIVES(CUDA_ERROR_INVALID_DEVICE, cuMemCreate(&memory, unit, &properties, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&p, 4096, 0, 0, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&p, unit, 3, 0, 0));
    GOOD(cuMemAddressReserve(&q, unit, 1 << 30, 0, 0));
    CHECK(q % (1 << 30) == 0);
    GOOD(cuMemAddressFree(q, unit));

    GOOD(cuMemAddressReserve(&p, 4 * unit, 0, 0, 0));
    GOOD(cuMemCreate(&memory, 2 * unit, &on_device, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemMap(p, 2 * unit, 0, 0, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemMap(p + 4096, 2 * unit, 0, memory, 0));
    GIVES(CUDA_ERROR_NOT_SUPPORTED, cuMemMap(p, unit, 0, memory, 0)); /* all or nothing */
    GIVES(CUDA_ERROR_NOT_SUPPORTED, cuMemMap(p, unit, unit, memory, 0));
    GOOD(cuMemMap(p, 2 * unit, 0, memory, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemMap(p + unit, 2 * unit, 0, memory, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(p, unit));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemRetainAllocationHandle(&other, (void *)(p + 3 * unit)));
    GOOD(cuMemUnmap(p, 2 * unit));
    GOOD(cuMemUnmap(p, 2 * unit)); /* nothing is mapped: nothing is to do */
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(0, unit));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(p, 2 * unit));
    GOOD(cuMemRelease(memory));
    GOOD(cuMemAddressFree(p, 4 * unit));
}

static void shared()
{
    CUmemGenericAllocationHandle memory, imported;
    CUmemAllocationProp properties = on_device;
    CUdeviceptr p;
    int file = -1, h[256] = {0};
    GOOD(cuMemCreate(&memory, unit, &properties, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemExportToShareableHandle(&file, memory, as_file, 0));
    GOOD(cuMemRelease(memory));

    properties.requestedHandleTypes = as_file;
    GOOD(cuMemCreate(&memory, unit, &properties, 0));
    GOOD(cuMemExportToShareableHandle(&file, memory, as_file, 0));
    GOOD(cuMemImportFromShareableHandle(&imported, (void *)(uintptr_t)file, as_file));
    close(file);
    CHECK(imported != memory);
    GOOD(cuMemGetAllocationPropertiesFromHandle(&properties, imported));
    CHECK(properties.type == CU_MEM_ALLOCATION_TYPE_PINNED && properties.location.id == 0);

    GOOD(cuMemAddressReserve(&p, 2 * unit, 0, 0, 0));
    GOOD(cuMemMap(p, unit, 0, memory, 0));
    GOOD(cuMemMap(p + unit, unit, 0, imported, 0));
    GOOD(cuMemSetAccess(p, 2 * unit, &may_write, 1));
    fill<<<1, 256>>>((int *)p, 5); /* one memory at two addresses */
    GOOD(cudaMemcpy(h, (void *)(p + unit), sizeof h, cudaMemcpyDeviceToHost));
    CHECK(h[0] == 5 && h[255] == 5);
    GOOD(cuMemUnmap(p, 2 * unit));
    GOOD(cuMemRelease(memory));
    GOOD(cuMemRelease(imported));
    GOOD(cuMemAddressFree(p, 2 * unit));
}

int main()
{
    GOOD(cuInit(0));
    prepare(); /* needs no context */
    GOOD(cudaFree(0));
    two_side_by_side();
    one_goes();
    access();
    mistakes();
    shared();
    return check_end("mapping");
}
