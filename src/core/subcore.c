/* A sub-core's cycle: which of its warps issues, and what those wait for that cannot. */
#include "core/parts.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Warps whose time has come, a bit each; of all, if need be. */
static uint32_t due(const struct subcore *sub, uint32_t now)
{
    uint32_t mask = 0;
#ifdef __SSE2__
    __m128i at = _mm_set1_epi32((int)now);
    for (uint32_t i = 0; i < SUBCORE_WARPS; i += 4) {
        if (!(sub->runnable >> i & 15))
            continue;
        __m128i late = _mm_sub_epi32(at, _mm_loadu_si128((const __m128i *)(const void *)&sub->ready_at[i]));
        mask |= (~(uint32_t)_mm_movemask_ps(_mm_castsi128_ps(late)) & 15) << i;
    }
#else
    for (uint32_t i = 0; i < SUBCORE_WARPS; i++)
        mask |= (uint32_t)((int32_t)(now - sub->ready_at[i]) >= 0) << i;
#endif
    return mask & sub->runnable;
}

static uint64_t next_due(const struct subcore *sub, uint64_t now)
{
    int32_t least = INT32_MAX;
    for (uint32_t rest = sub->runnable; rest; rest &= rest - 1) {
        int32_t wait = (int32_t)(sub->ready_at[__builtin_ctz(rest)] - (uint32_t)now);
        least = wait < least ? wait : least;
    }
    return sub->runnable ? now + (uint64_t)least : UINT64_MAX;
}

/* When the units an instruction needs can take it: those of variable latency have a queue. */
static inline uint64_t units_free(const struct sm *sm, const struct subcore *sub,
                                  const struct unit_cost *cost)
{
    uint64_t when = max_u64(sub->unit_free[cost->place], sm->shared_free[cost->place]);
    if (cost->does == UNIT_DOES_MEMORY_QUEUE) {
        when = max_u64(when, lsu_room_at(sub));
    } else if (cost->result == RESULT_SHORT || cost->result == RESULT_QUEUE) {
        uint64_t queued = sm->config.spec->queue * cost->interval;
        when = when > queued ? when - queued : 0;
    }
    return when;
}

/* A warp could have issued until now, and waits for its unit from now on. */
static inline void put_off(const struct sm *sm, struct subcore *sub, uint32_t lane, struct sm_warp *w,
                           uint64_t until)
{
    sm_warp_account(w, sm->cycle, STALL_not_selected);
    sm_warp_account(w, until, (enum stall)sub->throttle[lane]);
    w->reason = sub->throttle[lane];
    sub->ready_at[lane] = (uint32_t)until;
}

/* Whether it is a sub-core's turn; if not, when it is. */
static bool subcore_turn(struct sm *sm, uint32_t s)
{
    if (LIKELY(sm->turn_cycles == 1))
        return true;
    uint64_t turn = sm->turn_cycles, wait = (s + turn - sm->cycle % turn) % turn;
    if (!wait)
        return true;
    sm->next_at[s] = sm->cycle + wait;
    return false;
}

/* No registers can be read in this cycle: whoever could issue waits, for that or for its unit. */
static void __attribute__((noinline)) hold_all(struct sm *sm, uint32_t s, uint32_t ready)
{
    struct subcore *sub = &sm->subcores[s];
    for (; ready; ready &= ready - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(ready);
        struct sm_warp *w = sm_warp_of(sm, s, lane);
        uint64_t free_at = units_free(sm, sub, &sm->cost[sub->unit[lane]]);
        if (free_at > sm->cycle)
            put_off(sm, sub, lane, w, free_at);
        else
            (void)sm_warp_issue(sm, sub, w); /* which says what it waits for */
    }
    sm->next_at[s] = next_due(sub, sm->cycle);
}

/* Issues one instruction each of up to turn_issues warps. */
void subcore_issue(struct sm *sm, uint32_t s, sm_schedule_fn *schedule)
{
    if (!subcore_turn(sm, s))
        return;
    struct subcore *sub = &sm->subcores[s];
    uint32_t ready = due(sub, (uint32_t)sm->cycle), left = sm->turn_issues;
    sm->next_at[s] = UINT64_MAX;
    if (UNLIKELY(sub->dispatch_free > sm->cycle)) {
        hold_all(sm, s, ready);
        return;
    }
    while (ready) {
        uint32_t lane = schedule(sm, sub, ready);
        struct sm_warp *w = sm_warp_of(sm, s, lane);
        uint64_t free_at = units_free(sm, sub, &sm->cost[sub->unit[lane]]);
        ready &= ~(UINT32_C(1) << lane);
        if (free_at > sm->cycle) {
            put_off(sm, sub, lane, w, free_at);
        } else if (sm_warp_issue(sm, sub, w)) {
            sub->last = lane;
            if (!--left) {
                sm->next_at[s] = sm->cycle + 1;
                return;
            }
        }
    }
    bool issued = left < sm->turn_issues; /* a warp that it woke waits for the next cycle */
    sm->next_at[s] = max_u64(next_due(sub, sm->cycle), sm->cycle + issued);
}
