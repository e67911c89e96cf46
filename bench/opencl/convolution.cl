enum { X = 32, Y = 8, RADIUS = 8, TAPS = 2 * RADIUS + 1 }; /* a work-group's items and its tile; the filter */

struct filter {
    float weights[TAPS];
};

static int inside(int at, int size)
{
    return clamp(at, 0, size - 1);
}

__kernel __attribute__((reqd_work_group_size(X, Y, 1)))
void convolution_rows(struct filter filter, int width, int height, __global const float *from,
                      __global float *to)
{
    __local float tile[Y][X + 2 * RADIUS];
    int x = get_global_id(0), y = get_global_id(1), column = get_local_id(0), line = get_local_id(1);
    __global const float *row = from + inside(y, height) * width;
    for (int i = column; i < X + 2 * RADIUS; i += X)
        tile[line][i] = row[inside((int)(get_group_id(0) * X) + i - RADIUS, width)];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (x < width && y < height) {
        float sum = 0;
        for (int tap = 0; tap < TAPS; tap++)
            sum = fma(filter.weights[tap], tile[line][column + tap], sum);
        to[y * width + x] = sum;
    }
}

__kernel __attribute__((reqd_work_group_size(X, Y, 1)))
void convolution_columns(struct filter filter, int width, int height, __global const float *from,
                         __global float *to)
{
    __local float tile[Y + 2 * RADIUS][X];
    int x = get_global_id(0), y = get_global_id(1), column = get_local_id(0), line = get_local_id(1);
    __global const float *top = from + inside(x, width);
    for (int i = line; i < Y + 2 * RADIUS; i += Y)
        tile[i][column] = top[inside((int)(get_group_id(1) * Y) + i - RADIUS, height) * width];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (x < width && y < height) {
        float sum = 0;
        for (int tap = 0; tap < TAPS; tap++)
            sum = fma(filter.weights[tap], tile[line + tap][column], sum);
        to[y * width + x] = sum;
    }
}
