/* Sorting by a bitonic network: steps between near elements in shared memory, those between far ones in
 * global memory, a launch each. */
#include "workload.h"

enum { BITONIC_THREADS = 256, BITONIC_TILE = 2 * BITONIC_THREADS }; /* a thread orders a pair */

enum { BITONIC_LOG };
static const struct workload_option bitonic_options[] = {
    {"log", 13, 9, 26, "the binary logarithm of the count of elements"},
    {0, 0, 0, 0, 0},
};

static int bitonic_compare(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* Merges runs of `size` elements, all of them sorted in halves, one up and one down. */
static void bitonic_merge(struct dev *gpu, void *data, uint32_t n, uint32_t size)
{
    struct dev_dim grid = dev_dim(n / BITONIC_TILE, 1, 1), block = dev_dim(BITONIC_THREADS, 1, 1);
    for (uint32_t distance = size / 2; distance >= BITONIC_TILE; distance /= 2)
        DEV_LAUNCH(gpu, "bitonic_far", grid, block, 0, &data, &size, &distance);
    DEV_LAUNCH(gpu, "bitonic_near", grid, block, 0, &data, &size, &size);
}

static void bitonic_run(struct dev *gpu, const uint64_t *options)
{
    uint32_t n = 1u << options[BITONIC_LOG], first = 2, last = BITONIC_TILE;
    size_t bytes = n * sizeof(uint32_t);
    uint32_t *data = (uint32_t *)dev_host(gpu, bytes), *expected = (uint32_t *)dev_host(gpu, bytes);
    uint64_t seed = 1;
    for (uint32_t i = 0; i < n; i++)
        expected[i] = data[i] = workload_random(&seed);
    qsort(expected, n, sizeof *expected, bitonic_compare);
    void *device = dev_alloc(gpu, bytes);
    dev_upload(gpu, device, data, bytes);
    DEV_LAUNCH(gpu, "bitonic_near", dev_dim(n / BITONIC_TILE, 1, 1), dev_dim(BITONIC_THREADS, 1, 1), 0,
               &device, &first, &last);
    for (uint32_t size = 2 * BITONIC_TILE; size <= n; size *= 2)
        bitonic_merge(gpu, device, n, size);
    dev_download(gpu, data, device, bytes);
    dev_expect_bytes(gpu, "sorted", data, expected, bytes);
}

const struct workload bitonic_workload = {"bitonic", "sorting by a network", bitonic_options, bitonic_run};
