/* The GPU finds the nearest center of each point; the CPU makes the new centers, and ends when no point has
 * changed its cluster. */
#include "rodinia.h"

#include <string.h>

enum { DIMENSIONS = 4, BLOCK = 128, RANGE = 1024, CLUSTERS = 5, ROUNDS = 6 };

struct point { /* as the kernel's int4 */
    int32_t at[DIMENSIONS];
};

static uint32_t nearest(const struct point *centers, const struct point *point)
{
    uint32_t found = 0, least = UINT32_MAX;
    for (uint32_t c = 0; c < CLUSTERS; c++) {
        uint32_t square = 0;
        for (int d = 0; d < DIMENSIONS; d++) {
            int32_t difference = point->at[d] - centers[c].at[d];
            square += (uint32_t)(difference * difference);
        }
        if (square < least)
            least = square, found = c;
    }
    return found;
}

/* Gives how many points have another cluster than before, which is kept. */
static uint32_t update(uint32_t n, const struct point *points, const uint32_t *labels, uint32_t *before,
                       struct point *centers)
{
    int64_t sums[CLUSTERS][DIMENSIONS] = {{0}};
    uint32_t counts[CLUSTERS] = {0}, changed = 0;
    for (uint32_t i = 0; i < n; i++) {
        changed += labels[i] != before[i];
        before[i] = labels[i];
        counts[labels[i]]++;
        for (int d = 0; d < DIMENSIONS; d++)
            sums[labels[i]][d] += points[i].at[d];
    }
    for (uint32_t c = 0; c < CLUSTERS; c++) {
        for (int d = 0; counts[c] && d < DIMENSIONS; d++)
            centers[c].at[d] = (int32_t)(sums[c][d] / counts[c]);
    }
    return changed;
}

void kmeans(struct hetero *run)
{
    uint32_t n = (uint32_t)run->size, k = CLUSTERS, rounds = 0;
    struct buffer points = hetero_buffer(run, n * sizeof(struct point));
    struct buffer centers = hetero_buffer(run, CLUSTERS * sizeof(struct point));
    struct buffer labels = hetero_buffer(run, n * sizeof(uint32_t));
    CUfunction kernel = hetero_kernel("hetero_assign");
    struct point expected[CLUSTERS], *given = points.host;
    uint32_t *before = hetero_array(n, sizeof *before), *own = hetero_array(n, sizeof *own);
    uint64_t seed = 1;
    for (uint32_t i = 0; i < n; i++) {
        for (int d = 0; d < DIMENSIONS; d++)
            given[i].at[d] = (int32_t)(hetero_random(&seed) % RANGE);
    }
    memcpy(centers.host, given, centers.bytes);
    memcpy(expected, given, centers.bytes);
    memset(before, 0xff, n * sizeof *before);

    hetero_begin(run);
    hetero_upload(run, &points);
    uint32_t changed = 1;
    for (; changed && rounds < ROUNDS; rounds++) {
        hetero_upload(run, &centers);
        LAUNCH(run, kernel, pieces(n, BLOCK), 1, BLOCK, 1, &n, &k, &points.gpu, &centers.gpu, &labels.gpu);
        hetero_wait(run);
        hetero_download(run, &labels);
        changed = update(n, given, labels.host, before, centers.host);
    }
    hetero_end(run);

    memset(before, 0xff, n * sizeof *before);
    for (uint32_t round = 0; round < rounds; round++) {
        for (uint32_t i = 0; i < n; i++)
            own[i] = nearest(expected, &given[i]);
        changed = update(n, given, own, before, expected);
        run->wrong |= !changed && round + 1 < rounds;
    }
    hetero_expect(run, labels.host, own, labels.bytes);
    hetero_expect(run, centers.host, expected, centers.bytes);
    hetero_figure(run, rounds, "rounds");
}
