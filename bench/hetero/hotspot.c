/* Steps of a plane of heat, two to a launch; the CPU looks for the warmest place of the result. */
#include "rodinia.h"

#include <math.h>
#include <string.h>

enum { SIDE = 16, STEPS = 4, PER_LAUNCH = 2 }; /* side of a block */

/* The arithmetic of bench/cuda/hotspot.c. */
static void step(unsigned side, const float *power, const float *from, float *to)
{
    for (unsigned y = 0; y < side; y++) {
        for (unsigned x = 0; x < side; x++) {
            size_t i = (size_t)y * side + x;
            float here = from[i], north = y > 0 ? from[i - side] : here;
            float south = y + 1 < side ? from[i + side] : here;
            float west = x > 0 ? from[i - 1] : here, east = x + 1 < side ? from[i + 1] : here;
            float change = fmaf(80.0f - here, 0.05f, power[i]);
            change = fmaf(fmaf(-2, here, west + east), 0.1f, change);
            change = fmaf(fmaf(-2, here, north + south), 0.12f, change);
            to[i] = fmaf(0.5f, change, here);
        }
    }
}

static float warmest(const float *heat, size_t count)
{
    float most = heat[0];
    for (size_t i = 1; i < count; i++)
        most = heat[i] > most ? heat[i] : most;
    return most;
}

void hotspot(struct hetero *run)
{
    unsigned side = (unsigned)run->size, steps = PER_LAUNCH, inner = SIDE - 2 * PER_LAUNCH;
    size_t count = (size_t)side * side, bytes = count * sizeof(float);
    struct buffer power = hetero_buffer(run, bytes), from = hetero_buffer(run, bytes);
    struct buffer to = hetero_buffer(run, bytes), swap;
    CUfunction kernel = hetero_kernel("hotspot");
    uint64_t seed = 1;
    for (size_t i = 0; i < count; i++) {
        ((float *)power.host)[i] = hetero_unit(&seed);
        ((float *)from.host)[i] = 300 + 30 * hetero_unit(&seed);
    }
    float *expected = hetero_array(count, sizeof *expected), *other = hetero_array(count, sizeof *other);
    memcpy(expected, from.host, bytes);

    hetero_begin(run);
    hetero_upload(run, &power);
    hetero_upload(run, &from);
    for (int done = 0; done < STEPS; done += PER_LAUNCH) {
        LAUNCH(run, kernel, pieces(side, inner), pieces(side, inner), SIDE, SIDE, &side, &side, &steps,
               &power.gpu, &from.gpu, &to.gpu);
        swap = from, from = to, to = swap;
    }
    hetero_wait(run);
    hetero_download(run, &from);
    float most = warmest(from.host, count);
    hetero_end(run);

    for (int i = 0; i < STEPS; i++) {
        step(side, power.host, expected, other);
        float *last = expected;
        expected = other, other = last;
    }
    hetero_expect(run, from.host, expected, bytes);
    run->wrong |= most != warmest(expected, count);
}
