/* One fault at a time: its latency, and how much the driver migrates for it. One GPU thread (or the CPU)
 * touches one word after another; an access that takes longer than any access to memory was a fault. */
#include "probe.cuh"

static const double FAULT_US = 4; /* longer than any access that does not fault, shorter than any that does */

enum state { ON_CPU, NOWHERE, RESIDENT };
static const char *const STATES[] = {"host", "untouched", "resident"};

struct touches {
    std::vector<size_t> offsets;
    std::vector<double> us; /* of each */
};

static touches touch_by_gpu(char *base, const std::vector<size_t> &offsets, bool writes, double mhz)
{
    device_array<size_t> on_gpu(offsets);
    device_array<unsigned> cycles(offsets.size());
    CHECK(cudaDeviceSynchronize());
    probe_touch_in_turn<<<1, 1>>>(base, on_gpu.at, (unsigned)offsets.size(), writes, cycles.at);
    CHECK(cudaDeviceSynchronize());
    touches result = {offsets, {}};
    for (unsigned one : cycles.fetch())
        result.us.push_back(one / mhz);
    return result;
}

static touches touch_by_cpu(char *base, const std::vector<size_t> &offsets, bool writes)
{
    touches result = {offsets, {}};
    for (size_t offset : offsets) {
        volatile unsigned *word = (volatile unsigned *)(base + offset);
        double start = probe_host_us();
        if (writes)
            *word = 1;
        else
            (void)*word;
        result.us.push_back(probe_host_us() - start);
    }
    return result;
}

static std::vector<double> faults_of(const touches &all, double least_us)
{
    std::vector<double> faults;
    for (double us : all.us)
        if (us > least_us)
            faults.push_back(us);
    return faults;
}

static std::vector<size_t> strided(size_t bytes, size_t stride)
{
    std::vector<size_t> offsets;
    for (size_t i = 0; i < bytes; i += stride)
        offsets.push_back(i);
    return offsets;
}

static void prepare(managed &buffer, state from)
{
    if (from == NOWHERE)
        return;
    buffer.fill_by_host();
    buffer.move(from == RESIDENT ? ON_GPU : ON_HOST);
}

/* Latency of the faults, and how many there are, over 32 MiB at a stride. */
static void measure_gpu(state from, bool writes, size_t stride, double mhz)
{
    char figure[64];
    std::vector<double> us, counts, touches_us;
    for (int i = 0; i < 5; i++) {
        managed buffer(32 * MIB);
        prepare(buffer, from);
        touches all = touch_by_gpu(buffer.at, strided(buffer.bytes, stride), writes, mhz);
        std::vector<double> faults = faults_of(all, FAULT_US);
        us.insert(us.end(), faults.begin(), faults.end());
        counts.push_back((double)faults.size());
        touches_us.insert(touches_us.end(), all.us.begin(), all.us.end());
    }
    const char *access = writes ? "write" : "read";
    snprintf(figure, sizeof figure, "gpu_%s_%s_faults", access, STATES[from]);
    probe_row(figure, (double)stride / KIB, "count", counts);
    snprintf(figure, sizeof figure, "gpu_%s_%s_fault", access, STATES[from]);
    probe_row(figure, (double)stride / KIB, "us", us);
    snprintf(figure, sizeof figure, "gpu_%s_%s_touch", access, STATES[from]);
    probe_row(figure, (double)stride / KIB, "us", touches_us);
}

/* The same by the CPU, of pages that the GPU has, or of pages that nobody has touched. */
static void measure_cpu(state from, bool writes, size_t stride)
{
    char figure[64];
    std::vector<double> us, counts;
    for (int i = 0; i < 5; i++) {
        managed buffer(32 * MIB);
        prepare(buffer, from);
        std::vector<double> faults =
            faults_of(touch_by_cpu(buffer.at, strided(buffer.bytes, stride), writes), 0.4);
        us.insert(us.end(), faults.begin(), faults.end());
        counts.push_back((double)faults.size());
    }
    const char *where = from == RESIDENT ? "on_gpu" : STATES[from], *access = writes ? "write" : "read";
    snprintf(figure, sizeof figure, "cpu_%s_%s_faults", access, where);
    probe_row(figure, (double)stride / KIB, "count", counts);
    snprintf(figure, sizeof figure, "cpu_%s_%s_fault", access, where);
    probe_row(figure, (double)stride / KIB, "us", us);
}

/* Where the faults are within one block of 2 MiB: a row for each, at its offset in KiB. */
static void print_map(const char *figure, const touches &all, double least_us)
{
    for (size_t i = 0; i < all.us.size(); i++)
        if (all.us[i] > least_us)
            probe_row(figure, (double)all.offsets[i] / KIB, "us", {all.us[i]});
}

static void maps(double mhz)
{
    std::vector<size_t> up = strided(BLOCK, PAGE), down(up.rbegin(), up.rend()), random;
    for (unsigned i : probe_order(up.size(), true))
        random.push_back(i * PAGE);
    const struct {
        const char *name;
        const std::vector<size_t> &offsets;
        state from;
    } orders[] = {{"map_gpu_host_up", up, ON_CPU},
                  {"map_gpu_host_down", down, ON_CPU},
                  {"map_gpu_host_random", random, ON_CPU},
                  {"map_gpu_untouched_up", up, NOWHERE}};
    for (const auto &order : orders) {
        managed buffer(BLOCK);
        prepare(buffer, order.from);
        print_map(order.name, touch_by_gpu(buffer.at, order.offsets, false, mhz), FAULT_US);
    }
    managed buffer(BLOCK);
    prepare(buffer, RESIDENT);
    print_map("map_cpu_on_gpu_up", touch_by_cpu(buffer.at, up, false), 1);
    /* What one fault in the middle of a block moves: the CPU then finds these pages missing. */
    buffer.move(ON_HOST);
    touch_by_gpu(buffer.at, {BLOCK / 2 + 5 * PAGE}, false, mhz);
    print_map("map_cpu_after_one_gpu_fault", touch_by_cpu(buffer.at, up, false), 1);
}

int main(void)
{
    probe_name = "fault_one";
    double mhz = probe_mhz();
    {
        managed warm_up(BLOCK);
        touch_by_gpu(warm_up.at, {0}, true, mhz);
    }
    for (size_t stride : {PAGE, BIG_PAGE, BLOCK})
        for (state from : {ON_CPU, NOWHERE, RESIDENT})
            for (bool writes : {false, true})
                measure_gpu(from, writes, stride, mhz);
    for (size_t stride : {PAGE, BIG_PAGE, BLOCK})
        for (state from : {RESIDENT, NOWHERE})
            for (bool writes : {false, true})
                measure_cpu(from, writes, stride);
    maps(mhz);
}
