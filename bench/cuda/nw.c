/* Global alignment of two sequences (Needleman and Wunsch): tiles of the score matrix, a launch for each of
 * their diagonals; in a tile, a warp goes along its diagonals in shared memory. */
#include "workload.h"

enum { NW_SIDE = 32, NW_LETTERS = 24 }; /* of a tile; of the alphabet */

enum { NW_TILES, NW_PENALTY };
static const struct workload_option nw_options[] = {
    {"tiles", 7, 1, 512, "letters of each sequence, in tiles of 32"},
    {"penalty", 10, 0, 1000, "of a gap"},
    {0, 0, 0, 0, 0},
};

static int nw_max(int a, int b)
{
    return a > b ? a : b;
}

static void nw_reference(size_t n, int penalty, const int *similar, const int *a, const int *b, int *scores)
{
    size_t pitch = n + 1;
    for (size_t y = 1; y <= n; y++)
        for (size_t x = 1; x <= n; x++) {
            int gap = nw_max(scores[(y - 1) * pitch + x], scores[y * pitch + x - 1]) - penalty;
            int match = scores[(y - 1) * pitch + x - 1] + similar[a[y - 1] * NW_LETTERS + b[x - 1]];
            scores[y * pitch + x] = nw_max(gap, match);
        }
}

static int *nw_numbers(struct dev *gpu, size_t count, uint64_t seed, int least, uint32_t range)
{
    int *numbers = (int *)dev_host(gpu, count * sizeof *numbers);
    for (size_t i = 0; i < count; i++)
        numbers[i] = least + (int)(workload_random(&seed) % range);
    return numbers;
}

static void *nw_to_device(struct dev *gpu, const int *numbers, size_t count)
{
    void *device = dev_alloc(gpu, count * sizeof *numbers);
    dev_upload(gpu, device, numbers, count * sizeof *numbers);
    return device;
}

static void nw_run(struct dev *gpu, const uint64_t *options)
{
    uint32_t tiles = (uint32_t)options[NW_TILES], n = tiles * NW_SIDE;
    int penalty = (int)options[NW_PENALTY];
    size_t pitch = n + 1, count = pitch * pitch, table = NW_LETTERS * NW_LETTERS;
    int *a = nw_numbers(gpu, n, 1, 0, NW_LETTERS), *b = nw_numbers(gpu, n, 2, 0, NW_LETTERS);
    int *similar = nw_numbers(gpu, table, 3, -6, 19), *scores = (int *)dev_host(gpu, count * sizeof(int));
    int *expected = (int *)dev_host(gpu, count * sizeof(int));
    for (size_t i = 0; i <= n; i++)
        expected[i] = expected[i * pitch] = -(int)i * penalty;
    void *device_a = nw_to_device(gpu, a, n), *device_b = nw_to_device(gpu, b, n);
    void *device_similar = nw_to_device(gpu, similar, table);
    void *device_scores = nw_to_device(gpu, expected, count);
    for (uint32_t diagonal = 0; diagonal < 2 * tiles - 1; diagonal++) {
        uint32_t first = diagonal < tiles ? 0 : diagonal - tiles + 1; /* the topmost tile's row */
        uint32_t last = diagonal < tiles ? diagonal : tiles - 1;
        DEV_LAUNCH(gpu, "nw", dev_dim(last - first + 1, 1, 1), dev_dim(NW_SIDE, 1, 1), 0, &n, &penalty,
                   &diagonal, &first, &device_similar, &device_a, &device_b, &device_scores);
    }
    nw_reference(n, penalty, similar, a, b, expected);
    dev_download(gpu, scores, device_scores, count * sizeof(int));
    dev_expect_bytes(gpu, "scores", scores, expected, count * sizeof(int));
}

const struct workload nw_workload = {"nw", "alignment of two sequences", nw_options, nw_run};
