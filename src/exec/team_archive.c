/* Writes and reads the state of a launch's blocks on an SM. The instruction set archives warps, and data in
 * flight to their registers. */
#include "exec/team.h"
#include "exec/cga.h"
#include "base/archive.h"
#include "base/mem.h"

enum { MOST_BLOCKS = 1 << 16 };

/* ---- blocks ---- */

static void archive_block(struct team *team, struct block *block, struct archive *archive)
{
    const struct grid *grid = &team->grid;
    const struct launch *launch = grid->launch;
    const struct isa_ops *isa = grid->kernel->isa;
    uint64_t shared = grid->kernel->dynamic_shared_at + launch->shared_bytes;
    if (archive->reading) {
        block->worker = team->worker;
        block->warps = mem_alloc(grid->warps_per_block, isa->warp_bytes);
        block->warp_count = block->warp_capacity = grid->warps_per_block;
        block->shared = shared ? mem_alloc_lines(shared, 1) : NULL;
        block->shared_bytes = block->shared_capacity = shared;
    }
    archive_expect(archive, block->warp_count);
    archive_expect(archive, block->shared_bytes);
    block->number = archive_number(archive, block->number, grid->block_count - 1);
    ARCHIVE_VALUE(archive, block->id);
    ARCHIVE_VALUE(archive, block->alive);
    ARCHIVE_VALUE(archive, block->clock_from);
    ARCHIVE_VALUE(archive, block->clock_reads);
    ARCHIVE_VALUE(archive, block->instructions);
    ARCHIVE_VALUE(archive, block->barriers);
    ARCHIVE_VALUE(archive, block->patience);
    archive_sparse(archive, block->shared, block->shared_bytes);
    if (team->grid.cluster_size > 1)
        cga_archive(block, archive);
    for (uint32_t i = 0; i < block->warp_count && archive->good; i++) {
        struct isa_warp *warp = block_warp(block, i);
        warp->block = block;
        warp->index = i;
        ARCHIVE_VALUE(archive, warp->active);
        ARCHIVE_VALUE(archive, warp->ended);
        isa->archive_warp(warp, archive);
    }
}

static uint32_t count_blocks(const struct team *team)
{
    uint32_t count = 0;
    for (const struct block *block = team->worker->made; block; block = block->made_before)
        count++;
    return count;
}

/* Blocks by number from 1 on, the one made last first; 0: none. */
struct block *block_archive(struct team *team, const struct block *block, struct archive *archive)
{
    struct block *at = team->worker->made;
    uint64_t number = 0;
    if (block)
        for (number = 1; at != block; at = at->made_before)
            number++;
    number = archive_number(archive, number, count_blocks(team));
    for (at = team->worker->made; number > 1; number--)
        at = at->made_before;
    return number ? at : NULL;
}

static void archive_blocks(struct team *team, struct archive *archive)
{
    struct worker *worker = team->worker;
    uint64_t count = archive_number(archive, count_blocks(team), MOST_BLOCKS);
    struct block **link = &worker->made;
    for (uint64_t i = 0; i < count && archive->good; i++, link = &(*link)->made_before) {
        if (archive->reading)
            *link = mem_alloc(1, sizeof **link);
        archive_block(team, *link, archive);
    }
    struct block *free_one = worker->pool, **last = &worker->pool; /* those to use again, in their order */
    for (uint64_t i = 0; archive->good && i <= count; i++) {
        struct block *block = block_archive(team, free_one, archive);
        if (!block)
            break;
        if (archive->reading)
            *last = block;
        else
            free_one = block->next;
        last = &block->next;
    }
    *last = NULL;
}

/* ---- the team ---- */

struct delivery team_bare_delivery(const struct delivery *of)
{
    struct delivery flat = *of;
    flat.how = NULL;
    flat.registers = flat.barrier = NULL;
    return flat;
}

static struct request request_without_pointers(const struct request *request)
{
    struct request flat = *request;
    flat.of = team_bare_delivery(&request->of);
    flat.pieces = NULL;
    flat.piece_count = flat.piece_capacity = 0;
    flat.stage = NULL;
    flat.stage_capacity = 0;
    return flat;
}

/* What of it was of another instruction may be seen by the next: all but what points somewhere. */
static void archive_request(struct request *request, struct archive *archive)
{
    struct request flat = request_without_pointers(request);
    ARCHIVE_VALUE(archive, flat);
    if (archive->reading)
        *request = request_without_pointers(&flat);
}

void team_archive(struct team *team, struct archive *archive)
{
    struct grid *grid = &team->grid;
    int stop = grid->stop;
    archive_expect(archive, grid->kernel->isa->warp_bytes);
    archive_expect(archive, sizeof(struct block));
    archive_expect(archive, grid->kernel->slots);
    archive_expect(archive, grid->kernel->access_count);
    grid->kernel->isa->archive_shape(grid->kernel, archive);
    archive_expect(archive, grid->block_count);
    archive_expect(archive, grid->param_bytes);
    if (!archive->good)
        return;
    archive_bytes(archive, grid->params, grid->param_bytes);
    ARCHIVE_VALUE(archive, stop);
    grid->stop = stop;
    ARCHIVE_VALUE(archive, team->fault);
    ARCHIVE_VALUE(archive, team->worker->result);
    archive_request(&team->request, archive);
    archive_blocks(team, archive);
}
