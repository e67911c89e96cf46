enum { SIDE = 32, LETTERS = 24 };

/* The tiles of one diagonal, `first` being the topmost one's row; scores have a row and a column more. */
__kernel __attribute__((reqd_work_group_size(SIDE, 1, 1)))
void nw(uint n, int penalty, uint diagonal, uint first, __global const int *similar, __global const int *a,
        __global const int *b, __global int *scores)
{
    __local int tile[SIDE + 1][SIDE + 1], match[SIDE][SIDE];
    uint tile_row = first + get_group_id(0), me = get_local_id(0), pitch = n + 1;
    uint top = tile_row * SIDE, left = (diagonal - tile_row) * SIDE;
    int letter = b[left + me];
    for (uint row = 0; row < SIDE; row++)
        match[row][me] = similar[a[top + row] * LETTERS + letter];
    tile[0][me + 1] = scores[top * pitch + left + me + 1];
    tile[me + 1][0] = scores[(top + me + 1) * pitch + left];
    if (me == 0)
        tile[0][0] = scores[top * pitch + left];
    for (uint step = 0; step < 2 * SIDE - 1; step++) {
        uint row = step - me; /* an item has a column; above the tile it wraps to a large number */
        barrier(CLK_LOCAL_MEM_FENCE);
        if (row < SIDE) {
            int gap = max(tile[row][me + 1], tile[row + 1][me]) - penalty;
            tile[row + 1][me + 1] = max(gap, tile[row][me] + match[row][me]);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint row = 0; row < SIDE; row++)
        scores[(top + row + 1) * pitch + left + me + 1] = tile[row + 1][me + 1];
}
