/* The GPU computes the distance of every record from a place; the CPU selects the nearest ones. */
#include "rodinia.h"

#include <math.h>

enum { BLOCK = 256, NEIGHBOURS = 5 };

struct record {
    float latitude, longitude;
};

static void select_nearest(uint32_t n, const float *distances, uint32_t nearest[NEIGHBOURS])
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = found;
        while (at && distances[i] < distances[nearest[at - 1]])
            at--;
        if (at == NEIGHBOURS)
            continue;
        for (uint32_t k = found < NEIGHBOURS ? found : NEIGHBOURS - 1; k > at; k--)
            nearest[k] = nearest[k - 1];
        nearest[at] = i;
        found += found < NEIGHBOURS;
    }
}

void nn(struct hetero *run)
{
    uint32_t n = (uint32_t)run->size, nearest[NEIGHBOURS], expected_nearest[NEIGHBOURS];
    struct buffer records = hetero_buffer(run, n * sizeof(struct record));
    struct buffer distances = hetero_buffer(run, n * sizeof(float));
    CUfunction kernel = hetero_kernel("nn");
    struct record target = {30, 90}, *given = records.host;
    float *expected = hetero_array(n, sizeof *expected);
    uint64_t seed = 1;
    for (uint32_t i = 0; i < n; i++) {
        given[i].latitude = 180 * hetero_unit(&seed) - 90;
        given[i].longitude = 360 * hetero_unit(&seed) - 180;
    }

    hetero_begin(run);
    hetero_upload(run, &records);
    LAUNCH(run, kernel, pieces(n, BLOCK), 1, BLOCK, 1, &n, &target, &records.gpu, &distances.gpu);
    hetero_wait(run);
    hetero_download(run, &distances);
    select_nearest(n, distances.host, nearest);
    hetero_end(run);

    for (uint32_t i = 0; i < n; i++) {
        float y = given[i].latitude - target.latitude, x = given[i].longitude - target.longitude;
        expected[i] = sqrtf(fmaf(y, y, x * x));
    }
    select_nearest(n, expected, expected_nearest);
    hetero_expect(run, distances.host, expected, distances.bytes);
    hetero_expect(run, nearest, expected_nearest, sizeof nearest);
}
