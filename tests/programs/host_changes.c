/* The host changes memory while a kernel uses the same page: by copies and by values that a stream writes.
 * Needs no nvcc. Usage: host_changes FILE.ptx. */
#include "check.h"

typedef unsigned long long address;
int cuInit(unsigned flags), cuDeviceGet(int *device, int index),
    cuDevicePrimaryCtxRetain(void **context, int device), cuCtxSetCurrent(void *context),
    cuModuleLoad(void **module, const char *path),
    cuModuleGetFunction(void **function, void *module, const char *name),
    cuMemAlloc_v2(address *d, size_t bytes), cuMemAllocHost_v2(void **h, size_t bytes),
    cuMemsetD32_v2(address d, unsigned v, size_t count), cuMemcpyDtoH_v2(void *h, address d, size_t bytes),
    cuMemcpyHtoDAsync_v2(address d, const void *h, size_t bytes, void *stream),
    cuStreamCreate(void **stream, unsigned flags), cuCtxSynchronize(void),
    cuStreamWaitValue32_v2(void *stream, address at, unsigned value, unsigned flags),
    cuStreamWriteValue32_v2(void *stream, address at, unsigned value, unsigned flags),
    cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void *stream, void **arguments, void **extra);

enum { WORDS = 1024, OWN = 64, GIVEN = 512, STEPS = 12, BLOCKS = 16, NON_BLOCKING = 1, AT_LEAST = 0 };

static unsigned given(unsigned step)
{
    return step * step + 7;
}

/* The host's side of a step, in a stream of its own. */
static void step_on(void *stream, address words, unsigned *next, unsigned step)
{
    *next = given(step);
    GOOD(cuMemcpyHtoDAsync_v2(words + (GIVEN + step) * sizeof *next, next, sizeof *next, stream));
    GOOD(cuStreamWriteValue32_v2(stream, words, step, 0));
    GOOD(cuStreamWaitValue32_v2(stream, words + sizeof *next, step * BLOCKS, AT_LEAST));
}

int main(int count, char **arguments)
{
    int device;
    void *context, *module, *follow, *kernels, *changes, *pinned;
    address words;
    unsigned steps = STEPS, sum = 0, seen[WORDS];
    if (count != 2)
        return fprintf(stderr, "usage: host_changes FILE.ptx\n"), 2;
    GOOD(cuInit(0));
    GOOD(cuDeviceGet(&device, 0));
    GOOD(cuDevicePrimaryCtxRetain(&context, device));
    GOOD(cuCtxSetCurrent(context));
    GOOD(cuModuleLoad(&module, arguments[1]));
    GOOD(cuModuleGetFunction(&follow, module, "follow"));
    GOOD(cuStreamCreate(&kernels, NON_BLOCKING));
    GOOD(cuStreamCreate(&changes, NON_BLOCKING));
    GOOD(cuMemAlloc_v2(&words, sizeof seen));
    GOOD(cuMemAllocHost_v2(&pinned, (STEPS + 1) * sizeof *seen));
    GOOD(cuMemsetD32_v2(words, 0, WORDS));
    GOOD(cuLaunchKernel(follow, BLOCKS, 1, 1, 1, 1, 1, 0, kernels, (void *[]){&words, &steps}, NULL));
    for (unsigned step = 1; step <= STEPS; step++) {
        step_on(changes, words, (unsigned *)pinned + step, step);
        sum += given(step);
    }
    GOOD(cuCtxSynchronize());
    GOOD(cuMemcpyDtoH_v2(seen, words, sizeof seen));
    CHECK(seen[0] == STEPS && seen[1] == STEPS * BLOCKS);
    for (unsigned block = 0; block < BLOCKS; block++)
        CHECK(seen[OWN + block] == sum);
    return check_end("host_changes");
}
