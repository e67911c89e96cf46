#include "exec/team.h"
#include "exec/cga.h"
#include "exec/observer.h"
#include "exec/watch.h"
#include "base/bits.h"
#include "base/mem.h"

struct team *team_new(const struct launch *launch, uint64_t serial, uint32_t sm, uint64_t workspace,
                      jmp_buf *on_fault)
{
    struct team *team = mem_alloc(1, sizeof *team);
    grid_init(&team->grid, launch, serial, workspace, &team->fault);
    team->request.of.width = (uint8_t)launch->kernel->isa->lanes;
    team->worker = worker_new(&team->grid);
    team->worker->sm = sm;
    team->worker->request = &team->request;
    team->worker->on_fault = on_fault;
    return team;
}

void team_free(struct team *team)
{
    if (!team)
        return;
    worker_free(team->worker);
    grid_fini(&team->grid);
    mem_free(team->request.pieces);
    mem_free(team->request.stretches);
    mem_free(team->request.stage);
    mem_free(team);
}

struct block *team_begin_block(struct team *team, uint64_t number)
{
    struct block *block = worker_begin_block(team->worker, number);
    struct observer *observer = team->grid.launch->observer;
    block->next = NULL;
    if (UNLIKELY(team->grid.cluster_size > 1))
        cga_join(block);
    if (observer)
        observer->begins(observer, block);
    return block;
}

struct block *team_begin_cluster(struct team *team, uint64_t number)
{
    struct observer *observer = team->grid.launch->observer;
    if (team->grid.cluster_size == 1)
        return team_begin_block(team, number);
    struct block *blocks = cga_begin(team->worker, number);
    for (struct block *block = blocks; block && observer; block = block->next)
        observer->begins(observer, block);
    return blocks;
}

void team_end_block(struct team *team, struct block *block)
{
    struct observer *observer = team->grid.launch->observer;
    watch_leave(team);
    if (observer)
        observer->ends(observer, block);
    worker_end_block(team->worker, block);
}
