/* Memory operations that a program counts itself, as GCN3's s_waitcnt does (ROLE_WAIT). An operation of a
 * counter has a slot of the warp's board until ISA_COUNTED more have followed; the board says when it was
 * done. Counters go down in order: an operation counts as done when all before it are, too. */
#include "core/counted.h"

/* How long ago an operation was begun: 0 is the last one. */
static uint32_t slot_of(const struct sm_warp *w, uint32_t counter, uint32_t ago)
{
    return w->exec->code->counted_at + counter * ISA_COUNTED + (w->counted[counter] - 1 - ago) % ISA_COUNTED;
}

/* When no more than `most` operations of a counter are under way, or PENDING, with w->waits_for. */
static uint64_t fewer_at(struct sm_warp *w, uint32_t counter, uint32_t most)
{
    uint64_t ready = 0, begun = min_u64(w->counted[counter], ISA_COUNTED);
    for (uint32_t ago = most; ago < begun; ago++) {
        uint32_t slot = slot_of(w, counter, ago);
        if (w->board[slot] == PENDING) {
            w->waits_for = slot;
            return PENDING;
        }
        ready = max_u64(ready, w->board[slot]);
    }
    return ready;
}

uint64_t counted_ready(struct sm_warp *w, const struct isa_timing *timing)
{
    uint64_t ready = 0;
    for (uint32_t counter = 0; counter < ISA_COUNTERS && ready != PENDING; counter++) {
        bool waits = timing->role == ROLE_WAIT, counts = timing->counters >> counter & 1;
        uint32_t most = waits    ? timing->role_count >> 8 * counter & 0xff
                        : counts ? ISA_COUNTED - 1
                                 : UINT32_MAX;
        ready = max_u64(ready, fewer_at(w, counter, most));
    }
    return ready;
}

void counted_begin(struct sm_warp *w, const struct isa_timing *timing, uint64_t ready)
{
    for (uint32_t counter = 0; counter < ISA_COUNTERS; counter++)
        if (timing->counters >> counter & 1) {
            w->counted[counter]++;
            w->board[slot_of(w, counter, 0)] = ready;
        }
}

void counted_hold(struct load *load)
{
    const struct sm_warp *w = load->warp;
    for (uint32_t counter = 0; counter < ISA_COUNTERS; counter++) {
        load->counted[counter] = NO_SLOT;
        if (load->timing->counters >> counter & 1) {
            load->counted[counter] = slot_of(w, counter, 0);
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
