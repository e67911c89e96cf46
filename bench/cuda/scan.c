/* Inclusive prefix sums: tiles in shared memory, then the tiles' totals in the same way, then each tile adds
 * what comes before it. */
#include "workload.h"

enum { SCAN_THREADS = 128, SCAN_TILE = 2 * SCAN_THREADS }; /* a tile is a block's elements */

enum { SCAN_N };
static const struct workload_option scan_options[] = {
    {"n", 100000, 1, 1u << 28, "elements"},
    {0, 0, 0, 0, 0},
};

/* Scans `data` of the device in place. */
static void scan_device(struct dev *gpu, void *data, uint32_t n)
{
    uint32_t tiles = (n + SCAN_TILE - 1) / SCAN_TILE;
    void *totals = dev_alloc(gpu, tiles * sizeof(uint32_t));
    struct dev_dim grid = dev_dim(tiles, 1, 1), block = dev_dim(SCAN_THREADS, 1, 1);
    DEV_LAUNCH(gpu, "scan_tiles", grid, block, 0, &n, &data, &totals);
    if (tiles == 1)
        return;
    scan_device(gpu, totals, tiles);
    DEV_LAUNCH(gpu, "scan_add", grid, block, 0, &n, &data, &totals);
}

static void scan_run(struct dev *gpu, const uint64_t *options)
{
    uint32_t n = (uint32_t)options[SCAN_N], sum = 0;
    size_t bytes = n * sizeof(uint32_t);
    uint32_t *data = (uint32_t *)dev_host(gpu, bytes), *expected = (uint32_t *)dev_host(gpu, bytes);
    uint64_t seed = 1;
    for (uint32_t i = 0; i < n; i++)
        expected[i] = sum += data[i] = workload_random(&seed);
    void *device = dev_alloc(gpu, bytes);
    dev_upload(gpu, device, data, bytes);
    scan_device(gpu, device, n);
    dev_download(gpu, data, device, bytes);
    dev_expect_bytes(gpu, "sums", data, expected, bytes);
}

const struct workload scan_workload = {"scan", "prefix sums", scan_options, scan_run};
