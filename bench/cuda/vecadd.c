/* c = a + b */
#include "each.h"

enum { VECADD_N, VECADD_BLOCK, VECADD_EACH };
static const struct workload_option vecadd_options[] = {
    {"n", 262144, 1, 1u << 28, "elements"},
    {"block", 256, 1, 1024, "threads of a block"},
    EACH_OPTION,
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
    void *device_a[EACH_MOST], *device_b[EACH_MOST], *device_c[EACH_MOST];
    unsigned count = each_count(gpu, options[VECADD_EACH]);
    for (unsigned i = 0; i < count; i++) {
        dev_select(gpu, i);
        device_a[i] = dev_alloc(gpu, bytes), device_b[i] = dev_alloc(gpu, bytes);
        device_c[i] = dev_alloc(gpu, bytes);
        dev_upload(gpu, device_a[i], a, bytes);
        dev_upload(gpu, device_b[i], b, bytes);
    }
    for (unsigned i = 0; i < count; i++) {
        dev_select(gpu, i);
        DEV_LAUNCH(gpu, "vecadd", dev_dim((n + block - 1) / block, 1, 1), dev_dim(block, 1, 1), 0, &n,
                   &device_a[i], &device_b[i], &device_c[i]);
    }
    for (unsigned i = 0; i < count; i++) {
        dev_select(gpu, i);
        dev_download(gpu, c, device_c[i], bytes);
        dev_expect_bytes(gpu, "c", c, expected, bytes);
    }
}

const struct workload vecadd_workload = {"vecadd", "c = a + b", vecadd_options, vecadd_run};
