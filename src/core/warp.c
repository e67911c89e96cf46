/* A warp in time: when its next operation can issue, what it waits for, and its issue. */
#include "core/parts.h"

#include <string.h>

enum { FREE_OPS_MOST = 4096 }; /* operations without cost in a row, before one costs a cycle after all */

static struct subcore *subcore_of(struct sm *sm, const struct sm_warp *w)
{
    return &sm->subcores[w->subcore];
}

void warp_account(struct sm *sm, struct sm_warp *w, uint64_t until, enum stall why)
{
    (void)sm;
    if (until <= w->since)
        return;
    uint64_t cycles = until - w->since;
    w->since = until;
    w->kernel->counters.stalls[why] += cycles;
    if (w->kernel->profile && w->pending_op != UINT64_MAX)
        w->kernel->profile[w->pending_op].stalls[why] += cycles;
}

void warp_ready(struct sm *sm, struct sm_warp *w, uint64_t at, enum stall why)
{
    struct subcore *sub = subcore_of(sm, w);
    warp_account(sm, w, at, why);
    w->state = WARP_READY;
    sub->ready_at[w->lane] = (uint32_t)at;
    sub->runnable |= UINT32_C(1) << w->lane;
    sub->next_at = min_u64(sub->next_at, at);
}

void warp_block(struct sm *sm, struct sm_warp *w, enum warp_state state, enum stall why)
{
    w->state = (uint8_t)state;
    w->reason = (uint8_t)why;
    subcore_of(sm, w)->runnable &= ~(UINT32_C(1) << w->lane);
}

/* Calls and returns keep to the kernel's own operations in what is counted for each. */
static void note_op(struct sm_warp *w)
{
    const struct kernel *kernel = w->kernel->team->grid.kernel;
    const struct warp *exec = w->exec;
    bool own = exec->code == kernel->codes[kernel->function];
    w->pending_op = own ? (uint64_t)(exec->at - exec->code->ops) : UINT64_MAX;
}

static bool copies_done(const struct sm_warp *w, int64_t allowed)
{
    for (uint32_t g = 0; g < SM_COPY_GROUPS; g++) { /* groups by how long ago they were closed, from 1 on */
        uint32_t ago = w->group - g;
        if (g > w->group)
            break;
        if (w->group_left[ago % SM_COPY_GROUPS] && (int64_t)g > allowed)
            return false;
    }
    return true;
}

/* What the operation waits for beside registers; true: it does wait. */
static bool waits_for_role(struct sm *sm, struct sm_warp *w)
{
    const struct op *op = w->exec->at;
    switch (op->role) {
    case ROLE_FENCE: /* what other threads of the block wrote counts, too: a barrier may stand before it */
    case ROLE_RELEASE:
        if (!w->fence_from)
            w->fence_from = max_u64(sm->cycle, w->since);
        if (!w->block->stores)
            return false;
        w->fence_waited = true;
        warp_block(sm, w, WARP_STORES, STALL_membar);
        return true;
    case ROLE_CALL:
        if (!w->loads)
            return false;
        warp_block(sm, w, WARP_LOADS, STALL_long_scoreboard);
        return true;
    case ROLE_COPIES:
    case ROLE_ALL_COPIES:
        if (copies_done(w, op->role == ROLE_COPIES ? op->value : -1))
            return false;
        warp_block(sm, w, WARP_COPIES, STALL_long_scoreboard);
        return true;
    default:
        return false;
    }
}

/* The cycle from which all registers of the operation can be used, times READY_KINDS plus the kind; or
 * PENDING, with w->waits_for. */
static uint64_t operands_ready(struct sm_warp *w, const struct isa_timing *timing, const uint16_t *registers,
                               uint64_t *sources)
{
    uint64_t ready = 0;
    const uint64_t *board = w->board + w->exec->code->slots_at;
    for (uint32_t i = 0; i < timing->reads; i++) {
        uint64_t at = board[registers[i]];
        if (UNLIKELY(at == PENDING)) {
            w->waits_for = w->exec->code->slots_at + registers[i];
            return PENDING;
        }
        ready = max_u64(ready, at);
    }
    *sources = ready;
    for (uint32_t i = timing->reads; i < (uint32_t)timing->reads + timing->writes; i++) {
        uint64_t at = board[registers[i]];
        if (UNLIKELY(at == PENDING)) {
            w->waits_for = w->exec->code->slots_at + registers[i];
            return PENDING;
        }
        ready = max_u64(ready, at);
    }
    return ready;
}

static enum stall stall_of(uint64_t ready)
{
    static const uint8_t stalls[READY_KINDS] = {STALL_wait, STALL_short_scoreboard, STALL_long_scoreboard};
    return (enum stall)stalls[ready % READY_KINDS];
}

static void warp_ended(struct sm *sm, struct sm_warp *w)
{
    if (w->stores || w->loads) {
        warp_block(sm, w, WARP_DRAIN, STALL_drain);
        return;
    }
    block_warp_left(sm, w);
}

/* Goes to the next operation. False: it waits for others, or has ended. */
static bool settle(struct sm *sm, struct sm_warp *w)
{
    if (warp_settle(w->exec))
        return true;
    if (!w->exec->fragment_count)
        warp_ended(sm, w);
    else {
        warp_block(sm, w, WARP_BARRIER, STALL_barrier);
        w->block->waiting++;
    }
    return false;
}

void warp_prepare(struct sm *sm, struct sm_warp *w)
{
    uint64_t earliest = max_u64(sm->cycle, w->since);
    for (uint32_t free_ops = 0;; free_ops++) {
        const struct code *code = w->exec->code;
        const struct isa_timing *timing = &code->timing[w->exec->at - code->ops];
        const uint16_t *registers = code->timing_registers + timing->registers;
        uint64_t sources = 0, ready = operands_ready(w, timing, registers, &sources);
        note_op(w);
        if (UNLIKELY(ready == PENDING)) {
            warp_block(sm, w, WARP_REGISTER, STALL_long_scoreboard);
            return;
        }
        if (UNLIKELY(w->exec->at->role) && waits_for_role(sm, w))
            return;
        if (LIKELY(timing->steps) || free_ops == FREE_OPS_MOST) {
            uint64_t at = max_u64(earliest, ready / READY_KINDS);
            if (w->exec->at->kind == OP_BRANCH && ready)
                at = max_u64(earliest, ready / READY_KINDS + sm->config.spec->branch_guard_cycles);
            if (UNLIKELY(w->code_line != fetch_line_of(w))) {
                uint32_t wait = fetch_wait(sm, w);
                if (wait) {
                    warp_account(sm, w, at, stall_of(ready));
                    warp_ready(sm, w, max_u64(at, earliest + wait), STALL_no_instruction);
                    return;
                }
            }
            warp_ready(sm, w, at, stall_of(ready));
            return;
        }
        struct stepped stepped; /* it is part of another machine instruction, or of none */
        uint32_t slots_at = code->slots_at;
        struct sm_block *block = w->block;
        warp_step(w->exec, &stepped);
        warp_set_results(w, slots_at, timing, registers, sources);
        bool goes_on = !stepped.moved || settle(sm, w);
        if (stepped.moved && block->waiting) /* it may have been the last that others waited for */
            block_wake_others(sm, block);
        if (!goes_on)
            return;
    }
}

void warp_release(struct sm *sm, struct sm_warp *w)
{
    switch ((enum warp_state)w->state) {
    case WARP_REGISTER:
        if (w->board[w->waits_for] == PENDING)
            return;
        break;
    case WARP_STORES:
        if (w->block->stores)
            return;
        break;
    case WARP_LOADS:
        if (w->loads)
            return;
        break;
    case WARP_COPIES:
        break;
    case WARP_DRAIN:
        if (!w->stores && !w->loads) {
            warp_account(sm, w, sm->cycle, STALL_drain);
            block_warp_left(sm, w);
        }
        return;
    default:
        return;
    }
    warp_account(sm, w, sm->cycle, (enum stall)w->reason);
    warp_prepare(sm, w);
}

/* Counting what was issued */
static void count_issue(struct sm_warp *w, const struct isa_step *step, uint32_t active, uint32_t on)
{
    struct sm_counters *counters = &w->kernel->counters;
    counters->instructions++;
    counters->thread_instructions += active;
    counters->thread_instructions_on += on;
    counters->by_unit[step->unit]++;
    counters->lanes_active[on]++;
    counters->stalls[STALL_selected]++;
    if (w->kernel->profile && w->pending_op != UINT64_MAX) {
        w->kernel->profile[w->pending_op].issued++;
        w->kernel->profile[w->pending_op].stalls[STALL_selected]++;
    }
}

static enum stall throttle_of(uint32_t unit)
{
    return unit == UNIT_LSU                                                   ? STALL_lg_throttle
           : unit == UNIT_TEX                                                 ? STALL_tex_throttle
           : unit == UNIT_SHUFFLE || unit == UNIT_SPECIAL || unit == UNIT_SFU ? STALL_mio_throttle
                                                                              : STALL_math_pipe_throttle;
}

static enum ready_kind kind_of(uint32_t unit)
{
    switch (unit) {
    case UNIT_SFU:
    case UNIT_CVT:
    case UNIT_SHUFFLE:
    case UNIT_SPECIAL:
    case UNIT_CONST:
    case UNIT_LSU:
    case UNIT_VOTE:
        return READY_SHORT;
    case UNIT_TEX:
        return READY_LONG;
    default:
        return READY_FIXED;
    }
}

/* Cycles that reading an instruction's registers takes beyond the first: a bank gives so many at a time. What
 * the same warp's instruction just read is still at hand. */
static uint32_t bank_wait(const struct sm *sm, struct subcore *sub, const struct sm_warp *w,
                          const uint16_t *registers, uint32_t count)
{
    const struct sm_spec *spec = sm->config.spec;
    uint32_t banks = (uint32_t)spec->register_banks, most = 0;
    uint8_t reads[16] = {0};
    for (uint32_t i = 0; i < count; i++) {
        bool again = false;
        if (spec->operand_reuse && sub->reader == w)
            for (uint32_t k = 0; k < sub->read_count; k++)
                again |= sub->read[k] == registers[i];
        if (!again) {
            uint8_t *bank = &reads[registers[i] % banks];
            most = ++*bank > most ? *bank : most;
        }
    }
    sub->reader = w;
    sub->read_count = (uint8_t)min_u64(count, COUNT_OF(sub->read));
    memcpy(sub->read, registers, sub->read_count * sizeof *registers);
    return most ? (most - 1) / (uint32_t)spec->register_ports : 0;
}

/* When the units an instruction needs can take it: those of variable latency have a queue. */
static uint64_t units_free(struct sm *sm, struct subcore *sub, uint32_t unit)
{
    uint64_t when = max_u64(sub->unit_free[unit], sm->shared_free[unit]);
    if (unit == UNIT_LSU) {
        when = max_u64(when, memory_room_at(sm, sub));
    } else if (kind_of(unit) == READY_SHORT) {
        uint64_t queued = sm->config.spec->queue * sm->cost[unit].interval;
        when = when > queued ? when - queued : 0;
    }
    return when;
}

/* Gives the cycle in which the unit begins. */
static uint64_t take_units(struct sm *sm, struct subcore *sub, uint32_t unit)
{
    uint64_t begins = max_u64(sm->cycle, sub->unit_free[unit]);
    if (sm->cost[unit].shared) {
        begins = max_u64(begins, sm->shared_free[unit]);
        sm->shared_free[unit] = begins + sm->cost[unit].shared;
    }
    sub->unit_free[unit] = begins + sm->cost[unit].interval;
    return begins;
}

/* A fence takes a while even when there was nothing to wait for, and those of an SM begin one by one. */
static uint64_t fence_left(struct sm *sm, struct sm_warp *w, bool is_system)
{
    const struct sm_spec *spec = sm->config.spec;
    uint64_t begins = max_u64(sm->fence_free, sm->cycle);
    sm->fence_free = begins + (is_system ? spec->fence_system_shared_cycles : spec->fence_shared_cycles);
    uint64_t done = w->fence_from + (is_system ? spec->fence_system_cycles : spec->fence_cycles);
    if (w->fence_waited)
        done = max_u64(done, sm->cycle + spec->fence_after_cycles);
    done += begins - sm->cycle;
    w->fence_from = 0;
    w->fence_waited = false;
    return done > sm->cycle ? done - sm->cycle : 0;
}

/* The warp stands behind the operation, or wherever it went; when can it go on? */
static void go_on(struct sm *sm, struct sm_warp *w, const struct stepped *stepped, const struct op *op)
{
    const struct sm_spec *spec = sm->config.spec;
    struct sm_counters *counters = &w->kernel->counters;
    uint64_t wait = 0;
    enum stall why = STALL_branch_resolving;
    if (op->kind == OP_BRANCH) {
        counters->branches++;
        counters->divergent_branches += stepped->diverged;
        if (stepped->branched)
            wait = sm->cost[UNIT_CONTROL].latency + spec->branch_taken_cycles;
        if (stepped->diverged)
            wait += spec->diverge_cycles;
    } else if (op->role == ROLE_SLEEP) {
        wait = spec->sleep_cycles;
        why = STALL_sleeping;
    } else if (op->role == ROLE_FENCE) {
        wait = fence_left(sm, w, op->value);
        why = STALL_membar;
        l1_forget(sm);
    } else if (op->role == ROLE_RELEASE) {
        w->fence_from = 0;
        w->fence_waited = false;
    } else if (op->role == ROLE_FENCE_BLOCK) {
        wait = spec->fence_block_cycles;
        why = STALL_membar;
    } else if (op->role == ROLE_BARRIER) {
        wait = sm->cost[UNIT_SYNC].latency;
        why = STALL_barrier;
    } else if (op->role == ROLE_COMMIT) {
        w->group++;
    }
    struct sm_block *block = w->block;
    if (wait && !stepped->waits)
        warp_account(sm, w, sm->cycle + wait, why);
    sm->cycle++;
    if (!stepped->moved || settle(sm, w))
        warp_prepare(sm, w);
    sm->cycle--;
    if (block->waiting)
        block_wake_others(sm, block);
}

/* Another machine instruction of the operation under way. */
static void issue_further(struct sm *sm, struct sm_warp *w, uint64_t begins)
{
    const struct isa_timing *timing = w->timing;
    const struct isa_step *step = &w->steps[w->step];
    const struct unit_cost *cost = &sm->cost[step->unit];
    uint32_t on = count_lanes(w->exec->active);
    count_issue(w, step, on, on);
    w->since = sm->cycle + 1;
    w->result_at = max_u64(w->result_at, (begins + cost->latency) * READY_KINDS + kind_of(step->unit));
    w->step++;
    if (w->step < timing->steps) {
        bool chained = w->steps[w->step].flags & STEP_CHAINED;
        warp_ready(sm, w, chained ? begins + cost->latency : sm->cycle + 1, STALL_wait);
        return;
    }
    w->step = 0;
    const struct code *code = w->under_way;
    if (!w->memory_result)
        warp_set_results(w, code->slots_at, timing, code->timing_registers + timing->registers, w->result_at);
    go_on(sm, w, &w->stepped, w->op);
}

bool warp_issue(struct sm *sm, struct subcore *sub, struct sm_warp *w)
{
    struct warp *exec = w->exec;
    const struct code *code = exec->code;
    const struct op *op = exec->at;
    bool first = !w->step;
    const struct isa_timing *timing = first ? &code->timing[op - code->ops] : w->timing;
    const struct isa_step *step = first ? &code->steps[timing->first_step] : &w->steps[w->step];
    uint64_t free_at = units_free(sm, sub, step->unit);
    if (free_at > sm->cycle) {
        warp_account(sm, w, sm->cycle, STALL_not_selected);
        warp_ready(sm, w, free_at, throttle_of(step->unit));
        return false;
    }
    if ((step->unit == UNIT_LSU || step->unit == UNIT_TEX) && UNLIKELY(memory_is_full(sm))) {
        warp_account(sm, w, sm->cycle, STALL_not_selected);
        warp_block(sm, w, WARP_ROOM, throttle_of(step->unit));
        sm->room_wanted = true;
        return false;
    }
    if (UNLIKELY(sub->dispatch_free > sm->cycle)) {
        warp_account(sm, w, sm->cycle, STALL_not_selected);
        warp_ready(sm, w, sub->dispatch_free, STALL_dispatch_stall);
        return false;
    }
    warp_account(sm, w, sm->cycle, STALL_not_selected);
    uint64_t begins = take_units(sm, sub, step->unit);
    if (!first) {
        issue_further(sm, w, begins);
        return true;
    }
    struct stepped stepped;
    struct request *request = &w->kernel->team->request;
    const uint16_t *registers = code->timing_registers + timing->registers;
    if (timing->reads > sm->config.spec->register_ports)
        sub->dispatch_free = sm->cycle + 1 + bank_wait(sm, sub, w, registers, timing->reads);
    uint32_t active = count_lanes(exec->active);
    warp_step(exec, &stepped);
    count_issue(w, step, active, count_lanes(stepped.mask));
    w->since = sm->cycle + 1;
    const struct unit_cost *cost = &sm->cost[step->unit];
    bool memory = request->of.kind || request->shared || request->local || request->constant;
    w->under_way = code;
    if (memory)
        memory_issue(sm, w, timing, registers);
    else if (timing->steps == 1)
        warp_set_results(w, code->slots_at, timing, registers,
                         (begins + cost->latency) * READY_KINDS + kind_of(step->unit));
    if (UNLIKELY(w->kernel->team->worker->printed->length != w->kernel->text_seen))
        kernel_note_print(sm, w->kernel);
    if (timing->steps > 1) {
        w->timing = timing;
        w->steps = step;
        w->step = 1;
        w->stepped = stepped;
        w->op = op;
        w->memory_result = memory;
        w->result_at = (begins + cost->latency) * READY_KINDS + kind_of(step->unit);
        bool chained = step[1].flags & STEP_CHAINED;
        warp_ready(sm, w, chained ? begins + cost->latency : sm->cycle + 1, STALL_wait);
        return true;
    }
    go_on(sm, w, &stepped, op);
    return true;
}
