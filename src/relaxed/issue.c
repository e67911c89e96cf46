/* The queues of an SM, and the units that warps take (algorithm 2 of GpuTejas). A warp that is ready asks for
 * the unit of its next instruction. If it gets it, it executes, and comes back when the instruction after it
 * can issue: all latencies are known at once, since ports give the cycles in which memory is at hand. */
#include "relaxed/parts.h"

enum { FREE_MOST = 4096 }; /* instructions without cost in a row, before one costs a cycle after all */

/* ---- queues ---- */

static struct relaxed_due *due_at(const struct relaxed_part *part, uint64_t bucket, uint32_t s)
{
    return &part->wheel[bucket * part->gpu->spec.subcores + s];
}

static void enqueue(struct relaxed_part *part, const struct relaxed_warp *w, uint64_t at)
{
    uint32_t s = w->subcore;
    uint64_t bit = UINT64_C(1) << w->slot;
    if (at <= part->clock) {
        part->ready[s] |= bit;
        return;
    }
    uint64_t bucket = (at - part->clock < WHEEL ? at : part->clock + WHEEL - 1) % WHEEL;
    part->wake_at[s][w->slot] = at;
    due_at(part, bucket, s)->warps |= bit;
    part->used[bucket / 64] |= UINT64_C(1) << bucket % 64;
}

/* A machine instruction of the warp's next one. */
static const struct isa_step *step_of(const struct relaxed_warp *w, uint32_t number)
{
    static const struct isa_step none = {UNIT_ALU, 0}; /* of one that costs a cycle after all */
    return LIKELY(w->timing->steps) ? &w->code->steps[w->timing->first_step + number] : &none;
}

/* The unit that the warp's next instruction takes. */
static void note_unit(struct relaxed_part *part, struct relaxed_warp *w, const struct isa_step *step)
{
    uint8_t place = part->gpu->spec.units[step->unit].place;
    uint64_t bit = UINT64_C(1) << w->slot;
    part->wants[w->subcore][w->place] &= ~bit;
    part->wants[w->subcore][place] |= bit;
    w->place = place;
}

/* The unit is busy until then: all ready warps that want it wait. */
static void park(struct relaxed_part *part, uint32_t s, uint32_t place, uint64_t until)
{
    uint64_t who = part->ready[s] & part->wants[s][place];
    uint64_t bucket = (until - part->clock < WHEEL ? until : part->clock + WHEEL - 1) % WHEEL;
    part->counts.refused++;
    part->ready[s] &= ~who;
    part->parked[s][place] |= who;
    due_at(part, bucket, s)->units |= UINT64_C(1) << place;
    part->used[bucket / 64] |= UINT64_C(1) << bucket % 64;
}

/* Warps whose time has come go from the execute queue to the ready queue. */
static void take_due(struct relaxed_part *part)
{
    uint64_t bucket = part->clock % WHEEL;
    if (LIKELY(!(part->used[bucket / 64] >> bucket % 64 & 1)))
        return;
    part->used[bucket / 64] &= ~(UINT64_C(1) << bucket % 64);
    for (uint32_t s = 0; s < part->gpu->spec.subcores; s++) {
        struct relaxed_due *at = due_at(part, bucket, s);
        uint64_t due = at->warps, units = at->units;
        *at = (struct relaxed_due){0, 0};
        for (uint64_t left = due; left; left &= left - 1) {
            uint32_t slot = (uint32_t)__builtin_ctzll(left);
            if (UNLIKELY(part->wake_at[s][slot] > part->clock)) { /* farther than the wheel reaches */
                due &= ~(UINT64_C(1) << slot);
                enqueue(part, relaxed_warp_at(part, s, slot), part->wake_at[s][slot]);
            }
        }
        part->ready[s] |= due;
        for (; units; units &= units - 1) {
            uint32_t place = (uint32_t)__builtin_ctzll(units);
            part->ready[s] |= part->parked[s][place];
            part->parked[s][place] = 0;
        }
    }
}

/* The next cycle in which a warp comes back; 0: none does. */
static uint64_t next_due(const struct relaxed_part *part)
{
    uint64_t first = (part->clock + 1) % WHEEL, distance = 1;
    for (uint32_t i = 0; i <= WHEEL / 64; i++) {
        uint64_t bits = part->used[first / 64] >> first % 64;
        if (bits)
            return part->clock + distance + (uint64_t)__builtin_ctzll(bits);
        distance += 64 - first % 64;
        first = (first / 64 + 1) * 64 % WHEEL;
    }
    return 0;
}

/* ---- when an instruction can issue ---- */

static uint64_t fence_done(const struct relaxed_part *part, const struct relaxed_warp *w, uint64_t from,
                           uint64_t now, bool is_system)
{
    const struct relaxed_spec *spec = &part->gpu->spec;
    uint64_t done = from + (is_system ? spec->fence_system_cycles : spec->fence_cycles);
    uint64_t written = part->blocks[w->block].written;
    return written > from ? max_u64(done, max_u64(now, written) + spec->fence_after_cycles) : done;
}

static uint64_t counted_ready(const struct relaxed_warp *w, uint32_t counter, uint32_t allowed)
{
    uint32_t begun = w->counted[counter];
    return begun > allowed && allowed < ISA_COUNTED
               ? w->counted_at[counter][(begun - allowed - 1) % ISA_COUNTED]
               : 0;
}

static uint64_t copies_ready(const struct relaxed_warp *w, uint32_t allowed, bool all)
{
    uint64_t at = 0;
    for (uint32_t ago = all ? 0 : allowed + 1; ago < COPY_GROUPS && ago <= w->group; ago++)
        at = max_u64(at, w->group_at[(w->group - ago) % COPY_GROUPS]);
    return at;
}

/* The cycle from which on the instruction has what it waits for beside registers. */
static uint64_t role_ready(const struct relaxed_part *part, const struct relaxed_warp *w, uint64_t at)
{
    const struct isa_timing *timing = w->timing;
    uint64_t ready = at;
    switch ((enum isa_role)timing->role) {
    case ROLE_FENCE:
    case ROLE_FENCE_SYSTEM:
        return max_u64(ready, max_u64(w->loaded, part->blocks[w->block].written));
    case ROLE_RELEASE:
        return fence_done(part, w, at, max_u64(ready, w->loaded), false);
    case ROLE_CALL:
        return max_u64(ready, w->loaded);
    case ROLE_COPIES:
        return max_u64(ready, copies_ready(w, timing->role_count, false));
    case ROLE_ALL_COPIES:
        return max_u64(ready, copies_ready(w, 0, true));
    case ROLE_WAIT:
        for (uint32_t i = 0; i < ISA_COUNTERS; i++)
            if (timing->counters >> i & 1)
                ready = max_u64(ready, counted_ready(w, i, timing->role_count >> 8 * i & 0xff));
        return ready;
    default:
        return ready;
    }
}

/* The cycle from which on all registers can be used; *sources: those that it reads. */
static uint64_t operands_ready(const struct relaxed_part *part, const struct relaxed_warp *w,
                               uint64_t *sources)
{
    const struct isa_timing *timing = w->timing;
    const uint16_t *registers = w->code->registers + timing->registers;
    const uint64_t *board = w->board + w->code->slots_at;
    uint64_t ready = 0;
    uint32_t i = 0;
    for (; i < timing->reads; i++) {
        uint64_t at = board[registers[i]];
        if (i < timing->guards && at)
            at += part->gpu->spec.guard_cycles;
        ready = max_u64(ready, at);
    }
    *sources = ready;
    for (; i < (uint32_t)timing->reads + timing->writes; i++)
        ready = max_u64(ready, board[registers[i]]);
    return ready;
}

static void set_results(struct relaxed_warp *w, uint64_t at)
{
    const struct isa_timing *timing = w->timing;
    const uint16_t *registers = w->code->registers + timing->registers;
    uint64_t *board = w->board + w->code->slots_at;
    for (uint32_t i = timing->reads; i < (uint32_t)timing->reads + timing->writes; i++)
        board[registers[i]] = at;
}

/* Goes to the next instruction. False: the warp is inactive, or has ended and is not to be touched. */
static bool settle(struct relaxed_part *part, struct relaxed_warp *w)
{
    bool ended;
    if (LIKELY(relaxed_settle(part, w, &ended)))
        return true;
    if (ended) {
        relaxed_warp_ended(part, w);
    } else {
        part->counts.inactive++;
        part->blocks[w->block].waiting[w->subcore] |= UINT64_C(1) << w->slot;
    }
    return false;
}

void relaxed_prepare(struct relaxed_part *part, struct relaxed_warp *w)
{
    for (uint32_t free_ones = 0;; free_ones++) {
        const struct isa_timing *timing = w->timing;
        uint64_t sources, at = max_u64(w->earliest, operands_ready(part, w, &sources));
        if (UNLIKELY(timing->role))
            at = role_ready(part, w, at);
        if (LIKELY(timing->steps) || free_ones == FREE_MOST) {
            uint64_t line = relaxed_code_line(part, w->code, timing->first_step);
            if (UNLIKELY(line != w->code_line))
                at = max_u64(at, relaxed_fetch(part, w, line, max_u64(w->earliest, part->clock)));
            note_unit(part, w, step_of(w, 0));
            enqueue(part, w, at);
            return;
        }
        relaxed_step(part, w); /* it is part of another machine instruction, or of none */
        set_results(w, sources);
        if (!timing->plain)
            request_clear(&part->request);
        if (!settle(part, w))
            return;
    }
}

/* ---- units ---- */

/* Takes the unit, and the sub-core's turn to issue. False: not now, but *at may do. */
static bool take_own_unit(struct relaxed_part *part, uint32_t s, const struct relaxed_unit *unit,
                          uint64_t *at)
{
    uint64_t when = max_u64(part->unit_free[s][unit->place], part->common_free[unit->place]);
    if (unit->queues) {
        uint64_t queued = (uint64_t)part->gpu->spec.queue * unit->interval;
        when = when > queued ? when - queued : 0;
    }
    if (when > part->clock) {
        *at = when;
        return false;
    }
    uint64_t begins = max_u64(part->clock, part->unit_free[s][unit->place]);
    if (unit->shared) {
        begins = max_u64(begins, part->common_free[unit->place]);
        part->common_free[unit->place] = begins + unit->shared;
    }
    part->unit_free[s][unit->place] = begins + unit->interval;
    *at = begins;
    return true;
}

/* The same of an SM that other threads have parts of. */
static bool take_shared_unit(struct relaxed_part *part, uint32_t s, const struct relaxed_unit *unit,
                             uint64_t *at)
{
    struct relaxed_sm *sm = part->sm;
    struct relaxed_port_counts *counts = &part->counts.ports;
    uint64_t begins = part->clock;
    uint32_t carry = 0; /* units are taken for whole cycles */
    *at = part->clock + 1;
    if (!relaxed_port_try(&sm->issue[s], part->clock, 1, counts))
        return false;
    struct relaxed_port *own = &sm->units[s * UNIT_COUNT + unit->place];
    if (unit->queues)
        begins = relaxed_port_reserve(own, begins, (uint64_t)unit->interval * RELAXED_PARTS, &carry, counts);
    else if (!relaxed_port_try(own, begins, unit->interval, counts))
        return false;
    if (unit->shared)
        begins = relaxed_port_reserve(&sm->common[unit->place], begins,
                                      (uint64_t)unit->shared * RELAXED_PARTS, &carry, counts);
    *at = begins;
    return true;
}

static bool take_unit(struct relaxed_part *part, struct relaxed_warp *w, const struct relaxed_unit *unit,
                      uint64_t *begins)
{
    uint32_t s = w->subcore;
    bool is_memory = unit->does == UNIT_DOES_MEMORY || unit->does == UNIT_DOES_MEMORY_QUEUE;
    uint64_t at = is_memory ? relaxed_access_room(part, w) : 0;
    if (LIKELY(at <= part->clock) && (LIKELY(part->sm->parts == 1) ? take_own_unit(part, s, unit, &at)
                                                                   : take_shared_unit(part, s, unit, &at))) {
        *begins = at;
        return true;
    }
    park(part, s, w->place, at);
    return false;
}

/* ---- issue ---- */

static void count_issue(struct relaxed_part *part, const struct relaxed_unit *unit, lane_mask lanes)
{
    part->counts.instructions++;
    part->counts.classes[unit->class]++;
    part->counts.lanes[isa_count_lanes(lanes)]++;
}

/* How long an instruction holds its warp up once it has issued. */
static uint64_t held_for(struct relaxed_part *part, struct relaxed_warp *w, const struct relaxed_unit *unit)
{
    const struct relaxed_spec *spec = &part->gpu->spec;
    uint64_t wait = unit->does == UNIT_DOES_JUMP ? unit->latency : 0;
    switch ((enum isa_role)w->timing->role) {
    case ROLE_BRANCH:
        if (w->branched)
            wait = spec->units[UNIT_CONTROL].latency + spec->branch_taken_cycles;
        return wait + (w->diverged ? spec->diverge_cycles : 0);
    case ROLE_SLEEP:
        return wait + (uint64_t)(w->sleep_ns * spec->cycles_per_ns) + spec->sleep_cycles;
    case ROLE_FENCE:
    case ROLE_FENCE_SYSTEM:
        if (part->sm->parts == 1 && part->sm->l1.tags)
            tags_drop_all(part->sm->l1.tags);
        return wait + fence_done(part, w, part->clock, part->clock, w->timing->role == ROLE_FENCE_SYSTEM) -
               part->clock;
    case ROLE_FENCE_BLOCK:
        return wait + spec->fence_block_cycles;
    case ROLE_BARRIER:
        return wait + spec->units[UNIT_SYNC].latency;
    case ROLE_COMMIT:
        w->group++;
        w->group_at[w->group % COPY_GROUPS] = 0;
        return wait;
    default:
        return wait;
    }
}

static void go_on(struct relaxed_part *part, struct relaxed_warp *w, const struct relaxed_unit *unit)
{
    uint64_t wait = w->timing->role || unit->does == UNIT_DOES_JUMP ? held_for(part, w, unit) : 0;
    w->earliest = part->clock + max_u64(wait, 1);
    if (settle(part, w))
        relaxed_prepare(part, w);
}

static uint64_t step_needs(const struct relaxed_part *part, const struct relaxed_warp *w,
                           const struct isa_step *step)
{
    if (step->flags & STEP_GUARDED)
        return w->chain_at + part->gpu->spec.guard_cycles;
    if (step->flags & STEP_CHAINED)
        return w->chain_at;
    return step->flags & STEP_JOINS ? w->result_at : 0;
}

/* A step of an instruction that becomes several: when others can use its result. */
static void note_step(const struct relaxed_part *part, struct relaxed_warp *w, const struct isa_step *step,
                      uint64_t begins)
{
    if (step->flags & STEP_BESIDE)
        return;
    if (step->flags & STEP_FLOWS)
        begins = max_u64(begins, step_needs(part, w, step));
    w->chain_at = begins + part->gpu->spec.units[step->unit].latency;
    w->result_at = max_u64(w->result_at, w->chain_at);
}

/* The first step of an instruction does what it does; those behind it take time. */
static void execute(struct relaxed_part *part, struct relaxed_warp *w, const struct relaxed_unit *unit,
                    uint64_t begins)
{
    struct request *request = &part->request;
    lane_mask mask = relaxed_step(part, w);
    bool memory =
        !w->timing->plain && (request->of.kind || request->shared || request->local || request->param);
    count_issue(part, unit, mask);
    w->memory_result = memory;
    if (memory) {
        relaxed_lap(part, RELAXED_TIME_pipeline);
        set_results(w, relaxed_access(part, w));
        request_clear(request);
        relaxed_lap(part, RELAXED_TIME_memory);
    } else if (w->timing->steps == 1) {
        set_results(w, begins + unit->latency);
    }
}

/* The warp's next machine instruction. False: it did not get its unit. */
static bool issue(struct relaxed_part *part, struct relaxed_warp *w)
{
    const struct isa_timing *timing = w->timing;
    const struct isa_step *step = step_of(w, w->step);
    const struct relaxed_unit *unit = &part->gpu->spec.units[step->unit];
    uint64_t begins;
    if (!take_unit(part, w, unit, &begins))
        return false;
    part->ready[w->subcore] &= ~(UINT64_C(1) << w->slot);
    relaxed_lap(part, RELAXED_TIME_scheduling);
    if (unit->does == UNIT_DOES_HOLDS_ISSUE)
        part->issue_free[w->subcore] = part->clock + part->gpu->spec.wide_issue_cycles;
    if (!w->step) {
        w->result_at = w->chain_at = 0;
        execute(part, w, unit, begins);
    } else {
        count_issue(part, unit, w->active);
    }
    if (timing->steps > 1) {
        note_step(part, w, step, begins);
        if (++w->step < timing->steps) {
            step++;
            uint64_t needs = step->flags & STEP_FLOWS ? 0 : step_needs(part, w, step);
            note_unit(part, w, step);
            enqueue(part, w, max_u64(needs, part->clock + 1));
            relaxed_lap(part, RELAXED_TIME_pipeline);
            return true;
        }
        w->step = 0;
        w->code_line = relaxed_code_line(part, w->code, timing->first_step + timing->steps - 1u);
        if (!w->memory_result)
            set_results(w, w->result_at);
    }
    go_on(part, w, unit);
    relaxed_lap(part, RELAXED_TIME_pipeline);
    return true;
}

/* Of those that are ready, the one whose turn it is. */
static uint32_t choose(const struct relaxed_part *part, uint32_t s, uint64_t ready)
{
    uint32_t last = part->last[s], best;
    if (!part->gpu->spec.oldest_first) {
        uint64_t behind = last < 63 ? ready & UINT64_MAX << (last + 1) : 0;
        return (uint32_t)__builtin_ctzll(behind ? behind : ready);
    }
    if (ready >> last & 1)
        return last;
    best = (uint32_t)__builtin_ctzll(ready);
    for (ready &= ready - 1; ready; ready &= ready - 1) {
        uint32_t slot = (uint32_t)__builtin_ctzll(ready);
        if (relaxed_warp_at(part, s, slot)->age < relaxed_warp_at(part, s, best)->age)
            best = slot;
    }
    return best;
}

/* What a sub-core issues in a cycle. */
static void issue_some(struct relaxed_part *part, uint32_t s)
{
    const struct relaxed_spec *spec = &part->gpu->spec;
    if (part->issue_free[s] > part->clock || (spec->turn_cycles > 1 && (part->clock + s) % spec->turn_cycles))
        return;
    for (uint32_t left = spec->turn_issues; left && part->ready[s];) {
        uint32_t slot = choose(part, s, part->ready[s]);
        if (issue(part, relaxed_warp_at(part, s, slot))) {
            part->last[s] = slot;
            left--;
        }
        if (part->issue_free[s] > part->clock)
            break;
    }
}

bool relaxed_part_run(struct relaxed_part *part, uint64_t until)
{
    const uint32_t subcores = part->gpu->spec.subcores;
    while (part->clock < until) {
        uint64_t ready = 0;
        take_due(part);
        for (uint32_t s = 0; s < subcores; s++) {
            if (part->ready[s])
                issue_some(part, s);
            ready |= part->ready[s];
        }
        if (UNLIKELY(!part->blocks_now))
            return false;
        if (ready) {
            part->clock++;
            continue;
        }
        uint64_t next = next_due(part);
        if (UNLIKELY(!next)) {
            relaxed_fail(part->gpu, "the trace is damaged: warps of a block wait for each other in vain");
            return false;
        }
        part->clock = min_u64(next, until);
    }
    return true;
}
