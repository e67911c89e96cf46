/* Each row brought to mean 0 and variance 1, then scaled and shifted by column; a warp to a row. The
 * reference is in double; the tolerance is a few ulp of the float sums and of the GPU's reciprocal square
 * root. */
#include "workload.h"

enum { LAYERNORM_WARPS = 4 }; /* of a block */
#define LAYERNORM_EPSILON 1e-5f

enum { LAYERNORM_ROWS, LAYERNORM_COLUMNS };
static const struct workload_option layernorm_options[] = {
    {"rows", 200, 1, 1u << 20, "rows"},
    {"columns", 300, 1, 65536, "columns"},
    {0, 0, 0, 0, 0},
};

static void layernorm_row(uint32_t columns, const float *in, const float *scale, const float *shift,
                          float *out)
{
    double sum = 0, squares = 0;
    for (uint32_t i = 0; i < columns; i++)
        sum += in[i];
    double mean = sum / columns;
    for (uint32_t i = 0; i < columns; i++)
        squares += (in[i] - mean) * (in[i] - mean);
    double inverse = 1 / sqrt(squares / columns + (double)LAYERNORM_EPSILON);
    for (uint32_t i = 0; i < columns; i++)
        out[i] = (float)((in[i] - mean) * inverse * scale[i] + shift[i]);
}

static void layernorm_run(struct dev *gpu, const uint64_t *options)
{
    uint32_t rows = (uint32_t)options[LAYERNORM_ROWS], columns = (uint32_t)options[LAYERNORM_COLUMNS];
    size_t row_bytes = columns * sizeof(float), count = (size_t)rows * columns, bytes = count * sizeof(float);
    float *in = (float *)dev_host(gpu, bytes), *out = (float *)dev_host(gpu, bytes);
    float *expected = (float *)dev_host(gpu, bytes);
    float *scale = (float *)dev_host(gpu, row_bytes), *shift = (float *)dev_host(gpu, row_bytes);
    void *device_in = dev_alloc(gpu, bytes), *device_out = dev_alloc(gpu, bytes);
    void *device_scale = dev_alloc(gpu, row_bytes), *device_shift = dev_alloc(gpu, row_bytes);
    uint64_t seed = 1;
    for (size_t i = 0; i < count; i++)
        in[i] = workload_unit(&seed);
    for (uint32_t i = 0; i < columns; i++)
        scale[i] = 0.5f + workload_unit(&seed), shift[i] = workload_unit(&seed) - 0.5f;
    for (uint32_t row = 0; row < rows; row++)
        layernorm_row(columns, in + (size_t)row * columns, scale, shift, expected + (size_t)row * columns);
    dev_upload(gpu, device_in, in, bytes);
    dev_upload(gpu, device_scale, scale, row_bytes);
    dev_upload(gpu, device_shift, shift, row_bytes);
    DEV_LAUNCH(gpu, "layernorm", dev_dim((rows + LAYERNORM_WARPS - 1) / LAYERNORM_WARPS, 1, 1),
               dev_dim(32, LAYERNORM_WARPS, 1), 0, &rows, &columns, &device_in, &device_scale, &device_shift,
               &device_out);
    dev_download(gpu, out, device_out, bytes);
    dev_expect_floats(gpu, "rows", out, expected, count, 2e-6f);
}

const struct workload layernorm_workload = {"layernorm", "rows of mean 0 and variance 1", layernorm_options,
                                            layernorm_run};
