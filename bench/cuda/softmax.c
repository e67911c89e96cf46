/* Softmax of each row, a block to a row: a maximum, a sum of exponentials, a division. The reference is in
 * double; the tolerance is what the GPU's expf (2 ulp) and a reordered float sum can make of a share. */
#include "workload.h"

enum { SOFTMAX_ROWS, SOFTMAX_COLUMNS, SOFTMAX_WARPS };
static const struct workload_option softmax_options[] = {
    {"rows", 128, 1, 1u << 20, "rows"},
    {"columns", 500, 1, 65536, "columns"},
    {"warps", 4, 1, 32, "warps of a block"},
    {0, 0, 0, 0, 0},
};

static void softmax_row(uint32_t columns, const float *in, float *out)
{
    double sum = 0;
    float most = in[0];
    for (uint32_t i = 1; i < columns; i++)
        most = fmaxf(most, in[i]);
    for (uint32_t i = 0; i < columns; i++)
        sum += exp((double)in[i] - most);
    for (uint32_t i = 0; i < columns; i++)
        out[i] = (float)(exp((double)in[i] - most) / sum);
}

static void softmax_run(struct dev *gpu, const uint64_t *options)
{
    uint32_t rows = (uint32_t)options[SOFTMAX_ROWS], columns = (uint32_t)options[SOFTMAX_COLUMNS];
    size_t count = (size_t)rows * columns, bytes = count * sizeof(float);
    float *in = (float *)dev_host(gpu, bytes), *out = (float *)dev_host(gpu, bytes);
    float *expected = (float *)dev_host(gpu, bytes);
    void *device_in = dev_alloc(gpu, bytes), *device_out = dev_alloc(gpu, bytes);
    uint64_t seed = 1;
    for (size_t i = 0; i < count; i++)
        in[i] = 16 * workload_unit(&seed) - 8;
    for (uint32_t row = 0; row < rows; row++)
        softmax_row(columns, in + (size_t)row * columns, expected + (size_t)row * columns);
    dev_upload(gpu, device_in, in, bytes);
    DEV_LAUNCH(gpu, "softmax", dev_dim(rows, 1, 1), dev_dim(32 * (uint32_t)options[SOFTMAX_WARPS], 1, 1), 0,
               &columns, &device_in, &device_out);
    dev_download(gpu, out, device_out, bytes);
    dev_expect_floats(gpu, "shares", out, expected, count, 5e-7f);
}

const struct workload softmax_workload = {"softmax", "softmax of each row", softmax_options, softmax_run};
