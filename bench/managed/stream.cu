/* Whole arrays that migrate while they are used: by the GPU in order and at random, and by the CPU. */
#include "probe.cuh"

/* Each warp reads one page after another, in the given order of pages. */
static __global__ void read_pages(const char *base, size_t page, const unsigned *order, unsigned pages,
                                  unsigned *never)
{
    unsigned warps = gridDim.x * blockDim.x / 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    unsigned sum = 0;
    for (unsigned i = warp; i < pages; i += warps)
        for (size_t at = threadIdx.x % 32 * sizeof(uint4); at < page; at += 32 * sizeof(uint4))
            sum ^= ((const uint4 *)(base + order[i] * page + at))->x;
    if (sum == 0xdeadbeef)
        *never = sum;
}

static unsigned *never;

static void rows(const char *figure, size_t bytes, const std::vector<double> &us)
{
    char name[64];
    std::vector<double> rates;
    for (double one : us)
        rates.push_back(bytes / one / 1e3);
    probe_row(figure, (double)bytes / MIB, "us", us);
    snprintf(name, sizeof name, "%s_rate", figure);
    probe_row(name, (double)bytes / MIB, "GB/s", rates);
}

/* `work` with all pages at `from` before it; the first time is not counted. */
template <class Work>
static void measure(const char *figure, managed &buffer, cudaMemLocation from, Work work)
{
    std::vector<double> us;
    for (int i = 0; i < probe_times(6); i++) {
        buffer.move(from);
        double one = probe_us(work);
        if (i)
            us.push_back(one);
    }
    rows(figure, buffer.bytes, us);
}

static void by_gpu(size_t bytes)
{
    managed buffer(bytes);
    buffer.fill_by_host();
    uint4 *all = (uint4 *)buffer.at;
    size_t count = bytes / sizeof(uint4);
    auto read = [&] { probe_read<<<BLOCKS, THREADS>>>(all, count, never); };
    auto write = [&] { probe_write<<<BLOCKS, THREADS>>>(all, count); };
    measure("gpu_read_host", buffer, ON_HOST, read);
    measure("gpu_write_host", buffer, ON_HOST, write);
    measure("gpu_read_resident", buffer, ON_GPU, read);
    for (size_t page : {PAGE, BIG_PAGE, BLOCK}) {
        char figure[64];
        device_array<unsigned> order(probe_order(bytes / page, true));
        snprintf(figure, sizeof figure, "gpu_read_host_random_%zuk", page / KIB);
        measure(figure, buffer, ON_HOST, [&] {
            read_pages<<<BLOCKS, THREADS>>>(buffer.at, page, order.at, (unsigned)order.count, never);
        });
    }
}

static void by_gpu_untouched(size_t bytes)
{
    std::vector<double> us;
    for (int i = 0; i < probe_times(6); i++) {
        managed buffer(bytes);
        double one =
            probe_us([&] { probe_write<<<BLOCKS, THREADS>>>((uint4 *)buffer.at, bytes / sizeof(uint4)); });
        if (i)
            us.push_back(one);
    }
    rows("gpu_write_untouched", bytes, us);
}

/* One word of each cache line, by one thread of the CPU. */
static void cpu_read(const managed &buffer)
{
    for (size_t i = 0; i < buffer.bytes; i += 64)
        (void)*(volatile unsigned *)(buffer.at + i);
}

static void by_cpu(size_t bytes)
{
    managed buffer(bytes);
    std::vector<double> first, second;
    double start = probe_host_us();
    buffer.fill_by_host();
    rows("cpu_write_untouched", bytes, {probe_host_us() - start});
    for (int i = 0; i < 5; i++) {
        buffer.move(ON_GPU);
        start = probe_host_us();
        cpu_read(buffer);
        double middle = probe_host_us();
        cpu_read(buffer);
        first.push_back(middle - start);
        second.push_back(probe_host_us() - middle);
    }
    rows("cpu_read_on_gpu", bytes, first);
    rows("cpu_read_resident", bytes, second);
}

int main(void)
{
    probe_name = "stream";
    CHECK(cudaMalloc(&never, sizeof *never));
    for (size_t mib : {2, 8, 32, 128, 512, 2048}) {
        if (probe_skips(mib * MIB))
            break;
        by_gpu(mib * MIB);
        by_gpu_untouched(mib * MIB);
    }
    for (size_t mib : {2, 8, 32, 128, 512})
        if (!SIMULATED)
            by_cpu(mib * MIB);
}
