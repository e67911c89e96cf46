/* A seven-point stencil in a box: a thread walks up a column and keeps three planes' elements in registers;
 * the border stays as it is. */
#include "workload.h"

enum { STENCIL3D_X = 32, STENCIL3D_Y = 4 }; /* a block's threads */
#define STENCIL3D_CENTER 0.4f
#define STENCIL3D_SIDE   0.1f

enum { STENCIL3D_WIDTH, STENCIL3D_HEIGHT, STENCIL3D_DEPTH, STENCIL3D_STEPS };
static const struct workload_option stencil3d_options[] = {
    {"width", 70, 3, 2048, "elements along x"},
    {"height", 50, 3, 2048, "elements along y"},
    {"depth", 30, 3, 512, "elements along z"},
    {"steps", 2, 1, 100000, "steps"},
    {0, 0, 0, 0, 0},
};

static void stencil3d_step(uint32_t width, uint32_t height, uint32_t depth, const float *from, float *to)
{
    size_t plane = (size_t)width * height;
    for (size_t z = 1; z + 1 < depth; z++)
        for (size_t y = 1; y + 1 < height; y++)
            for (size_t x = 1; x + 1 < width; x++) {
                size_t i = z * plane + y * width + x;
                float sides = (from[i - 1] + from[i + 1]) + (from[i - width] + from[i + width]);
                sides += from[i - plane] + from[i + plane];
                to[i] = fmaf(STENCIL3D_CENTER, from[i], STENCIL3D_SIDE * sides);
            }
}

static void stencil3d_run(struct dev *gpu, const uint64_t *options)
{
    uint32_t width = (uint32_t)options[STENCIL3D_WIDTH], height = (uint32_t)options[STENCIL3D_HEIGHT];
    uint32_t depth = (uint32_t)options[STENCIL3D_DEPTH];
    size_t count = (size_t)width * height * depth, bytes = count * sizeof(float);
    float *from = (float *)dev_host(gpu, bytes), *to = (float *)dev_host(gpu, bytes);
    float *got = (float *)dev_host(gpu, bytes);
    void *device_from = dev_alloc(gpu, bytes), *device_to = dev_alloc(gpu, bytes);
    uint64_t seed = 1;
    for (size_t i = 0; i < count; i++)
        to[i] = from[i] = workload_unit(&seed);
    dev_upload(gpu, device_from, from, bytes);
    dev_upload(gpu, device_to, to, bytes); /* for its border */
    for (uint64_t step = 0; step < options[STENCIL3D_STEPS]; step++) {
        DEV_LAUNCH(
            gpu, "stencil3d",
            dev_dim((width + STENCIL3D_X - 1) / STENCIL3D_X, (height + STENCIL3D_Y - 1) / STENCIL3D_Y, 1),
            dev_dim(STENCIL3D_X, STENCIL3D_Y, 1), 0, &width, &height, &depth, &device_from, &device_to);
        stencil3d_step(width, height, depth, from, to);
        void *device_swap = device_from;
        float *swap = from;
        device_from = device_to, device_to = device_swap;
        from = to, to = swap;
    }
    dev_download(gpu, got, device_from, bytes);
    dev_expect_bytes(gpu, "box", got, from, bytes);
}

const struct workload stencil3d_workload = {"stencil3d", "a seven-point stencil", stencil3d_options,
                                            stencil3d_run};
