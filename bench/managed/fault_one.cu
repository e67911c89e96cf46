/* One fault at a time: its latency, and how much the driver migrates for it. One GPU thread (or the CPU)
 * touches one word after another; an access that takes longer than any access to memory was a fault. */
#include "probe.cuh"
#include <map>

static const double FAULT_US = 4; /* longer than any access that does not fault, shorter than any that does */

using by_offset = std::map<size_t, std::vector<double>>; /* in a block */

enum state { ON_CPU, NOWHERE, ON_DEVICE };
static const char *const STATES[] = {"host", "untouched", "gpu"};

struct touches {
    std::vector<size_t> offsets;
    std::vector<double> us; /* of each */
};

static touches touch_by_gpu(char *base, const std::vector<size_t> &offsets, bool writes, double mhz,
                            double gap_us = 0)
{
    device_array<size_t> on_gpu(offsets);
    device_array<unsigned> cycles(offsets.size());
    CHECK(cudaDeviceSynchronize());
    probe_touch_in_turn<<<1, 1>>>(base, on_gpu.at, (unsigned)offsets.size(), (uint64_t)(gap_us * mhz), writes,
                                  cycles.at);
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

/* Adds the faults to those that are known, and returns how many there were. */
static size_t add_faults(by_offset &faults, const touches &all)
{
    size_t count = 0;
    for (size_t i = 0; i < all.us.size(); i++)
        if (all.us[i] > FAULT_US) {
            faults[all.offsets[i] % BLOCK].push_back(all.us[i]);
            count++;
        }
    return count;
}

static void print_faults(const char *figure, const by_offset &faults)
{
    for (const auto &one : faults)
        probe_row(figure, (double)one.first / KIB, "us", one.second);
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
    buffer.move(from == ON_DEVICE ? ON_GPU : ON_HOST);
}

/* Over 32 MiB at a stride: how many faults there are, and their latency by the offset in a block of 2 MiB, in
 * KiB. */
template <class Touch>
static void measure(const char *who, state from, bool writes, size_t stride, Touch touch)
{
    char figure[64];
    std::vector<double> counts;
    by_offset faults;
    for (int i = 0; i < (SIMULATED ? 1 : 5); i++) {
        managed buffer(SIMULATED ? 8 * MIB : 32 * MIB);
        prepare(buffer, from);
        counts.push_back((double)add_faults(faults, touch(buffer.at, strided(buffer.bytes, stride), writes)));
    }
    snprintf(figure, sizeof figure, "%s_%s_%s_faults", who, writes ? "writes" : "reads", STATES[from]);
    probe_row(figure, (double)stride / KIB, "count", counts);
    snprintf(figure, sizeof figure, "%s_%s_%s_by_%zuk", who, writes ? "writes" : "reads", STATES[from],
             stride / KIB);
    print_faults(figure, faults);
}

/* Accesses that do not fault. */
static void measure_resident(bool writes, double mhz)
{
    managed buffer(32 * MIB);
    prepare(buffer, ON_DEVICE);
    touch_by_gpu(buffer.at, strided(buffer.bytes, BLOCK), writes, mhz);
    touches all = touch_by_gpu(buffer.at, strided(buffer.bytes, BIG_PAGE), writes, mhz);
    probe_row(writes ? "gpu_writes_gpu" : "gpu_reads_gpu", 0, "us", all.us);
}

/* Faults that come so long after each other, in microseconds. */
static void measure_gap(double gap_us, double mhz)
{
    std::vector<double> us;
    for (int i = 0; i < (SIMULATED ? 1 : 3); i++) {
        managed buffer(SIMULATED ? 8 * MIB : 64 * MIB);
        prepare(buffer, ON_CPU);
        touches all = touch_by_gpu(buffer.at, strided(buffer.bytes, BLOCK), false, mhz, gap_us);
        us.insert(us.end(), all.us.begin() + 1, all.us.end());
    }
    probe_row("gpu_reads_host_after_a_gap", gap_us, "us", us);
}

/* CPU and GPU write the same word in turn; a row for each round, where the driver may begin to see thrashing.
 */
static void ping_pong(double mhz)
{
    std::vector<std::vector<double>> gpu(24), cpu(24);
    for (int i = 0; i < (SIMULATED ? 1 : 5); i++) {
        managed buffer(BLOCK);
        prepare(buffer, ON_CPU);
        for (size_t round = 0; round < gpu.size(); round++) {
            gpu[round].push_back(touch_by_gpu(buffer.at, {0}, true, mhz).us[0]);
            cpu[round].push_back(touch_by_cpu(buffer.at, {0}, true).us[0]);
        }
    }
    for (size_t round = 0; round < gpu.size(); round++) {
        probe_row("ping_pong_gpu_writes", (double)round, "us", gpu[round]);
        probe_row("ping_pong_cpu_writes", (double)round, "us", cpu[round]);
    }
}

/* Where the faults are within one block: a row for each, at its offset in KiB, in the order of the accesses.
 */
static void print_map(const char *figure, const touches &all)
{
    for (size_t i = 0; i < all.us.size(); i++)
        if (all.us[i] > FAULT_US)
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
                  {"map_gpu_host_random", random, ON_CPU}};
    for (const auto &order : orders) {
        managed buffer(BLOCK);
        prepare(buffer, order.from);
        print_map(order.name, touch_by_gpu(buffer.at, order.offsets, false, mhz));
    }
    managed buffer(BLOCK);
    prepare(buffer, ON_DEVICE);
    print_map("map_cpu_on_gpu_up", touch_by_cpu(buffer.at, up, false));
    /* What one fault in the middle of a block moves: the CPU then finds these pages missing. */
    buffer.move(ON_HOST);
    touch_by_gpu(buffer.at, {BLOCK / 2 + 5 * PAGE}, false, mhz);
    print_map("map_cpu_after_one_gpu_fault", touch_by_cpu(buffer.at, up, false));
}

int main(void)
{
    probe_name = "fault_one";
    double mhz = probe_mhz();
    {
        managed warm_up(BLOCK);
        touch_by_gpu(warm_up.at, {0}, true, mhz);
    }
    auto by_gpu = [&](char *base, const std::vector<size_t> &offsets, bool writes) {
        return touch_by_gpu(base, offsets, writes, mhz);
    };
    for (size_t stride : {PAGE, BIG_PAGE, BLOCK})
        for (bool writes : {false, true}) {
            measure("gpu", ON_CPU, writes, stride, by_gpu);
            measure("gpu", NOWHERE, writes, stride, by_gpu);
            if (SIMULATED)
                continue;
            measure("cpu", ON_DEVICE, writes, stride, touch_by_cpu);
            measure("cpu", NOWHERE, writes, stride, touch_by_cpu);
        }
    for (bool writes : {false, true})
        measure_resident(writes, mhz);
    for (double gap_us : {0, 20, 100, 500, 2000, 10000})
        if (!SIMULATED || gap_us <= 500)
            measure_gap(gap_us, mhz);
    ping_pong(mhz);
    maps(mhz);
}
