#pragma OPENCL FP_CONTRACT OFF
enum { X = 32, Y = 8, WIDE = X + 2, HIGH = Y + 2 }; /* a work-group's items; its tile with a halo */
#define CENTER 0.4f
#define SIDE   0.15f

__kernel __attribute__((reqd_work_group_size(X, Y, 1)))
void stencil2d(int width, int height, __global const float *from, __global float *to)
{
    __local float tile[HIGH][WIDE];
    int left = get_group_id(0) * X, top = get_group_id(1) * Y, column = get_local_id(0), row = get_local_id(1);
    for (int i = row * X + column; i < HIGH * WIDE; i += X * Y) {
        int x = left + i % WIDE - 1, y = top + i / WIDE - 1;
        if (x >= 0 && x < width && y >= 0 && y < height)
            tile[i / WIDE][i % WIDE] = from[y * width + x];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    int x = left + column, y = top + row;
    if (x > 0 && x < width - 1 && y > 0 && y < height - 1) {
        float sides = (tile[row + 1][column] + tile[row + 1][column + 2]) +
                      (tile[row][column + 1] + tile[row + 2][column + 1]);
        to[y * width + x] = fma(CENTER, tile[row + 1][column + 1], SIDE * sides);
    }
}
