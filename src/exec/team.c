#include "exec/team.h"
#include "exec/cga.h"
#include "exec/observer.h"
#include "exec/watch.h"
#include "base/bits.h"
#include "base/demangle.h"
#include "base/mem.h"

#include <string.h>

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

struct block *team_begin_block(struct team *team, uint64_t number, const uint16_t sms[])
{
    struct block *block = worker_begin_block(team->worker, number);
    struct observer *observer = team->grid.launch->observer;
    block->next = NULL;
    if (UNLIKELY(sms != NULL))
        cga_join(block, sms);
    if (observer)
        observer->begins(observer, block);
    return block;
}

struct block *team_begin_cluster(struct team *team, uint64_t number)
{
    struct observer *observer = team->grid.launch->observer;
    if (team->grid.cluster_size == 1)
        return team_begin_block(team, number, NULL);
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

_Noreturn void team_fault(struct team *team, uint64_t block, enum fault_kind kind, uint64_t address,
                          const char *what)
{
    const uint32_t *size = team->grid.launch->grid;
    struct fault *fault = &team->fault;
    const uint32_t id[3] = {(uint32_t)(block % size[0]), (uint32_t)(block / size[0] % size[1]),
                            (uint32_t)(block / size[0] / size[1])};
    *fault = (struct fault){.kind = kind, .address = address};
    memcpy(fault->block, id, sizeof id);
    snprintf(fault->text, sizeof fault->text, "kernel %s, %s (%u,%u,%u): %s",
             demangled(team->grid.kernel->facts.name), team->grid.kernel->isa->block_word, id[0], id[1],
             id[2], what);
    longjmp(*team->worker->on_fault, 1);
}
