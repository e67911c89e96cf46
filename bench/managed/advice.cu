/* cudaMemAdvise: what reads and writes cost after each advice. `at` is the size in MiB. */
#include "probe.cuh"

static unsigned *never;
static double mhz;

static double gpu_read_us(managed &buffer)
{
    return probe_us(
        [&] { probe_read<<<BLOCKS, THREADS>>>((uint4 *)buffer.at, buffer.bytes / sizeof(uint4), never); });
}

static double cpu_read_us(managed &buffer)
{
    double start = probe_host_us();
    for (size_t i = 0; i < buffer.bytes; i += 64)
        (void)*(volatile unsigned *)(buffer.at + i);
    return probe_host_us() - start;
}

static double gpu_touch_us(char *word, bool writes)
{
    device_array<size_t> offset(std::vector<size_t>{0});
    device_array<unsigned> cycles(1);
    CHECK(cudaDeviceSynchronize());
    probe_touch_in_turn<<<1, 1>>>(word, offset.at, 1, 0, writes, cycles.at);
    CHECK(cudaDeviceSynchronize());
    return cycles.fetch()[0] / mhz;
}

static double cpu_touch_us(char *word, bool writes)
{
    double start = probe_host_us();
    if (writes)
        *(volatile unsigned *)word = 1;
    else
        (void)*(volatile unsigned *)word;
    return probe_host_us() - start;
}

/* What is done one after another; each step's times over all repetitions are a row. */
struct steps {
    std::vector<const char *> names;
    std::vector<std::vector<double>> us;
    size_t next = 0;

    void begin(void)
    {
        next = 0;
    }
    void add(const char *name, double one)
    {
        if (next == names.size()) {
            names.push_back(name);
            us.emplace_back();
        }
        us[next++].push_back(one);
    }
    void print(double at)
    {
        for (size_t i = 0; i < names.size(); i++)
            probe_row(names[i], at, "us", us[i]);
    }
};

static const int TIMES = SIMULATED ? 1 : 5;

/* Copies on both sides; a write makes one of them again. */
static void read_mostly(size_t bytes)
{
    steps all;
    for (int i = 0; i < TIMES; i++) {
        managed buffer(bytes);
        buffer.fill_by_host();
        buffer.advise(cudaMemAdviseSetReadMostly, ON_GPU);
        all.begin();
        all.add("read_mostly_1_gpu_reads", gpu_read_us(buffer));
        all.add("read_mostly_2_gpu_reads_again", gpu_read_us(buffer));
        all.add("read_mostly_3_cpu_reads", cpu_read_us(buffer));
        all.add("read_mostly_4_cpu_reads_again", cpu_read_us(buffer));
        all.add("read_mostly_5_cpu_writes_a_word", cpu_touch_us(buffer.at, true));
        all.add("read_mostly_6_gpu_reads_that_word", gpu_touch_us(buffer.at, false));
        all.add("read_mostly_7_gpu_writes_that_word", gpu_touch_us(buffer.at, true));
        all.add("read_mostly_8_cpu_reads_that_word", cpu_touch_us(buffer.at, false));
        all.add("read_mostly_9_gpu_writes_the_next_page", gpu_touch_us(buffer.at + PAGE, true));
    }
    all.print((double)bytes / MIB);
}

/* Pages prefer the host: the first access of the GPU maps them, and nothing moves. */
static void preferred_host(size_t bytes)
{
    steps all;
    for (int i = 0; i < TIMES; i++) {
        managed buffer(bytes);
        buffer.fill_by_host();
        buffer.advise(cudaMemAdviseSetPreferredLocation, ON_HOST);
        all.begin();
        all.add("preferred_host_1_gpu_reads_a_word", gpu_touch_us(buffer.at, false));
        all.add("preferred_host_2_gpu_reads", gpu_read_us(buffer));
        all.add("preferred_host_3_gpu_reads_again", gpu_read_us(buffer));
        all.add("preferred_host_4_cpu_reads", cpu_read_us(buffer));
    }
    all.print((double)bytes / MIB);
}

/* Pages prefer the GPU: the CPU's accesses still move them. */
static void preferred_gpu(size_t bytes)
{
    steps all;
    for (int i = 0; i < TIMES; i++) {
        managed buffer(bytes);
        buffer.fill_by_host();
        buffer.advise(cudaMemAdviseSetPreferredLocation, ON_GPU);
        all.begin();
        all.add("preferred_gpu_1_gpu_reads", gpu_read_us(buffer));
        all.add("preferred_gpu_2_cpu_reads_a_word", cpu_touch_us(buffer.at, false));
        all.add("preferred_gpu_3_cpu_reads", cpu_read_us(buffer));
        all.add("preferred_gpu_4_gpu_reads", gpu_read_us(buffer));
    }
    all.print((double)bytes / MIB);
}

/* The GPU has the pages mapped wherever they are: no faults, unless they prefer another place. */
static void accessed_by(size_t bytes)
{
    steps all;
    for (int i = 0; i < TIMES; i++) {
        managed buffer(bytes);
        buffer.fill_by_host();
        buffer.advise(cudaMemAdviseSetAccessedBy, ON_GPU);
        all.begin();
        all.add("accessed_by_1_gpu_reads_a_word", gpu_touch_us(buffer.at, false));
        all.add("accessed_by_2_gpu_reads", gpu_read_us(buffer));
        all.add("accessed_by_3_gpu_reads_again", gpu_read_us(buffer));
        buffer.move(ON_GPU);
        all.add("accessed_by_4_gpu_reads_after_prefetch", gpu_read_us(buffer));
        all.add("accessed_by_5_cpu_reads", cpu_read_us(buffer));
        all.add("accessed_by_6_gpu_reads", gpu_read_us(buffer));
    }
    all.print((double)bytes / MIB);
}

int main(void)
{
    probe_name = "advice";
    mhz = probe_mhz();
    CHECK(cudaMalloc(&never, sizeof *never));
    for (size_t mib : {2, 32, 256}) {
        if (probe_skips(mib * MIB))
            break;
        read_mostly(mib * MIB);
        preferred_host(mib * MIB);
        preferred_gpu(mib * MIB);
        accessed_by(mib * MIB);
    }
}
