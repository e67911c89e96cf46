/* The records nearest to a place: the GPU computes all distances, the host selects. */
#include "workload.h"

enum { NN_BLOCK = 256 };

enum { NN_N, NN_K };
static const struct workload_option nn_options[] = {
    {"n", 100000, 1, 1u << 26, "records"},
    {"k", 10, 1, 1000, "neighbours to find, no more than records"},
    {0, 0, 0, 0, 0},
};

struct nn_record {
    float latitude, longitude;
};

/* The nearest k, one after the other; of equal ones the first. */
static void nn_select(uint32_t n, uint32_t k, const float *distances, uint8_t *taken, uint32_t *nearest)
{
    for (uint32_t found = 0; found < k; found++) {
        uint32_t best = n;
        for (uint32_t i = 0; i < n; i++)
            if (!taken[i] && (best == n || distances[i] < distances[best]))
                best = i;
        nearest[found] = best;
        taken[best] = 1;
    }
}

static void nn_run(struct dev *gpu, const uint64_t *options)
{
    uint32_t n = (uint32_t)options[NN_N], k = (uint32_t)(options[NN_K] < n ? options[NN_K] : n);
    size_t bytes = n * sizeof(float);
    struct nn_record *records = (struct nn_record *)dev_host(gpu, n * sizeof *records), target;
    float *distances = (float *)dev_host(gpu, bytes), *expected = (float *)dev_host(gpu, bytes);
    uint8_t *taken = (uint8_t *)dev_host(gpu, n);
    uint32_t *nearest = (uint32_t *)dev_host(gpu, k * sizeof *nearest);
    uint64_t seed = 1;
    target.latitude = 30, target.longitude = 90;
    for (uint32_t i = 0; i < n; i++) {
        records[i].latitude = 180 * workload_unit(&seed) - 90;
        records[i].longitude = 360 * workload_unit(&seed) - 180;
        float y = records[i].latitude - target.latitude, x = records[i].longitude - target.longitude;
        expected[i] = sqrtf(fmaf(y, y, x * x));
    }
    void *device_records = dev_alloc(gpu, n * sizeof *records), *device_distances = dev_alloc(gpu, bytes);
    dev_upload(gpu, device_records, records, n * sizeof *records);
    DEV_LAUNCH(gpu, "nn", dev_dim((n + NN_BLOCK - 1) / NN_BLOCK, 1, 1), dev_dim(NN_BLOCK, 1, 1), 0, &n,
               &target, &device_records, &device_distances);
    dev_download(gpu, distances, device_distances, bytes);
    dev_expect_bytes(gpu, "distances", distances, expected, bytes);
    nn_select(n, k, distances, taken, nearest);
    for (uint32_t i = 1; i < k; i++)
        dev_expect(gpu, expected[nearest[i - 1]] <= expected[nearest[i]],
                   "the neighbours come nearest first");
    for (uint32_t i = 0; i < n; i++)
        dev_expect(gpu, taken[i] || expected[i] >= expected[nearest[k - 1]], "none that was left is nearer");
}

const struct workload nn_workload = {"nn", "nearest neighbours", nn_options, nn_run};
