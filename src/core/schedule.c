/* Warp schedulers: which of the ready warps issues. A new scheduler is a function and a row. */
#include "core/parts.h"

static uint32_t by_age(const struct subcore *sub, uint32_t ready, bool oldest)
{
    for (uint32_t best = (uint32_t)__builtin_ctz(ready);;) {
        uint32_t better = ready & (oldest ? sub->older[best] : sub->younger[best]);
        if (!better)
            return best;
        best = (uint32_t)__builtin_ctz(better);
    }
}

static uint32_t greedy_oldest(struct sm *sm, struct subcore *sub, uint32_t ready)
{
    (void)sm;
    return ready >> sub->last & 1 ? sub->last : by_age(sub, ready, true);
}

static uint32_t greedy_youngest(struct sm *sm, struct subcore *sub, uint32_t ready)
{
    (void)sm;
    return ready >> sub->last & 1 ? sub->last : by_age(sub, ready, false);
}

static uint32_t round_robin(struct sm *sm, struct subcore *sub, uint32_t ready)
{
    (void)sm;
    uint32_t behind = sub->last == 31 ? 0 : ready & (UINT32_MAX << (sub->last + 1));
    return (uint32_t)__builtin_ctz(behind ? behind : ready);
}

/* A few warps take turns; one that waits for memory gives its place to the oldest that does not. */
static uint32_t two_level(struct sm *sm, struct subcore *sub, uint32_t ready)
{
    sub->active &= sub->runnable;
    for (uint32_t rest = ready & ~sub->active;
         rest && (uint32_t)__builtin_popcount(sub->active) < sm->config.spec->two_level_active;) {
        uint32_t next = by_age(sub, rest, true);
        sub->active |= UINT32_C(1) << next;
        rest &= ~(UINT32_C(1) << next);
    }
    return round_robin(sm, sub, ready & sub->active ? ready & sub->active : ready);
}

sm_schedule_fn *sm_schedule_policy(uint32_t choice)
{
    static sm_schedule_fn *const policies[] = {greedy_oldest, round_robin, greedy_youngest, two_level};
    return policies[choice]; /* in the order of the row's words */
}
