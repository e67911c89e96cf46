/* c = a + b */
#include "workload.h"

enum { VECADD_N, VECADD_BLOCK };
static const struct workload_option vecadd_options[] = {
    {"n", 262144, 1, 1u << 28, "elements"},
    {"block", 256, 1, 1024, "threads of a block"},
    {0, 0, 0, 0, 0},
};

static void vecadd_run(struct gpu *gpu, const uint64_t *options)
{
    uint32_t n = (uint32_t)options[VECADD_N], block = (uint32_t)options[VECADD_BLOCK];
    size_t bytes = n * sizeof(float);
    float *a = (float *)gpu_host(gpu, bytes), *b = (float *)gpu_host(gpu, bytes);
    float *c = (float *)gpu_host(gpu, bytes), *expected = (float *)gpu_host(gpu, bytes);
    uint64_t seed = 1;
    for (uint32_t i = 0; i < n; i++) {
        a[i] = workload_unit(&seed), b[i] = workload_unit(&seed);
        expected[i] = a[i] + b[i];
    }
    void *device_a = gpu_alloc(gpu, bytes), *device_b = gpu_alloc(gpu, bytes);
    void *device_c = gpu_alloc(gpu, bytes);
    gpu_upload(gpu, device_a, a, bytes);
    gpu_upload(gpu, device_b, b, bytes);
    GPU_LAUNCH(gpu, "vecadd", gpu_dim((n + block - 1) / block, 1, 1), gpu_dim(block, 1, 1), 0, &n, &device_a,
               &device_b, &device_c);
    gpu_download(gpu, c, device_c, bytes);
    gpu_expect_bytes(gpu, "c", c, expected, bytes);
}

const struct workload vecadd_workload = {"vecadd", "c = a + b", vecadd_options, vecadd_run};
