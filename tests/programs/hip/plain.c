/* HIP's functions called from C, for machines without hipcc: a vector addition by a code object's kernel.
 * Usage: plain FILE.hsaco */
#include "../check.h"

#include <stdlib.h>
#include <time.h>

int hipMalloc(void **memory, size_t bytes), hipMemcpy(void *to, const void *from, size_t bytes, int kind);
int hipModuleLoad(void **module, const char *path),
    hipModuleGetFunction(void **function, void *module, const char *name);
int hipModuleLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                          unsigned bz, unsigned shared, void *stream, void **arguments, void **extra);
int hipDeviceSynchronize(void);

enum { COUNT = 16384, BLOCK = 256, TO_DEVICE = 1, TO_HOST = 2 };

static long now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

int main(int count, char **words)
{
    static float a[COUNT], c[COUNT];
    void *on_device[3], *module, *function;
    unsigned n = COUNT;
    if (count < 2)
        return 2;
    for (int i = 0; i < COUNT; i++)
        a[i] = (float)i;
    for (int i = 0; i < 3; i++)
        GOOD(hipMalloc(&on_device[i], sizeof a));
    GOOD(hipModuleLoad(&module, words[1]));
    GOOD(hipModuleGetFunction(&function, module, "vecadd"));
    GOOD(hipMemcpy(on_device[0], a, sizeof a, TO_DEVICE));
    GOOD(hipMemcpy(on_device[1], a, sizeof a, TO_DEVICE));
    void *arguments[] = {&n, &on_device[0], &on_device[1], &on_device[2]};
    long begin = now_ns();
    GOOD(hipModuleLaunchKernel(function, COUNT / BLOCK, 1, 1, BLOCK, 1, 1, 0, NULL, arguments, NULL));
    GOOD(hipDeviceSynchronize());
    printf("kernel_ns=%ld\n", now_ns() - begin);
    GOOD(hipMemcpy(c, on_device[2], sizeof c, TO_HOST));
    for (int i = 0; i < COUNT; i++)
        CHECK(c[i] == 2 * a[i]);
    return check_end("plain");
}
