/* Fourier transforms of complex numbers by Stockham's radix-2 steps, a block to a transform, in shared
 * memory. The roots of unity come from the host, so that the result is exact. */
#include "workload.h"

enum { FFT_BLOCK = 128, FFT_LOG_MOST = 11, FFT_MOST = 1 << FFT_LOG_MOST };

enum { FFT_LOG, FFT_BATCH };
static const struct workload_option fft_options[] = {
    {"log", 9, 1, FFT_LOG_MOST, "the binary logarithm of the points of a transform"},
    {"batch", 24, 1, 65535, "transforms"},
    {0, 0, 0, 0, 0},
};

struct fft_complex { /* as the kernel's float2 */
    float x, y;
};

/* A step joins pairs of transforms of `size` points. */
static void fft_step(uint32_t n, uint32_t size, const struct fft_complex *roots,
                     const struct fft_complex *from, struct fft_complex *to)
{
    for (uint32_t i = 0; i < n / 2; i++) {
        uint32_t within = i % size, out = 2 * i - within;
        struct fft_complex a = from[i], b = from[i + n / 2], root = roots[within * (n / 2 / size)];
        float x = fmaf(b.x, root.x, -(b.y * root.y)), y = fmaf(b.x, root.y, b.y * root.x);
        to[out].x = a.x + x, to[out].y = a.y + y;
        to[out + size].x = a.x - x, to[out + size].y = a.y - y;
    }
}

/* The result is in data again. */
static void fft_reference(uint32_t n, const struct fft_complex *roots, struct fft_complex *data,
                          struct fft_complex *spare)
{
    for (uint32_t size = 1; size < n; size *= 2) {
        fft_step(n, size, roots, data, spare);
        memcpy(data, spare, n * sizeof *data);
    }
}

/* A few points by the definition: the reference is a Fourier transform indeed. */
static void fft_check(struct dev *gpu, uint32_t n, const struct fft_complex *in,
                      const struct fft_complex *out)
{
    const double turn = 6.283185307179586;
    for (uint32_t k = 0; k < n; k += (n + 7) / 8) {
        double x = 0, y = 0;
        for (uint32_t i = 0; i < n; i++) {
            double angle = -turn * (double)((uint64_t)i * k % n) / n;
            x += in[i].x * cos(angle) - in[i].y * sin(angle);
            y += in[i].x * sin(angle) + in[i].y * cos(angle);
        }
        dev_expect(gpu, fabs(x - out[k].x) < 1e-3 && fabs(y - out[k].y) < 1e-3, "the transform's definition");
    }
}

static void fft_run(struct dev *gpu, const uint64_t *options)
{
    uint32_t log = (uint32_t)options[FFT_LOG], batch = (uint32_t)options[FFT_BATCH], n = 1u << log;
    size_t one = n * sizeof(struct fft_complex), bytes = one * batch;
    struct fft_complex *in = (struct fft_complex *)dev_host(gpu, bytes);
    struct fft_complex *out = (struct fft_complex *)dev_host(gpu, bytes);
    struct fft_complex *got = (struct fft_complex *)dev_host(gpu, bytes);
    struct fft_complex *roots = (struct fft_complex *)dev_host(gpu, one / 2);
    struct fft_complex *spare = (struct fft_complex *)dev_host(gpu, one);
    uint64_t seed = 1;
    for (uint32_t i = 0; i < n / 2; i++) {
        double angle = -6.283185307179586 * i / n;
        roots[i].x = (float)cos(angle), roots[i].y = (float)sin(angle);
    }
    for (size_t i = 0; i < (size_t)n * batch; i++)
        in[i].x = workload_unit(&seed) - 0.5f, in[i].y = workload_unit(&seed) - 0.5f;
    memcpy(out, in, bytes);
    for (uint32_t i = 0; i < batch; i++)
        fft_reference(n, roots, out + (size_t)i * n, spare);
    fft_check(gpu, n, in, out);
    void *device = dev_alloc(gpu, bytes), *device_roots = dev_alloc(gpu, one / 2);
    dev_upload(gpu, device, in, bytes);
    dev_upload(gpu, device_roots, roots, one / 2);
    DEV_LAUNCH(gpu, "fft", dev_dim(batch, 1, 1), dev_dim(FFT_BLOCK, 1, 1), 0, &n, &device_roots, &device);
    dev_download(gpu, got, device, bytes);
    dev_expect_bytes(gpu, "transforms", got, out, bytes);
}

const struct workload fft_workload = {"fft", "Fourier transforms in shared memory", fft_options, fft_run};
