/* A program without nvcc: the driver API and a PTX file. Usage: ptx FILE.ptx [WHAT [DEVICE]], where WHAT is
 * something else to do. name: prints the name of the device; fault: a kernel that writes where it may not;
 * wait: prints "ready", and waits to be ended; prints the signal; graph: something that is not supported,
 * twice; much: asks for more memory than there is, twice; limited: as much as ulimit -v forbids, twice; stay:
 * launches and ends without waiting; killed: when the kernel has ended; blocks: the largest grid there is,
 * which takes minutes. */
#include "check.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What is needed of cuda.h. */
typedef unsigned long long address;
int cuInit(unsigned flags), cuDeviceGet(int *device, int index),
    cuDeviceGetName(char *name, int bytes, int device);
int cuDevicePrimaryCtxRetain(void **context, int device), cuCtxSetCurrent(void *context),
    cuCtxSynchronize(void);
int cuModuleLoad(void **module, const char *path),
    cuModuleGetFunction(void **function, void *module, const char *name);
int cuMemAlloc_v2(address *d, size_t bytes), cuMemFree_v2(address d);
int cuMemcpyHtoD_v2(address d, const void *h, size_t bytes),
    cuMemcpyDtoH_v2(void *h, address d, size_t bytes);
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void *stream, void **arguments, void **extra);
int cuImportExternalSemaphore(void **memory, const void *handle);

enum { N = 1000, BLOCK = 128 };

static void on_signal(int number)
{
    char text[] = "signal 00\n";
    text[7] = (char)('0' + number / 10);
    text[8] = (char)('0' + number % 10);
    if (write(1, text, sizeof text - 1) < 0)
        _exit(2);
    _exit(5);
}

static void saxpy(void *function, address x, address y, unsigned n, unsigned blocks)
{
    float a = 2.5f;
    void *arguments[] = {&n, &a, &x, &y};
    GOOD(cuLaunchKernel(function, blocks, 1, 1, BLOCK, 1, 1, 0, NULL, arguments, NULL));
}

int main(int count, char **words)
{
    const char *what = count > 2 ? words[2] : "";
    void *context, *module, *function;
    address x, y;
    int device;
    float h[N], g[N];
    char name[256];
    GOOD(cuInit(0));
    GOOD(cuDeviceGet(&device, count > 3 ? atoi(words[3]) : 0));
    if (!strcmp(what, "name")) {
        GOOD(cuDeviceGetName(name, sizeof name, device));
        return !!puts(name) == 0;
    }
    if (!strcmp(what, "wait")) {
        signal(SIGINT, on_signal);
        signal(SIGTERM, on_signal);
        puts("ready");
        fflush(stdout);
        for (;;)
            pause();
    }
    GOOD(cuDevicePrimaryCtxRetain(&context, device));
    GOOD(cuCtxSetCurrent(context));
    if (!strcmp(what, "unsupported")) {
        GIVES(801, cuImportExternalSemaphore(&context, NULL));
        GIVES(801, cuImportExternalSemaphore(&context, NULL));
        return check_end("unsupported");
    }
    if (!strcmp(what, "much")) {
        GIVES(2, cuMemAlloc_v2(&x, (size_t)1 << 50));
        GIVES(2, cuMemAlloc_v2(&x, (size_t)1 << 50));
        return check_end("much");
    }
    if (!strcmp(what, "limited")) {
        GIVES(2, cuMemAlloc_v2(&x, (size_t)1 << 32));
        GIVES(2, cuMemAlloc_v2(&x, (size_t)1 << 32));
        return check_end("limited");
    }
    GOOD(cuModuleLoad(&module, words[1]));
    GOOD(cuModuleGetFunction(&function, module, "saxpy"));
    for (int i = 0; i < N; i++)
        h[i] = (float)i, g[i] = 1;
    GOOD(cuMemAlloc_v2(&x, sizeof h));
    GOOD(cuMemAlloc_v2(&y, sizeof h));
    GOOD(cuMemcpyHtoD_v2(x, h, sizeof h));
    GOOD(cuMemcpyHtoD_v2(y, g, sizeof g));
    unsigned n = !strcmp(what, "fault") ? 2 * N : N;
    saxpy(function, x, y, n, !strcmp(what, "blocks") ? 0x7fffffff : (n + BLOCK - 1) / BLOCK);
    if (!strcmp(what, "stay"))
        return check_end("stay");
    GIVES(!strcmp(what, "fault") ? 700 : 0, cuCtxSynchronize());
    if (!strcmp(what, "killed"))
        raise(SIGKILL);
    if (strcmp(what, "fault")) {
        GOOD(cuMemcpyDtoH_v2(g, y, sizeof g));
        for (int i = 0; i < N; i++)
            CHECK(g[i] == 2.5f * (float)i + 1);
        GOOD(cuMemFree_v2(x));
    }
    return check_end("ptx");
}
