/* Memory and events of one process that another opens by handles; needs no nvcc. Usage: ipc FILE.ptx.
 * The process starts itself a second time, and the two take turns with kernels on the same numbers, on the
 * first and the last GPU. Which kernel waits for which is said by events alone.
 *   ipc FILE.ptx lend    writes a handle to the file `handle`, and ends when the file `opened` is there
 *   ipc FILE.ptx borrow  opens it, and uses the memory when its owner has ended */
#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What is needed of cuda.h. */
typedef unsigned long long address;
typedef struct {
    char bytes[64];
} handle;
int cuInit(unsigned flags), cuDeviceGet(int *device, int index), cuDeviceGetCount(int *count);
int cuDevicePrimaryCtxRetain(void **context, int device), cuCtxSetCurrent(void *context),
    cuCtxSynchronize(void);
int cuModuleLoad(void **module, const char *path),
    cuModuleGetFunction(void **function, void *module, const char *name);
int cuMemAlloc_v2(address *d, size_t bytes), cuMemFree_v2(address d),
    cuMemAllocHost_v2(void **h, size_t bytes), cuMemAllocManaged(address *d, size_t bytes, unsigned flags),
    cuMemcpyDtoH_v2(void *h, address d, size_t bytes),
    cuMemsetD32_v2(address d, unsigned value, size_t count),
    cuMemAllocAsync(address *d, size_t bytes, void *stream);
int cuStreamCreate(void **stream, unsigned flags), cuStreamSynchronize(void *stream),
    cuStreamWaitEvent(void *stream, void *event, unsigned flags);
int cuEventCreate(void **event, unsigned flags), cuEventRecord(void *event, void *stream),
    cuEventSynchronize(void *event), cuEventQuery(void *event), cuEventDestroy_v2(void *event);
int cuIpcGetMemHandle(handle *h, address d), cuIpcOpenMemHandle_v2(address *d, handle h, unsigned flags),
    cuIpcCloseMemHandle(address d), cuIpcGetEventHandle(handle *h, void *event),
    cuIpcOpenEventHandle(void **event, handle h);
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void *stream, void **arguments, void **extra);

enum { NUMBERS = 16384, BLOCK = 128, TURNS = 4, LAZY_PEERS = 1, NO_TIMING = 2, INTERPROCESS = 4 };
enum { INVALID_VALUE = 1, INVALID_CONTEXT = 201, MAP_FAILED = 205, INVALID_HANDLE = 400 };

struct letter {
    handle memory, inner, event[2];
};

static void *change, *stream;
static int out = 3, in = 4; /* ends of pipes to the other process */

static void open_gpu(const char *file, int last)
{
    void *context, *module;
    int device, count;
    GOOD(cuInit(0));
    GOOD(cuDeviceGetCount(&count));
    GOOD(cuDeviceGet(&device, last ? count - 1 : 0));
    GOOD(cuDevicePrimaryCtxRetain(&context, device));
    GOOD(cuCtxSetCurrent(context));
    GOOD(cuModuleLoad(&module, file));
    GOOD(cuModuleGetFunction(&change, module, "change"));
    GOOD(cuStreamCreate(&stream, 1));
}

static void launch(address at, unsigned factor, unsigned more)
{
    void *arguments[] = {&at, &factor, &more};
    GOOD(cuLaunchKernel(change, NUMBERS / BLOCK, 1, 1, BLOCK, 1, 1, 0, stream, arguments, NULL));
}

static void tell(void)
{
    CHECK(write(out, "x", 1) == 1);
}

static void listen_once(void)
{
    char c;
    CHECK(read(in, &c, 1) == 1);
}

/* Each waits for the other's event, and tells that it has recorded its own before the other waits for it. */
static void take_turns(address at, void *const *event, int first, unsigned factor, unsigned more)
{
    for (int i = 0; i < TURNS; i++) {
        if (i || !first) {
            listen_once();
            GOOD(cuStreamWaitEvent(stream, event[first], 0));
        }
        launch(at, factor, more);
        GOOD(cuEventRecord(event[!first], stream));
        tell();
    }
}

static void check_numbers(address at)
{
    static unsigned numbers[NUMBERS];
    unsigned expected = 1;
    for (int i = 0; i < TURNS; i++)
        expected = (expected * 3 + 1) * 5 + 2;
    GOOD(cuMemcpyDtoH_v2(numbers, at, sizeof numbers));
    CHECK(numbers[0] == expected && numbers[NUMBERS / 2] == expected && numbers[NUMBERS - 1] == expected);
}

/* ---- the process that opens ---- */

static void open_wrongly(const struct letter *letter)
{
    address at;
    void *event;
    handle garbage;
    memset(&garbage, 0, sizeof garbage);
    GIVES(INVALID_VALUE, cuIpcOpenMemHandle_v2(&at, letter->memory, 0));
    GIVES(INVALID_VALUE, cuIpcOpenMemHandle_v2(&at, letter->memory, 2));
    GIVES(INVALID_VALUE, cuIpcOpenMemHandle_v2(&at, garbage, LAZY_PEERS));
    GIVES(MAP_FAILED, cuIpcOpenEventHandle(&event, garbage));
    GIVES(INVALID_VALUE, cuIpcCloseMemHandle(0));
}

static void close_all(address at, void *const *event, handle memory)
{
    address own, again;
    handle other;
    GIVES(INVALID_VALUE, cuIpcGetMemHandle(&other, at));
    GIVES(INVALID_HANDLE, cuIpcGetEventHandle(&other, event[0]));
    GIVES(INVALID_VALUE, cuMemFree_v2(at));
    GIVES(INVALID_VALUE, cuIpcCloseMemHandle(at + 512));
    GOOD(cuIpcCloseMemHandle(at));
    GOOD(cuIpcCloseMemHandle(at));
    GIVES(INVALID_VALUE, cuIpcCloseMemHandle(at)); /* it was opened twice */
    GOOD(cuMemAlloc_v2(&own, 100));
    GIVES(INVALID_VALUE, cuIpcCloseMemHandle(own));
    GOOD(cuIpcOpenMemHandle_v2(&again, memory, LAZY_PEERS)); /* and stays open until the process ends */
    check_numbers(again);
    GOOD(cuEventDestroy_v2(event[0]));
    GOOD(cuEventDestroy_v2(event[1]));
}

static int run_child(const char *file)
{
    struct letter letter;
    address at = 0, inner = 1;
    void *event[2];
    CHECK(read(in, &letter, sizeof letter) == sizeof letter);
    open_gpu(file, 1);
    open_wrongly(&letter);
    GOOD(cuIpcOpenMemHandle_v2(&at, letter.memory, LAZY_PEERS));
    GOOD(cuIpcOpenMemHandle_v2(&inner, letter.inner, LAZY_PEERS));
    CHECK(at && inner == at); /* a handle is of all that was allocated together */
    for (int i = 0; i < 2; i++)
        GOOD(cuIpcOpenEventHandle(&event[i], letter.event[i]));
    GOOD(cuEventQuery(event[1])); /* never recorded */
    take_turns(at, event, 0, 5, 2);
    GOOD(cuStreamSynchronize(stream));
    check_numbers(at);
    close_all(at, event, letter.memory);
    return check_end("ipc child");
}

/* ---- the process that has it ---- */

static void export_wrongly(address at)
{
    handle other;
    address managed, pooled;
    void *pinned, *event;
    GIVES(INVALID_VALUE, cuIpcGetMemHandle(&other, 0));
    GOOD(cuMemAllocManaged(&managed, 100, 1));
    GIVES(INVALID_VALUE, cuIpcGetMemHandle(&other, managed));
    GOOD(cuMemAllocHost_v2(&pinned, 100));
    GIVES(INVALID_VALUE, cuIpcGetMemHandle(&other, (address)(size_t)pinned));
    GOOD(cuMemAllocAsync(&pooled, 100, stream));
    GIVES(INVALID_VALUE, cuIpcGetMemHandle(&other, pooled));
    GIVES(INVALID_VALUE, cuIpcCloseMemHandle(at));
    GIVES(INVALID_VALUE, cuEventCreate(&event, INTERPROCESS));
    GOOD(cuEventCreate(&event, NO_TIMING));
    GIVES(INVALID_HANDLE, cuIpcGetEventHandle(&other, event));
}

static void export(address at, void **event, struct letter *letter)
{
    address own;
    void *opened;
    GOOD(cuIpcGetMemHandle(&letter->memory, at));
    GOOD(cuIpcGetMemHandle(&letter->inner, at + 4096));
    GIVES(INVALID_CONTEXT, cuIpcOpenMemHandle_v2(&own, letter->memory, LAZY_PEERS));
    for (int i = 0; i < 2; i++) {
        GOOD(cuEventCreate(&event[i], INTERPROCESS | NO_TIMING));
        GOOD(cuIpcGetEventHandle(&letter->event[i], event[i]));
        GIVES(INVALID_CONTEXT, cuIpcOpenEventHandle(&opened, letter->event[i]));
    }
}

static pid_t start_child(const char *file)
{
    int there[2], back[2];
    CHECK(!pipe(there) && !pipe(back));
    pid_t child = fork();
    if (!child) {
        dup2(there[0], 14), dup2(back[1], 13);
        dup2(14, 4), dup2(13, 3);
        for (int i = 5; i < 20; i++)
            close(i);
        execl("/proc/self/exe", "ipc", file, "child", (char *)NULL);
        _exit(1);
    }
    out = there[1];
    in = back[0];
    return child;
}

/* ---- two programs ---- */

static void wait_for_file(const char *name)
{
    for (int tries = 0; tries < 3000 && access(name, F_OK); tries++)
        usleep(10000);
}

static void write_file(const char *name, const void *bytes, size_t count)
{
    FILE *file = fopen("new", "w");
    CHECK(file && fwrite(bytes, 1, count, file) == count && !fclose(file) && !rename("new", name));
}

static int lend(const char *ptx)
{
    address at;
    handle memory;
    open_gpu(ptx, 0);
    GOOD(cuMemAlloc_v2(&at, NUMBERS * 4));
    GOOD(cuMemsetD32_v2(at, 4, NUMBERS));
    GOOD(cuCtxSynchronize());
    GOOD(cuIpcGetMemHandle(&memory, at));
    write_file("handle", &memory, sizeof memory);
    wait_for_file("opened");
    return check_end("ipc lend");
}

static int borrow(const char *ptx)
{
    address at = 0;
    handle memory;
    unsigned last = 0;
    wait_for_file("handle");
    FILE *file = fopen("handle", "r");
    CHECK(file && fread(&memory, sizeof memory, 1, file) == 1);
    open_gpu(ptx, 0);
    GOOD(cuIpcOpenMemHandle_v2(&at, memory, LAZY_PEERS));
    write_file("opened", "", 0);
    wait_for_file("ended");
    launch(at, 3, 1);
    GOOD(cuStreamSynchronize(stream));
    GOOD(cuMemcpyDtoH_v2(&last, at + NUMBERS * 4 - 4, 4));
    CHECK(last == 13);
    GOOD(cuIpcCloseMemHandle(at));
    return check_end("ipc borrow");
}

int main(int count, char **words)
{
    struct letter letter;
    address at, beside;
    void *event[2];
    int status;
    if (count > 2)
        return (!strcmp(words[2], "lend")     ? lend
                : !strcmp(words[2], "borrow") ? borrow
                                              : run_child)(words[1]);
    pid_t child = start_child(words[1]);
    open_gpu(words[1], 0);
    GOOD(cuMemAlloc_v2(&beside, 100)); /* in the same page */
    GOOD(cuMemAlloc_v2(&at, NUMBERS * 4));
    GOOD(cuMemsetD32_v2(beside, 7, 25));
    GOOD(cuMemsetD32_v2(at, 1, NUMBERS));
    GOOD(cuCtxSynchronize());
    export_wrongly(at);
    export(at, event, &letter);
    CHECK(write(out, &letter, sizeof letter) == sizeof letter);
    take_turns(at, event, 1, 3, 1);
    listen_once(); /* the last record of the other */
    GOOD(cuEventSynchronize(event[1]));
    check_numbers(at);
    unsigned still[25];
    GOOD(cuMemcpyDtoH_v2(still, beside, sizeof still));
    CHECK(still[0] == 7 && still[24] == 7);
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status));
    GOOD(cuMemFree_v2(at));
    return check_end("ipc");
}
