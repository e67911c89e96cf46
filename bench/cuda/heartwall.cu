#include "native.cuh"
#include "heartwall.c"

enum { REACH = HEARTWALL_REACH, RADIUS = HEARTWALL_RADIUS, SIDE = HEARTWALL_SIDE, BLOCK = HEARTWALL_BLOCK };
enum { SEARCH = HEARTWALL_SEARCH, PIXELS = HEARTWALL_PIXELS };
enum { WINDOW = SEARCH + 2 * RADIUS }; /* all that a block looks at has this side */

static __device__ float score_at(const int *patch, const int (*window)[WINDOW], int x, int y)
{
    int a = 0, b = 0, aa = 0, bb = 0, ab = 0;
    for (int row = 0; row < SIDE; row++)
        for (int column = 0; column < SIDE; column++) {
            int was = patch[row * SIDE + column], is = window[y + row][x + column];
            a += was, b += is, aa += was * was, bb += is * is, ab += was * is;
        }
    float variances = (float)(PIXELS * aa - a * a) * (float)(PIXELS * bb - b * b);
    return variances > 0 ? (float)(PIXELS * ab - a * b) / sqrtf(variances) : -1;
}

/* places[0] becomes that of the best score, and the first of equal ones. */
static __device__ void find_best(float *scores, int *places)
{
    int me = threadIdx.x;
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        __syncthreads();
        if (me < half) {
            float other = scores[me + half];
            if (other > scores[me] || (other == scores[me] && places[me + half] < places[me]))
                scores[me] = other, places[me] = places[me + half];
        }
    }
    __syncthreads();
}

extern "C" __global__ void heartwall(int width, int height, const unsigned char *frame,
                                     struct heartwall_point *points)
{
    __shared__ int window[WINDOW][WINDOW], patch[PIXELS], places[BLOCK];
    __shared__ float scores[BLOCK];
    struct heartwall_point *point = &points[blockIdx.x];
    int me = threadIdx.x, left = point->x - REACH - RADIUS, top = point->y - REACH - RADIUS;
    for (int i = me; i < WINDOW * WINDOW; i += BLOCK) {
        int x = min(max(left + i % WINDOW, 0), width - 1), y = min(max(top + i / WINDOW, 0), height - 1);
        window[i / WINDOW][i % WINDOW] = frame[y * width + x];
    }
    for (int i = me; i < PIXELS; i += BLOCK)
        patch[i] = point->patch[i];
    __syncthreads();
    scores[me] = me < SEARCH * SEARCH ? score_at(patch, window, me % SEARCH, me / SEARCH) : -2;
    places[me] = me;
    find_best(scores, places);
    int x = places[0] % SEARCH, y = places[0] / SEARCH;
    for (int i = me; i < PIXELS; i += BLOCK)
        point->patch[i] = (3 * patch[i] + window[y + i / SIDE][x + i % SIDE] + 2) / 4;
    if (me == 0)
        point->x += x - REACH, point->y += y - REACH;
}

WORKLOAD_MAIN(heartwall, KERNEL(heartwall))
