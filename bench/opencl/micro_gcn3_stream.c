/* Reads, writes and copies of a footprint by many work-items: the bandwidth of L2 (the second of two launches
 * over a small footprint finds there what the first one left) and of memory. */
#include "micro.h"

enum { MICRO_GCN3_STREAM_ITEMS = 256, MICRO_GCN3_STREAM_VECTOR = 16 };
enum { MICRO_GCN3_READ, MICRO_GCN3_WRITE, MICRO_GCN3_COPY };

enum { MICRO_GCN3_STREAM_KIND, MICRO_GCN3_STREAM_KIB, MICRO_GCN3_STREAM_GROUPS, MICRO_GCN3_STREAM_LAUNCHES };
static const struct workload_option micro_gcn3_stream_options[] = {
    {"kind", 0, 0, 2, "0: read, 1: write, 2: copy"},
    {"kib", 1024, 1, 1u << 20, "footprint in KiB; a copy has it twice"},
    {"groups", 64, 1, 4096, "work-groups of 256"},
    {"launches", 1, 1, 100, "launches; the last one is measured"},
    {0, 0, 0, 0, 0},
};

/* Sums of all words as the kernels leave them: what was read is summed up by work-items. */
static uint32_t micro_gcn3_stream_sum(const uint32_t *words, size_t count)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += words[i];
    return sum;
}

static void micro_gcn3_stream_run(struct dev *gpu, const uint64_t *options)
{
    static const char *const kernels[] = {"micro_gcn3_read", "micro_gcn3_write", "micro_gcn3_copy"};
    uint32_t kind = (uint32_t)options[MICRO_GCN3_STREAM_KIND];
    uint32_t groups = (uint32_t)options[MICRO_GCN3_STREAM_GROUPS];
    size_t bytes = options[MICRO_GCN3_STREAM_KIB] * 1024, words = bytes / sizeof(uint32_t);
    uint32_t n = (uint32_t)(bytes / MICRO_GCN3_STREAM_VECTOR), expected = 0;
    size_t sums_bytes = (size_t)groups * MICRO_GCN3_STREAM_ITEMS * MICRO_GCN3_STREAM_VECTOR;
    size_t out_bytes = kind == MICRO_GCN3_READ ? sums_bytes : bytes;
    uint32_t *in = (uint32_t *)dev_host(gpu, bytes);
    void *from = dev_alloc(gpu, bytes), *to = dev_alloc(gpu, out_bytes);
    for (size_t i = 0; i < words; i++) {
        in[i] = (uint32_t)i * 2654435761u;
        expected += kind == MICRO_GCN3_WRITE ? (uint32_t)(i / 4) : in[i];
    }
    dev_upload(gpu, from, in, bytes);
    for (uint64_t i = 0; i < options[MICRO_GCN3_STREAM_LAUNCHES]; i++)
        DEV_LAUNCH(gpu, kernels[kind], dev_dim(groups, 1, 1), dev_dim(MICRO_GCN3_STREAM_ITEMS, 1, 1), 0, &n,
                   &from, &to);
    double seconds = dev_seconds(gpu);
    uint32_t *out = (uint32_t *)micro_fetch(gpu, to, out_bytes);
    dev_expect(gpu, micro_gcn3_stream_sum(out, out_bytes / sizeof *out) == expected, "the sum of all words");
    dev_figure(gpu, "microseconds", seconds * 1e6);
    if (seconds > 0)
        dev_figure(gpu, "gb_per_s", (double)bytes * (kind == MICRO_GCN3_COPY ? 2 : 1) / seconds * 1e-9);
}

const struct workload micro_gcn3_stream_workload = {"micro_gcn3_stream", "bandwidth of L2 and memory",
                                                    micro_gcn3_stream_options, micro_gcn3_stream_run};
