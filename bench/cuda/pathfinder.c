/* The cheapest way down a grid, going straight or to a side by one at each row: a launch goes over several
 * rows, each block on a strip whose valid part shrinks by one at both ends a row. */
#include "workload.h"

enum { PATHFINDER_BLOCK = 256 };

enum { PATHFINDER_COLUMNS, PATHFINDER_ROWS, PATHFINDER_PER_LAUNCH };
static const struct workload_option pathfinder_options[] = {
    {"columns", 3000, 1, 1u << 24, "columns"},
    {"rows", 50, 2, 65536, "rows"},
    {"per-launch", 20, 1, PATHFINDER_BLOCK / 2 - 1, "rows of a launch"},
    {0, 0, 0, 0, 0},
};

static void pathfinder_row(uint32_t columns, const int *wall, const int *from, int *to)
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

static void pathfinder_run(struct dev *gpu, const uint64_t *options)
{
    uint32_t columns = (uint32_t)options[PATHFINDER_COLUMNS], rows = (uint32_t)options[PATHFINDER_ROWS];
    uint32_t most = (uint32_t)options[PATHFINDER_PER_LAUNCH];
    size_t row_bytes = columns * sizeof(int), count = (size_t)columns * rows;
    int *wall = (int *)dev_host(gpu, count * sizeof *wall), *got = (int *)dev_host(gpu, row_bytes);
    int *from = (int *)dev_host(gpu, row_bytes), *to = (int *)dev_host(gpu, row_bytes);
    void *device_wall = dev_alloc(gpu, count * sizeof *wall);
    void *device_from = dev_alloc(gpu, row_bytes), *device_to = dev_alloc(gpu, row_bytes);
    uint64_t seed = 1;
    for (size_t i = 0; i < count; i++)
        wall[i] = (int)(workload_random(&seed) % 10);
    memcpy(from, wall, row_bytes);
    dev_upload(gpu, device_wall, wall, count * sizeof *wall);
    dev_upload(gpu, device_from, from, row_bytes);
    for (uint32_t row = 1; row < rows; row += most) {
        uint32_t now = rows - row < most ? rows - row : most, inner = PATHFINDER_BLOCK - 2 * now;
        DEV_LAUNCH(gpu, "pathfinder", dev_dim((columns + inner - 1) / inner, 1, 1),
                   dev_dim(PATHFINDER_BLOCK, 1, 1), 0, &columns, &row, &now, &device_wall, &device_from,
                   &device_to);
        void *swap = device_from;
        device_from = device_to, device_to = swap;
    }
    for (uint32_t row = 1; row < rows; row++) {
        int *swap = from;
        pathfinder_row(columns, wall + (size_t)row * columns, from, to);
        from = to, to = swap;
    }
    dev_download(gpu, got, device_from, row_bytes);
    dev_expect_bytes(gpu, "costs", got, from, row_bytes);
}

const struct workload pathfinder_workload = {"pathfinder", "the cheapest way down a grid", pathfinder_options,
                                             pathfinder_run};
