/* Sorting by a bitonic network: steps between near elements in shared memory, those between far ones in
 * global memory, a launch each. */
#include "placement.h"

enum { BITONIC_THREADS = 256, BITONIC_TILE = 2 * BITONIC_THREADS }; /* a thread orders a pair */

enum { BITONIC_LOG, BITONIC_SORTED, BITONIC_LOCALITY };
static const struct workload_option bitonic_options[] = {
    {"log", 13, 9, 26, "the binary logarithm of the count of elements"},
    {"sorted", 0, 0, 25, "that of the runs which are sorted already, up and down in turn; less than log"},
    PLACEMENT_OPTION,
    {0, 0, 0, 0, 0},
};

static int bitonic_compare(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* The next launch: pairs at the member that has both places; two members that have one each share them out.
 */
static void bitonic_place_far(const struct placement *placement, uint32_t distance)
{
    struct dev_blocks ranges[2 * DEV_MEMBERS];
    uint64_t parts = 2 * (uint64_t)placement->members, apart = distance / BITONIC_THREADS;
    size_t count = 0;
    for (uint64_t i = 0; i < parts; i++) {
        struct dev_blocks *range = &ranges[count];
        range->first = placement->units * i / parts, range->end = placement->units * (i + 1) / parts;
        uint64_t low = 2 * range->first - range->first % apart; /* in halves of tiles */
        range->member = placement_member(placement, (low + (i % 2 ? apart : 0)) / 2);
        count += range->first < range->end;
    }
    if (placement->members > 1)
        dev_place_blocks(placement->gpu, ranges, count);
}

/* Merges runs of `size` elements, all of them sorted in halves, one up and one down. */
static void bitonic_merge(const struct placement *placement, void *data, uint32_t size)
{
    struct dev *gpu = placement->gpu;
    struct dev_dim grid = dev_dim((unsigned)placement->units, 1, 1), block = dev_dim(BITONIC_THREADS, 1, 1);
    for (uint32_t distance = size / 2; distance >= BITONIC_TILE; distance /= 2) {
        bitonic_place_far(placement, distance);
        DEV_LAUNCH(gpu, "bitonic_far", grid, block, 0, &data, &size, &distance);
    }
    placement_blocks(placement, 1);
    DEV_LAUNCH(gpu, "bitonic_near", grid, block, 0, &data, &size, &size);
}

static void bitonic_sort_runs(uint32_t *data, uint32_t n, uint32_t run)
{
    for (uint32_t from = 0; from < n; from += run) {
        qsort(&data[from], run, sizeof *data, bitonic_compare);
        for (uint32_t i = 0; from & run && i < run / 2; i++) {
            uint32_t last = data[from + run - 1 - i];
            data[from + run - 1 - i] = data[from + i];
            data[from + i] = last;
        }
    }
}

static void bitonic_run(struct dev *gpu, const uint64_t *options)
{
    uint32_t n = 1u << options[BITONIC_LOG], run = 1u << options[BITONIC_SORTED];
    uint32_t first = 2 * run, last = BITONIC_TILE;
    size_t bytes = n * sizeof(uint32_t);
    uint32_t *data = (uint32_t *)dev_host(gpu, bytes), *expected = (uint32_t *)dev_host(gpu, bytes);
    uint64_t seed = 1;
    dev_expect(gpu, run < n, "sorted is not less than log");
    if (run >= n)
        return;
    for (uint32_t i = 0; i < n; i++)
        expected[i] = data[i] = workload_random(&seed);
    qsort(expected, n, sizeof *expected, bitonic_compare);
    bitonic_sort_runs(data, n, run);
    void *device = dev_alloc(gpu, bytes);
    dev_upload(gpu, device, data, bytes);
    struct placement placement = placement_of(gpu, options[BITONIC_LOCALITY], n / BITONIC_TILE);
    placement_memory(&placement, device, bytes, BITONIC_TILE * sizeof *data);
    if (first <= last) {
        placement_blocks(&placement, 1);
        DEV_LAUNCH(gpu, "bitonic_near", dev_dim(n / BITONIC_TILE, 1, 1), dev_dim(BITONIC_THREADS, 1, 1), 0,
                   &device, &first, &last);
    }
    for (uint32_t size = first <= last ? 2 * last : first; size <= n; size *= 2)
        bitonic_merge(&placement, device, size);
    dev_download(gpu, data, device, bytes);
    dev_expect_bytes(gpu, "sorted", data, expected, bytes);
}

const struct workload bitonic_workload = {"bitonic", "sorting by a network", bitonic_options, bitonic_run};
