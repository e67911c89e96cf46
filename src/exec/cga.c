/* Clusters of blocks: their numbers, and their barrier where there is no time. */
#include "exec/cga.h"
#include "base/bits.h"
#include "base/mem.h"

#include <string.h>

uint32_t launch_cluster_size(const struct launch *launch)
{
    return launch_has_clusters(launch) ? launch->cluster[0] * launch->cluster[1] * launch->cluster[2] : 1;
}

uint64_t launch_cluster_block(const struct launch *launch, uint64_t cluster, uint32_t rank)
{
    const uint32_t *grid = launch->grid, *size = launch->cluster;
    if (!launch_has_clusters(launch))
        return cluster;
    uint64_t wide = grid[0] / size[0], high = grid[1] / size[1];
    uint64_t x = cluster % wide * size[0] + rank % size[0];
    uint64_t y = cluster / wide % high * size[1] + rank / size[0] % size[1];
    uint64_t z = cluster / wide / high * size[2] + rank / size[0] / size[1];
    return x + grid[0] * (y + grid[1] * z);
}

uint64_t launch_cluster_of(const struct launch *launch, uint64_t block, uint32_t *rank)
{
    const uint32_t *grid = launch->grid, *size = launch->cluster;
    *rank = 0;
    if (!launch_has_clusters(launch))
        return block;
    uint64_t x = block % grid[0], y = block / grid[0] % grid[1], z = block / grid[0] / grid[1];
    *rank = (uint32_t)(x % size[0] + size[0] * (y % size[1] + size[1] * (z % size[2])));
    return x / size[0] + grid[0] / size[0] * (y / size[1] + grid[1] / size[1] * (z / size[2]));
}

static struct cga *take(struct worker *worker)
{
    struct cga *cluster = worker->clusters;
    if (cluster)
        worker->clusters = cluster->next;
    else
        cluster = mem_alloc(1, sizeof *cluster);
    memset(cluster, 0, sizeof *cluster);
    cluster->size = launch_cluster_size(worker->grid->launch);
    return cluster;
}

static void add(struct cga *cluster, struct block *block)
{
    cluster->left |= UINT64_C(1) << block->rank;
    cluster->blocks[block->rank] = block;
    block->cluster = cluster;
}

struct block *cga_begin(struct worker *worker, uint64_t number)
{
    const struct launch *launch = worker->grid->launch;
    struct cga *cluster = take(worker);
    struct block *first = NULL, **last = &first;
    for (uint32_t rank = 0; rank < cluster->size; rank++, last = &(*last)->next) {
        *last = worker_begin_block(worker, launch_cluster_block(launch, number, rank));
        add(cluster, *last);
    }
    *last = NULL;
    return first;
}

void cga_join(struct block *block)
{
    struct cga *cluster = take(block->worker);
    cluster->apart = true;
    add(cluster, block);
}

/* Those who have not ended have all come: they go on. */
static void look(struct cga *cluster, const struct isa_ops *isa)
{
    if (!cluster->come || (cluster->left & ~cluster->come) || cluster->apart)
        return;
    cluster->come = cluster->stuck = 0;
    for (uint32_t rank = 0; rank < cluster->size; rank++)
        if (cluster->blocks[rank])
            isa->open_cluster(cluster->blocks[rank]);
}

void cga_drop(struct block *block)
{
    struct cga *cluster = block->cluster;
    uint64_t bit = UINT64_C(1) << block->rank;
    cluster->left &= ~bit;
    cluster->come &= ~bit;
    cluster->stuck &= ~bit;
    cluster->blocks[block->rank] = NULL;
    block->cluster = NULL;
    if (cluster->left)
        return;
    cluster->next = block->worker->clusters;
    block->worker->clusters = cluster;
}

void cga_leave(struct block *block)
{
    struct cga *cluster = block->cluster;
    cga_drop(block);
    look(cluster, block->worker->grid->kernel->isa);
}

void cga_came(struct block *block)
{
    block->cluster->come |= UINT64_C(1) << block->rank;
    look(block->cluster, block->worker->grid->kernel->isa);
}

bool cga_is_stuck(struct block *block)
{
    struct cga *cluster = block->cluster;
    cluster->stuck |= UINT64_C(1) << block->rank;
    return cluster->stuck == cluster->left;
}
