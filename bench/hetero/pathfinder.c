/* Costs of a way down a grid, several rows to a launch; the CPU finds where the cheapest one ends. */
#include "rodinia.h"

#include <string.h>

enum { BLOCK = 256, ROWS = 41, PER_LAUNCH = 20 };

static void next_row(uint32_t columns, const int *wall, const int *from, int *to)
{
    for (uint32_t x = 0; x < columns; x++) {
        int least = from[x];
        if (x > 0 && from[x - 1] < least)
            least = from[x - 1];
        if (x + 1 < columns && from[x + 1] < least)
            least = from[x + 1];
        to[x] = wall[x] + least;
    }
}

static uint32_t cheapest(uint32_t columns, const int *costs)
{
    uint32_t best = 0;
    for (uint32_t x = 1; x < columns; x++)
        best = costs[x] < costs[best] ? x : best;
    return best;
}

void pathfinder(struct hetero *run)
{
    uint32_t columns = (uint32_t)run->size, rows = PER_LAUNCH;
    struct buffer wall = hetero_buffer(run, (size_t)columns * ROWS * sizeof(int));
    struct buffer from = hetero_buffer(run, columns * sizeof(int));
    struct buffer to = hetero_buffer(run, columns * sizeof(int)), swap;
    CUfunction kernel = hetero_kernel("pathfinder");
    int *walls = wall.host, *expected = hetero_array(columns, sizeof *expected);
    int *other = hetero_array(columns, sizeof *other);
    uint64_t seed = 1;
    for (size_t i = 0; i < (size_t)columns * ROWS; i++)
        walls[i] = (int)(hetero_random(&seed) % 10);
    memcpy(from.host, walls, from.bytes);
    memcpy(expected, walls, from.bytes);

    hetero_begin(run);
    hetero_upload(run, &wall);
    hetero_upload(run, &from);
    for (uint32_t row = 1; row < ROWS; row += PER_LAUNCH) {
        LAUNCH(run, kernel, pieces(columns, BLOCK - 2 * PER_LAUNCH), 1, BLOCK, 1, &columns, &row, &rows,
               &wall.gpu, &from.gpu, &to.gpu);
        swap = from, from = to, to = swap;
    }
    hetero_wait(run);
    hetero_download(run, &from);
    uint32_t end = cheapest(columns, from.host);
    hetero_end(run);

    for (uint32_t row = 1; row < ROWS; row++) {
        next_row(columns, walls + (size_t)row * columns, expected, other);
        int *last = expected;
        expected = other, other = last;
    }
    hetero_expect(run, from.host, expected, from.bytes);
    run->wrong |= end != cheapest(columns, expected);
    hetero_figure(run, end, "end");
}
