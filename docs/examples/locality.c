/* y = a x + y on four GPUs that are one device, first as it comes, then with the Locality API:
 *   cc docs/examples/locality.c -I include -L build/release/cuda -lheddle -o locality &&
 *   LD_LIBRARY_PATH=build/release/cuda ./locality bench/cuda/saxpy.ptx */
#include <heddle.h>

#include <stdio.h>
#include <stdlib.h>

enum { N = 1 << 20, BLOCK = 256, BLOCKS = N / BLOCK, MEMBERS = 4 };

/* Ends the program with what went wrong. */
static void check(int failed)
{
    if (failed) {
        fprintf(stderr, "locality: %s\n", heddle_error());
        exit(1);
    }
}

/* Each member gets a part of x and of y, and the blocks that work on it. */
static void place(struct heddle *gpu, uint64_t x, uint64_t y)
{
    struct heddle_blocks blocks[MEMBERS];
    uint64_t part = N * sizeof(float) / MEMBERS;
    for (uint32_t i = 0; i < MEMBERS; i++) {
        check(heddle_place_memory(gpu, x + i * part, part, i));
        check(heddle_place_memory(gpu, y + i * part, part, i));
        blocks[i] = (struct heddle_blocks){i * BLOCKS / MEMBERS, (i + 1) * BLOCKS / MEMBERS, i};
    }
    check(heddle_place_blocks(gpu, blocks, MEMBERS));
}

int main(int argc, char **argv)
{
    const char *settings[] = {"system.gpus=4", "system.unified=yes", NULL};
    struct heddle *gpu = heddle_open_timed("h200", settings, 0);
    check(!gpu || heddle_member_count(gpu, 0) != MEMBERS);
    struct heddle_module *module = heddle_load(gpu, argc > 1 ? argv[1] : "bench/cuda/saxpy.ptx");
    uint64_t x = heddle_alloc(gpu, 0, N * sizeof(float)), y = heddle_alloc(gpu, 0, N * sizeof(float));
    uint32_t n = N, grid[3] = {BLOCKS, 1, 1}, block[3] = {BLOCK, 1, 1};
    float a = 2;
    for (int placed = 0; placed < 2; placed++) {
        if (placed)
            place(gpu, x, y);
        check(heddle_launch(gpu, 0, module, "saxpy", grid, block, 0, (void *[]){&n, &a, &x, &y}));
        check(heddle_wait(gpu));
        printf("%s: %.0f cycles, %.0f bytes between GPUs\n", placed ? "placed" : "interleaved",
               heddle_metric(gpu, (size_t)placed, "gpc__cycles_elapsed.max"),
               heddle_metric(gpu, (size_t)placed, "heddle__peer_bytes.sum"));
    }
    heddle_close(gpu);
    return 0;
}
