/* An image under a square mask, straight from global memory; places past the border count as nothing. */
#include "placement.h"

enum { SIMPLECONVOLUTION_SIDE = 16 }; /* of a block */

enum {
    SIMPLECONVOLUTION_WIDTH,
    SIMPLECONVOLUTION_HEIGHT,
    SIMPLECONVOLUTION_RADIUS,
    SIMPLECONVOLUTION_LOCALITY
};
static const struct workload_option simpleconvolution_options[] = {
    {"width", 200, 1, 32768, "columns"},
    {"height", 150, 1, 32768, "rows"},
    {"radius", 1, 0, 16, "of the mask: its side is twice that and one"},
    PLACEMENT_OPTION,
    {0, 0, 0, 0, 0},
};

static float simpleconvolution_at(int width, int height, int radius, const float *mask, const float *image,
                                  int x, int y)
{
    float sum = 0;
    for (int j = -radius; j <= radius; j++)
        for (int i = -radius; i <= radius; i++, mask++)
            if (x + i >= 0 && x + i < width && y + j >= 0 && y + j < height)
                sum = fmaf(*mask, image[(size_t)(y + j) * (size_t)width + (size_t)(x + i)], sum);
    return sum;
}

static void simpleconvolution_run(struct dev *gpu, const uint64_t *options)
{
    int width = (int)options[SIMPLECONVOLUTION_WIDTH], height = (int)options[SIMPLECONVOLUTION_HEIGHT];
    int radius = (int)options[SIMPLECONVOLUTION_RADIUS];
    size_t side = 2 * (size_t)radius + 1, count = (size_t)width * (size_t)height;
    size_t bytes = count * sizeof(float), mask_bytes = side * side * sizeof(float);
    float *image = (float *)dev_host(gpu, bytes), *out = (float *)dev_host(gpu, bytes);
    float *expected = (float *)dev_host(gpu, bytes), *mask = (float *)dev_host(gpu, mask_bytes);
    struct dev_dim grid =
        dev_dim(((uint32_t)width + SIMPLECONVOLUTION_SIDE - 1) / SIMPLECONVOLUTION_SIDE,
                ((uint32_t)height + SIMPLECONVOLUTION_SIDE - 1) / SIMPLECONVOLUTION_SIDE, 1);
    uint64_t seed = 1;
    for (size_t i = 0; i < count; i++)
        image[i] = workload_unit(&seed);
    for (size_t i = 0; i < side * side; i++)
        mask[i] = workload_unit(&seed) - 0.5f;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            expected[(size_t)y * (size_t)width + (size_t)x] =
                simpleconvolution_at(width, height, radius, mask, image, x, y);
    void *device_image = dev_alloc(gpu, bytes), *device_out = dev_alloc(gpu, bytes);
    void *device_mask = dev_alloc(gpu, mask_bytes);
    dev_upload(gpu, device_image, image, bytes);
    dev_upload(gpu, device_mask, mask, mask_bytes);
    struct placement placement = placement_of(gpu, options[SIMPLECONVOLUTION_LOCALITY], grid.y);
    size_t rows_bytes = (size_t)SIMPLECONVOLUTION_SIDE * (size_t)width * sizeof(float);
    placement_memory(&placement, device_image, bytes, rows_bytes);
    placement_memory(&placement, device_out, bytes, rows_bytes);
    placement_blocks(&placement, grid.x);
    DEV_LAUNCH(gpu, "simpleconvolution", grid, dev_dim(SIMPLECONVOLUTION_SIDE, SIMPLECONVOLUTION_SIDE, 1), 0,
               &width, &height, &radius, &device_mask, &device_image, &device_out);
    dev_download(gpu, out, device_out, bytes);
    dev_expect_bytes(gpu, "image", out, expected, bytes);
}

const struct workload simpleconvolution_workload = {"simpleconvolution", "an image under a square mask",
                                                    simpleconvolution_options, simpleconvolution_run};
