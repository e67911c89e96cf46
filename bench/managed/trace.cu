/* What the driver itself reports of faults and migrations (CUPTI's unified memory counters): groups of
 * faults, and each transfer with its size and time. Build with -lcupti. */
#include "probe.cuh"
#include <cupti.h>
#include <map>
#include <unistd.h>

struct record {
    CUpti_ActivityUnifiedMemoryCounterKind kind;
    uint64_t value, start, end;
};
static std::vector<record> records;

static void cupti_check(CUptiResult result, const char *call)
{
    const char *text = "?";
    if (result == CUPTI_SUCCESS)
        return;
    cuptiGetResultString(result, &text);
    fprintf(stderr, "%s: %s: %s\n", probe_name, call, text);
    exit(2);
}
#define CUPTI(call) cupti_check((call), #call)

static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *size, size_t *most)
{
    *size = 4 * MIB, *most = 0;
    *buffer = (uint8_t *)aligned_alloc(8, *size);
}

static void CUPTIAPI take_buffer(CUcontext, uint32_t, uint8_t *buffer, size_t, size_t valid)
{
    CUpti_Activity *one = nullptr;
    while (cuptiActivityGetNextRecord(buffer, valid, &one) == CUPTI_SUCCESS)
        if (one->kind == CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER) {
            auto *counter = (CUpti_ActivityUnifiedMemoryCounter3 *)one;
            records.push_back({counter->counterKind, counter->value, counter->start, counter->end});
        }
    free(buffer);
}

static void begin(void)
{
    static CUpti_ActivityUnifiedMemoryCounterConfig all[4];
    const CUpti_ActivityUnifiedMemoryCounterKind kinds[] = {
        CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD,
        CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH,
        CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT,
        CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT};
    for (int i = 0; i < 4; i++) {
        all[i].scope = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_SINGLE_DEVICE;
        all[i].kind = kinds[i];
        all[i].deviceId = 0;
        all[i].enable = 1;
    }
    CHECK(cudaFree(nullptr)); /* a context must be there */
    CUPTI(cuptiActivityRegisterCallbacks(give_buffer, take_buffer));
    CUPTI(cuptiActivityConfigureUnifiedMemoryCounter(all, 4));
    CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER));
}

static void collect(void)
{
    CHECK(cudaDeviceSynchronize());
    usleep(100 * 1000); /* the driver's reports arrive later than the kernel's end */
    CUPTI(cuptiActivityFlushAll(1));
}

/* Rows of what was reported since the last call. Transfers of one size are one row. */
static void report(const char *scenario)
{
    char name[96];
    collect();
    std::vector<double> faults, durations;
    std::map<uint64_t, std::vector<double>> to_gpu, to_host;
    uint64_t cpu_faults = 0;
    for (const record &one : records) {
        double us = (one.end - one.start) / 1e3;
        if (one.kind == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT)
            faults.push_back((double)one.value), durations.push_back(us);
        else if (one.kind == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD)
            to_gpu[one.value].push_back(us);
        else if (one.kind == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH)
            to_host[one.value].push_back(us);
        else
            cpu_faults++;
    }
    snprintf(name, sizeof name, "%s_fault_group", scenario);
    probe_row(name, std::accumulate(faults.begin(), faults.end(), 0.0), "faults", faults);
    snprintf(name, sizeof name, "%s_fault_group_time", scenario);
    probe_row(name, (double)durations.size(), "us", durations);
    snprintf(name, sizeof name, "%s_to_gpu_of_kib", scenario);
    for (const auto &size : to_gpu)
        probe_row(name, (double)size.first / KIB, "us", size.second);
    snprintf(name, sizeof name, "%s_to_host_of_kib", scenario);
    for (const auto &size : to_host)
        probe_row(name, (double)size.first / KIB, "us", size.second);
    snprintf(name, sizeof name, "%s_cpu_faults", scenario);
    if (cpu_faults)
        probe_row(name, 0, "count", {(double)cpu_faults});
    records.clear();
}

static __global__ void touch_pages(const char *base, size_t stride, unsigned pages, unsigned *never)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < pages && *(const volatile unsigned *)(base + i * stride) == 0xdeadbeef)
        *never = i;
}

int main(void)
{
    probe_name = "trace";
    unsigned *never;
    CHECK(cudaMalloc(&never, sizeof *never));
    begin();
    managed buffer(256 * MIB);
    buffer.fill_by_host();
    report("cpu_fills_untouched");
    probe_read<<<BLOCKS, THREADS>>>((uint4 *)buffer.at, buffer.bytes / sizeof(uint4), never);
    report("gpu_streams_256m");
    for (size_t i = 0; i < buffer.bytes; i += PAGE)
        (void)*(volatile unsigned *)(buffer.at + i);
    report("cpu_reads_256m");
    for (size_t stride : {PAGE, BIG_PAGE, BLOCK}) {
        char name[64];
        unsigned pages = (unsigned)(buffer.bytes / stride < 4096 ? buffer.bytes / stride : 4096);
        touch_pages<<<(pages + 127) / 128, 128>>>(buffer.at, stride, pages, never);
        snprintf(name, sizeof name, "gpu_touches_%u_by_%zuk", pages, stride / KIB);
        report(name);
        buffer.move(ON_HOST);
        collect();
        records.clear();
    }
    buffer.move(ON_GPU);
    report("prefetch_256m_to_gpu");
    buffer.move(ON_HOST);
    report("prefetch_256m_to_host");
    CUPTI(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER));
}
