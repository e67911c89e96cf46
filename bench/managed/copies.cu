/* cudaMemPrefetchAsync and cudaMemcpyAsync in both directions, over sizes. */
#include "probe.cuh"

/* Both clocks: events tell when the GPU was done, the host's clock what the caller waited for. */
template <class Before, class Work>
static void measure(const char *figure, size_t bytes, Before before, Work work)
{
    char name[64];
    std::vector<double> events, wall, calls;
    for (int i = 0; i < probe_times(8); i++) {
        before();
        CHECK(cudaDeviceSynchronize());
        double event = probe_us(work);
        if (SIMULATED) {
            events.assign(1, event);
            continue;
        }
        before();
        CHECK(cudaDeviceSynchronize());
        double start = probe_host_us();
        work();
        double returned = probe_host_us();
        CHECK(cudaDeviceSynchronize());
        if (!i)
            continue; /* the first is for warming up */
        events.push_back(event), calls.push_back(returned - start), wall.push_back(probe_host_us() - start);
    }
    probe_row(figure, (double)bytes / KIB, "us", events);
    snprintf(name, sizeof name, "%s_wall", figure);
    probe_row(name, (double)bytes / KIB, "us", wall);
    snprintf(name, sizeof name, "%s_call", figure);
    probe_row(name, (double)bytes / KIB, "us", calls);
}

static void prefetches(size_t bytes)
{
    managed buffer(bytes);
    buffer.fill_by_host();
    auto move = [&](cudaMemLocation where) { CHECK(cudaMemPrefetchAsync(buffer.at, bytes, where, 0, 0)); };
    auto to_gpu = [&] { move(ON_GPU); };
    auto to_host = [&] { move(ON_HOST); };
    measure("prefetch_to_gpu", bytes, to_host, to_gpu);
    measure("prefetch_to_host", bytes, to_gpu, to_host);
    measure("prefetch_resident", bytes, to_gpu, to_gpu);
}

static void prefetch_untouched(size_t bytes)
{
    managed *buffer = nullptr;
    measure(
        "prefetch_untouched_to_gpu", bytes,
        [&] {
            delete buffer;
            buffer = new managed(bytes);
        },
        [&] { CHECK(cudaMemPrefetchAsync(buffer->at, bytes, ON_GPU, 0, 0)); });
    delete buffer;
}

static void copies(size_t bytes)
{
    device_array<char> device(bytes);
    char *pinned;
    CHECK(cudaMallocHost(&pinned, bytes));
    std::vector<char> pageable(bytes, 1);
    auto nothing = [] {};
    const struct {
        const char *name;
        void *to, *from;
        cudaMemcpyKind kind;
    } all[] = {{"copy_pinned_to_gpu", device.at, pinned, cudaMemcpyHostToDevice},
               {"copy_pinned_to_host", pinned, device.at, cudaMemcpyDeviceToHost},
               {"copy_pageable_to_gpu", device.at, pageable.data(), cudaMemcpyHostToDevice},
               {"copy_pageable_to_host", pageable.data(), device.at, cudaMemcpyDeviceToHost}};
    for (const auto &one : all)
        measure(one.name, bytes, nothing,
                [&] { CHECK(cudaMemcpyAsync(one.to, one.from, bytes, one.kind, 0)); });
    CHECK(cudaFreeHost(pinned));
}

int main(void)
{
    probe_name = "copies";
    for (size_t bytes = PAGE; bytes <= GIB && !probe_skips(bytes); bytes *= 4) {
        prefetches(bytes);
        prefetch_untouched(bytes);
        copies(bytes);
    }
}
