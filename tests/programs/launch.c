/* Launches a kernel of a PTX file whose one parameter is memory of zeros, several times if told.
 * Usage: launch FILE.ptx KERNEL BLOCKS THREADS BYTES [TIMES] */
#include "check.h"

typedef unsigned long long address;
int cuInit(unsigned flags), cuDeviceGet(int *device, int index);
int cuDevicePrimaryCtxRetain(void **context, int device), cuCtxSetCurrent(void *context),
    cuCtxSynchronize(void);
int cuModuleLoad(void **module, const char *path),
    cuModuleGetFunction(void **function, void *module, const char *name);
int cuMemAlloc_v2(address *d, size_t bytes), cuMemsetD8_v2(address d, unsigned char value, size_t bytes);
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void *stream, void **arguments, void **extra);

int main(int count, char **words)
{
    void *context, *module, *function;
    address memory;
    int device, times = count > 6 ? atoi(words[6]) : 1;
    if (count < 6)
        return 2;
    size_t bytes = strtoull(words[5], NULL, 10);
    GOOD(cuInit(0));
    GOOD(cuDeviceGet(&device, 0));
    GOOD(cuDevicePrimaryCtxRetain(&context, device));
    GOOD(cuCtxSetCurrent(context));
    GOOD(cuModuleLoad(&module, words[1]));
    GOOD(cuModuleGetFunction(&function, module, words[2]));
    GOOD(cuMemAlloc_v2(&memory, bytes));
    GOOD(cuMemsetD8_v2(memory, 0, bytes));
    for (int i = 0; i < times; i++) {
        void *arguments[] = {&memory};
        GOOD(cuLaunchKernel(function, (unsigned)atoi(words[3]), 1, 1, (unsigned)atoi(words[4]), 1, 1, 0, NULL,
                            arguments, NULL));
    }
    GOOD(cuCtxSynchronize());
    return check_end("launch");
}
