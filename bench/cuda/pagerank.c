/* The ranks of pages that link to each other, round by round: a thread goes over the links to its page. A
 * page's sum is taken in the order of its links, so it is exact. */
#include "workload.h"

enum { PAGERANK_BLOCK = 64 };
#define PAGERANK_DAMPING 0.85f

enum { PAGERANK_NODES, PAGERANK_DEGREE, PAGERANK_ROUNDS };
static const struct workload_option pagerank_options[] = {
    {"nodes", 4096, 1, 1u << 22, "pages"},
    {"degree", 8, 1, 64, "links of a page, at most"},
    {"rounds", 4, 1, 1000, "rounds"},
    {0, 0, 0, 0, 0},
};

struct pagerank_links { /* to page i: from[starts[i]] to from[starts[i + 1] - 1] */
    uint32_t *starts, *from;
    float *shares; /* by page: what each of its links carries of its rank */
};

/* Draws each page's links twice from one seed: to count those to a page, then to put them there. */
static struct pagerank_links pagerank_draw(struct dev *gpu, uint32_t nodes, uint32_t degree)
{
    struct pagerank_links links;
    links.starts = (uint32_t *)dev_host(gpu, (nodes + (size_t)2) * sizeof(uint32_t));
    links.from = NULL;
    links.shares = (float *)dev_host(gpu, nodes * sizeof(float));
    uint32_t *ends = links.starts + 1; /* while they are filled in */
    for (int pass = 0; pass < 2; pass++) {
        uint64_t seed = 1;
        for (uint32_t page = 0; page < nodes; page++) {
            uint32_t count = workload_random(&seed) % degree + 1;
            links.shares[page] = 1.0f / (float)count;
            for (uint32_t i = 0; i < count; i++) {
                uint32_t to = workload_random(&seed) % nodes;
                if (pass)
                    links.from[ends[to]++] = page;
                else
                    ends[to + 1]++;
            }
        }
        for (uint32_t page = 0; !pass && page < nodes; page++)
            ends[page + 1] += ends[page];
        if (!pass)
            links.from = (uint32_t *)dev_host(gpu, ends[nodes] * sizeof(uint32_t));
    }
    return links;
}

static void pagerank_round(uint32_t nodes, float base, const struct pagerank_links *links, const float *ranks,
                           float *next)
{
    for (uint32_t page = 0; page < nodes; page++) {
        float sum = 0;
        for (uint32_t i = links->starts[page]; i < links->starts[page + 1]; i++)
            sum = fmaf(ranks[links->from[i]], links->shares[links->from[i]], sum);
        next[page] = fmaf(PAGERANK_DAMPING, sum, base);
    }
}

static void *pagerank_to_device(struct dev *gpu, const void *host, size_t bytes)
{
    void *device = dev_alloc(gpu, bytes);
    dev_upload(gpu, device, host, bytes);
    return device;
}

static void pagerank_run(struct dev *gpu, const uint64_t *options)
{
    uint32_t nodes = (uint32_t)options[PAGERANK_NODES];
    size_t bytes = nodes * sizeof(float);
    float base = (1 - PAGERANK_DAMPING) / (float)nodes;
    struct pagerank_links links = pagerank_draw(gpu, nodes, (uint32_t)options[PAGERANK_DEGREE]);
    float *ranks = (float *)dev_host(gpu, bytes), *next = (float *)dev_host(gpu, bytes);
    float *got = (float *)dev_host(gpu, bytes);
    for (uint32_t page = 0; page < nodes; page++)
        ranks[page] = 1.0f / (float)nodes;
    void *device_starts = pagerank_to_device(gpu, links.starts, (nodes + (size_t)1) * sizeof(uint32_t));
    void *device_from = pagerank_to_device(gpu, links.from, links.starts[nodes] * sizeof(uint32_t));
    void *device_shares = pagerank_to_device(gpu, links.shares, bytes);
    void *device_ranks = pagerank_to_device(gpu, ranks, bytes), *device_next = dev_alloc(gpu, bytes);
    for (uint64_t round = 0; round < options[PAGERANK_ROUNDS]; round++) {
        DEV_LAUNCH(gpu, "pagerank", dev_dim((nodes + PAGERANK_BLOCK - 1) / PAGERANK_BLOCK, 1, 1),
                   dev_dim(PAGERANK_BLOCK, 1, 1), 0, &nodes, &base, &device_starts, &device_from,
                   &device_shares, &device_ranks, &device_next);
        pagerank_round(nodes, base, &links, ranks, next);
        void *device_swap = device_ranks;
        float *swap = ranks;
        device_ranks = device_next, device_next = device_swap;
        ranks = next, next = swap;
    }
    dev_download(gpu, got, device_ranks, bytes);
    dev_expect_bytes(gpu, "ranks", got, ranks, bytes);
}

const struct workload pagerank_workload = {"pagerank", "ranks of pages that link to each other",
                                           pagerank_options, pagerank_run};
