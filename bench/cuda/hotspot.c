/* The heat of a chip under its power, on a plane: a launch makes several steps, each block on a tile whose
 * valid part shrinks by a ring a step. Past the border it is as warm as on it. */
#include "workload.h"

enum { HOTSPOT_SIDE = 16 }; /* of a block and its tile */
#define HOTSPOT_AMBIENT 80.0f
#define HOTSPOT_X       0.1f /* conductances: along x, along y, to the outside; all over the capacity */
#define HOTSPOT_Y       0.12f
#define HOTSPOT_Z       0.05f
#define HOTSPOT_STEP    0.5f

enum { HOTSPOT_WIDTH, HOTSPOT_HEIGHT, HOTSPOT_STEPS, HOTSPOT_PER_LAUNCH };
static const struct workload_option hotspot_options[] = {
    {"width", 120, 1, 16384, "columns"},
    {"height", 100, 1, 16384, "rows"},
    {"steps", 5, 1, 100000, "steps in time"},
    {"per-launch", 2, 1, HOTSPOT_SIDE / 2 - 1, "steps of a launch"},
    {0, 0, 0, 0, 0},
};

static void hotspot_step(size_t width, size_t height, const float *power, const float *from, float *to)
{
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++) {
            size_t i = y * width + x;
            float here = from[i], north = y > 0 ? from[i - width] : here;
            float south = y + 1 < height ? from[i + width] : here;
            float west = x > 0 ? from[i - 1] : here, east = x + 1 < width ? from[i + 1] : here;
            float change = fmaf(HOTSPOT_AMBIENT - here, HOTSPOT_Z, power[i]);
            change = fmaf(fmaf(-2, here, west + east), HOTSPOT_X, change);
            change = fmaf(fmaf(-2, here, north + south), HOTSPOT_Y, change);
            to[i] = fmaf(HOTSPOT_STEP, change, here);
        }
}

static void hotspot_run(struct dev *gpu, const uint64_t *options)
{
    uint32_t width = (uint32_t)options[HOTSPOT_WIDTH], height = (uint32_t)options[HOTSPOT_HEIGHT];
    uint32_t steps = (uint32_t)options[HOTSPOT_STEPS], most = (uint32_t)options[HOTSPOT_PER_LAUNCH];
    size_t count = (size_t)width * height, bytes = count * sizeof(float);
    float *power = (float *)dev_host(gpu, bytes), *got = (float *)dev_host(gpu, bytes);
    float *from = (float *)dev_host(gpu, bytes), *to = (float *)dev_host(gpu, bytes);
    void *device_power = dev_alloc(gpu, bytes);
    void *device_from = dev_alloc(gpu, bytes), *device_to = dev_alloc(gpu, bytes);
    uint64_t seed = 1;
    for (size_t i = 0; i < count; i++)
        power[i] = workload_unit(&seed), from[i] = 300 + 30 * workload_unit(&seed);
    dev_upload(gpu, device_power, power, bytes);
    dev_upload(gpu, device_from, from, bytes);
    for (uint32_t done = 0; done < steps; done += most) {
        uint32_t now = steps - done < most ? steps - done : most, inner = HOTSPOT_SIDE - 2 * now;
        DEV_LAUNCH(gpu, "hotspot", dev_dim((width + inner - 1) / inner, (height + inner - 1) / inner, 1),
                   dev_dim(HOTSPOT_SIDE, HOTSPOT_SIDE, 1), 0, &width, &height, &now, &device_power,
                   &device_from, &device_to);
        void *swap = device_from;
        device_from = device_to, device_to = swap;
    }
    for (uint32_t step = 0; step < steps; step++) {
        float *swap = from;
        hotspot_step(width, height, power, from, to);
        from = to, to = swap;
    }
    dev_download(gpu, got, device_from, bytes);
    dev_expect_bytes(gpu, "heat", got, from, bytes);
}

const struct workload hotspot_workload = {"hotspot", "the heat of a chip", hotspot_options, hotspot_run};
