/* Sorting keys with a value each, digit by digit from the lowest; every pass is stable. Keys have few bits by
 * default, so that many are equal and the values show whether they kept their order. */
#include "workload.h"

enum { RADIXSORT_BLOCK = 256, RADIXSORT_BITS = 4, RADIXSORT_DIGITS = 1 << RADIXSORT_BITS };

enum { RADIXSORT_N, RADIXSORT_KEY_BITS };
static const struct workload_option radixsort_options[] = {
    {"n", 30000, 1, 1u << 24, "keys"},
    {"key-bits", 12, 1, 31, "bits of a key"},
    {0, 0, 0, 0, 0},
};

struct radixsort_arrays { /* of the device */
    void *keys, *values, *counts;
};

static void radixsort_pass(struct dev *gpu, uint32_t n, uint32_t shift, struct radixsort_arrays *from,
                           struct radixsort_arrays *to)
{
    uint32_t tiles = (n + RADIXSORT_BLOCK - 1) / RADIXSORT_BLOCK, counts = tiles * RADIXSORT_DIGITS;
    struct dev_dim grid = dev_dim(tiles, 1, 1), block = dev_dim(RADIXSORT_BLOCK, 1, 1);
    DEV_LAUNCH(gpu, "radixsort_count", grid, block, 0, &n, &shift, &from->keys, &from->counts);
    DEV_LAUNCH(gpu, "radixsort_scan", dev_dim(1, 1, 1), block, 0, &counts, &from->counts);
    DEV_LAUNCH(gpu, "radixsort_scatter", grid, block, 0, &n, &shift, &from->keys, &from->values,
               &from->counts, &to->keys, &to->values);
}

static int radixsort_compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static void radixsort_run(struct dev *gpu, const uint64_t *options)
{
    uint32_t n = (uint32_t)options[RADIXSORT_N], key_bits = (uint32_t)options[RADIXSORT_KEY_BITS];
    uint32_t tiles = (n + RADIXSORT_BLOCK - 1) / RADIXSORT_BLOCK;
    size_t bytes = n * sizeof(uint32_t);
    uint32_t *keys = (uint32_t *)dev_host(gpu, bytes), *values = (uint32_t *)dev_host(gpu, bytes);
    uint64_t *expected = (uint64_t *)dev_host(gpu, n * sizeof *expected), seed = 1; /* key, then value */
    struct radixsort_arrays from, to;
    for (uint32_t i = 0; i < n; i++) {
        keys[i] = workload_random(&seed) >> (31 - key_bits), values[i] = i;
        expected[i] = (uint64_t)keys[i] << 32 | i;
    }
    qsort(expected, n, sizeof *expected, radixsort_compare);
    from.keys = dev_alloc(gpu, bytes), from.values = dev_alloc(gpu, bytes);
    to.keys = dev_alloc(gpu, bytes), to.values = dev_alloc(gpu, bytes);
    from.counts = to.counts = dev_alloc(gpu, (size_t)tiles * RADIXSORT_DIGITS * sizeof(uint32_t));
    dev_upload(gpu, from.keys, keys, bytes);
    dev_upload(gpu, from.values, values, bytes);
    for (uint32_t shift = 0; shift < key_bits; shift += RADIXSORT_BITS) {
        struct radixsort_arrays swap = to;
        radixsort_pass(gpu, n, shift, &from, &to);
        to = from, from = swap;
    }
    dev_download(gpu, keys, from.keys, bytes);
    dev_download(gpu, values, from.values, bytes);
    for (uint32_t i = 0; i < n; i++) {
        dev_expect(gpu, keys[i] == expected[i] >> 32, "the keys are sorted");
        dev_expect(gpu, values[i] == (uint32_t)expected[i], "equal keys keep their order");
    }
}

const struct workload radixsort_workload = {"radixsort", "stable sorting digit by digit", radixsort_options,
                                            radixsort_run};
