/* Instruction fetch and constants: which cache has what is next, and how long it takes. */
#include "core/parts.h"

/* Looks in a cache, and puts the line there. True: it was there. */
static bool look(struct tags *tags, uint64_t line)
{
    uint32_t slot = tags_find(tags, line);
    if (slot != TAGS_NONE) {
        tags_touch(tags, slot);
        return true;
    }
    slot = tags_victim(tags, line);
    if (slot != TAGS_NONE)
        tags_fill(tags, slot, line, TAGS_NORMAL);
    return false;
}

/* Straight code streams: a line comes so long after the one before it. Elsewhere a line is waited for. */
uint32_t fetch_wait(struct sm *sm, struct sm_warp *w, uint64_t line)
{
    const struct sm_spec *spec = sm->config.spec;
    bool follows = line == w->code_line + 1;
    uint64_t now = max_u64(sm->cycle, w->since), before = w->code_at, latency, interval;
    w->code_line = line;
    w->code_at = now;
    if (look(sm->subcores[w->place / SUBCORE_WARPS].code, line))
        return 0;
    w->kernel->counters.fetch_misses++;
    if (look(sm->code, line)) {
        latency = spec->l1_code_latency;
        interval = spec->l1_code_interval;
    } else if (look(sm->code_behind, line)) {
        latency = spec->l2_code_latency;
        interval = spec->l2_code_interval;
    } else {
        latency = spec->memory_code_latency;
        interval = spec->memory_code_interval;
    }
    w->code_at = follows ? max_u64(now, before + interval) : now + latency;
    return (uint32_t)(w->code_at - now);
}

/* Parameters are constants, too, and others at each launch. */
#define PARAMS_FROM  (UINT64_C(1) << 45)
#define PARAMS_APART (UINT64_C(1) << 16)

uint32_t constant_wait(struct sm *sm, struct sm_kernel *kernel, const struct request *request)
{
    const struct sm_spec *spec = sm->config.spec;
    uint32_t most = 0;
    uint64_t last = UINT64_MAX;
    EACH_LANE (i, request->constant) {
        uint64_t at = request->constant_at[i];
        at = request->constant_param ? PARAMS_FROM + kernel->serial * PARAMS_APART + at
                                     : memory_physical(sm, at);
        uint64_t line = at / CONSTANT_LINE;
        if (line == last)
            continue;
        last = line;
        if (look(sm->constants, line))
            continue;
        kernel->counters.const_misses++;
        bool behind = look(sm->constants_behind, at / CONSTANT_LINE_BEHIND);
        most = (uint32_t)max_u64(most, behind ? spec->constant_miss_cycles : spec->constant_memory_cycles);
    }
    return most;
}
