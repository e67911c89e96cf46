/* What the probes of managed memory share: rows of results, times, and buffers whose pages are in a known
 * place. Each probe is a CUDA program of its own and prints rows "probe,figure,at,unit,min,median,max,times".
 */
#ifndef BENCH_MANAGED_PROBE_CUH
#define BENCH_MANAGED_PROBE_CUH

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

#define CHECK(call) probe_check((call), #call)

static const size_t KIB = 1024, MIB = 1024 * KIB, GIB = 1024 * MIB;
static const size_t PAGE = 4 * KIB, BIG_PAGE = 64 * KIB,
                    BLOCK = 2 * MIB;              /* of the host, of the GPU, of the driver */
static const int BLOCKS = 132 * 8, THREADS = 256; /* a grid that fills the GPU */

/* In a simulator, which repeats itself, a figure needs no repetition, large sizes take long, and what the CPU
 * does takes no time. */
#ifdef PROBE_SIMULATED
static const bool SIMULATED = true;
#else
static const bool SIMULATED = false;
#endif

static int probe_times(int times) /* with one for warming up */
{
    return SIMULATED ? 2 : times;
}

static bool probe_skips(size_t bytes)
{
    return SIMULATED && bytes > 64 * MIB;
}

static const char *probe_name = "?";

static void probe_check(cudaError_t error, const char *call)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s: %s\n", probe_name, call, cudaGetErrorString(error));
    exit(2);
}

static void probe_row(const char *figure, double at, const char *unit, std::vector<double> values)
{
    if (values.empty())
        return;
    std::sort(values.begin(), values.end());
    printf("%s,%s,%.10g,%s,%.6g,%.6g,%.6g,%zu\n", probe_name, figure, at, unit, values.front(),
           values[values.size() / 2], values.back(), values.size());
    fflush(stdout);
}

/* ---- time ---- */

static double probe_host_us(void)
{
    using namespace std::chrono;
    return duration<double, std::micro>(steady_clock::now().time_since_epoch()).count();
}

/* Microseconds between two events around the work that is submitted. */
template <class Work> static double probe_us(Work work)
{
    static cudaEvent_t start, end;
    if (!start) {
        CHECK(cudaEventCreate(&start));
        CHECK(cudaEventCreate(&end));
    }
    float ms;
    CHECK(cudaEventRecord(start));
    work();
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventElapsedTime(&ms, start, end));
    return ms * 1e3;
}

/* The host's microseconds from the submission to the end. */
template <class Work> static double probe_wall_us(Work work)
{
    double start = probe_host_us();
    work();
    CHECK(cudaDeviceSynchronize());
    return probe_host_us() - start;
}

static __device__ __forceinline__ uint64_t probe_clock(void)
{
    uint64_t now;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(now)::"memory");
    return now;
}

static __global__ void probe_spin(uint64_t cycles)
{
    for (uint64_t start = probe_clock(); probe_clock() - start < cycles;)
        ;
}

/* Cycles of an SM's clock in a microsecond. The first spin also brings the clock up to its rate. */
static double probe_mhz(void)
{
    if (SIMULATED) {
        int khz;
        CHECK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
        return khz / 1e3;
    }
    const uint64_t cycles = 20 * 1000 * 1000;
    probe_spin<<<BLOCKS, THREADS>>>(cycles);
    return cycles / probe_us([&] { probe_spin<<<1, 1>>>(cycles); });
}

/* ---- memory ---- */

static const cudaMemLocation ON_GPU = {cudaMemLocationTypeDevice, 0}, ON_HOST = {cudaMemLocationTypeHost, 0};

/* A managed buffer that begins at a block of the driver. It must be small beside the GPU's free memory: none
 * of these probes may make the driver evict pages. */
struct managed {
    char *all, *at;
    size_t bytes;

    explicit managed(size_t size) : bytes(size)
    {
        size_t free, total;
        CHECK(cudaMemGetInfo(&free, &total));
        if (free / 4 < size) {
            fprintf(stderr, "%s: %zu bytes of managed memory are too many for a GPU with %zu free\n",
                    probe_name, size, free);
            exit(2);
        }
        CHECK(cudaMallocManaged(&all, size + BLOCK));
        at = (char *)(((uintptr_t)all + BLOCK - 1) / BLOCK * BLOCK);
    }
    ~managed()
    {
        CHECK(cudaFree(all));
    }
    void advise(cudaMemoryAdvise advice, cudaMemLocation where)
    {
        CHECK(cudaMemAdvise(at, bytes, advice, where));
    }
    void move(cudaMemLocation where)
    {
        CHECK(cudaMemPrefetchAsync(at, bytes, where, 0, 0));
        CHECK(cudaDeviceSynchronize());
    }
    /* Each page is written by the CPU, so that it is there and has contents. */
    void fill_by_host(void)
    {
        for (size_t i = 0; i < bytes; i += PAGE)
            *(volatile unsigned *)(at + i) = (unsigned)(i / PAGE);
    }
};

template <class T> struct device_array {
    T *at;
    size_t count;

    explicit device_array(size_t n) : count(n)
    {
        CHECK(cudaMalloc(&at, n * sizeof(T)));
        CHECK(cudaMemset(at, 0, n * sizeof(T)));
    }
    explicit device_array(const std::vector<T> &from) : device_array(from.size())
    {
        CHECK(cudaMemcpy(at, from.data(), count * sizeof(T), cudaMemcpyHostToDevice));
    }
    ~device_array()
    {
        CHECK(cudaFree(at));
    }
    std::vector<T> fetch(void)
    {
        std::vector<T> to(count);
        CHECK(cudaMemcpy(to.data(), at, count * sizeof(T), cudaMemcpyDeviceToHost));
        return to;
    }
};

/* 0, 1, ... n-1, or the same in an order that is random, but always the same. */
static std::vector<unsigned> probe_order(size_t n, bool random)
{
    std::vector<unsigned> order(n);
    std::iota(order.begin(), order.end(), 0u);
    if (random)
        std::shuffle(order.begin(), order.end(), std::mt19937(1));
    return order;
}

/* ---- kernels ---- */

/* Every thread reads 16 bytes at a time, the grid side by side. */
static __global__ void probe_read(const uint4 *from, size_t count, unsigned *never)
{
    uint4 sum = {0, 0, 0, 0};
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count;
         i += (size_t)gridDim.x * blockDim.x) {
        uint4 value = from[i];
        sum.x ^= value.x, sum.y ^= value.y, sum.z ^= value.z, sum.w ^= value.w;
    }
    if ((sum.x ^ sum.y ^ sum.z ^ sum.w) == 0xdeadbeef)
        *never = sum.x;
}

static __global__ void probe_write(uint4 *to, size_t count)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count;
         i += (size_t)gridDim.x * blockDim.x)
        to[i] = make_uint4((unsigned)i, 1, 2, 3);
}

/* One thread reads or writes one word at each offset in turn, waits in between, and notes the cycles of each
 * access. */
static __global__ void probe_touch_in_turn(char *base, const size_t *offsets, unsigned count, uint64_t gap,
                                           bool writes, unsigned *cycles)
{
    for (unsigned i = 0; i < count; i++) {
        size_t offset = offsets[i];
        if (offset == SIZE_MAX) /* so the clock waits for the offset */
            return;
        volatile unsigned *word = (volatile unsigned *)(base + offset);
        uint64_t start = probe_clock();
        if (writes) {
            *word = i;
            __threadfence_system();
        } else if (*word == 0xdeadbeef) { /* so the next clock waits for the word */
            return;
        }
        cycles[i] = (unsigned)(probe_clock() - start);
        for (start = probe_clock(); probe_clock() - start < gap;)
            ;
    }
}

/* Loads that each depend on the one before, past L1; cycles of each in the mean. */
static __global__ void probe_chase(void *from, unsigned before, unsigned steps, uint64_t *cycles,
                                   uint64_t *last)
{
    uint64_t at = (uint64_t)from;
    for (unsigned i = 0; i < before; i++)
        asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at)::"memory");
    uint64_t start = probe_clock();
    if (!at) /* so the clock was not read before the last load */
        return;
    start = probe_clock();
    for (unsigned i = 0; i < steps; i++)
        asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at)::"memory");
    *last = at;
    *cycles = at ? probe_clock() - start : 0;
}

#endif
