/* One head of attention, softmax(q k' / sqrt(width)) v, over tiles of keys in shared memory: a warp has a
 * query, keeps the largest score so far, and rescales what it summed when a larger one comes. The reference
 * is in double; the tolerance is a few ulp of the scores, their exponentials and the sums. */
#include "workload.h"

enum {
    ATTENTION_WIDTH = 64,
    ATTENTION_TILE = 32,
    ATTENTION_WARPS = 4
}; /* of a vector; in keys; of a block */

enum { ATTENTION_N };
static const struct workload_option attention_options[] = {
    {"n", 144, 1, 16384, "queries, and keys"},
    {0, 0, 0, 0, 0},
};

static double attention_score(const float *query, const float *key)
{
    double sum = 0;
    for (int i = 0; i < ATTENTION_WIDTH; i++)
        sum += (double)query[i] * key[i];
    return sum / sqrt((double)ATTENTION_WIDTH);
}

static void attention_row(uint32_t n, const float *query, const float *keys, const float *values,
                          double *scores, float *out)
{
    double sum = 0, most = -INFINITY;
    for (uint32_t key = 0; key < n; key++) {
        scores[key] = attention_score(query, keys + (size_t)key * ATTENTION_WIDTH);
        most = fmax(most, scores[key]);
    }
    for (uint32_t key = 0; key < n; key++)
        sum += scores[key] = exp(scores[key] - most);
    for (int i = 0; i < ATTENTION_WIDTH; i++) {
        double weighted = 0;
        for (uint32_t key = 0; key < n; key++)
            weighted += scores[key] * values[(size_t)key * ATTENTION_WIDTH + (size_t)i];
        out[i] = (float)(weighted / sum);
    }
}

static void attention_run(struct dev *gpu, const uint64_t *options)
{
    uint32_t n = (uint32_t)options[ATTENTION_N];
    size_t count = (size_t)n * ATTENTION_WIDTH, bytes = count * sizeof(float);
    enum { QUERIES, KEYS, VALUES, OUT, ARRAYS };
    float *host[ARRAYS], *expected = (float *)dev_host(gpu, bytes);
    double *scores = (double *)dev_host(gpu, n * sizeof *scores);
    void *device[ARRAYS];
    uint64_t seed = 1;
    for (int array = 0; array < ARRAYS; array++) {
        host[array] = (float *)dev_host(gpu, bytes), device[array] = dev_alloc(gpu, bytes);
        for (size_t i = 0; array != OUT && i < count; i++)
            host[array][i] = 2 * workload_unit(&seed) - 1;
        dev_upload(gpu, device[array], host[array], bytes);
    }
    for (size_t row = 0; row < n; row++)
        attention_row(n, host[QUERIES] + row * ATTENTION_WIDTH, host[KEYS], host[VALUES], scores,
                      expected + row * ATTENTION_WIDTH);
    DEV_LAUNCH(gpu, "attention", dev_dim((n + ATTENTION_WARPS - 1) / ATTENTION_WARPS, 1, 1),
               dev_dim(32, ATTENTION_WARPS, 1), 0, &n, &device[QUERIES], &device[KEYS], &device[VALUES],
               &device[OUT]);
    dev_download(gpu, host[OUT], device[OUT], bytes);
    dev_expect_floats(gpu, "out", host[OUT], expected, count, 1e-6f);
}

const struct workload attention_workload = {"attention", "one head of attention", attention_options,
                                            attention_run};
