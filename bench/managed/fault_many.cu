/* Many faults at once: each thread, or one lane of each warp, touches one word of a page of its own. */
#include "probe.cuh"

/* Page i is touched by thread i * `spread` of the grid, and so on round the grid. */
static __global__ void touch_pages(char *base, size_t stride, unsigned pages, unsigned spread, bool writes,
                                   unsigned *never)
{
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, toucher = thread / spread;
    if (thread % spread)
        return;
    for (unsigned i = toucher; i < pages; i += gridDim.x * blockDim.x / spread) {
        volatile unsigned *word = (volatile unsigned *)(base + i * stride);
        if (writes)
            *word = i;
        else if (*word == 0xdeadbeef)
            *never = i;
    }
}

static unsigned *never;

/* Pages whose contents are on the host are read; pages that nobody has touched are written. */
static void measure(const char *figure, double at, size_t stride, unsigned pages, unsigned spread,
                    unsigned blocks, unsigned threads, bool untouched)
{
    std::vector<double> us;
    size_t bytes = stride * pages;
    if (probe_skips(bytes))
        return;
    managed *buffer = new managed(bytes);
    if (!untouched)
        buffer->fill_by_host();
    for (int i = 0; i < probe_times(6); i++) {
        if (untouched && i) {
            delete buffer;
            buffer = new managed(bytes);
        } else if (!untouched) {
            buffer->move(ON_HOST);
        }
        double one = probe_us(
            [&] { touch_pages<<<blocks, threads>>>(buffer->at, stride, pages, spread, untouched, never); });
        if (i) /* the first is for warming up */
            us.push_back(one);
    }
    probe_row(figure, at, "us", us);
    delete buffer;
}

/* A grid with one thread for each page, or one warp for each. */
static void over_pages(const char *kind, size_t stride, unsigned most, unsigned spread, bool untouched)
{
    char figure[64];
    snprintf(figure, sizeof figure, "%s_%s_%zuk", untouched ? "untouched" : "host", kind, stride / KIB);
    for (unsigned pages = 1; pages <= most; pages *= 4) {
        unsigned threads = pages * spread < 128 ? pages * spread : 128;
        measure(figure, pages, stride, pages, spread, pages * spread / threads, threads, untouched);
    }
}

int main(void)
{
    probe_name = "fault_many";
    CHECK(cudaMalloc(&never, sizeof *never));
    for (bool untouched : {false, true}) {
        over_pages("lanes", PAGE, 65536, 1, untouched);
        over_pages("lanes", BIG_PAGE, 16384, 1, untouched);
        over_pages("lanes", BLOCK, 1024, 1, untouched);
        over_pages("warps", PAGE, 16384, 32, untouched);
        over_pages("warps", BIG_PAGE, 4096, 32, untouched);
        over_pages("warps", BLOCK, 1024, 32, untouched);
    }
    /* The same 4096 big pages, touched by more and more of the GPU. */
    for (unsigned blocks : {1, 2, 4, 8, 16, 32, 64, 132})
        measure("host_4096_big_pages_by_blocks_of_32", blocks, BIG_PAGE, 4096, 1, blocks, 32, false);
    for (unsigned threads : {1, 2, 4, 8, 16, 32, 128, 512, 1024})
        measure("host_1024_big_pages_by_threads_of_one_block", threads, BIG_PAGE, 1024, 1, 1, threads, false);
}
