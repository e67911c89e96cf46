/* A finite impulse response filter: each output is a weighted sum of the last inputs, taken from the newest
 * to the oldest. Inputs before the first count as nothing. */
#include "placement.h"

enum { FIR_BLOCK = 256 };

enum { FIR_N, FIR_TAPS, FIR_LOCALITY };
static const struct workload_option fir_options[] = {
    {"n", 32768, 1, 1u << 26, "samples"},
    {"taps", 16, 1, 1024, "weights"},
    PLACEMENT_OPTION,
    {0, 0, 0, 0, 0},
};

static void fir_reference(uint32_t n, uint32_t taps, const float *weights, const float *in, float *out)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t tap = 0; tap < taps && tap <= i; tap++)
            out[i] = fmaf(weights[tap], in[i - tap], out[i]);
}

static void fir_run(struct dev *gpu, const uint64_t *options)
{
    uint32_t n = (uint32_t)options[FIR_N], taps = (uint32_t)options[FIR_TAPS];
    size_t bytes = n * sizeof(float), weights_bytes = taps * sizeof(float);
    float *in = (float *)dev_host(gpu, bytes), *out = (float *)dev_host(gpu, bytes);
    float *expected = (float *)dev_host(gpu, bytes), *weights = (float *)dev_host(gpu, weights_bytes);
    uint64_t seed = 1;
    for (uint32_t i = 0; i < n; i++)
        in[i] = workload_unit(&seed);
    for (uint32_t i = 0; i < taps; i++)
        weights[i] = workload_unit(&seed) - 0.5f;
    fir_reference(n, taps, weights, in, expected);
    void *device_in = dev_alloc(gpu, bytes), *device_out = dev_alloc(gpu, bytes);
    void *device_weights = dev_alloc(gpu, weights_bytes);
    dev_upload(gpu, device_in, in, bytes);
    dev_upload(gpu, device_weights, weights, weights_bytes);
    unsigned blocks = (n + FIR_BLOCK - 1) / FIR_BLOCK;
    struct placement placement = placement_of(gpu, options[FIR_LOCALITY], blocks);
    placement_memory(&placement, device_in, bytes, FIR_BLOCK * sizeof(float));
    placement_memory(&placement, device_out, bytes, FIR_BLOCK * sizeof(float));
    placement_blocks(&placement, 1);
    DEV_LAUNCH(gpu, "fir", dev_dim(blocks, 1, 1), dev_dim(FIR_BLOCK, 1, 1), 0, &n, &taps, &device_weights,
               &device_in, &device_out);
    dev_download(gpu, out, device_out, bytes);
    dev_expect_bytes(gpu, "out", out, expected, bytes);
}

const struct workload fir_workload = {"fir", "a finite impulse response filter", fir_options, fir_run};
