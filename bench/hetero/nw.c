/* Scores of an alignment by tiles, a launch for each of their diagonals; the CPU goes the best way back. */
#include "rodinia.h"

#include <string.h>

enum { TILE = 32, LETTERS = 24, PENALTY = 10 };

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static void reference(size_t n, const int *similar, const int *a, const int *b, int *scores)
{
    size_t pitch = n + 1;
    for (size_t y = 1; y <= n; y++) {
        for (size_t x = 1; x <= n; x++) {
            int gap = larger(scores[(y - 1) * pitch + x], scores[y * pitch + x - 1]) - PENALTY;
            int match = scores[(y - 1) * pitch + x - 1] + similar[a[y - 1] * LETTERS + b[x - 1]];
            scores[y * pitch + x] = larger(gap, match);
        }
    }
}

/* How many letters stand beside one of the other sequence. */
static uint32_t trace_back(size_t n, const int *similar, const int *a, const int *b, const int *scores)
{
    size_t pitch = n + 1, y = n, x = n;
    uint32_t matches = 0;
    while (y && x) {
        int here = scores[y * pitch + x], match = similar[a[y - 1] * LETTERS + b[x - 1]];
        if (here == scores[(y - 1) * pitch + x - 1] + match)
            matches++, y--, x--;
        else if (here == scores[(y - 1) * pitch + x] - PENALTY)
            y--;
        else
            x--;
    }
    return matches;
}

static void fill(const struct buffer *buffer, uint64_t seed, int least, uint32_t range)
{
    for (size_t i = 0; i < buffer->bytes / sizeof(int); i++)
        ((int *)buffer->host)[i] = least + (int)(hetero_random(&seed) % range);
}

void nw(struct hetero *run)
{
    unsigned tiles = pieces(run->size, TILE), n = tiles * TILE;
    size_t pitch = n + 1;
    int penalty = PENALTY;
    struct buffer a = hetero_buffer(run, n * sizeof(int)), b = hetero_buffer(run, n * sizeof(int));
    struct buffer similar = hetero_buffer(run, LETTERS * LETTERS * sizeof(int));
    struct buffer scores = hetero_buffer(run, pitch * pitch * sizeof(int));
    CUfunction kernel = hetero_kernel("nw");
    int *score = scores.host, *expected = hetero_array(pitch * pitch, sizeof *expected);
    fill(&a, 1, 0, LETTERS);
    fill(&b, 2, 0, LETTERS);
    fill(&similar, 3, -6, 19);
    for (size_t i = 0; i <= n; i++)
        score[i] = score[i * pitch] = -(int)i * PENALTY;
    memcpy(expected, score, scores.bytes);

    hetero_begin(run);
    hetero_upload(run, &a);
    hetero_upload(run, &b);
    hetero_upload(run, &similar);
    hetero_upload(run, &scores);
    for (unsigned diagonal = 0; diagonal < 2 * tiles - 1; diagonal++) {
        unsigned first = diagonal < tiles ? 0 : diagonal - tiles + 1; /* the topmost tile's row */
        unsigned last = diagonal < tiles ? diagonal : tiles - 1;
        LAUNCH(run, kernel, last - first + 1, 1, TILE, 1, &n, &penalty, &diagonal, &first, &similar.gpu,
               &a.gpu, &b.gpu, &scores.gpu);
    }
    hetero_wait(run);
    hetero_download(run, &scores);
    uint32_t matches = trace_back(n, similar.host, a.host, b.host, score);
    hetero_end(run);

    reference(n, similar.host, a.host, b.host, expected);
    hetero_expect(run, score, expected, scores.bytes);
    run->wrong |= matches != trace_back(n, similar.host, a.host, b.host, expected);
    hetero_figure(run, matches, "matches");
}
