/* y = A x for a sparse A in compressed rows: a thread or a warp to a row. The values are small whole numbers,
 * so that a sum is exact in any order. */
#include "workload.h"

enum { SPMV_BLOCK = 128 };

enum { SPMV_ROWS, SPMV_LONGEST, SPMV_WARPS };
static const struct workload_option spmv_options[] = {
    {"rows", 4096, 1, 1u << 22, "rows and columns"},
    {"longest", 128, 1, 512, "elements of the longest rows; most are much shorter"},
    {"warps", 1, 0, 1, "1: a warp to a row; 0: a thread to a row"},
    {0, 0, 0, 0, 0},
};

/* Rows' first elements, with one more for the end: lengths fall off as 1/x does. */
static uint32_t *spmv_starts(struct dev *gpu, uint32_t rows, uint32_t longest)
{
    uint32_t *starts = (uint32_t *)dev_host(gpu, (rows + 1) * sizeof *starts);
    uint64_t seed = 1;
    for (uint32_t row = 0; row < rows; row++)
        starts[row + 1] = starts[row] + longest / (workload_random(&seed) % longest + 1);
    return starts;
}

static float spmv_value(uint64_t *seed)
{
    return (float)((int)(workload_random(seed) % 17) - 8);
}

static void spmv_run(struct dev *gpu, const uint64_t *options)
{
    uint32_t rows = (uint32_t)options[SPMV_ROWS], lanes = options[SPMV_WARPS] ? dev_lanes(gpu) : 1;
    uint32_t *starts = spmv_starts(gpu, rows, (uint32_t)options[SPMV_LONGEST]), count = starts[rows];
    size_t bytes = rows * sizeof(float);
    uint32_t *columns = (uint32_t *)dev_host(gpu, count * sizeof *columns);
    float *values = (float *)dev_host(gpu, count * sizeof *values), *x = (float *)dev_host(gpu, bytes);
    float *y = (float *)dev_host(gpu, bytes), *expected = (float *)dev_host(gpu, bytes);
    uint64_t seed = 2;
    for (uint32_t i = 0; i < rows; i++)
        x[i] = spmv_value(&seed);
    for (uint32_t i = 0; i < count; i++)
        columns[i] = workload_random(&seed) % rows, values[i] = spmv_value(&seed);
    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t i = starts[row]; i < starts[row + 1]; i++)
            expected[row] = fmaf(values[i], x[columns[i]], expected[row]);
    void *device_starts = dev_alloc(gpu, (rows + 1) * sizeof *starts);
    void *device_columns = dev_alloc(gpu, count * sizeof *columns);
    void *device_values = dev_alloc(gpu, count * sizeof *values);
    void *device_x = dev_alloc(gpu, bytes), *device_y = dev_alloc(gpu, bytes);
    dev_upload(gpu, device_starts, starts, (rows + 1) * sizeof *starts);
    dev_upload(gpu, device_columns, columns, count * sizeof *columns);
    dev_upload(gpu, device_values, values, count * sizeof *values);
    dev_upload(gpu, device_x, x, bytes);
    DEV_LAUNCH(gpu, lanes == 1 ? "spmv_thread" : "spmv_warp",
               dev_dim((rows * lanes + SPMV_BLOCK - 1) / SPMV_BLOCK, 1, 1), dev_dim(SPMV_BLOCK, 1, 1), 0,
               &rows, &device_starts, &device_columns, &device_values, &device_x, &device_y);
    dev_download(gpu, y, device_y, bytes);
    dev_expect_bytes(gpu, "y", y, expected, bytes);
}

const struct workload spmv_workload = {"spmv", "y = A x with a sparse A", spmv_options, spmv_run};
