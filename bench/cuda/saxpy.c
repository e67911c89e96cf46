/* y = a x + y */
#include "workload.h"

enum { SAXPY_N, SAXPY_BLOCK };
static const struct workload_option saxpy_options[] = {
    {"n", 1048576, 1, 1u << 28, "elements"},
    {"block", 256, 1, 1024, "threads of a block"},
    {0, 0, 0, 0, 0},
};

static void saxpy_run(struct dev *gpu, const uint64_t *options)
{
    uint32_t n = (uint32_t)options[SAXPY_N], block = (uint32_t)options[SAXPY_BLOCK];
    size_t bytes = n * sizeof(float);
    float *x = (float *)dev_host(gpu, bytes), *y = (float *)dev_host(gpu, bytes);
    float *expected = (float *)dev_host(gpu, bytes);
    float a = 2.5f;
    uint64_t seed = 1;
    for (uint32_t i = 0; i < n; i++) {
        x[i] = workload_unit(&seed), y[i] = workload_unit(&seed);
        expected[i] = fmaf(a, x[i], y[i]);
    }
    void *device_x = dev_alloc(gpu, bytes), *device_y = dev_alloc(gpu, bytes);
    dev_upload(gpu, device_x, x, bytes);
    dev_upload(gpu, device_y, y, bytes);
    DEV_LAUNCH(gpu, "saxpy", dev_dim((n + block - 1) / block, 1, 1), dev_dim(block, 1, 1), 0, &n, &a,
               &device_x, &device_y);
    dev_download(gpu, y, device_y, bytes);
    dev_expect_bytes(gpu, "y", y, expected, bytes);
}

const struct workload saxpy_workload = {"saxpy", "y = a x + y", saxpy_options, saxpy_run};
