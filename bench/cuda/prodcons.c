/* Producer blocks hand tiles of words to consumer blocks, each through a ring of its pair in global memory,
 * with acquire and release. The consumers are the lower blocks, so they wait for blocks that come after them:
 * all blocks have to be resident at once. */
#include "workload.h"

enum { PRODCONS_PAIRS, PRODCONS_TILES, PRODCONS_SLOTS, PRODCONS_BLOCK };
static const struct workload_option prodcons_options[] = {
    {"pairs", 4, 1, 64, "producers, and consumers"},
    {"tiles", 64, 1, 1u << 20, "tiles that a producer makes"},
    {"slots", 4, 1, 1024, "tiles that a ring holds"},
    {"block", 64, 1, 1024, "threads of a block, and words of a tile"},
    {0, 0, 0, 0, 0},
};

static uint32_t prodcons_item(uint32_t pair, uint32_t tile, uint32_t word) /* what the producer makes */
{
    return (pair + 1) * 2654435761u ^ tile * 40503u ^ word;
}

static void prodcons_run(struct dev *gpu, const uint64_t *options)
{
    uint32_t pairs = (uint32_t)options[PRODCONS_PAIRS], tiles = (uint32_t)options[PRODCONS_TILES];
    uint32_t slots = (uint32_t)options[PRODCONS_SLOTS], block = (uint32_t)options[PRODCONS_BLOCK];
    size_t count = (size_t)pairs * block, bytes = count * sizeof(uint32_t);
    uint32_t *sums = (uint32_t *)dev_host(gpu, bytes), *expected = (uint32_t *)dev_host(gpu, bytes);
    void *rings = dev_alloc(gpu, count * slots * sizeof(uint32_t)), *device_sums = dev_alloc(gpu, bytes);
    void *made = dev_alloc(gpu, pairs * sizeof(uint32_t)), *used = dev_alloc(gpu, pairs * sizeof(uint32_t));
    for (uint32_t pair = 0; pair < pairs; pair++)
        for (uint32_t word = 0; word < block; word++)
            for (uint32_t tile = 0; tile < tiles; tile++) { /* a sum that depends on the order */
                uint32_t *sum = &expected[(size_t)pair * block + word];
                *sum = *sum * 31 + prodcons_item(pair, tile, word);
            }
    dev_fill(gpu, made, 0, pairs * sizeof(uint32_t));
    dev_fill(gpu, used, 0, pairs * sizeof(uint32_t));
    DEV_LAUNCH(gpu, "prodcons", dev_dim(2 * pairs, 1, 1), dev_dim(block, 1, 1), 0, &tiles, &slots, &rings,
               &made, &used, &device_sums);
    dev_download(gpu, sums, device_sums, bytes);
    dev_expect_bytes(gpu, "sums", sums, expected, bytes);
}

const struct workload prodcons_workload = {"prodcons", "blocks that hand work to others", prodcons_options,
                                           prodcons_run};
