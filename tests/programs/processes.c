/* What a program does to itself and its machine; needs no nvcc. Usage: processes FILE.ptx WHAT.
 *   fork      children made before, after and during the use of the GPU; ends with "processes: ok"
 *   fresh     one launch: what fork's child becomes by exec
 *   many N    N launches of an empty kernel in one stream, and their count
 *   streams N N streams with a launch each
 *   hold      a child that waits forever while a kernel of the parent never ends; prints both process ids */
#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What is needed of cuda.h. */
typedef unsigned long long address;
int cuInit(unsigned flags), cuDeviceGet(int *device, int index), cuDriverGetVersion(int *version);
int cuDevicePrimaryCtxRetain(void **context, int device), cuCtxSetCurrent(void *context),
    cuCtxSynchronize(void);
int cuModuleLoad(void **module, const char *path),
    cuModuleGetFunction(void **function, void *module, const char *name), cuModuleUnload(void *module);
int cuMemAlloc_v2(address *d, size_t bytes), cuMemFree_v2(address d),
    cuMemcpyDtoH_v2(void *h, address d, size_t bytes);
int cuStreamCreate(void **stream, unsigned flags), cuStreamSynchronize(void *stream),
    cuStreamDestroy_v2(void *stream);
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void *stream, void **arguments, void **extra);

enum { NOT_INITIALIZED = 3, CHILD_STATUS = 7 };

static const char *file;
static void *module, *count, *spin;
static address counter;

static void open_gpu(void)
{
    void *context;
    int device;
    GOOD(cuInit(0));
    GOOD(cuDeviceGet(&device, 0));
    GOOD(cuDevicePrimaryCtxRetain(&context, device));
    GOOD(cuCtxSetCurrent(context));
    GOOD(cuModuleLoad(&module, file));
    GOOD(cuModuleGetFunction(&count, module, "count"));
    GOOD(cuModuleGetFunction(&spin, module, "wait"));
    GOOD(cuMemAlloc_v2(&counter, 4));
}

static int launch_count(void *stream)
{
    void *arguments[] = {&counter};
    return cuLaunchKernel(count, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL);
}

static void launch_wait(unsigned long long cycles)
{
    void *arguments[] = {&cycles};
    GOOD(cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
}

static unsigned counted(void)
{
    unsigned number = 0;
    GOOD(cuMemcpyDtoH_v2(&number, counter, 4));
    return number;
}

/* ---- children ---- */

static void use_fresh(void)
{
    open_gpu();
    GOOD(launch_count(NULL));
    CHECK(counted() == 1);
}

static void use_inherited(void)
{
    unsigned number;
    address more;
    void *stream;
    int version = 0;
    CHECK(cuDriverGetVersion(&version) == 0 && version >= 13000);
    GIVES(NOT_INITIALIZED, cuInit(0));
    GIVES(NOT_INITIALIZED, launch_count(NULL));
    GIVES(NOT_INITIALIZED, cuCtxSynchronize());
    GIVES(NOT_INITIALIZED, cuMemcpyDtoH_v2(&number, counter, 4));
    GIVES(NOT_INITIALIZED, cuMemAlloc_v2(&more, 4));
    GIVES(NOT_INITIALIZED, cuMemFree_v2(counter));
    GIVES(NOT_INITIALIZED, cuStreamCreate(&stream, 0));
    GIVES(NOT_INITIALIZED, cuModuleUnload(module));
}

static void only_exit(void)
{
}

static void become_fresh(void)
{
    execl("/proc/self/exe", "processes", file, "fresh", (char *)NULL);
}

/* Runs a child to its end, which must be its own. */
static void with_child(void (*does)(void))
{
    int status;
    pid_t child = fork();
    if (!child) {
        alarm(30);
        does();
        exit(check_failures ? 1 : CHILD_STATUS);
    }
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == CHILD_STATUS);
}

static void try_fork(void)
{
    with_child(use_fresh);
    open_gpu();
    GOOD(launch_count(NULL));
    with_child(use_inherited);
    with_child(only_exit);
    with_child(become_fresh);
    launch_wait(2000000);
    with_child(only_exit);
    with_child(use_inherited);
    GOOD(launch_count(NULL));
    CHECK(counted() == 2);
}

/* ---- much ---- */

static void launch_many(long number)
{
    open_gpu();
    for (long i = 0; i < number; i++)
        GOOD(launch_count(NULL));
    CHECK(counted() == (unsigned)number);
}

static void use_streams(long number)
{
    void **streams = malloc((size_t)number * sizeof *streams);
    open_gpu();
    for (long i = 0; i < number; i++) {
        GOOD(cuStreamCreate(&streams[i], 0));
        GOOD(launch_count(streams[i]));
    }
    GOOD(cuCtxSynchronize());
    CHECK(counted() == (unsigned)number);
    for (long i = 0; i < number; i++)
        GOOD(cuStreamDestroy_v2(streams[i]));
    free(streams);
}

static void hold(void)
{
    open_gpu();
    launch_wait(1ULL << 60);
    pid_t child = fork();
    if (!child) {
        for (;;)
            pause();
    }
    printf("%d %d\n", (int)getpid(), (int)child);
    fflush(stdout);
    GOOD(cuCtxSynchronize());
}

int main(int words, char **word)
{
    const char *what = words > 2 ? word[2] : "";
    long number = words > 3 ? atol(word[3]) : 0;
    file = words > 1 ? word[1] : "";
    if (!strcmp(what, "fresh")) {
        use_fresh();
        return check_failures ? 1 : CHILD_STATUS;
    }
    if (!strcmp(what, "fork"))
        try_fork();
    else if (!strcmp(what, "many"))
        launch_many(number);
    else if (!strcmp(what, "streams"))
        use_streams(number);
    else if (!strcmp(what, "hold"))
        hold();
    else
        CHECK(!"a known word");
    return check_end("processes");
}
