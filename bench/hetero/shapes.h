/* What kernels and their CPU references share. */
#ifndef BENCH_HETERO_SHAPES_H
#define BENCH_HETERO_SHAPES_H

#ifdef __CUDACC__
#define ON_BOTH static inline __host__ __device__
#else
#define ON_BOTH static inline
#endif

enum { BACKPROP_HIDDEN = 16 }; /* hidden units, and inputs of a block */
#define BACKPROP_RATE     0.3f
#define BACKPROP_MOMENTUM 0.3f

enum { COUNTER_APART = 32 }; /* words from a counter to the next, so that each has its cache lines */

/* Speckle-reducing anisotropic diffusion: past the border the image goes on as on it. */
struct srad_around {
    float north, south, west, east; /* differences to the element itself */
};

ON_BOTH struct srad_around srad_around(unsigned side, const float *image, unsigned x, unsigned y)
{
    float here = image[y * side + x];
    struct srad_around around;
    around.north = image[(y ? y - 1 : 0) * side + x] - here;
    around.south = image[(y + 1 < side ? y + 1 : y) * side + x] - here;
    around.west = image[y * side + (x ? x - 1 : 0)] - here;
    around.east = image[y * side + (x + 1 < side ? x + 1 : x)] - here;
    return around;
}

/* spread: the square of the speckle's scale, q0 */
ON_BOTH float srad_coefficient(unsigned side, float spread, const float *image, unsigned x, unsigned y)
{
    struct srad_around d = srad_around(side, image, x, y);
    float here = image[y * side + x];
    float gradient =
        (d.north * d.north + d.south * d.south + d.west * d.west + d.east * d.east) / (here * here);
    float laplace = (d.north + d.south + d.west + d.east) / here;
    float below = 1.0f + 0.25f * laplace;
    float q = (0.5f * gradient - 0.0625f * (laplace * laplace)) / (below * below);
    float c = 1.0f / (1.0f + (q - spread) / (spread * (1.0f + spread)));
    return c < 0.0f ? 0.0f : c > 1.0f ? 1.0f : c;
}

ON_BOTH float srad_diffused(unsigned side, const float *image, const float *c, unsigned x, unsigned y)
{
    struct srad_around d = srad_around(side, image, x, y);
    float here = c[y * side + x], south = c[(y + 1 < side ? y + 1 : y) * side + x];
    float east = c[y * side + (x + 1 < side ? x + 1 : x)];
    float sum = here * d.north + south * d.south + here * d.west + east * d.east;
    return image[y * side + x] + 0.125f * sum;
}

/* Work without memory: rounds of a generator of pseudo-random numbers. */
ON_BOTH unsigned mixed(unsigned value, unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++)
        value = value * 1664525u + 1013904223u;
    return value;
}

#endif
