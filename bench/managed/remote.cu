/* The host's memory as the GPU sees it over the link: pinned memory, and managed memory that stays on the
 * host. Latency by loads that depend on each other, bandwidth by many threads, atomics at system scope. */
#include "probe.cuh"

static unsigned *never;

/* A ring of pointers through `bytes`, one in each `stride`, in random order. Memory of the host is written
 * here. */
static void make_ring(char *base, size_t bytes, size_t stride)
{
    std::vector<unsigned> order = probe_order(bytes / stride, true);
    for (size_t i = 0; i < order.size(); i++)
        *(void **)(base + order[i] * stride) = base + order[(i + 1) % order.size()] * stride;
}

static void latency(const char *figure, char *base, size_t bytes, size_t stride)
{
    device_array<uint64_t> result(2);
    std::vector<double> ns;
    double mhz = probe_mhz();
    unsigned steps = 1024, lines = (unsigned)(bytes / stride), before = lines < 8192 ? lines : 8192;
    for (int i = 0; i < 5; i++) {
        probe_chase<<<1, 1>>>(base, before, steps, result.at, result.at + 1);
        CHECK(cudaDeviceSynchronize());
        ns.push_back(result.fetch()[0] / (double)steps / mhz * 1e3);
    }
    probe_row(figure, (double)bytes / KIB, "ns", ns);
}

template <class Work> static void rate(const char *figure, double at, size_t bytes, Work work)
{
    std::vector<double> rates;
    for (int i = 0; i < 6; i++) {
        double us = probe_us(work);
        if (i)
            rates.push_back(bytes / us / 1e3);
    }
    probe_row(figure, at, "GB/s", rates);
}

/* `at` is the number of blocks of 256 threads. */
static void bandwidth(const char *kind, char *base, size_t bytes)
{
    char figure[64];
    for (int blocks : {1, 4, 16, 66, 132, BLOCKS}) {
        size_t part = blocks < 16 ? bytes / 8 : bytes;
        snprintf(figure, sizeof figure, "%s_read", kind);
        rate(figure, blocks, part,
             [&] { probe_read<<<blocks, THREADS>>>((uint4 *)base, part / sizeof(uint4), never); });
        snprintf(figure, sizeof figure, "%s_write", kind);
        rate(figure, blocks, part,
             [&] { probe_write<<<blocks, THREADS>>>((uint4 *)base, part / sizeof(uint4)); });
    }
}

/* Atomics that each need the result of the one before. */
static __global__ void add_in_turn(unsigned *word, unsigned steps, unsigned *cycles, unsigned *last)
{
    unsigned value = 0;
    uint64_t start = probe_clock();
    for (unsigned i = 0; i < steps; i++)
        value = atomicAdd_system(word, value & 1);
    *last = value;
    *cycles = value == 0xdeadbeef ? 0 : (unsigned)(probe_clock() - start);
}

/* Every thread adds to a word of its own, or all to one. */
static __global__ void add_by_all(unsigned *words, bool apart, unsigned steps)
{
    unsigned *word = words + (apart ? blockIdx.x * blockDim.x + threadIdx.x : 0);
    for (unsigned i = 0; i < steps; i++)
        atomicAdd_system(word, 1);
}

static void atomics(const char *kind, unsigned *words)
{
    char figure[64];
    device_array<unsigned> result(2);
    std::vector<double> ns;
    double mhz = probe_mhz();
    const unsigned steps = 256;
    for (int i = 0; i < 6; i++) {
        add_in_turn<<<1, 1>>>(words, steps, result.at, result.at + 1);
        CHECK(cudaDeviceSynchronize());
        if (i)
            ns.push_back(result.fetch()[0] / (double)steps / mhz * 1e3);
    }
    snprintf(figure, sizeof figure, "%s_atomic", kind);
    probe_row(figure, 1, "ns", ns);
    for (bool apart : {false, true}) {
        const unsigned blocks = 132, threads = 128, each = apart ? 16 : 2;
        std::vector<double> rates;
        for (int i = 0; i < 6; i++) {
            double us = probe_us([&] { add_by_all<<<blocks, threads>>>(words, apart, each); });
            if (i)
                rates.push_back(blocks * threads * each / us);
        }
        snprintf(figure, sizeof figure, "%s_atomics_to_%s", kind, apart ? "many_words" : "one_word");
        probe_row(figure, blocks * threads, "1/us", rates);
    }
}

static void pinned(void)
{
    char *host, *base;
    size_t bytes = 256 * MIB;
    CHECK(cudaHostAlloc(&host, bytes, cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer(&base, host, 0));
    for (size_t size : {64 * KIB, MIB, 16 * MIB, 256 * MIB}) {
        make_ring(host, size, size < 16 * MIB ? 128 : 4096);
        latency("pinned_latency", base, size, size < 16 * MIB ? 128 : 4096);
    }
    bandwidth("pinned", base, bytes);
    atomics("pinned", (unsigned *)base);
    CHECK(cudaFreeHost(host));
}

static void managed_on_host(void)
{
    managed buffer(256 * MIB);
    buffer.fill_by_host();
    buffer.advise(cudaMemAdviseSetPreferredLocation, ON_HOST);
    buffer.advise(cudaMemAdviseSetAccessedBy, ON_GPU);
    for (size_t size : {64 * KIB, MIB, 16 * MIB, 256 * MIB}) {
        make_ring(buffer.at, size, size < 16 * MIB ? 128 : 4096);
        latency("managed_latency", buffer.at, size, size < 16 * MIB ? 128 : 4096);
    }
    bandwidth("managed", buffer.at, buffer.bytes);
    atomics("managed", (unsigned *)buffer.at);
}

int main(void)
{
    probe_name = "remote";
    CHECK(cudaMalloc(&never, sizeof *never));
    device_array<unsigned> words(132 * 128);
    atomics("device", words.at);
    pinned();
    managed_on_host();
}
