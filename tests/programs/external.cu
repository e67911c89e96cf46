/* External memory: imported by the file descriptor of memory that was exported, in this process and in another. */
#include "check.h"

#include <cstring>
#include <cuda.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 2 << 20, NUMBERS = BYTES / 4 };

__global__ void add(int *p, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    p[i] += value + i;
}

static cudaExternalMemoryHandleDesc described(int file, unsigned long long bytes)
{
    cudaExternalMemoryHandleDesc desc = {};
    desc.type = cudaExternalMemoryHandleTypeOpaqueFd;
    desc.handle.fd = file;
    desc.size = bytes;
    return desc;
}

static int mapped(int **pointer, cudaExternalMemory_t memory, unsigned long long offset, unsigned long long bytes,
                  unsigned flags = 0)
{
    cudaExternalMemoryBufferDesc desc = {};
    desc.offset = offset;
    desc.size = bytes;
    desc.flags = flags;
    return cudaExternalMemoryGetMappedBuffer((void **)pointer, memory, &desc);
}

static bool holds(int *p, int first, int count, int value)
{
    static int got[NUMBERS];
    GOOD(cudaMemcpy(got, p, sizeof(int) * count, cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; i++)
        if (got[i] != value + first + i)
            return false;
    return true;
}

/* Memory of the driver API that can be exported, mapped here. */
static CUmemGenericAllocationHandle make_shared(CUdeviceptr *at)
{
    CUmemAllocationProp what = {};
    CUmemAccessDesc access = {};
    CUmemGenericAllocationHandle handle;
    what.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    what.location.type = access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    what.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    GOOD(cuMemCreate(&handle, BYTES, &what, 0));
    GOOD(cuMemAddressReserve(at, BYTES, 0, 0, 0));
    GOOD(cuMemMap(*at, BYTES, 0, handle, 0));
    GOOD(cuMemSetAccess(*at, BYTES, &access, 1));
    return handle;
}

static int exported(CUmemGenericAllocationHandle handle)
{
    int file = -1;
    GOOD(cuMemExportToShareableHandle(&file, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    return file;
}

static void check_here(CUmemGenericAllocationHandle handle, int *own)
{
    cudaExternalMemory_t memory;
    int *all, *half, *none;
    cudaExternalMemoryHandleDesc desc = described(exported(handle), BYTES);
    GOOD(cudaImportExternalMemory(&memory, &desc));
    CHECK(close(desc.handle.fd) == -1); /* CUDA's from now on */
    GOOD(mapped(&all, memory, 0, BYTES));
    GOOD(mapped(&half, memory, BYTES / 2, BYTES / 2));
    CHECK(half == all + NUMBERS / 2);
    GOOD(cudaMemset(own, 0, BYTES));
    add<<<NUMBERS / 256, 256>>>(all, 100);
    CHECK(holds(own, 0, NUMBERS, 100) && holds(half, NUMBERS / 2, NUMBERS / 2, 100));

    CHECK(mapped(&none, memory, 1, BYTES) == cudaErrorInvalidValue);
    CHECK(mapped(&none, memory, 0, 0) == cudaErrorInvalidValue);
    CHECK(mapped(&none, memory, 0, 16, 1) == cudaErrorInvalidValue);
    CHECK(mapped(NULL, memory, 0, 16) == cudaErrorInvalidValue);
    CHECK(cudaExternalMemoryGetMappedBuffer((void **)&none, memory, NULL) == cudaErrorInvalidValue);
    GOOD(cudaFree(half));
    CHECK(cudaFree(half) != cudaSuccess);
    GOOD(cudaDestroyExternalMemory(memory)); /* its buffer is there until it is freed */
    CHECK(mapped(&none, memory, 0, 16) == cudaErrorInvalidResourceHandle);
    CHECK(cudaDestroyExternalMemory(memory) == cudaErrorInvalidResourceHandle);
    CHECK(holds(all, 0, NUMBERS, 100));
    GOOD(cudaFree(all));
    CHECK(cudaFree(all) != cudaSuccess);
    cudaGetLastError();
    CHECK(holds(own, 0, NUMBERS, 100));
}

static void check_refused(CUmemGenericAllocationHandle handle)
{
    cudaExternalMemory_t memory;
    int files[2];
    cudaExternalMemoryHandleDesc desc = described(exported(handle), BYTES + 1);
    CHECK(cudaImportExternalMemory(&memory, &desc) == cudaErrorInvalidValue);
    desc.size = 0;
    CHECK(cudaImportExternalMemory(&memory, &desc) == cudaErrorInvalidValue);
    desc.size = BYTES;
    desc.flags = 2;
    CHECK(cudaImportExternalMemory(&memory, &desc) == cudaErrorInvalidValue);
    desc.flags = cudaExternalMemoryDedicated;
    CHECK(cudaImportExternalMemory(NULL, &desc) == cudaErrorInvalidValue);
    CHECK(cudaImportExternalMemory(&memory, NULL) == cudaErrorInvalidValue);
    GOOD(cudaImportExternalMemory(&memory, &desc)); /* still ours until then */
    GOOD(cudaDestroyExternalMemory(memory));
    desc = described(0, BYTES);
    desc.type = cudaExternalMemoryHandleTypeD3D12Resource;
    CHECK(cudaImportExternalMemory(&memory, &desc) == cudaErrorInvalidValue);
    desc.type = cudaExternalMemoryHandleTypeNvSciBuf;
    CHECK(cudaImportExternalMemory(&memory, &desc) == cudaErrorNotSupported);
    CHECK(pipe(files) == 0);
    desc = described(files[0], BYTES);
    CHECK(cudaImportExternalMemory(&memory, &desc) == cudaErrorOperatingSystem);
    CHECK(close(files[0]) == 0);
    cudaGetLastError();
}

/* The other process has the file descriptor by the same number. */
static int run_child(int file)
{
    cudaExternalMemory_t memory;
    int *all;
    cudaExternalMemoryHandleDesc desc = described(file, BYTES);
    GOOD(cudaImportExternalMemory(&memory, &desc));
    GOOD(mapped(&all, memory, 0, BYTES));
    CHECK(holds(all, 0, NUMBERS, 100));
    GOOD(cudaMemset(all, 0, BYTES));
    add<<<NUMBERS / 256, 256>>>(all, 7);
    GOOD(cudaDeviceSynchronize());
    GOOD(cudaFree(all));
    GOOD(cudaDestroyExternalMemory(memory));
    return check_failures != 0;
}

int main(int count, char **words)
{
    if (count > 1)
        return run_child(atoi(words[1]));
    CUdeviceptr at;
    GOOD(cudaFree(0));
    CUmemGenericAllocationHandle handle = make_shared(&at);
    check_here(handle, (int *)at);
    check_refused(handle);
    int file = dup(exported(handle)), status = -1; /* which stays open in another program */
    char number[16];
    snprintf(number, sizeof number, "%d", file);
    pid_t child = fork();
    if (!child) {
        execl("/proc/self/exe", words[0], number, (char *)NULL);
        _exit(126);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(holds((int *)at, 0, NUMBERS, 7));
    GOOD(cuMemUnmap(at, BYTES));
    GOOD(cuMemRelease(handle));
    return check_end("external");
}
