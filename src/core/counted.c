/* Memory operations that a program counts itself, as GCN3's s_waitcnt does (ROLE_WAIT). An operation of a
 * counter has a slot of the warp's board until ISA_COUNTED more have followed; the board says when it was
 * done. Counters go down in order: an operation counts as done when all before it are, too. */
#include "core/counted.h"

/* Operations are numbered from 0 on, for each counter. */
static uint32_t slot_of(const struct sm_warp *w, uint32_t counter, uint32_t number)
{
    return w->exec->code->counted_at + counter * ISA_COUNTED + number % ISA_COUNTED;
}

/* When no more than `most` operations of a counter are under way, or PENDING, with w->waits_for. Each
 * operation is looked at once: an instruction that waited for it was issued no sooner. */
static uint64_t fewer_at(struct sm_warp *w, uint32_t counter, uint32_t most)
{
    uint32_t begun = w->counted[counter], end = begun > most ? begun - most : 0;
    for (; w->settled[counter] < end; w->settled[counter]++) {
        uint32_t slot = slot_of(w, counter, w->settled[counter]);
        if (w->board[slot] == PENDING) {
            w->waits_for = slot;
            return PENDING;
        }
        w->settled_at[counter] = max_u64(w->settled_at[counter], w->board[slot]);
    }
    return w->settled_at[counter];
}

uint64_t counted_ready(struct sm_warp *w, const struct isa_timing *timing)
{
    uint64_t ready = 0;
    for (uint32_t counter = 0; counter < ISA_COUNTERS && ready != PENDING; counter++) {
        if (!(timing->counters >> counter & 1))
            continue;
        uint32_t most =
            timing->role == ROLE_WAIT ? timing->role_count >> 8 * counter & 0xff : ISA_COUNTED - 1;
        ready = max_u64(ready, fewer_at(w, counter, most));
    }
    return ready;
}

void counted_begin(struct sm_warp *w, const struct isa_timing *timing, uint64_t ready)
{
    for (uint32_t counter = 0; counter < ISA_COUNTERS; counter++)
        if (timing->counters >> counter & 1) {
            w->board[slot_of(w, counter, w->counted[counter]++)] = ready;
        }
}

void counted_hold(struct load *load)
{
    const struct sm_warp *w = load->warp;
    for (uint32_t counter = 0; counter < ISA_COUNTERS; counter++) {
        load->counted[counter] = NO_SLOT;
        if (load->timing->counters >> counter & 1) {
            load->counted[counter] = slot_of(w, counter, w->counted[counter] - 1);
            w->board[load->counted[counter]] = PENDING;
        }
    }
}

void counted_done(const struct load *load, uint64_t ready)
{
    for (uint32_t counter = 0; counter < ISA_COUNTERS; counter++)
        if (load->counted[counter] != NO_SLOT)
            load->warp->board[load->counted[counter]] = ready;
}

bool counted_is_awaited(const struct load *load)
{
    bool is_awaited = false;
    for (uint32_t counter = 0; counter < ISA_COUNTERS; counter++)
        is_awaited |= load->warp->waits_for == load->counted[counter];
    return is_awaited;
}
