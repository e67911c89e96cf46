/* The shortest ways between all pairs of nodes (Floyd and Warshall), and the last node that shortened each:
 * a launch for every node that ways may lead through. */
#include "workload.h"

enum { FLOYDWARSHALL_SIDE = 16, FLOYDWARSHALL_FAR = 1 << 29 }; /* of a block; no way: far even if doubled */

enum { FLOYDWARSHALL_NODES };
static const struct workload_option floydwarshall_options[] = {
    {"nodes", 56, 1, 4096, "nodes"},
    {0, 0, 0, 0, 0},
};

static void floydwarshall_pass(uint32_t n, uint32_t through, uint32_t *lengths, uint32_t *via)
{
    for (size_t y = 0; y < n; y++)
        for (size_t x = 0; x < n; x++) {
            uint32_t length = lengths[y * n + through] + lengths[(size_t)through * n + x];
            if (length < lengths[y * n + x])
                lengths[y * n + x] = length, via[y * n + x] = through;
        }
}

static void floydwarshall_run(struct dev *gpu, const uint64_t *options)
{
    uint32_t n = (uint32_t)options[FLOYDWARSHALL_NODES];
    uint32_t blocks = (n + FLOYDWARSHALL_SIDE - 1) / FLOYDWARSHALL_SIDE;
    size_t count = (size_t)n * n, bytes = count * sizeof(uint32_t);
    uint32_t *lengths = (uint32_t *)dev_host(gpu, bytes), *via = (uint32_t *)dev_host(gpu, bytes);
    uint32_t *got = (uint32_t *)dev_host(gpu, bytes);
    void *device_lengths = dev_alloc(gpu, bytes), *device_via = dev_alloc(gpu, bytes);
    uint64_t seed = 1;
    for (size_t i = 0; i < count; i++) {
        uint32_t drawn = workload_random(&seed);
        lengths[i] = i % (n + 1) == 0 ? 0 : drawn % 4 ? FLOYDWARSHALL_FAR : drawn % 1000;
    }
    dev_upload(gpu, device_lengths, lengths, bytes);
    dev_fill(gpu, device_via, 0, bytes);
    for (uint32_t through = 0; through < n; through++) {
        DEV_LAUNCH(gpu, "floydwarshall", dev_dim(blocks, blocks, 1),
                   dev_dim(FLOYDWARSHALL_SIDE, FLOYDWARSHALL_SIDE, 1), 0, &n, &through, &device_lengths,
                   &device_via);
        floydwarshall_pass(n, through, lengths, via);
    }
    dev_download(gpu, got, device_lengths, bytes);
    dev_expect_bytes(gpu, "lengths", got, lengths, bytes);
    dev_download(gpu, got, device_via, bytes);
    dev_expect_bytes(gpu, "via", got, via, bytes);
}

const struct workload floydwarshall_workload = {"floydwarshall", "shortest ways between all pairs",
                                                floydwarshall_options, floydwarshall_run};
