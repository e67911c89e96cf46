/* The distance of every node of a graph from node 0, level by level: each launch goes over all nodes, and the
 * host asks after each whether there was anything new. */
#include "workload.h"

enum { BFS_BLOCK = 128 };

enum { BFS_NODES, BFS_DEGREE };
static const struct workload_option bfs_options[] = {
    {"nodes", 16384, 1, 1u << 24, "nodes"},
    {"degree", 6, 1, 64, "edges out of a node, at most"},
    {0, 0, 0, 0, 0},
};

/* The edges of node i are ends[starts[i]] to ends[starts[i + 1] - 1]. */
static void bfs_reference(uint32_t nodes, const uint32_t *starts, const uint32_t *ends, uint32_t *queue,
                          uint32_t *levels)
{
    uint32_t head = 0, tail = 1;
    memset(levels, 0xff, nodes * sizeof *levels);
    queue[0] = 0, levels[0] = 0;
    while (head < tail) {
        uint32_t node = queue[head++];
        for (uint32_t edge = starts[node]; edge < starts[node + 1]; edge++)
            if (levels[ends[edge]] == UINT32_MAX)
                levels[ends[edge]] = levels[node] + 1, queue[tail++] = ends[edge];
    }
}

static void bfs_run(struct dev *gpu, const uint64_t *options)
{
    uint32_t nodes = (uint32_t)options[BFS_NODES], degree = (uint32_t)options[BFS_DEGREE];
    size_t bytes = nodes * sizeof(uint32_t), starts_bytes = bytes + sizeof(uint32_t);
    uint32_t *starts = (uint32_t *)dev_host(gpu, starts_bytes), *queue = (uint32_t *)dev_host(gpu, bytes);
    uint32_t *levels = (uint32_t *)dev_host(gpu, bytes), *expected = (uint32_t *)dev_host(gpu, bytes);
    uint64_t seed = 1;
    for (uint32_t node = 0; node < nodes; node++)
        starts[node + 1] = starts[node] + workload_random(&seed) % degree + (node == 0);
    size_t ends_bytes = starts[nodes] * sizeof(uint32_t);
    uint32_t *ends = (uint32_t *)dev_host(gpu, ends_bytes), more = 1;
    for (uint32_t edge = 0; edge < starts[nodes]; edge++)
        ends[edge] = workload_random(&seed) % nodes;
    bfs_reference(nodes, starts, ends, queue, expected);
    void *device_starts = dev_alloc(gpu, starts_bytes), *device_ends = dev_alloc(gpu, ends_bytes);
    void *device_levels = dev_alloc(gpu, bytes), *device_more = dev_alloc(gpu, sizeof more);
    dev_upload(gpu, device_starts, starts, starts_bytes);
    dev_upload(gpu, device_ends, ends, ends_bytes);
    dev_fill(gpu, device_levels, 0xff, bytes);
    dev_fill(gpu, device_levels, 0, sizeof(uint32_t)); /* node 0 */
    for (uint32_t level = 0; more; level++) {
        more = 0; /* and stays so where a launch fails */
        dev_fill(gpu, device_more, 0, sizeof more);
        DEV_LAUNCH(gpu, "bfs", dev_dim((nodes + BFS_BLOCK - 1) / BFS_BLOCK, 1, 1), dev_dim(BFS_BLOCK, 1, 1),
                   0, &nodes, &level, &device_starts, &device_ends, &device_levels, &device_more);
        dev_download(gpu, &more, device_more, sizeof more);
    }
    dev_download(gpu, levels, device_levels, bytes);
    dev_expect_bytes(gpu, "levels", levels, expected, bytes);
}

const struct workload bfs_workload = {"bfs", "distances in a graph", bfs_options, bfs_run};
