/* A cosmic ray in DRAM: runs saxpy once as it is, and once with one bit of one DRAM read flipped, and watches what
 * becomes of it.
 *   cc docs/examples/bitflip.c -I include -L build/release/cuda -lheddle -o bitflip &&
 *   LD_LIBRARY_PATH=build/release/cuda ./bitflip bench/cuda/saxpy.ptx */
#include <heddle.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 100000, BLOCK = 256 };

static float x[N], y[2][N];

struct ray {
    unsigned long reads, blocks; /* seen so far */
    unsigned long hits_read;     /* the number of the read it hits; 0: none */
    double at_us;
};

static void check(int failed)
{
    if (failed) {
        fprintf(stderr, "bitflip: %s\n", heddle_error());
        exit(1);
    }
}

static void see(void *user, struct heddle_event *event)
{
    struct ray *ray = user;
    if (event->kind == HEDDLE_BLOCK)
        ray->blocks += event->phase == HEDDLE_ENDS;
    if (event->kind != HEDDLE_REQUEST || !event->data || strcmp(event->stop, "dram") != 0)
        return;
    if (++ray->reads == ray->hits_read) {
        event->data[5] ^= 0x40; /* of the second float of the line, the 14th bit */
        ray->at_us = (double)event->time_ps * 1e-6;
    }
}

static struct ray run(const char *ptx, unsigned long hits_read, float *result)
{
    struct ray ray = {.hits_read = hits_read};
    uint32_t n = N, grid[3] = {(N + BLOCK - 1) / BLOCK, 1, 1}, block[3] = {BLOCK, 1, 1};
    float a = 2;
    struct heddle *gpu = heddle_open_timed("h200", NULL, 0);
    check(!gpu);
    struct heddle_module *module = heddle_load(gpu, ptx);
    check(!module);
    uint64_t at_x = heddle_alloc(gpu, 0, sizeof x), at_y = heddle_alloc(gpu, 0, sizeof x);
    check(!at_x || !at_y || heddle_upload(gpu, at_x, x, sizeof x) || heddle_fill(gpu, at_y, 0, sizeof x));
    check(heddle_listen(gpu, 1u << HEDDLE_REQUEST | 1u << HEDDLE_BLOCK, see, &ray));
    check(heddle_launch(gpu, 0, module, "saxpy", grid, block, 0, (void *[]){&n, &a, &at_x, &at_y}));
    check(heddle_wait(gpu));
    check(heddle_listen(gpu, 0, NULL, NULL));
    check(heddle_download(gpu, result, at_y, sizeof x));
    heddle_close(gpu);
    return ray;
}

int main(int argc, char **argv)
{
    const char *ptx = argc > 1 ? argv[1] : "bench/cuda/saxpy.ptx";
    for (int i = 0; i < N; i++)
        x[i] = (float)(i + 1);
    struct ray none = run(ptx, 0, y[0]), one = run(ptx, none.reads / 2, y[1]);
    unsigned long wrong = 0;
    for (int i = 0; i < N; i++) {
        if (!wrong && y[0][i] != y[1][i])
            printf("y[%d] = %g instead of %g\n", i, y[1][i], y[0][i]);
        wrong += y[0][i] != y[1][i];
    }
    printf("%lu blocks, %lu reads of DRAM; a bit of read %lu flipped at %.2f us: %lu of %d results are wrong\n",
           one.blocks, one.reads, one.hits_read, one.at_us, wrong, N);
    return 0;
}
