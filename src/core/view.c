/* What an SM shows of itself to people. */
#include "core/parts.h"

static enum stall reason_of(const struct sm *sm, const struct sm_warp *w)
{
    uint32_t s = w->place / SUBCORE_WARPS, lane = w->place % SUBCORE_WARPS;
    bool can_issue =
        w->state == WARP_READY && (int32_t)(sm->subcores[s].ready_at[lane] - (uint32_t)sm->cycle) <= 0;
    return can_issue ? STALL_not_selected : (enum stall)w->reason;
}

void sm_look(const struct sm *sm, struct sm_view *view)
{
    *view = (struct sm_view){.number = sm->number,
                             .blocks = sm->blocks_now,
                             .warps = sm->warps_now,
                             .warps_most = sm->config.subcores * sm->config.warps_per_subcore};
    if (!sm_is_here(sm))
        return;
    for (uint32_t i = 0; i < view->warps_most; i++)
        if (sm->warps[i].state != WARP_NONE)
            view->by_reason[reason_of(sm, &sm->warps[i])]++;
    for (uint32_t i = 0; i < sm->kernels_made; i++)
        view->instructions += sm->kernels[i].counters.instructions;
}

bool sm_where_any(const struct sm *sm, uint32_t *at, struct text *text)
{
    for (; sm_is_here(sm) && *at < sm->config.blocks; ++*at) {
        const struct sm_block *block = &sm->blocks[*at];
        if (!block->exec)
            continue;
        block->kernel->isa->describe(block->exec, text);
        ++*at;
        return true;
    }
    return false;
}
