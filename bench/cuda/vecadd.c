/* c = a + b */
#include "workload.h"

enum { VECADD_N, VECADD_BLOCK };
static const struct workload_option vecadd_options[] = {
    {"n", 262144, 1, 1u << 28, "elements"},
    {"block", 256, 1, 1024, "threads of a block"},
    {0, 0, 0, 0, 0},
};

static void vecadd_run(struct dev *gpu, const uint64_t *options)
{
    uint32_t n = (uint32_t)options[VECADD_N], block = (uint32_t)options[VECADD_BLOCK];
    size_t bytes = n * sizeof(float);
    float *a = (float *)dev_host(gpu, bytes), *b = (float *)dev_host(gpu, bytes);
    float *c = (float *)dev_host(gpu, bytes), *expected = (float *)dev_host(gpu, bytes);
    uint64_t seed = 1;
    for (uint32_t i = 0; i < n; i++) {
        a[i] = workload_unit(&seed), b[i] = workload_unit(&seed);
        expected[i] = a[i] + b[i];
    }
    void *device_a = dev_alloc(gpu, bytes), *device_b = dev_alloc(gpu, bytes);
    void *device_c = dev_alloc(gpu, bytes);
    dev_upload(gpu, device_a, a, bytes);
    dev_upload(gpu, device_b, b, bytes);
    DEV_LAUNCH(gpu, "vecadd", dev_dim((n + block - 1) / block, 1, 1), dev_dim(block, 1, 1), 0, &n, &device_a,
               &device_b, &device_c);
    dev_download(gpu, c, device_c, bytes);
    dev_expect_bytes(gpu, "c", c, expected, bytes);
}

const struct workload vecadd_workload = {"vecadd", "c = a + b", vecadd_options, vecadd_run};
