#include "native.cuh"
#include "hotspot.c"

enum { SIDE = HOTSPOT_SIDE };

extern "C" __global__ void hotspot(int width, int height, int steps, const float *power, const float *from,
                                   float *to)
{
    __shared__ float tile[SIDE][SIDE];
    int column = threadIdx.x, row = threadIdx.y, inner = SIDE - 2 * steps;
    int x = blockIdx.x * inner + column - steps, y = blockIdx.y * inner + row - steps;
    bool inside = x >= 0 && x < width && y >= 0 && y < height;
    float mine = inside ? power[y * width + x] : 0, here = inside ? from[y * width + x] : 0;
    tile[row][column] = here;
    for (int step = 1; step <= steps; step++) {
        int end = SIDE - step;
        bool valid = inside && column >= step && column < end && row >= step && row < end;
        __syncthreads();
        if (valid) {
            float north = y > 0 ? tile[row - 1][column] : here;
            float south = y + 1 < height ? tile[row + 1][column] : here;
            float west = x > 0 ? tile[row][column - 1] : here;
            float east = x + 1 < width ? tile[row][column + 1] : here;
            float change = fmaf(HOTSPOT_AMBIENT - here, HOTSPOT_Z, mine);
            change = fmaf(fmaf(-2, here, west + east), HOTSPOT_X, change);
            change = fmaf(fmaf(-2, here, north + south), HOTSPOT_Y, change);
            here = fmaf(HOTSPOT_STEP, change, here);
        }
        __syncthreads(); /* all have read their neighbours */
        tile[row][column] = here;
    }
    if (inside && column >= steps && column < SIDE - steps && row >= steps && row < SIDE - steps)
        to[y * width + x] = here;
}

WORKLOAD_MAIN(hotspot, KERNEL(hotspot))
