/* See turns.h. SMs run one after the other. If the order of blocks matters, each SM runs one round in turn
 * instead, because their blocks may wait for each other. */
#include "exec/turns.h"
#include "exec/answer.h"
#include "exec/cga.h"
#include "exec/team.h"
#include "exec/watch.h"
#include "base/bits.h"
#include "base/mem.h"

enum { LOOK_EVERY = 256 }; /* rounds */

struct resident {
    struct block *block;
    uint64_t settled; /* a bit for each warp whose next operation is known */
};

struct turns {
    const struct launch *launch;
    uint64_t serial, workspace, cluster_count;
    uint32_t room; /* clusters of an SM at a time; without clusters, blocks */
};

struct turns_sm {
    const struct turns *turns;
    struct team *team;
    struct resident *blocks;
    uint32_t count, cluster_size;
    uint64_t next; /* cluster that it begins next */
    uint32_t round;
};

/* ---- turns ---- */

/* False: it waits, or has ended. */
static bool step(struct turns_sm *sm, struct resident *resident, uint32_t index)
{
    const struct isa_ops *isa = sm->team->grid.kernel->isa;
    struct isa_warp *w = block_warp(resident->block, index);
    struct isa_stepped stepped;
    if (w->ended || (!(resident->settled >> index & 1) && !isa->settle(w)))
        return false;
    if (UNLIKELY(sm->round % LOOK_EVERY == 0))
        isa->check_limits(w);
    isa->step(w, &stepped);
    uint64_t bit = UINT64_C(1) << index;
    resident->settled = stepped.moved || stepped.waits ? resident->settled & ~bit : resident->settled | bit;
    watch_request(sm->team);
    answer_request(isa, w, &sm->team->request);
    return true;
}

static void begin_blocks(struct turns_sm *sm)
{
    uint32_t most = sm->turns->room * sm->cluster_size;
    for (; sm->count + sm->cluster_size <= most && sm->next < sm->turns->cluster_count;
         sm->next += sm->turns->launch->sm_count)
        for (struct block *block = team_begin_cluster(sm->team, sm->next); block; block = block->next)
            sm->blocks[sm->count++] = (struct resident){block, 0};
}

/* An instruction of each warp that does not wait; false: all do. */
static bool run_round(struct turns_sm *sm)
{
    bool moved = false;
    uint32_t kept = 0;
    begin_blocks(sm);
    sm->round++;
    for (uint32_t i = 0; i < sm->count; i++) {
        struct resident *resident = &sm->blocks[i];
        for (uint32_t k = 0; k < resident->block->warp_count; k++)
            moved |= step(sm, resident, k);
        if (resident->block->has_come) {
            cga_came(resident->block);
            moved |= !resident->block->has_come; /* it was the last */
        }
        if (block_has_ended(resident->block))
            team_end_block(sm->team, resident->block);
        else
            sm->blocks[kept++] = *resident;
    }
    sm->count = kept;
    return moved;
}

static bool sm_has_ended(const struct turns_sm *sm)
{
    return !sm->count && sm->next >= sm->turns->cluster_count;
}

/* Lets those go on who wait for threads that never come. */
static bool force(struct turns_sm *sm)
{
    bool some = false;
    for (uint32_t i = 0; i < sm->count; i++)
        some |= sm->team->grid.kernel->isa->force(sm->blocks[i].block);
    return some;
}

/* Runs SMs to their end, a round of each in turn. */
static void run_sms(struct turns_sm *sms, uint32_t count)
{
    for (bool left = true; left;) {
        bool moved = left = false;
        for (uint32_t i = 0; i < count; i++) {
            moved |= run_round(&sms[i]);
            left |= !sm_has_ended(&sms[i]);
        }
        for (uint32_t i = 0; i < count && left && !moved; i++)
            moved |= force(&sms[i]);
        for (uint32_t i = 0; i < count && left && !moved; i++)
            if (sms[i].count)
                sms[i].team->grid.kernel->isa->deadlock(sms[i].blocks[0].block);
    }
}

/* ---- launches ---- */

static void add_result(struct launch_result *result, const struct team *team)
{
#define C(name) result->name += team->worker->result.name;
    LAUNCH_COUNTS(C)
#undef C
    if (team->fault.kind != FAULT_NONE && result->fault.kind == FAULT_NONE)
        result->fault = team->fault;
}

/* These SMs, to their end; false: to a fault. */
static bool run_some(const struct turns *turns, uint32_t first, uint32_t count, struct launch_result *result)
{
    struct turns_sm *sms = mem_alloc(count, sizeof *sms);
    jmp_buf on_fault;
    for (uint32_t i = 0; i < count; i++)
        sms[i] = (struct turns_sm){
            .turns = turns,
            .team = team_new(turns->launch, turns->serial, first + i, turns->workspace, &on_fault),
            .cluster_size = launch_cluster_size(turns->launch),
            .blocks = mem_alloc(turns->room * launch_cluster_size(turns->launch), sizeof *sms->blocks),
            .next = first + i};
    bool good = !setjmp(on_fault);
    if (good)
        run_sms(sms, count);
    for (uint32_t i = 0; i < count; i++) {
        watch_leave(sms[i].team);
        add_result(result, sms[i].team);
        team_free(sms[i].team);
        mem_free(sms[i].blocks);
    }
    mem_free(sms);
    return good;
}

void turns_run(const struct launch *launch, uint64_t serial, uint64_t workspace, struct launch_result *result)
{
    struct turns turns = {.launch = launch,
                          .serial = serial,
                          .workspace = workspace,
                          .cluster_count = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2] /
                                           launch_cluster_size(launch)};
    uint64_t each = (turns.cluster_count + launch->sm_count - 1) / launch->sm_count;
    uint32_t sms = (uint32_t)min_u64(launch->sm_count, turns.cluster_count);
    uint64_t blocks = launch->resident_blocks / launch_cluster_size(launch);
    turns.room =
        (uint32_t)(launch->resident_blocks ? min_u64(max_u64(blocks / launch->sm_count, 1), each) : each);
    if (launch->kernel->facts.ordered)
        run_some(&turns, 0, sms, result);
    else
        for (uint32_t i = 0; i < sms && run_some(&turns, i, 1, result); i++)
            ;
}
