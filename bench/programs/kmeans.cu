/* K-means: the GPU assigns points to centers, the CPU computes the new centers. */
#include "program.cuh"

enum { POINTS = 1 << 16, DIMENSIONS = 8, CENTERS = 16, ROUNDS = 8 };
static float *points, centers[CENTERS * DIMENSIONS], *device_points, *device_centers;
static int *nearest, *device_nearest;

__global__ void assign(const float *points, const float *centers, int *nearest)
{
    __shared__ float own[CENTERS * DIMENSIONS];
    int at = blockIdx.x * blockDim.x + threadIdx.x, best = 0;
    if (threadIdx.x < CENTERS * DIMENSIONS)
        own[threadIdx.x] = centers[threadIdx.x];
    __syncthreads();
    float point[DIMENSIONS], least = 1e30f;
    for (int i = 0; i < DIMENSIONS; i++)
        point[i] = points[i * POINTS + at];
    for (int c = 0; c < CENTERS; c++) {
        float far = 0;
        for (int i = 0; i < DIMENSIONS; i++) {
            float difference = point[i] - own[c * DIMENSIONS + i];
            far += difference * difference;
        }
        if (far < least) {
            least = far;
            best = c;
        }
    }
    nearest[at] = best;
}

static void update(void)
{
    static double sums[CENTERS * DIMENSIONS];
    int members[CENTERS] = {0};
    memset(sums, 0, sizeof sums);
    for (int p = 0; p < POINTS; p++)
        members[nearest[p]]++;
    for (int i = 0; i < DIMENSIONS; i++)
        for (int p = 0; p < POINTS; p++)
            sums[nearest[p] * DIMENSIONS + i] += points[i * POINTS + p];
    for (int c = 0; c < CENTERS * DIMENSIONS; c++)
        if (members[c / DIMENSIONS])
            centers[c] = (float)(sums[c] / members[c / DIMENSIONS]);
}

static bool region(struct run *run)
{
    for (int c = 0; c < CENTERS; c++)
        for (int i = 0; i < DIMENSIONS; i++)
            centers[c * DIMENSIONS + i] = points[i * POINTS + c];
    run_was(run, CPU);
    run_copy(run, device_points, points, POINTS * DIMENSIONS * sizeof *points, cudaMemcpyHostToDevice);
    for (int round = 0; round < ROUNDS; round++) {
        run_copy(run, device_centers, centers, sizeof centers, cudaMemcpyHostToDevice);
        assign<<<POINTS / 256, 256>>>(device_points, device_centers, device_nearest);
        run_kernels(run);
        run_copy(run, nearest, device_nearest, POINTS * sizeof *nearest, cudaMemcpyDeviceToHost);
        update();
        run_was(run, CPU);
    }
    bool good = true;
    for (int c = 0; c < CENTERS * DIMENSIONS; c++)
        good &= centers[c] >= 0 && centers[c] <= 1;
    return good;
}

int main(int count, char **words)
{
    unsigned state = 11;
    points = (float *)malloc(POINTS * DIMENSIONS * sizeof *points);
    nearest = (int *)malloc(POINTS * sizeof *nearest);
    for (int i = 0; i < POINTS * DIMENSIONS; i++)
        points[i] = (float)next_random(&state) / (float)(1 << 24);
    CHECK(cudaMalloc(&device_points, POINTS * DIMENSIONS * sizeof *points));
    CHECK(cudaMalloc(&device_centers, sizeof centers));
    CHECK(cudaMalloc(&device_nearest, POINTS * sizeof *nearest));
    return program_main(count, words, "kmeans", region);
}
