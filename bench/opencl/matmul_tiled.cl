enum { SIDE = 16 }; /* of a work-group, and of a tile */

__kernel __attribute__((reqd_work_group_size(SIDE, SIDE, 1)))
void matmul_tiled(uint m, uint n, uint k, __global const float *a, __global const float *b, __global float *c)
{
    __local float tile_a[SIDE][SIDE], tile_b[SIDE][SIDE];
    uint row = get_global_id(1), column = get_global_id(0), x = get_local_id(0), y = get_local_id(1);
    float sum = 0;
    for (uint start = 0; start < k; start += SIDE) {
        uint a_column = start + x, b_row = start + y;
        tile_a[y][x] = row < m && a_column < k ? a[row * k + a_column] : 0;
        tile_b[y][x] = b_row < k && column < n ? b[b_row * n + column] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = 0; i < SIDE; i++)
            sum = fma(tile_a[y][i], tile_b[i][x], sum);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < m && column < n)
        c[row * n + column] = sum;
}
