/* A separable filter of an image, along rows and then along columns. The weights come in a struct by value:
 * the constant memory of the parameters. Places past the border count as those on it. */
#include "workload.h"

enum { CONVOLUTION_RADIUS = 8, CONVOLUTION_TAPS = 2 * CONVOLUTION_RADIUS + 1 };
enum { CONVOLUTION_X = 32, CONVOLUTION_Y = 8 }; /* a block's threads and its tile */

struct convolution_filter {
    float weights[CONVOLUTION_TAPS];
};

enum { CONVOLUTION_WIDTH, CONVOLUTION_HEIGHT };
static const struct workload_option convolution_options[] = {
    {"width", 200, 1, 32768, "columns"},
    {"height", 150, 1, 32768, "rows"},
    {0, 0, 0, 0, 0},
};

static int convolution_clamp(int at, int size)
{
    return at < 0 ? 0 : at >= size ? size - 1 : at;
}

static void convolution_reference(const struct convolution_filter *filter, int width, int height, int along_x,
                                  const float *from, float *to)
{
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            float sum = 0;
            for (int tap = 0; tap < CONVOLUTION_TAPS; tap++) {
                int from_x = along_x ? convolution_clamp(x + tap - CONVOLUTION_RADIUS, width) : x;
                int from_y = along_x ? y : convolution_clamp(y + tap - CONVOLUTION_RADIUS, height);
                sum = fmaf(filter->weights[tap], from[(size_t)from_y * (size_t)width + (size_t)from_x], sum);
            }
            to[(size_t)y * (size_t)width + (size_t)x] = sum;
        }
}

static void convolution_run(struct dev *gpu, const uint64_t *options)
{
    int width = (int)options[CONVOLUTION_WIDTH], height = (int)options[CONVOLUTION_HEIGHT];
    struct dev_dim grid = dev_dim(((uint32_t)width + CONVOLUTION_X - 1) / CONVOLUTION_X,
                                  ((uint32_t)height + CONVOLUTION_Y - 1) / CONVOLUTION_Y, 1);
    struct dev_dim block = dev_dim(CONVOLUTION_X, CONVOLUTION_Y, 1);
    size_t count = (size_t)width * (size_t)height, bytes = count * sizeof(float);
    float *image = (float *)dev_host(gpu, bytes), *rows = (float *)dev_host(gpu, bytes);
    float *expected = (float *)dev_host(gpu, bytes);
    void *device_image = dev_alloc(gpu, bytes), *device_rows = dev_alloc(gpu, bytes);
    struct convolution_filter filter;
    uint64_t seed = 1;
    for (int tap = 0; tap < CONVOLUTION_TAPS; tap++)
        filter.weights[tap] = 1.0f / (float)(CONVOLUTION_TAPS + abs(tap - CONVOLUTION_RADIUS));
    for (size_t i = 0; i < count; i++)
        image[i] = workload_unit(&seed);
    convolution_reference(&filter, width, height, 1, image, rows);
    convolution_reference(&filter, width, height, 0, rows, expected);
    dev_upload(gpu, device_image, image, bytes);
    DEV_LAUNCH(gpu, "convolution_rows", grid, block, 0, &filter, &width, &height, &device_image,
               &device_rows);
    DEV_LAUNCH(gpu, "convolution_columns", grid, block, 0, &filter, &width, &height, &device_rows,
               &device_image);
    dev_download(gpu, image, device_image, bytes);
    dev_expect_bytes(gpu, "image", image, expected, bytes);
}

const struct workload convolution_workload = {"convolution", "a separable filter of an image",
                                              convolution_options, convolution_run};
