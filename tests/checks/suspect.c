/* Launches kernels of a PTX file, each as kernels.cu says; or makes a mistake of the host.
 * Usage: suspect FILE.ptx NAME:BLOCKS:THREADS... [leave]   or   suspect MISTAKE; leave: ends by _exit */
#include "../programs/check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef unsigned long long address;
int cuInit(unsigned flags), cuDeviceGet(int *device, int index);
int cuDevicePrimaryCtxRetain(void **context, int device), cuCtxSetCurrent(void *context),
    cuCtxSynchronize(void);
int cuModuleLoad(void **module, const char *path),
    cuModuleGetFunction(void **function, void *module, const char *name);
int cuMemAlloc_v2(address *d, size_t bytes), cuMemFree_v2(address d),
    cuMemsetD8_v2(address d, unsigned char value, size_t bytes),
    cuMemcpyDtoH_v2(void *h, address d, size_t bytes),
    cuMemcpyHtoD_v2(address d, const void *h, size_t bytes),
    cuMemcpyDtoD_v2(address to, address from, size_t bytes);
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void *stream, void **arguments, void **extra);

enum { INTS = 4096, BYTES = INTS * 4 };

static void launch(void *module, char *what)
{
    void *function;
    address data, fresh, flag;
    char *name = strtok(what, ":"), *blocks = strtok(NULL, ":"), *threads = strtok(NULL, ":");
    GOOD(cuModuleGetFunction(&function, module, name));
    GOOD(cuMemAlloc_v2(&data, BYTES));
    GOOD(cuMemAlloc_v2(&fresh, BYTES));
    GOOD(cuMemAlloc_v2(&flag, BYTES));
    GOOD(cuMemsetD8_v2(data, 0, BYTES));
    GOOD(cuMemsetD8_v2(flag, 0, BYTES));
    void *arguments[] = {&data, &fresh, &flag};
    GOOD(cuLaunchKernel(function, (unsigned)atoi(blocks), 1, 1, (unsigned)atoi(threads), 1, 1, 0, NULL,
                        arguments, NULL));
    GOOD(cuCtxSynchronize());
    GOOD(cuMemFree_v2(data));
    GOOD(cuMemFree_v2(fresh));
    GOOD(cuMemFree_v2(flag));
}

static void mistake(const char *what)
{
    static char host[100];
    address a, b;
    GOOD(cuMemAlloc_v2(&a, 100));
    GOOD(cuMemAlloc_v2(&b, 100));
    GOOD(cuMemcpyHtoD_v2(a, host, !strcmp(what, "short") ? 60 : 100));
    GOOD(cuMemcpyDtoD_v2(b, a, 100));
    if (strcmp(what, "none") != 0)
        GOOD(cuMemcpyDtoH_v2(host, b, 100));
    GOOD(cuMemFree_v2(a));
    if (!strcmp(what, "twice"))
        CHECK(cuMemFree_v2(a));
    if (!strcmp(what, "inside"))
        CHECK(cuMemFree_v2(b + 4));
    if (strcmp(what, "leak") != 0)
        GOOD(cuMemFree_v2(b));
}

int main(int count, char **words)
{
    void *context, *module;
    int device;
    GOOD(cuInit(0));
    GOOD(cuDeviceGet(&device, 0));
    GOOD(cuDevicePrimaryCtxRetain(&context, device));
    GOOD(cuCtxSetCurrent(context));
    if (count == 2) {
        mistake(words[1]);
        return check_end("suspect");
    }
    GOOD(cuModuleLoad(&module, words[1]));
    for (int i = 2; i < count; i++) {
        if (!strcmp(words[i], "leave"))
            _exit(0);
        launch(module, words[i]);
    }
    return check_end("suspect");
}
