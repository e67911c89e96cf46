enum { BLOCK = 128, LANES = 64 };

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void spmv_thread(uint rows, __global const uint *starts, __global const uint *columns,
                 __global const float *values, __global const float *x, __global float *y)
{
    uint row = get_global_id(0);
    float sum = 0;
    if (row >= rows)
        return;
    for (uint i = starts[row]; i < starts[row + 1]; i++)
        sum = fma(values[i], x[columns[i]], sum);
    y[row] = sum;
}

/* A wavefront to a row. All come to the barriers, those past the last row with nothing. */
__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void spmv_warp(uint rows, __global const uint *starts, __global const uint *columns,
               __global const float *values, __global const float *x, __global float *y)
{
    __local float sums[BLOCK];
    uint me = get_local_id(0), row = get_global_id(0) / LANES, lane = me % LANES;
    uint end = row < rows ? starts[row + 1] : 0;
    float sum = 0;
    for (uint i = row < rows ? starts[row] + lane : 0; i < end; i += LANES)
        sum = fma(values[i], x[columns[i]], sum);
    sums[me] = sum;
    for (uint distance = LANES / 2; distance > 0; distance /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < distance)
            sums[me] += sums[me + distance];
    }
    if (lane == 0 && row < rows)
        y[row] = sums[me];
}
