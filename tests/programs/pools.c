/* A memory pool that another process opens by a file descriptor; needs no nvcc. The process starts itself a
 * second time. */
#include "check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What is needed of cuda.h. */
typedef unsigned long long address;
typedef struct {
    char bytes[64];
} export_data;
struct pool_properties {
    int kind, handles, location, device;
    void *security;
    size_t most;
    unsigned short usage;
    unsigned char reserved[54];
};
int cuInit(unsigned flags), cuDeviceGet(int *device, int index);
int cuDevicePrimaryCtxRetain(void **context, int device), cuCtxSetCurrent(void *context);
int cuStreamCreate(void **stream, unsigned flags), cuStreamSynchronize(void *stream);
int cuMemPoolCreate(void **pool, const struct pool_properties *properties), cuMemPoolDestroy(void *pool);
int cuMemAllocFromPoolAsync(address *d, size_t bytes, void *pool, void *stream),
    cuMemFreeAsync(address d, void *stream), cuMemAlloc_v2(address *d, size_t bytes);
int cuMemsetD32_v2(address d, unsigned value, size_t count),
    cuMemcpyDtoH_v2(void *h, address d, size_t bytes);
int cuMemPoolExportToShareableHandle(void *handle, void *pool, int type, unsigned long long flags),
    cuMemPoolImportFromShareableHandle(void **pool, void *handle, int type, unsigned long long flags),
    cuMemPoolExportPointer(export_data *data, address d),
    cuMemPoolImportPointer(address *d, void *pool, export_data *data);

enum { INVALID_VALUE = 1, PINNED = 1, POSIX_FILE = 1, ON_DEVICE = 1, NUMBERS = 4096 };
static const struct pool_properties shared = {.kind = PINNED, .handles = POSIX_FILE, .location = ON_DEVICE},
                                    own = {.kind = PINNED, .location = ON_DEVICE};

static void *stream;

static void open_gpu(void)
{
    void *context;
    int device;
    GOOD(cuInit(0));
    GOOD(cuDeviceGet(&device, 0));
    GOOD(cuDevicePrimaryCtxRetain(&context, device));
    GOOD(cuCtxSetCurrent(context));
    GOOD(cuStreamCreate(&stream, 1));
}

static void check_numbers(address at, unsigned expected)
{
    static unsigned numbers[NUMBERS];
    GOOD(cuMemcpyDtoH_v2(numbers, at, sizeof numbers));
    CHECK(numbers[0] == expected && numbers[NUMBERS - 1] == expected);
}

/* Codes as the manual has them. */
static int run_child(void *file)
{
    export_data data, garbage = {"no"};
    void *pool, *other, *mine;
    address at = 0, more;
    CHECK(read(0, &data, sizeof data) == sizeof data);
    open_gpu();
    GIVES(INVALID_VALUE, cuMemPoolImportFromShareableHandle(&other, (void *)0, POSIX_FILE, 0));
    GOOD(cuMemPoolImportFromShareableHandle(&pool, file, POSIX_FILE, 0));
    GOOD(cuMemPoolCreate(&mine, &shared));
    GIVES(INVALID_VALUE, cuMemPoolImportPointer(&at, pool, &garbage));
    GIVES(INVALID_VALUE, cuMemPoolImportPointer(&at, mine, &data));
    GIVES(INVALID_VALUE, cuMemAllocFromPoolAsync(&more, 16, pool, stream));
    GOOD(cuMemPoolImportPointer(&at, pool, &data));
    check_numbers(at, 5);
    GOOD(cuMemsetD32_v2(at, 9, NUMBERS));
    GOOD(cuMemFreeAsync(at, stream));
    GOOD(cuStreamSynchronize(stream));
    return check_end("pools child");
}

int main(int count, char **words)
{
    int file, ends[2], status;
    char number[16];
    void *pool, *plain;
    address at, inner, memory;
    export_data data;
    if (count > 1)
        return run_child((void *)(size_t)atoi(words[1]));
    open_gpu();
    GOOD(cuMemPoolCreate(&pool, &shared));
    GOOD(cuMemPoolCreate(&plain, &own));
    GOOD(cuMemAllocFromPoolAsync(&at, NUMBERS * 4, pool, stream));
    GOOD(cuMemAllocFromPoolAsync(&inner, 64, plain, stream));
    GOOD(cuMemAlloc_v2(&memory, 64));
    GOOD(cuMemsetD32_v2(at, 5, NUMBERS));
    GOOD(cuStreamSynchronize(NULL));
    GIVES(INVALID_VALUE, cuMemPoolExportToShareableHandle(&file, plain, POSIX_FILE, 0));
    GIVES(INVALID_VALUE, cuMemPoolExportPointer(&data, inner));
    GIVES(INVALID_VALUE, cuMemPoolExportPointer(&data, memory));
    GOOD(cuMemPoolExportToShareableHandle(&file, pool, POSIX_FILE, 0));
    GOOD(cuMemPoolExportPointer(&data, at));
    CHECK(!fcntl(file, F_SETFD, 0) && !pipe(ends));
    CHECK(write(ends[1], &data, sizeof data) == sizeof data);
    snprintf(number, sizeof number, "%d", file);
    pid_t child = fork();
    if (!child) {
        dup2(ends[0], 0);
        execl("/proc/self/exe", words[0], number, (char *)0);
        _exit(1);
    }
    CHECK(waitpid(child, &status, 0) == child && !status);
    check_numbers(at, 9);
    GOOD(cuMemFreeAsync(at, stream));
    GOOD(cuStreamSynchronize(stream));
    GOOD(cuMemPoolDestroy(pool));
    return check_end("pools");
}
