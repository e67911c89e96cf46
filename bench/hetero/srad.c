/* Speckle-reducing anisotropic diffusion: in each round the CPU takes the image's mean and variance, then two
 * kernels make the coefficients and the next image. */
#include "rodinia.h"
#include "shapes.h"

#include <string.h>

enum { SIDE = 16, ROUNDS = 2 }; /* side of a block */

/* The square of the speckle's scale. */
static float spread_of(const float *image, size_t count)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++) {
        sum += image[i];
        squares += (double)image[i] * image[i];
    }
    double mean = sum / (double)count, variance = squares / (double)count - mean * mean;
    return (float)(variance / (mean * mean));
}

static void next_image(unsigned side, const float *from, float *c, float *to)
{
    float spread = spread_of(from, (size_t)side * side);
    for (unsigned y = 0; y < side; y++) {
        for (unsigned x = 0; x < side; x++)
            c[y * side + x] = srad_coefficient(side, spread, from, x, y);
    }
    for (unsigned y = 0; y < side; y++) {
        for (unsigned x = 0; x < side; x++)
            to[y * side + x] = srad_diffused(side, from, c, x, y);
    }
}

void srad(struct hetero *run)
{
    unsigned side = (unsigned)run->size, blocks = pieces(side, SIDE);
    size_t count = (size_t)side * side, bytes = count * sizeof(float);
    struct buffer from = hetero_buffer(run, bytes), to = hetero_buffer(run, bytes), swap;
    struct buffer coefficients = hetero_buffer(run, bytes);
    CUfunction first = hetero_kernel("hetero_coefficients"), second = hetero_kernel("hetero_diffuse");
    float *image = from.host, *expected = hetero_array(count, sizeof(float));
    float *other = hetero_array(count, sizeof(float)), *c = hetero_array(count, sizeof(float));
    uint64_t seed = 1;
    for (size_t i = 0; i < count; i++)
        image[i] = 1 + hetero_unit(&seed);
    memcpy(expected, image, bytes);

    hetero_begin(run);
    hetero_upload(run, &from);
    for (int round = 0; round < ROUNDS; round++) {
        float spread = spread_of(from.host, count);
        LAUNCH(run, first, blocks, blocks, SIDE, SIDE, &side, &spread, &from.gpu, &coefficients.gpu);
        LAUNCH(run, second, blocks, blocks, SIDE, SIDE, &side, &from.gpu, &coefficients.gpu, &to.gpu);
        hetero_wait(run);
        hetero_download(run, &to);
        swap = from, from = to, to = swap;
    }
    hetero_end(run);

    for (int round = 0; round < ROUNDS; round++) {
        next_image(side, expected, c, other);
        float *last = expected;
        expected = other, other = last;
    }
    hetero_expect(run, from.host, expected, bytes);
}
