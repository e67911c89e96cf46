/* LU decomposition in place by tiles: the one on the diagonal, then those right of it and below it, then all
 * that remain. An element's products are taken in the order of the plain algorithm, so it is exact. */
#include "workload.h"

enum { LUD_SIDE = 16 }; /* of a tile */

enum { LUD_TILES };
static const struct workload_option lud_options[] = {
    {"tiles", 7, 1, 512, "rows and columns, in tiles of 16"},
    {0, 0, 0, 0, 0},
};

static void lud_reference(size_t n, float *a)
{
    for (size_t k = 0; k < n; k++)
        for (size_t row = k + 1; row < n; row++) {
            a[row * n + k] /= a[k * n + k];
            for (size_t column = k + 1; column < n; column++)
                a[row * n + column] = fmaf(-a[row * n + k], a[k * n + column], a[row * n + column]);
        }
}

static void lud_run(struct dev *gpu, const uint64_t *options)
{
    uint32_t tiles = (uint32_t)options[LUD_TILES], n = tiles * LUD_SIDE;
    size_t bytes = (size_t)n * n * sizeof(float);
    float *a = (float *)dev_host(gpu, bytes), *expected = (float *)dev_host(gpu, bytes);
    void *device = dev_alloc(gpu, bytes);
    uint64_t seed = 1;
    for (size_t row = 0; row < n; row++)
        for (size_t column = 0; column < n; column++) /* a large diagonal: no pivots are needed */
            expected[row * n + column] = workload_unit(&seed) + (row == column ? (float)n : 0);
    dev_upload(gpu, device, expected, bytes);
    for (uint32_t start = 0; start < n; start += LUD_SIDE) {
        uint32_t left = (n - start) / LUD_SIDE - 1; /* tiles after this one */
        struct dev_dim square = dev_dim(LUD_SIDE, LUD_SIDE, 1);
        DEV_LAUNCH(gpu, "lud_diagonal", dev_dim(1, 1, 1), square, 0, &device, &n, &start);
        if (left == 0)
            break;
        DEV_LAUNCH(gpu, "lud_perimeter", dev_dim(left, 1, 1), dev_dim(2 * LUD_SIDE, 1, 1), 0, &device, &n,
                   &start);
        DEV_LAUNCH(gpu, "lud_internal", dev_dim(left, left, 1), square, 0, &device, &n, &start);
    }
    lud_reference(n, expected);
    dev_download(gpu, a, device, bytes);
    dev_expect_bytes(gpu, "lu", a, expected, bytes);
}

const struct workload lud_workload = {"lud", "LU decomposition", lud_options, lud_run};
