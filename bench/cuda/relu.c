/* y = x where x is positive, else 0 */
#include "workload.h"

enum { RELU_N, RELU_BLOCK };
static const struct workload_option relu_options[] = {
    {"n", 262144, 1, 1u << 28, "elements"},
    {"block", 256, 1, 1024, "threads of a block"},
    {0, 0, 0, 0, 0},
};

static void relu_run(struct dev *gpu, const uint64_t *options)
{
    uint32_t n = (uint32_t)options[RELU_N], block = (uint32_t)options[RELU_BLOCK];
    size_t bytes = n * sizeof(float);
    float *x = (float *)dev_host(gpu, bytes), *y = (float *)dev_host(gpu, bytes);
    float *expected = (float *)dev_host(gpu, bytes);
    uint64_t seed = 1;
    for (uint32_t i = 0; i < n; i++) {
        x[i] = workload_unit(&seed) - 0.5f;
        expected[i] = x[i] > 0 ? x[i] : 0;
    }
    void *device_x = dev_alloc(gpu, bytes), *device_y = dev_alloc(gpu, bytes);
    dev_upload(gpu, device_x, x, bytes);
    DEV_LAUNCH(gpu, "relu", dev_dim((n + block - 1) / block, 1, 1), dev_dim(block, 1, 1), 0, &n, &device_x,
               &device_y);
    dev_download(gpu, y, device_y, bytes);
    dev_expect_bytes(gpu, "y", y, expected, bytes);
}

const struct workload relu_workload = {"relu", "y = max(x, 0)", relu_options, relu_run};
