#include "native.cuh"
#include "lud.c"

enum { SIDE = LUD_SIDE };

extern "C" __global__ void lud_diagonal(float *a, unsigned n, unsigned start)
{
    __shared__ float tile[SIDE][SIDE];
    unsigned x = threadIdx.x, y = threadIdx.y;
    float *element = &a[(start + y) * n + start + x];
    tile[y][x] = *element;
    for (unsigned k = 0; k < SIDE - 1; k++) {
        __syncthreads();
        if (x == k && y > k)
            tile[y][k] /= tile[k][k];
        __syncthreads();
        if (x > k && y > k)
            tile[y][x] = fmaf(-tile[y][k], tile[k][x], tile[y][x]);
    }
    *element = tile[y][x];
}

/* Half of a block solves for the columns of a tile right of the diagonal's, half for the rows of one below.
 */
extern "C" __global__ void lud_perimeter(float *a, unsigned n, unsigned start)
{
    __shared__ float diagonal[SIDE][SIDE], right[SIDE][SIDE], below[SIDE][SIDE + 1];
    unsigned other = start + (blockIdx.x + 1) * SIDE, i = threadIdx.x % SIDE;
    for (unsigned row = threadIdx.x / SIDE; row < SIDE; row += 2) {
        diagonal[row][i] = a[(start + row) * n + start + i];
        right[row][i] = a[(start + row) * n + other + i];
        below[row][i] = a[(other + row) * n + start + i];
    }
    __syncthreads();
    if (threadIdx.x < SIDE) {
        for (unsigned row = 1; row < SIDE; row++)
            for (unsigned k = 0; k < row; k++)
                right[row][i] = fmaf(-diagonal[row][k], right[k][i], right[row][i]);
    } else {
        for (unsigned column = 0; column < SIDE; column++) {
            for (unsigned k = 0; k < column; k++)
                below[i][column] = fmaf(-below[i][k], diagonal[k][column], below[i][column]);
            below[i][column] /= diagonal[column][column];
        }
    }
    __syncthreads();
    for (unsigned row = threadIdx.x / SIDE; row < SIDE; row += 2) {
        a[(start + row) * n + other + i] = right[row][i];
        a[(other + row) * n + start + i] = below[row][i];
    }
}

extern "C" __global__ void lud_internal(float *a, unsigned n, unsigned start)
{
    __shared__ float right[SIDE][SIDE], below[SIDE][SIDE];
    unsigned x = threadIdx.x, y = threadIdx.y;
    unsigned row = start + (blockIdx.y + 1) * SIDE + y, column = start + (blockIdx.x + 1) * SIDE + x;
    float sum = a[row * n + column];
    right[y][x] = a[(start + y) * n + column];
    below[y][x] = a[row * n + start + x];
    __syncthreads();
    for (unsigned k = 0; k < SIDE; k++)
        sum = fmaf(-below[y][k], right[k][x], sum);
    a[row * n + column] = sum;
}

WORKLOAD_MAIN(lud, KERNEL(lud_diagonal) KERNEL(lud_perimeter) KERNEL(lud_internal))
