#include "native.cuh"
#include "nw.c"

enum { SIDE = NW_SIDE };

/* The tiles of one diagonal, `first` being the topmost one's row; scores have a row and a column more. */
extern "C" __global__ void nw(unsigned n, int penalty, unsigned diagonal, unsigned first, const int *similar,
                              const int *a, const int *b, int *scores)
{
    __shared__ int tile[SIDE + 1][SIDE + 1], match[SIDE][SIDE];
    unsigned tile_row = first + blockIdx.x, me = threadIdx.x, pitch = n + 1;
    unsigned top = tile_row * SIDE, left = (diagonal - tile_row) * SIDE;
    int letter = b[left + me];
    for (unsigned row = 0; row < SIDE; row++)
        match[row][me] = similar[a[top + row] * NW_LETTERS + letter];
    tile[0][me + 1] = scores[top * pitch + left + me + 1];
    tile[me + 1][0] = scores[(top + me + 1) * pitch + left];
    if (me == 0)
        tile[0][0] = scores[top * pitch + left];
    for (unsigned step = 0; step < 2 * SIDE - 1; step++) {
        unsigned row = step - me; /* a thread has a column; above the tile it wraps to a large number */
        __syncthreads();
        if (row < SIDE) {
            int gap = max(tile[row][me + 1], tile[row + 1][me]) - penalty;
            tile[row + 1][me + 1] = max(gap, tile[row][me] + match[row][me]);
        }
    }
    __syncthreads();
    for (unsigned row = 0; row < SIDE; row++)
        scores[(top + row + 1) * pitch + left + me + 1] = tile[row + 1][me + 1];
}

WORKLOAD_MAIN(nw, KERNEL(nw))
