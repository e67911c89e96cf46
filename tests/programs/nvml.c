/* A program without nvcc that asks NVML: libnvidia-ml.so.1 by dlopen, as monitors do, beside the CUDA
 * runtime. Usage: nvml GPUS, how many there are. On a real GPU totals differ: NVML counts what the driver
 * keeps. */
#include "check.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What is needed of nvml.h and cuda_runtime_api.h. */
struct pci {
    char legacy[16];
    unsigned domain, bus, device, id, subsystem;
    char name[32];
};
struct memory {
    unsigned long long total, free, used;
};
struct memory_v2 {
    unsigned version;
    unsigned long long total, reserved, free, used;
};
struct process {
    unsigned pid;
    unsigned long long used;
    unsigned gpu, compute;
};
int cudaMalloc(void **pointer, size_t bytes), cudaFree(void *pointer),
    cudaMemGetInfo(size_t *available, size_t *total),
    cudaDeviceGetPCIBusId(char *name, int bytes, int device);

enum { UNINITIALIZED = 1, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7 };

static void *library;
static volatile bool stop;

static int (*find(const char *name))()
{
    int (*function)() = (int (*)())dlsym(library, name);
    if (!function) {
        printf("there is no %s\n", name);
        exit(1);
    }
    return function;
}
#define ASK(name, ...) find(#name)(__VA_ARGS__)

static void same_memory(void *device)
{
    struct memory memory;
    struct memory_v2 second = {.version = 2 << 24 | sizeof second};
    struct process process;
    unsigned count = 0;
    size_t available, total;
    void *taken;
    GOOD(cudaMalloc(&taken, 100 << 20));
    GOOD(cudaMemGetInfo(&available, &total));
    GOOD(ASK(nvmlDeviceGetMemoryInfo, device, &memory));
    CHECK(memory.total == total && memory.free == available && memory.used == total - available);
    CHECK(memory.used >= 100 << 20);
    GOOD(ASK(nvmlDeviceGetMemoryInfo_v2, device, &second));
    CHECK(second.total == total && second.free == available && !second.reserved);
    second.version = 7;
    GIVES(13, ASK(nvmlDeviceGetMemoryInfo_v2, device, &second));
    GIVES(INSUFFICIENT_SIZE, ASK(nvmlDeviceGetComputeRunningProcesses_v3, device, &count, NULL));
    CHECK(count == 1);
    GOOD(ASK(nvmlDeviceGetComputeRunningProcesses_v3, device, &count, &process));
    CHECK(count == 1 && process.used == memory.used && process.gpu == -1u);
    GOOD(cudaFree(taken));
    GOOD(ASK(nvmlDeviceGetMemoryInfo, device, &memory));
    CHECK(memory.free >= available + (100 << 20));
}

static void what_is_known(void *device)
{
    char text[96], bus[32];
    void *again = NULL;
    struct pci pci;
    unsigned value = 99, other = 99, rates[2];
    int major = 0, minor = 99;
    GOOD(ASK(nvmlDeviceGetName, device, text, sizeof text));
    CHECK(!strcmp(text, "NVIDIA H200"));
    GIVES(INSUFFICIENT_SIZE, ASK(nvmlDeviceGetName, device, text, 4));
    GOOD(ASK(nvmlDeviceGetUUID, device, text, sizeof text));
    CHECK(strlen(text) == 40 && !strncmp(text, "GPU-", 4) && text[12] == '-' && text[27] == '-');
    GOOD(ASK(nvmlDeviceGetHandleByUUID, text, &again));
    CHECK(again == device);
    GIVES(NOT_FOUND, ASK(nvmlDeviceGetHandleByUUID, "GPU-zzz", &again));
    CHECK(sizeof pci == 68);
    GOOD(ASK(nvmlDeviceGetPciInfo_v3, device, &pci));
    GOOD(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
    CHECK(!strcasecmp(pci.legacy, bus) && !strncmp(pci.name, "0000", 4) && !strcasecmp(pci.name + 4, bus));
    GOOD(ASK(nvmlDeviceGetHandleByPciBusId_v2, pci.name, &again));
    CHECK(again == device);
    GOOD(ASK(nvmlDeviceGetHandleByPciBusId_v2, pci.legacy, &again));
    GIVES(NOT_FOUND, ASK(nvmlDeviceGetHandleByPciBusId_v2, "0000:99:00.0", &again));
    GOOD(ASK(nvmlDeviceGetCudaComputeCapability, device, &major, &minor));
    CHECK(major == 9 && minor == 0);
    GOOD(ASK(nvmlDeviceGetUtilizationRates, device, rates));
    CHECK(rates[0] <= 100 && rates[1] <= 100);
    static const unsigned clocks[] = {1980, 1980, 3201};
    for (int i = 0; i < 3; i++) {
        GOOD(ASK(nvmlDeviceGetMaxClockInfo, device, i, &value));
        CHECK(value == clocks[i]);
    }
    static const struct {
        const char *name;
        unsigned value;
    } rows[] = {{"nvmlDeviceGetIndex", 0},
                {"nvmlDeviceGetNumGpuCores", 16896},
                {"nvmlDeviceGetMemoryBusWidth", 6016},
                {"nvmlDeviceGetArchitecture", 9},
                {"nvmlDeviceGetBrand", 14},
                {"nvmlDeviceGetPersistenceMode", 1},
                {"nvmlDeviceGetComputeMode", 0},
                {"nvmlDeviceGetPerformanceState", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        GOOD(find(rows[i].name)(device, &value));
        if (value != rows[i].value)
            printf("%s: %u, not %u\n", rows[i].name, value, rows[i].value);
        CHECK(value == rows[i].value);
    }
    GOOD(ASK(nvmlDeviceGetEccMode, device, &value, &other));
    CHECK(value == 1 && other == 1);
    GIVES(NOT_SUPPORTED, ASK(nvmlDeviceGetFanSpeed, device, &value));
    GIVES(NOT_SUPPORTED, ASK(nvmlDeviceGetNvLinkState, device, 0, &value));
    GIVES(INVALID_ARGUMENT, ASK(nvmlDeviceGetIndex, NULL, &value));
    GIVES(INVALID_ARGUMENT, ASK(nvmlDeviceGetIndex, &value, &value));
    GIVES(INVALID_ARGUMENT, ASK(nvmlDeviceGetIndex, device, NULL));
}

static void topology(void *first, void *second)
{
    unsigned level = 99, count = 1;
    int status = 99;
    void *near;
    GIVES(NOT_SUPPORTED, ASK(nvmlDeviceGetTopologyCommonAncestor, first, first, &level));
    GOOD(ASK(nvmlDeviceGetP2PStatus, first, first, 0, &status));
    CHECK(status == 5);
    if (!second)
        return;
    GOOD(ASK(nvmlDeviceGetTopologyCommonAncestor, first, second, &level));
    CHECK(level == 40);
    GOOD(ASK(nvmlDeviceGetTopologyNearestGpus, first, 40, &count, &near));
    CHECK(count == 1 && near == second);
    GOOD(ASK(nvmlDeviceGetP2PStatus, first, second, 0, &status));
    CHECK(status == 0);
    GOOD(ASK(nvmlDeviceGetP2PStatus, first, second, 2, &status));
    CHECK(status == 5);
}

static void *keep_allocating(void *unused)
{
    void *memory;
    for (; !stop; cudaFree(memory))
        cudaMalloc(&memory, 4096);
    return unused;
}

/* Children of fork get answers, whatever other threads of the parent were doing: they cannot use CUDA. */
static void in_children(void *device)
{
    struct memory memory;
    unsigned utilization[2];
    pthread_t thread;
    int status;
    pthread_create(&thread, NULL, keep_allocating, NULL);
    for (int i = 0; i < 50; i++) {
        pid_t child = fork();
        if (!child) {
            alarm(20);
            bool good = !ASK(nvmlDeviceGetMemoryInfo, device, &memory) && memory.total &&
                        !ASK(nvmlDeviceGetUtilizationRates, device, utilization);
            _exit(good ? 7 : 1);
        }
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
    }
    stop = true;
    pthread_join(thread, NULL);
}

int main(int arguments, char **words)
{
    unsigned wanted = arguments > 1 ? (unsigned)strtoul(words[1], NULL, 10) : 1, count = 0;
    void *device = NULL, *second = NULL;
    char text[96];
    int version = 0;
    library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    if (!library) {
        puts(dlerror());
        return 1;
    }
    GIVES(UNINITIALIZED, ASK(nvmlDeviceGetCount_v2, &count));
    GIVES(UNINITIALIZED, ASK(nvmlShutdown));
    GIVES(UNINITIALIZED, ASK(nvmlDeviceGetFanSpeed, NULL, NULL));
    GOOD(ASK(nvmlInit_v2));
    GOOD(ASK(nvmlInit));
    GOOD(ASK(nvmlShutdown));
    GOOD(ASK(nvmlDeviceGetCount_v2, &count));
    CHECK(count == wanted);
    GOOD(ASK(nvmlSystemGetCudaDriverVersion, &version));
    CHECK(version == 13000);
    GOOD(ASK(nvmlSystemGetDriverVersion, text, sizeof text));
    GIVES(INVALID_ARGUMENT, ASK(nvmlDeviceGetHandleByIndex_v2, 99, &device));
    GOOD(ASK(nvmlDeviceGetHandleByIndex_v2, 0, &device));
    if (wanted > 1)
        GOOD(ASK(nvmlDeviceGetHandleByIndex_v2, 1, &second));
    const char *(*string)(int) = (const char *(*)(int))find("nvmlErrorString");
    CHECK(!strcmp(string(3), "Not Supported") && !strcmp(string(12345), "Unknown Error"));
    what_is_known(device);
    same_memory(device);
    topology(device, second);
    in_children(device);
    GOOD(ASK(nvmlShutdown));
    GIVES(UNINITIALIZED, ASK(nvmlShutdown));
    return check_end("nvml");
}
