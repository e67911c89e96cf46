/* Tiles of a matrix: the one on the diagonal, those beside and below it, all others; then the next one. */
#include "rodinia.h"

#include <math.h>
#include <string.h>

enum { TILE = 16 };

static void reference(size_t n, float *a)
{
    for (size_t k = 0; k < n; k++) {
        for (size_t row = k + 1; row < n; row++) {
            a[row * n + k] /= a[k * n + k];
            for (size_t column = k + 1; column < n; column++)
                a[row * n + column] = fmaf(-a[row * n + k], a[k * n + column], a[row * n + column]);
        }
    }
}

void lud(struct hetero *run)
{
    unsigned n = pieces(run->size, TILE) * TILE;
    struct buffer matrix = hetero_buffer(run, (size_t)n * n * sizeof(float));
    CUfunction diagonal = hetero_kernel("lud_diagonal"), perimeter = hetero_kernel("lud_perimeter");
    CUfunction internal = hetero_kernel("lud_internal");
    float *a = matrix.host, *expected = hetero_array((size_t)n * n, sizeof *expected);
    uint64_t seed = 1;
    for (size_t row = 0; row < n; row++) {
        for (size_t column = 0; column < n; column++) /* a large diagonal: no pivots are needed */
            a[row * n + column] = hetero_unit(&seed) + (row == column ? (float)n : 0);
    }
    memcpy(expected, a, matrix.bytes);

    hetero_begin(run);
    hetero_upload(run, &matrix);
    for (unsigned start = 0; start < n; start += TILE) {
        unsigned left = (n - start) / TILE - 1;
        LAUNCH(run, diagonal, 1, 1, TILE, TILE, &matrix.gpu, &n, &start);
        if (!left)
            break;
        LAUNCH(run, perimeter, left, 1, 2 * TILE, 1, &matrix.gpu, &n, &start);
        LAUNCH(run, internal, left, left, TILE, TILE, &matrix.gpu, &n, &start);
    }
    hetero_wait(run);
    hetero_download(run, &matrix);
    hetero_end(run);

    reference(n, expected);
    hetero_expect(run, a, expected, matrix.bytes);
}
