/* A launch for each level; the CPU asks behind each whether anything was new. */
#include "rodinia.h"

#include <string.h>

enum { BLOCK = 128, DEGREE = 8 };

static void reference(uint32_t nodes, const uint32_t *starts, const uint32_t *ends, uint32_t *levels)
{
    uint32_t *queue = hetero_array(nodes, sizeof *queue), head = 0, tail = 1;
    memset(levels, 0xff, nodes * sizeof *levels);
    levels[0] = 0;
    while (head < tail) {
        uint32_t node = queue[head++];
        for (uint32_t edge = starts[node]; edge < starts[node + 1]; edge++) {
            if (levels[ends[edge]] == UINT32_MAX)
                levels[ends[edge]] = levels[node] + 1, queue[tail++] = ends[edge];
        }
    }
}

void bfs(struct hetero *run)
{
    uint32_t nodes = (uint32_t)run->size, level = 0;
    struct buffer starts = hetero_buffer(run, (nodes + 1) * sizeof(uint32_t));
    struct buffer levels = hetero_buffer(run, nodes * sizeof(uint32_t));
    struct buffer more = hetero_buffer(run, sizeof(uint32_t));
    CUfunction kernel = hetero_kernel("bfs");
    uint32_t *start = starts.host;
    volatile uint32_t *is_more = more.host;
    uint64_t seed = 1;
    for (uint32_t node = 0; node < nodes; node++)
        start[node + 1] = start[node] + hetero_random(&seed) % DEGREE + (node == 0);
    struct buffer ends = hetero_buffer(run, start[nodes] * sizeof(uint32_t));
    for (uint32_t edge = 0; edge < start[nodes]; edge++)
        ((uint32_t *)ends.host)[edge] = hetero_random(&seed) % nodes;
    memset(levels.host, 0xff, levels.bytes);
    *(uint32_t *)levels.host = 0;
    uint32_t *expected = hetero_array(nodes, sizeof *expected);

    hetero_begin(run);
    hetero_upload(run, &starts);
    hetero_upload(run, &ends);
    hetero_upload(run, &levels);
    do {
        *is_more = 0;
        hetero_upload(run, &more);
        LAUNCH(run, kernel, pieces(nodes, BLOCK), 1, BLOCK, 1, &nodes, &level, &starts.gpu, &ends.gpu,
               &levels.gpu, &more.gpu);
        hetero_wait(run);
        hetero_download(run, &more);
        level++;
    } while (*is_more);
    hetero_download(run, &levels);
    hetero_end(run);

    reference(nodes, start, ends.host, expected);
    hetero_expect(run, levels.host, expected, levels.bytes);
    hetero_figure(run, level, "levels");
}
