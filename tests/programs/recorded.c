/* What a recording of a program has to get right; needs no nvcc. Usage: recorded FILE.ptx WHAT.
 *   turns     four threads with a stream each, one at a time: the order of their calls is always the same
 *   together  the same threads, all at a time
 *   during    a thread waits for a kernel that ends only after another thread has launched one
 *   managed   managed memory that kernels and the program change in turn
 *   gpus      kernels on all GPUs, which read each other's memory, ordered by events
 *   end N     two launches, of which the second is not waited for; N: 0 the program returns, 1 it calls
 * _exit, 2 it is killed, 3 it aborts, 4 the second kernel writes where it may not */
#include "check.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

typedef unsigned long long address;
int cuInit(unsigned flags), cuDeviceGet(int *device, int index), cuDeviceGetCount(int *count),
    cuDevicePrimaryCtxRetain(void **context, int device), cuCtxSetCurrent(void *context),
    cuModuleLoad(void **module, const char *path),
    cuModuleGetFunction(void **function, void *module, const char *name),
    cuMemAlloc_v2(address *d, size_t bytes), cuMemAllocHost_v2(void **h, size_t bytes),
    cuMemAllocManaged(address *d, size_t bytes, unsigned flags), cuMemFree_v2(address d),
    cuMemsetD32_v2(address d, unsigned v, size_t count), cuMemcpyDtoH_v2(void *h, address d, size_t bytes),
    cuMemcpyPeerAsync(address to, void *to_context, address from, void *from_context, size_t bytes,
                      void *stream),
    cuStreamCreate(void **stream, unsigned flags), cuStreamSynchronize(void *stream), cuCtxSynchronize(void),
    cuCtxEnablePeerAccess(void *context, unsigned flags), cuEventCreate(void **event, unsigned flags),
    cuEventRecord(void *event, void *stream), cuStreamWaitEvent(void *stream, void *event, unsigned flags),
    cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void *stream, void **arguments, void **extra);

enum {
    THREADS = 4,
    ROUNDS = 3,
    BLOCKS = 8,
    BLOCK = 128,
    NUMBERS = BLOCKS * BLOCK,
    NON_BLOCKING = 1,
    GPUS = 8
};

static void *context, *work, *until;
static sem_t turn[THREADS + 1];
static int in_turns;

static void launch(void *function, void *stream, address numbers, unsigned rounds)
{
    void *arguments[] = {&numbers, &rounds};
    GOOD(cuLaunchKernel(function, function == until ? 1 : BLOCKS, 1, 1, function == until ? 1 : BLOCK, 1, 1,
                        0, stream, arguments, NULL));
}

static void *thread(void *user)
{
    unsigned own = *(const unsigned *)user;
    void *stream;
    address numbers;
    GOOD(cuCtxSetCurrent(context));
    for (unsigned round = 0; round < ROUNDS; round++) {
        if (in_turns)
            sem_wait(&turn[own]);
        if (!round) {
            GOOD(cuStreamCreate(&stream, NON_BLOCKING));
            GOOD(cuMemAlloc_v2(&numbers, NUMBERS * sizeof(unsigned)));
        }
        launch(work, stream, numbers, 100 * (own + 1));
        GOOD(cuStreamSynchronize(stream));
        if (in_turns)
            sem_post(&turn[(own + 1) % THREADS]);
    }
    return NULL;
}

static void several_threads(void)
{
    pthread_t threads[THREADS];
    unsigned numbers[THREADS];
    for (unsigned i = 0; i < THREADS; i++)
        sem_init(&turn[i], 0, i == 0);
    for (unsigned i = 0; i < THREADS; i++) {
        numbers[i] = i;
        CHECK(!pthread_create(&threads[i], NULL, thread, &numbers[i]));
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void *waits(void *user)
{
    void *stream;
    GOOD(cuCtxSetCurrent(context));
    GOOD(cuStreamCreate(&stream, NON_BLOCKING));
    launch(until, stream, (address)(size_t)user, 0);
    sem_post(&turn[0]);
    GOOD(cuStreamSynchronize(stream));
    return NULL;
}

static void during(void)
{
    pthread_t other;
    void *flag, *stream;
    address numbers;
    GOOD(cuMemAllocHost_v2(&flag, sizeof(unsigned)));
    GOOD(cuMemAlloc_v2(&numbers, NUMBERS * sizeof(unsigned)));
    GOOD(cuStreamCreate(&stream, NON_BLOCKING));
    *(volatile unsigned *)flag = 0;
    sem_init(&turn[0], 0, 0);
    CHECK(!pthread_create(&other, NULL, waits, flag));
    sem_wait(&turn[0]);
    launch(work, stream, numbers, 100);
    *(volatile unsigned *)flag = 1;
    pthread_join(other, NULL);
    GOOD(cuStreamSynchronize(stream));
}

static void managed(void)
{
    enum { PAGES = 64 };
    address at;
    GOOD(cuMemAllocManaged(&at, PAGES * 4096, 1));
    unsigned *numbers = (unsigned *)(size_t)at;
    for (unsigned i = 0; i < PAGES * 1024; i++)
        numbers[i] = i;
    for (unsigned round = 0; round < 6; round++) {
        launch(work, NULL, at + round % 2 * 65536, 10 + round);
        launch(work, NULL, at, 5);
        GOOD(cuCtxSynchronize());
        for (unsigned page = round; page < PAGES && round % 3; page += 5)
            numbers[page * 1024 + round] += round;
    }
    GOOD(cuMemFree_v2(at));
}

static void gpus(const char *path)
{
    int count;
    void *contexts[GPUS], *functions[GPUS], *streams[GPUS], *events[GPUS], *module;
    address numbers[GPUS];
    GOOD(cuDeviceGetCount(&count));
    for (int i = 0; i < count; i++) {
        GOOD(cuDevicePrimaryCtxRetain(&contexts[i], i));
        GOOD(cuCtxSetCurrent(contexts[i]));
        GOOD(cuModuleLoad(&module, path));
        GOOD(cuModuleGetFunction(&functions[i], module, "work"));
        GOOD(cuStreamCreate(&streams[i], NON_BLOCKING));
        GOOD(cuEventCreate(&events[i], 0));
        GOOD(cuMemAlloc_v2(&numbers[i], NUMBERS * sizeof(unsigned)));
    }
    for (int i = 0; i < count; i++) {
        GOOD(cuCtxSetCurrent(contexts[i]));
        for (int k = 0; k < count; k++)
            if (k != i)
                GOOD(cuCtxEnablePeerAccess(contexts[k], 0));
    }
    for (int round = 0; round < 2 * count; round++) {
        int i = round % count, next = (round + 1) % count;
        GOOD(cuCtxSetCurrent(contexts[i]));
        if (round)
            GOOD(cuStreamWaitEvent(streams[i], events[(i + count - 1) % count], 0));
        launch(functions[i], streams[i], numbers[next], 20);
        GOOD(cuMemcpyPeerAsync(numbers[i], contexts[i], numbers[next], contexts[next], 2048, streams[i]));
        GOOD(cuEventRecord(events[i], streams[i]));
    }
    for (int i = 0; i < count; i++) {
        GOOD(cuCtxSetCurrent(contexts[i]));
        GOOD(cuCtxSynchronize());
    }
}

static void end(int how)
{
    address numbers;
    GOOD(cuMemAlloc_v2(&numbers, NUMBERS * sizeof(unsigned)));
    launch(work, NULL, numbers, 10);
    GOOD(cuCtxSynchronize());
    launch(work, NULL, how == 4 ? 0 : numbers, 20);
    if (how == 1)
        _exit(5);
    if (how == 2)
        kill(getpid(), SIGKILL);
    if (how == 3)
        abort();
    if (how == 4)
        GIVES(700, cuCtxSynchronize());
}

int main(int count, char **words)
{
    int device;
    void *module;
    const char *what = count > 2 ? words[2] : "";
    setvbuf(stdout, NULL, _IOLBF, 0);
    GOOD(cuInit(0));
    GOOD(cuDeviceGet(&device, 0));
    GOOD(cuDevicePrimaryCtxRetain(&context, device));
    GOOD(cuCtxSetCurrent(context));
    GOOD(cuModuleLoad(&module, words[1]));
    GOOD(cuModuleGetFunction(&work, module, "work"));
    GOOD(cuModuleGetFunction(&until, module, "until"));
    in_turns = !strcmp(what, "turns");
    if (in_turns || !strcmp(what, "together"))
        several_threads();
    else if (!strcmp(what, "during"))
        during();
    else if (!strcmp(what, "managed"))
        managed();
    else if (!strcmp(what, "gpus"))
        gpus(words[1]);
    else if (!strcmp(what, "end") && count > 3)
        end(atoi(words[3]));
    else
        return fprintf(stderr, "usage: recorded FILE.ptx WHAT\n"), 2;
    return check_end("recorded");
}
