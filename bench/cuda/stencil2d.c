/* A five-point stencil on a plane, by tiles with a halo in shared memory; the border stays as it is. */
#include "workload.h"

enum { STENCIL2D_X = 32, STENCIL2D_Y = 8 }; /* a block's threads and its tile */
#define STENCIL2D_CENTER 0.4f
#define STENCIL2D_SIDE   0.15f

enum { STENCIL2D_WIDTH, STENCIL2D_HEIGHT, STENCIL2D_STEPS };
static const struct workload_option stencil2d_options[] = {
    {"width", 200, 3, 32768, "columns"},
    {"height", 150, 3, 32768, "rows"},
    {"steps", 4, 1, 100000, "steps"},
    {0, 0, 0, 0, 0},
};

static void stencil2d_step(uint32_t width, uint32_t height, const float *from, float *to)
{
    for (size_t y = 1; y + 1 < height; y++)
        for (size_t x = 1; x + 1 < width; x++) {
            const float *at = &from[y * width + x];
            float sides = (at[-1] + at[1]) + (*(at - width) + at[width]);
            to[y * width + x] = fmaf(STENCIL2D_CENTER, *at, STENCIL2D_SIDE * sides);
        }
}

static void stencil2d_run(struct dev *gpu, const uint64_t *options)
{
    uint32_t width = (uint32_t)options[STENCIL2D_WIDTH], height = (uint32_t)options[STENCIL2D_HEIGHT];
    size_t count = (size_t)width * height, bytes = count * sizeof(float);
    float *from = (float *)dev_host(gpu, bytes), *to = (float *)dev_host(gpu, bytes);
    float *got = (float *)dev_host(gpu, bytes);
    void *device_from = dev_alloc(gpu, bytes), *device_to = dev_alloc(gpu, bytes);
    uint64_t seed = 1;
    for (size_t i = 0; i < count; i++)
        to[i] = from[i] = workload_unit(&seed);
    dev_upload(gpu, device_from, from, bytes);
    dev_upload(gpu, device_to, to, bytes); /* for its border */
    for (uint64_t step = 0; step < options[STENCIL2D_STEPS]; step++) {
        DEV_LAUNCH(
            gpu, "stencil2d",
            dev_dim((width + STENCIL2D_X - 1) / STENCIL2D_X, (height + STENCIL2D_Y - 1) / STENCIL2D_Y, 1),
            dev_dim(STENCIL2D_X, STENCIL2D_Y, 1), 0, &width, &height, &device_from, &device_to);
        stencil2d_step(width, height, from, to);
        void *device_swap = device_from;
        float *swap = from;
        device_from = device_to, device_to = device_swap;
        from = to, to = swap;
    }
    dev_download(gpu, got, device_from, bytes);
    dev_expect_bytes(gpu, "plane", got, from, bytes);
}

const struct workload stencil2d_workload = {"stencil2d", "a five-point stencil", stencil2d_options,
                                            stencil2d_run};
