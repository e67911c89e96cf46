/* Clusters of blocks: their numbers, and their barrier where there is no time. */
#include "exec/cga.h"
#include "base/archive.h"
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

static struct cga *take(struct worker *worker, uint64_t number)
{
    struct cga *cluster = worker->clusters;
    if (cluster)
        worker->clusters = cluster->next;
    else
        cluster = mem_alloc(1, sizeof *cluster);
    memset(cluster, 0, sizeof *cluster);
    cluster->number = number;
    cluster->size = launch_cluster_size(worker->grid->launch);
    cluster->left = UINT64_MAX >> (64 - cluster->size);
    return cluster;
}

static void add(struct cga *cluster, struct block *block)
{
    cluster->here |= UINT64_C(1) << block->rank;
    cluster->blocks[block->rank] = block;
    block->cluster = cluster;
}

struct block *cga_begin(struct worker *worker, uint64_t number)
{
    const struct launch *launch = worker->grid->launch;
    struct cga *cluster = take(worker, number);
    struct block *first = NULL, **last = &first;
    for (uint32_t rank = 0; rank < cluster->size; rank++, last = &(*last)->next) {
        *last = worker_begin_block(worker, launch_cluster_block(launch, number, rank));
        add(cluster, *last);
    }
    *last = NULL;
    return first;
}

/* That a block is of which is there already; or NULL. */
static struct cga *find(const struct worker *worker, uint64_t number)
{
    for (const struct block *block = worker->made; block; block = block->made_before)
        if (block->cluster && block->cluster->number == number)
            return block->cluster;
    return NULL;
}

void cga_join(struct block *block, const uint16_t sms[])
{
    uint32_t rank;
    uint64_t number = launch_cluster_of(block->worker->grid->launch, block->number, &rank);
    struct cga *cluster = find(block->worker, number);
    if (!cluster) {
        cluster = take(block->worker, number);
        cluster->apart = true;
        memcpy(cluster->sms, sms, cluster->size * sizeof *sms);
    }
    add(cluster, block);
}

/* Those who have not ended have all come: they go on. */
static void look(struct cga *cluster, const struct isa_ops *isa)
{
    uint64_t *come = &cluster->come[cluster->phase];
    if (!*come || (cluster->left & ~*come))
        return;
    *come = cluster->stuck = 0;
    cluster->phase ^= 1;
    for (uint32_t rank = 0; rank < cluster->size; rank++)
        if (cluster->blocks[rank])
            isa->open_cluster(cluster->blocks[rank]);
}

static const struct isa_ops *isa_of(const struct cga *cluster)
{
    return cluster->blocks[__builtin_ctzll(cluster->here)]->worker->grid->kernel->isa;
}

void cga_drop(struct block *block)
{
    struct cga *cluster = block->cluster;
    uint64_t bit = UINT64_C(1) << block->rank;
    cluster->left &= ~bit;
    cluster->here &= ~bit;
    cluster->come[0] &= ~bit;
    cluster->come[1] &= ~bit;
    cluster->stuck &= ~bit;
    cluster->blocks[block->rank] = NULL;
    block->cluster = NULL;
    if (cluster->here)
        return;
    cluster->next = block->worker->clusters;
    block->worker->clusters = cluster;
}

void cga_leave(struct block *block)
{
    struct cga *cluster = block->cluster;
    const struct isa_ops *isa = isa_of(cluster);
    cga_drop(block);
    if (cluster->here)
        look(cluster, isa);
}

void cga_came(struct block *block)
{
    struct cga *cluster = block->cluster;
    cluster->come[cluster->phase] |= UINT64_C(1) << block->rank;
    look(cluster, isa_of(cluster));
}

void cga_others_came(struct cga *cluster, uint64_t ranks, uint32_t phase)
{
    cluster->come[phase] |= ranks;
    look(cluster, isa_of(cluster));
}

void cga_others_left(struct cga *cluster, uint64_t ranks)
{
    cluster->left &= ~ranks;
    look(cluster, isa_of(cluster));
}

bool cga_is_stuck(struct block *block)
{
    struct cga *cluster = block->cluster;
    cluster->stuck |= UINT64_C(1) << block->rank;
    return cluster->stuck == cluster->left;
}

void cga_archive(struct block *block, struct archive *archive)
{
    const struct cga *now = block->cluster;
    uint16_t sms[CLUSTER_MOST] = {0};
    if (!archive_number(archive, now != NULL, 1))
        return;
    if (!archive->reading)
        memcpy(sms, now->sms, sizeof sms);
    ARCHIVE_VALUE(archive, sms);
    for (uint32_t i = 0; i < launch_cluster_size(block->worker->grid->launch); i++)
        archive_check(archive, sms[i] < block->worker->grid->launch->sm_count);
    if (archive->reading && archive->good) {
        launch_cluster_of(block->worker->grid->launch, block->number, &block->rank);
        block->shared_from = block->rank << CLUSTER_SHARED_SHIFT;
        cga_join(block, sms);
    }
    struct cga *cluster = block->cluster;
    if (!cluster)
        return;
    uint64_t here = cluster->here;
    ARCHIVE_VALUE(archive, cluster->left);
    ARCHIVE_VALUE(archive, cluster->come);
    cluster->phase = (uint8_t)archive_number(archive, cluster->phase, 1);
    archive_check(archive, !(here & ~cluster->left) && !(cluster->left >> 1 >> (cluster->size - 1)));
    ARCHIVE_VALUE(archive, block->cluster_arrivals);
    ARCHIVE_VALUE(archive, block->has_come);
}
