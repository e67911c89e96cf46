/* Latency of memory: one work-item follows indices, in an order that no prefetcher guesses, around a
 * footprint: through L1 and L2, through the scalar cache, or in the LDS. With places a page apart it shows
 * what the TLBs cost. */
#include "micro.h"

enum { MICRO_GCN3_VECTOR, MICRO_GCN3_SCALAR, MICRO_GCN3_LDS, MICRO_GCN3_LDS_WORDS = 8192 };

enum {
    MICRO_GCN3_LATENCY_KIND,
    MICRO_GCN3_LATENCY_KIB,
    MICRO_GCN3_LATENCY_STRIDE,
    MICRO_GCN3_LATENCY_STEPS,
    MICRO_GCN3_LATENCY_WARM
};
static const struct workload_option micro_gcn3_latency_options[] = {
    {"kind", 0, 0, 2, "0: vector loads, 1: scalar loads, 2: LDS"},
    {"kib", 8, 1, 1u << 20, "footprint in KiB; of the LDS at most 32"},
    {"stride", 64, 4, 1u << 21, "bytes between the places that are loaded"},
    {"steps", 1024, 1, 1u << 20, "timed loads"},
    {"warm", 1, 0, 1, "1: the whole footprint is loaded once before"},
    {0, 0, 0, 0, 0},
};

/* A ring through all places of the footprint; entry i of the order is followed by entry i + 1. */
static void micro_gcn3_ring(uint32_t *ring, uint32_t *order, uint32_t places, uint32_t stride_words)
{
    uint64_t seed = 7;
    for (uint32_t i = 0; i < places; i++)
        order[i] = i;
    for (uint32_t i = places - 1; i > 0; i--) {
        uint32_t j = workload_random(&seed) % (i + 1), swapped = order[i];
        order[i] = order[j], order[j] = swapped;
    }
    for (uint32_t i = 0; i < places; i++)
        ring[order[i] * stride_words] = order[(i + 1) % places] * stride_words;
}

static void micro_gcn3_latency_run(struct dev *gpu, const uint64_t *options)
{
    static const char *const kernels[] = {"micro_gcn3_chase_vector", "micro_gcn3_chase_scalar",
                                          "micro_gcn3_chase_lds"};
    uint32_t kind = (uint32_t)options[MICRO_GCN3_LATENCY_KIND];
    uint32_t stride = (uint32_t)options[MICRO_GCN3_LATENCY_STRIDE] / 4;
    uint32_t words = (uint32_t)options[MICRO_GCN3_LATENCY_KIB] * 256;
    words = kind == MICRO_GCN3_LDS && words > MICRO_GCN3_LDS_WORDS ? MICRO_GCN3_LDS_WORDS : words;
    stride = stride < words ? stride : words;
    uint32_t places = words / stride, steps = (uint32_t)options[MICRO_GCN3_LATENCY_STEPS], expected = 0;
    uint32_t before = options[MICRO_GCN3_LATENCY_WARM] ? places : 0;
    uint32_t *ring = (uint32_t *)dev_host(gpu, words * sizeof *ring);
    uint32_t *order = (uint32_t *)dev_host(gpu, places * sizeof *order);
    void *device = dev_alloc(gpu, words * sizeof *ring), *end = dev_alloc(gpu, sizeof expected);
    void *time = dev_alloc(gpu, sizeof(struct micro_time));
    micro_gcn3_ring(ring, order, places, stride);
    dev_upload(gpu, device, ring, words * sizeof *ring);
    DEV_LAUNCH(gpu, kernels[kind], dev_dim(1, 1, 1), dev_dim(1, 1, 1), 0, &words, &before, &steps, &device,
               &end, &time);
    for (uint64_t i = 0; i < (uint64_t)before + steps; i++)
        expected = ring[expected];
    dev_expect_bytes(gpu, "the end of the chain", micro_fetch(gpu, end, sizeof expected), &expected,
                     sizeof expected);
    dev_figure(gpu, "cycles_per_load",
               micro_span((struct micro_time *)micro_fetch(gpu, time, sizeof(struct micro_time)), 1) / steps);
}

const struct workload micro_gcn3_latency_workload = {"micro_gcn3_latency",
                                                     "latency of caches, LDS and memory",
                                                     micro_gcn3_latency_options, micro_gcn3_latency_run};
