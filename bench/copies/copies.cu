/* How long copies between the host and a GPU take, by the host's clock: pageable and pinned, each way, over
 * sizes; when asynchronous calls return; and a kernel beside a copy. With --events, events in the default stream tell
 * the time, which on Heddle is simulated without --cpu, too. Rows are
 *   copy,KIND,DIRECTION,BYTES,MICROSECONDS
 *   async,pinned,h2d,BYTES,RETURNS_AFTER,DONE_AFTER
 *   overlap,WHAT,MICROSECONDS     WHAT: 0 kernel, 1 copy, 2 both in two streams, 3 both in one stream
 * Each is the median of the repetitions. */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        cudaError_t error = (call);                                                                          \
        if (error != cudaSuccess) {                                                                          \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));                                   \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

static bool by_events;
static cudaEvent_t first, latest;

/* Since the first event. Recording one and waiting for it takes time itself. */
static double event_us(void)
{
    float ms;
    CHECK(cudaEventRecord(latest, 0));
    CHECK(cudaEventSynchronize(latest));
    CHECK(cudaEventElapsedTime(&ms, first, latest));
    return (double)ms * 1e3;
}

static double now_us(void)
{
    struct timespec now;
    if (by_events)
        return event_us();
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static double median(std::vector<double> &values)
{
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/* What the clock itself takes. */
static double clock_us;

static void start_clock(void)
{
    std::vector<double> taken;
    CHECK(cudaEventCreate(&first));
    CHECK(cudaEventCreate(&latest));
    for (int i = 0; i < 5; i++) {
        CHECK(cudaEventRecord(first, 0));
        CHECK(cudaEventSynchronize(first));
        double start = now_us();
        taken.push_back(now_us() - start);
    }
    clock_us = median(taken);
}

/* Begins a time from which now_us counts, so that floats are exact enough. */
static double start_us(void)
{
    if (by_events) {
        CHECK(cudaEventRecord(first, 0));
        CHECK(cudaEventSynchronize(first));
    }
    return now_us() + clock_us;
}

/* A chain of `steps` dependent operations in each thread. */
__global__ void spin(int *out, int steps)
{
    int value = (int)threadIdx.x;
    for (int i = 0; i < steps; i++)
        value = value * 3 + 1;
    out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

struct options {
    int times;
    size_t most;
    bool is_overlap;
};

static void measure_copies(const options &options, char *host, char *device, const char *kind)
{
    for (int to_host = 0; to_host < 2; to_host++) {
        for (size_t bytes = 64; bytes <= options.most; bytes *= 4) {
            std::vector<double> taken;
            for (int i = -1; i < options.times; i++) {
                double start = start_us();
                if (to_host)
                    CHECK(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost));
                else
                    CHECK(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
                double end = now_us();
                if (i >= 0)
                    taken.push_back(end - start);
                CHECK(cudaDeviceSynchronize());
            }
            printf("copy,%s,%s,%zu,%.3f\n", kind, to_host ? "d2h" : "h2d", bytes, median(taken));
            fflush(stdout);
        }
    }
}

static void measure_async(const options &options, char *host, char *device)
{
    for (size_t bytes = 1 << 20; bytes <= std::min(options.most, (size_t)64 << 20); bytes *= 4) {
        std::vector<double> returns, done;
        for (int i = -1; i < options.times; i++) {
            double start = start_us();
            CHECK(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, 0));
            double returned = by_events ? start : now_us();
            CHECK(cudaDeviceSynchronize());
            double end = now_us();
            if (i >= 0)
                returns.push_back(returned - start), done.push_back(end - start);
        }
        printf("async,pinned,h2d,%zu,%.3f,%.3f\n", bytes, median(returns), median(done));
    }
}

static void measure_overlap(const options &options, char *host, char *device)
{
    enum { BLOCKS = 1, THREADS = 32, STEPS = 1000000 };
    size_t bytes = (size_t)32 << 20;
    cudaStream_t a, b;
    int *out;
    CHECK(cudaStreamCreate(&a));
    CHECK(cudaStreamCreate(&b));
    CHECK(cudaMalloc(&out, BLOCKS * THREADS * sizeof *out));
    for (int what = 0; what < 4; what++) {
        std::vector<double> taken;
        for (int i = -1; i < options.times; i++) {
            CHECK(cudaDeviceSynchronize());
            double start = start_us();
            if (what != 1)
                spin<<<BLOCKS, THREADS, 0, a>>>(out, STEPS);
            if (what)
                CHECK(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, what == 2 ? b : a));
            CHECK(cudaDeviceSynchronize());
            if (i >= 0)
                taken.push_back(now_us() - start);
        }
        printf("overlap,%d,%.3f\n", what, median(taken));
    }
    CHECK(cudaFree(out));
}

int main(int count, char **words)
{
    options options = {21, (size_t)256 << 20, true};
    for (int i = 1; i < count; i++) {
        if (!strcmp(words[i], "--times") && i + 1 < count)
            options.times = atoi(words[++i]);
        else if (!strcmp(words[i], "--most-mib") && i + 1 < count)
            options.most = (size_t)atoi(words[++i]) << 20;
        else if (!strcmp(words[i], "--no-overlap"))
            options.is_overlap = false;
        else if (!strcmp(words[i], "--events"))
            by_events = true;
        else {
            fprintf(stderr, "usage: copies [--times N] [--most-mib N] [--no-overlap] [--events]\n");
            return 2;
        }
    }
    if (options.times < 1 || options.most < 64) {
        fprintf(stderr, "copies: expected a repetition and a MiB at least\n");
        return 2;
    }
    char *pageable = (char *)malloc(options.most), *pinned, *device;
    size_t least = (size_t)32 << 20;
    CHECK(cudaMallocHost(&pinned, std::max(options.most, least)));
    CHECK(cudaMalloc(&device, std::max(options.most, least)));
    start_clock();
    memset(pageable, 1, options.most);
    memset(pinned, 2, options.most);
    measure_copies(options, pageable, device, "pageable");
    measure_copies(options, pinned, device, "pinned");
    measure_async(options, pinned, device);
    if (options.is_overlap)
        measure_overlap(options, pinned, device);
    CHECK(cudaFree(device));
    CHECK(cudaFreeHost(pinned));
    free(pageable);
    return 0;
}
