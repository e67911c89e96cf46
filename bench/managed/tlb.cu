/* Translation of addresses of device memory (cudaMalloc): one line in each 2 MiB of up to 96 GiB, which all
 * fit in L2, so that what grows with the footprint is translation; and sectors anywhere, read by the whole
 * GPU. */
#include "probe.cuh"

static const size_t LINE = 128;

/* A ring through one line of each page; the line differs from page to page, so that all slices of L2 have
 * some. */
static __global__ void make_ring(char *base, size_t stride, const unsigned *order, unsigned pages)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < pages; i += gridDim.x * blockDim.x) {
        unsigned here = order[i], next = order[(i + 1) % pages];
        *(void **)(base + here * stride + here * 37 % (stride / LINE) * LINE) =
            base + next * stride + next * 37 % (stride / LINE) * LINE;
    }
}

static __global__ void read_sectors(const char *base, size_t sectors, unsigned steps, unsigned *never)
{
    uint64_t state = (blockIdx.x * (uint64_t)blockDim.x + threadIdx.x + 1) * 0x9e3779b97f4a7c15;
    unsigned sum = 0;
    for (unsigned i = 0; i < steps; i++) {
        state = state * 6364136223846793005 + 1442695040888963407;
        sum ^= *(const volatile unsigned *)(base + __umul64hi(state, sectors) * 32);
    }
    if (sum == 0xdeadbeef)
        *never = sum;
}

static const size_t MOST = 96 * GIB;
static unsigned *never;

static void chase(char *base, size_t bytes, size_t stride, double mhz)
{
    char figure[64];
    unsigned pages = (unsigned)(bytes / stride);
    std::vector<unsigned> order = probe_order(pages, true);
    device_array<unsigned> on_gpu(order);
    device_array<uint64_t> result(2);
    make_ring<<<256, 256>>>(base, stride, on_gpu.at, pages);
    char *first = base + order[0] * stride + order[0] * 37 % (stride / LINE) * LINE;
    std::vector<double> cold, warm;
    for (int i = 0; i < 5; i++) {
        read_sectors<<<BLOCKS, THREADS>>>(base, MOST / 32, 64,
                                          never); /* TLBs and L2 then have other things */
        probe_chase<<<1, 1>>>(first, 0, pages, result.at, result.at + 1);
        cold.push_back(result.fetch()[0] / (double)pages / mhz * 1e3);
        probe_chase<<<1, 1>>>(first, pages, pages, result.at, result.at + 1);
        warm.push_back(result.fetch()[0] / (double)pages / mhz * 1e3);
    }
    snprintf(figure, sizeof figure, "chase_%zuk_cold", stride / KIB);
    probe_row(figure, (double)bytes / MIB, "ns", cold);
    snprintf(figure, sizeof figure, "chase_%zuk", stride / KIB);
    probe_row(figure, (double)bytes / MIB, "ns", warm);
}

static void random_sectors(char *base, size_t bytes)
{
    std::vector<double> rates;
    const unsigned steps = 256;
    for (int i = 0; i < 6; i++) {
        double us = probe_us([&] { read_sectors<<<BLOCKS, THREADS>>>(base, bytes / 32, steps, never); });
        if (i)
            rates.push_back((double)BLOCKS * THREADS * steps / us / 1e3);
    }
    probe_row("random_sectors", (double)bytes / MIB, "1/ns", rates);
}

int main(void)
{
    probe_name = "tlb";
    char *base;
    CHECK(cudaMalloc(&base, MOST));
    CHECK(cudaMalloc(&never, sizeof *never));
    double mhz = probe_mhz();
    for (size_t mib = 64; mib <= MOST / MIB; mib *= 2)
        for (size_t stride : {64 * KIB, 2 * MIB, 32 * MIB})
            if (mib * MIB / stride >= 2 && mib * MIB / stride <= 131072)
                chase(base, mib * MIB, stride, mhz);
    for (size_t gib : {68, 72, 80, 96})
        chase(base, gib * GIB, 2 * MIB, mhz);
    for (size_t mib : {32, 256, 1024, 4096, 16384, 32768, 49152, 65536, 69632, 73728, 81920, 98304})
        random_sectors(base, mib * MIB);
    CHECK(cudaFree(base));
}
