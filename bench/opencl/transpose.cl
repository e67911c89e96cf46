enum { TILE = 32, ROWS = 8 }; /* a tile's side; its rows that a work-group moves at a time */

__kernel __attribute__((reqd_work_group_size(TILE, ROWS, 1)))
void transpose_naive(uint width, uint height, __global const uint *in, __global uint *out)
{
    uint x = get_global_id(0);
    for (uint row = get_local_id(1); row < TILE; row += ROWS) {
        uint y = get_group_id(1) * TILE + row;
        if (x < width && y < height)
            out[x * height + y] = in[y * width + x];
    }
}

__kernel __attribute__((reqd_work_group_size(TILE, ROWS, 1)))
void transpose_tiled(uint width, uint height, __global const uint *in, __global uint *out)
{
    __local uint tile[TILE][TILE + 1]; /* a column more: no bank conflicts */
    uint me = get_local_id(0), left = get_group_id(0) * TILE, top = get_group_id(1) * TILE;
    for (uint row = get_local_id(1); row < TILE; row += ROWS)
        if (left + me < width && top + row < height)
            tile[row][me] = in[(top + row) * width + left + me];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint row = get_local_id(1); row < TILE; row += ROWS)
        if (top + me < height && left + row < width)
            out[(left + row) * height + top + me] = tile[me][row];
}
