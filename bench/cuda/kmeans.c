/* Clusters of points by rounds of assignment and update. Coordinates and centers are whole numbers and sums
 * are 64-bit atomics, so that the result is exact. */
#include "placement.h"

enum { KMEANS_DIMENSIONS = 4, KMEANS_BLOCK = 128, KMEANS_RANGE = 1024, KMEANS_MOST = 256 };

enum { KMEANS_N, KMEANS_K, KMEANS_ROUNDS, KMEANS_LOCALITY };
static const struct workload_option kmeans_options[] = {
    {"n", 8000, 1, 1u << 24, "points"},
    {"k", 12, 1, KMEANS_MOST, "clusters, no more than points"},
    {"rounds", 4, 1, 1000, "rounds"},
    PLACEMENT_OPTION,
    {0, 0, 0, 0, 0},
};

struct kmeans_point { /* as the kernel's int4 */
    int32_t at[KMEANS_DIMENSIONS];
};

static uint32_t kmeans_nearest(uint32_t k, const struct kmeans_point *centers,
                               const struct kmeans_point *point)
{
    uint32_t nearest = 0, least = UINT32_MAX;
    for (uint32_t c = 0; c < k; c++) {
        uint32_t square = 0;
        for (int d = 0; d < KMEANS_DIMENSIONS; d++) {
            int32_t difference = point->at[d] - centers[c].at[d];
            square += (uint32_t)(difference * difference);
        }
        if (square < least)
            least = square, nearest = c;
    }
    return nearest;
}

static void kmeans_round(uint32_t n, uint32_t k, const struct kmeans_point *points,
                         struct kmeans_point *centers, uint32_t *labels)
{
    uint64_t sums[KMEANS_MOST][KMEANS_DIMENSIONS] = {{0}};
    uint32_t counts[KMEANS_MOST] = {0};
    for (uint32_t i = 0; i < n; i++) {
        uint32_t label = labels[i] = kmeans_nearest(k, centers, &points[i]);
        counts[label]++;
        for (int d = 0; d < KMEANS_DIMENSIONS; d++)
            sums[label][d] += (uint64_t)points[i].at[d];
    }
    for (uint32_t c = 0; c < k; c++)
        for (int d = 0; counts[c] && d < KMEANS_DIMENSIONS; d++)
            centers[c].at[d] = (int32_t)(sums[c][d] / counts[c]);
}

static void kmeans_run(struct dev *gpu, const uint64_t *options)
{
    uint32_t n = (uint32_t)options[KMEANS_N];
    uint32_t k = (uint32_t)(options[KMEANS_K] < n ? options[KMEANS_K] : n);
    size_t points_bytes = n * sizeof(struct kmeans_point), centers_bytes = k * sizeof(struct kmeans_point);
    size_t labels_bytes = n * sizeof(uint32_t);
    struct kmeans_point *points = (struct kmeans_point *)dev_host(gpu, points_bytes);
    struct kmeans_point *centers = (struct kmeans_point *)dev_host(gpu, centers_bytes);
    struct kmeans_point *got_centers = (struct kmeans_point *)dev_host(gpu, centers_bytes);
    uint32_t *labels = (uint32_t *)dev_host(gpu, labels_bytes);
    uint32_t *got_labels = (uint32_t *)dev_host(gpu, labels_bytes);
    void *device_points = dev_alloc(gpu, points_bytes), *device_labels = dev_alloc(gpu, labels_bytes);
    void *device_centers = dev_alloc(gpu, centers_bytes);
    void *device_sums = dev_alloc(gpu, k * KMEANS_DIMENSIONS * sizeof(uint64_t));
    void *device_counts = dev_alloc(gpu, k * sizeof(uint32_t));
    uint64_t seed = 1;
    for (uint32_t i = 0; i < n; i++)
        for (int d = 0; d < KMEANS_DIMENSIONS; d++)
            points[i].at[d] = (int32_t)(workload_random(&seed) % KMEANS_RANGE);
    memcpy(centers, points, centers_bytes);
    dev_upload(gpu, device_points, points, points_bytes);
    dev_upload(gpu, device_centers, centers, centers_bytes);
    dev_fill(gpu, device_sums, 0, k * KMEANS_DIMENSIONS * sizeof(uint64_t));
    dev_fill(gpu, device_counts, 0, k * sizeof(uint32_t));
    unsigned blocks = (n + KMEANS_BLOCK - 1) / KMEANS_BLOCK;
    struct placement placement = placement_of(gpu, options[KMEANS_LOCALITY], blocks);
    placement_memory(&placement, device_points, points_bytes, KMEANS_BLOCK * sizeof *points);
    placement_memory(&placement, device_labels, labels_bytes, KMEANS_BLOCK * sizeof *labels);
    for (uint64_t round = 0; round < options[KMEANS_ROUNDS]; round++) {
        placement_blocks(&placement, 1);
        DEV_LAUNCH(gpu, "kmeans_assign", dev_dim(blocks, 1, 1), dev_dim(KMEANS_BLOCK, 1, 1), 0, &n, &k,
                   &device_points, &device_centers, &device_labels, &device_sums, &device_counts);
        DEV_LAUNCH(gpu, "kmeans_update", dev_dim(k, 1, 1), dev_dim(KMEANS_DIMENSIONS, 1, 1), 0,
                   &device_centers, &device_sums, &device_counts);
        kmeans_round(n, k, points, centers, labels);
    }
    dev_download(gpu, got_labels, device_labels, labels_bytes);
    dev_expect_bytes(gpu, "labels", got_labels, labels, labels_bytes);
    dev_download(gpu, got_centers, device_centers, centers_bytes);
    dev_expect_bytes(gpu, "centers", got_centers, centers, centers_bytes);
}

const struct workload kmeans_workload = {"kmeans", "clusters of points", kmeans_options, kmeans_run};
