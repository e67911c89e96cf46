/* y = a x + y on a simulated H200, through libheddle:
 *   cc docs/examples/saxpy.c -I include -L build/release/cuda -lheddle -o saxpy &&
 *   LD_LIBRARY_PATH=build/release/cuda ./saxpy bench/cuda/saxpy.ptx */
#include <heddle.h>

#include <stdio.h>
#include <stdlib.h>

enum { N = 1000000, BLOCK = 256 };

static float x[N], y[N];

/* Ends the program with what went wrong. */
static void check(int failed)
{
    if (failed) {
        fprintf(stderr, "saxpy: %s\n", heddle_error());
        exit(1);
    }
}

int main(int argc, char **argv)
{
    struct heddle *gpu = heddle_open_timed("h200", NULL, 0); /* heddle_open: faster, without time */
    check(!gpu);
    struct heddle_module *module = heddle_load(gpu, argc > 1 ? argv[1] : "bench/cuda/saxpy.ptx");
    check(!module);
    for (int i = 0; i < N; i++)
        x[i] = (float)i, y[i] = 1;
    uint64_t device_x = heddle_alloc(gpu, 0, sizeof x), device_y = heddle_alloc(gpu, 0, sizeof y);
    check(!device_x || !device_y);
    check(heddle_upload(gpu, device_x, x, sizeof x));
    check(heddle_upload(gpu, device_y, y, sizeof y));
    uint32_t n = N, grid[3] = {(N + BLOCK - 1) / BLOCK, 1, 1}, block[3] = {BLOCK, 1, 1};
    float a = 2;
    check(heddle_launch(gpu, 0, module, "saxpy", grid, block, 0, (void *[]){&n, &a, &device_x, &device_y}));
    check(heddle_download(gpu, y, device_y, sizeof y));
    printf("y[10] = %g, after %.0f cycles on %llu SMs: %s\n", y[10],
           heddle_metric(gpu, 0, "gpc__cycles_elapsed.max"),
           (unsigned long long)heddle_property(gpu, "sm_count"), heddle_bottleneck(gpu, 0));
    heddle_close(gpu);
    return 0;
}
