/* A matrix turned over: straight, with strided stores, or by tiles in shared memory. */
#include "placement.h"

enum { TRANSPOSE_TILE = 32, TRANSPOSE_ROWS = 8 }; /* a tile's side; its rows that a block moves at a time */

enum { TRANSPOSE_WIDTH, TRANSPOSE_HEIGHT, TRANSPOSE_TILED, TRANSPOSE_LOCALITY };
static const struct workload_option transpose_options[] = {
    {"width", 512, 1, 32768, "columns"},
    {"height", 384, 1, 32768, "rows"},
    {"tiled", 1, 0, 1, "1: through shared memory; 0: straight"},
    PLACEMENT_OPTION,
    {0, 0, 0, 0, 0},
};

static void transpose_run(struct dev *gpu, const uint64_t *options)
{
    uint32_t width = (uint32_t)options[TRANSPOSE_WIDTH], height = (uint32_t)options[TRANSPOSE_HEIGHT];
    const char *kernel = options[TRANSPOSE_TILED] ? "transpose_tiled" : "transpose_naive";
    size_t bytes = (size_t)width * height * sizeof(uint32_t);
    uint32_t *in = (uint32_t *)dev_host(gpu, bytes), *out = (uint32_t *)dev_host(gpu, bytes);
    uint32_t *expected = (uint32_t *)dev_host(gpu, bytes);
    uint64_t seed = 1;
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            expected[(size_t)x * height + y] = in[(size_t)y * width + x] = workload_random(&seed);
    void *device_in = dev_alloc(gpu, bytes), *device_out = dev_alloc(gpu, bytes);
    dev_upload(gpu, device_in, in, bytes);
    struct dev_dim grid = dev_dim((width + TRANSPOSE_TILE - 1) / TRANSPOSE_TILE,
                                  (height + TRANSPOSE_TILE - 1) / TRANSPOSE_TILE, 1);
    /* Rows of the input, as a block reads some and writes columns; the output stays as it is. */
    struct placement placement = placement_of(gpu, options[TRANSPOSE_LOCALITY], grid.y);
    placement_memory(&placement, device_in, bytes, TRANSPOSE_TILE * width * sizeof *in);
    placement_blocks(&placement, grid.x);
    DEV_LAUNCH(gpu, kernel, grid, dev_dim(TRANSPOSE_TILE, TRANSPOSE_ROWS, 1), 0, &width, &height, &device_in,
               &device_out);
    dev_download(gpu, out, device_out, bytes);
    dev_expect_bytes(gpu, "transposed", out, expected, bytes);
}

const struct workload transpose_workload = {"transpose", "a matrix turned over", transpose_options,
                                            transpose_run};
