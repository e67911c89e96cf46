/* The timing of a warp: when its next operation can issue, what it waits for, and its issue. */
#include "core/counted.h"

#include <string.h>

enum { FREE_OPS_MOST = 4096 }; /* operations without cost in a row, before one costs a cycle after all */

static enum stall throttle_of(const struct sm *sm, const struct isa_step *step)
{
    return step->flags & STEP_SHARED ? STALL_mio_throttle : (enum stall)sm->cost[step->unit].busy;
}

/* Of a warp of this sub-core. */
static inline void can_issue(const struct sm *sm, struct subcore *sub, struct sm_warp *w, uint64_t at,
                             enum stall why)
{
    uint32_t lane = w->place % SUBCORE_WARPS;
    const struct isa_step *step = &w->steps[w->step];
    sm_warp_account(w, at, why);
    w->state = WARP_READY;
    w->reason = (uint8_t)why;
    sub->ready_at[lane] = (uint32_t)at;
    sub->runnable |= UINT32_C(1) << lane;
    sub->unit[lane] = step->unit;
    sub->throttle[lane] = (uint8_t)throttle_of(sm, step);
}

void sm_warp_ready(struct sm *sm, struct sm_warp *w, uint64_t at, enum stall why)
{
    uint32_t s = w->place / SUBCORE_WARPS;
    can_issue(sm, &sm->subcores[s], w, at, why);
    sm->next_at[s] = min_u64(sm->next_at[s], at);
}

void sm_warp_block(struct sm *sm, struct sm_warp *w, enum sm_warp_state state, enum stall why)
{
    w->state = (uint8_t)state;
    w->reason = (uint8_t)why;
    sm->subcores[w->place / SUBCORE_WARPS].runnable &= ~(UINT32_C(1) << w->place % SUBCORE_WARPS);
}

/* Which operation is next. What is counted for each keeps to the kernel's own: not those of functions that it
 * calls. */
static void note_op(struct sm_warp *w)
{
    const struct isa_code *code = w->exec->code;
    struct op_profile *profile = w->kernel->profile;
    w->timing = w->exec->next;
    w->steps = &code->steps[w->timing->first_step];
    w->profile = profile && code == w->kernel->code ? &profile[w->timing - code->timing] : NULL;
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

static bool waits_for_stores(struct sm *sm, struct sm_warp *w)
{
    if (!sm_block_writes(sm, w->block))
        return false;
    sm_warp_block(sm, w, WARP_STORES, STALL_membar);
    return true;
}

static bool waits_for_loads(struct sm *sm, struct sm_warp *w)
{
    if (!w->loads)
        return false;
    sm_warp_block(sm, w, WARP_LOADS, STALL_long_scoreboard);
    return true;
}

/* What the operation waits for beside registers; true: it does wait. */
static bool waits_for_role(struct sm *sm, struct sm_warp *w)
{
    const struct isa_timing *timing = w->timing;
    switch ((enum isa_role)timing->role) {
    case ROLE_COUNTED:
    case ROLE_WAIT:
        if (counted_ready(w, timing) != PENDING)
            return false;
        sm_warp_block(sm, w, WARP_REGISTER, STALL_long_scoreboard);
        return true;
    case ROLE_FENCE: /* what other threads of the block wrote counts, too: a barrier may stand before it */
    case ROLE_FENCE_SYSTEM:
    case ROLE_RELEASE:
        if (!w->fence_from)
            w->fence_from = max_u64(sm->cycle, w->since);
        if (w->loads) { /* an acquire: lines that were read before a flag came are older than the flag */
            sm_warp_block(sm, w, WARP_LOADS, STALL_membar);
            return true;
        }
        if (!sm_block_writes(sm, w->block))
            return false;
        w->fence_waited = true;
        sm_warp_block(sm, w, WARP_STORES, STALL_membar);
        return true;
    case ROLE_CLUSTER_ARRIVE:
        return waits_for_stores(sm, w);
    case ROLE_LAUNCH:
        return waits_for_loads(sm, w) || waits_for_stores(sm, w);
    case ROLE_GRID_WAIT:
        if (!sm_kernel_waits(sm, w->kernel))
            return false;
        sm_warp_block(sm, w, WARP_GRID, STALL_membar);
        return true;
    case ROLE_CALL:
        return waits_for_loads(sm, w);
    case ROLE_COPIES:
    case ROLE_ALL_COPIES:
        if (copies_done(w, timing->role == ROLE_COPIES ? timing->role_count : -1))
            return false;
        sm_warp_block(sm, w, WARP_COPIES, STALL_long_scoreboard);
        return true;
    default:
        return false;
    }
}

/* The cycle from which a unit can use what is ready as the board says. */
static inline uint64_t when_at(const struct sm *sm, uint64_t ready, uint32_t unit)
{
    return ready / RESULT_KINDS + sm->crossing[ready % RESULT_KINDS][unit];
}

/* The same for a guard, whatever unit it guards. */
static inline uint64_t guard_at(const struct sm *sm, uint64_t ready)
{
    return ready / RESULT_KINDS + sm->config.spec->guard_cycles;
}

/* The cycle from which all registers of the operation can be used, times RESULT_KINDS plus the kind; or
 * PENDING, with w->waits_for. */
static uint64_t operands_ready(const struct sm *sm, struct sm_warp *w, const struct isa_timing *timing,
                               const uint16_t *registers, uint64_t *sources)
{
    uint64_t ready = 0;
    const uint64_t *board = w->board + w->exec->code->slots_at;
    for (uint32_t i = 0; i < timing->reads; i++) {
        uint64_t at = board[registers[i]];
        if (UNLIKELY(at == PENDING)) {
            w->waits_for = w->exec->code->slots_at + registers[i];
            return PENDING;
        }
        if (i < timing->guards && at)
            at = guard_at(sm, at) * RESULT_KINDS + RESULT_FIXED;
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
    static const uint8_t stalls[RESULT_KINDS] = {[RESULT_ALU] = STALL_wait,
                                                 [RESULT_FMA] = STALL_wait,
                                                 [RESULT_FP64] = STALL_wait,
                                                 [RESULT_FIXED] = STALL_wait,
                                                 [RESULT_QUEUE] = STALL_short_scoreboard,
                                                 [RESULT_SHORT] = STALL_short_scoreboard,
                                                 [RESULT_LONG] = STALL_long_scoreboard};
    return (enum stall)stalls[ready % RESULT_KINDS];
}

static void warp_ended(struct sm *sm, struct sm_warp *w)
{
    if (w->loads) {
        sm_warp_block(sm, w, WARP_DRAIN, STALL_drain);
        return;
    }
    sm_warp_account(w, max_u64(sm->cycle, w->drained_at), STALL_drain);
    sm_block_warp_left(sm, w);
}

/* Goes to the next operation. False: it waits for others, or has ended. */
static bool settle(struct sm *sm, struct sm_warp *w)
{
    if (UNLIKELY(w->block->exec->has_come))
        dsm_came(sm, w->block);
    if (w->kernel->isa->settle(w->exec))
        return true;
    if (w->exec->ended)
        warp_ended(sm, w);
    else {
        sm_warp_block(sm, w, WARP_BARRIER, STALL_barrier);
        w->block->waiting++;
    }
    return false;
}

void sm_warp_prepare(struct sm *sm, struct sm_warp *w)
{
    uint64_t earliest = max_u64(sm->cycle, w->since);
    for (uint32_t free_ops = 0;; free_ops++) {
        note_op(w);
        const struct isa_code *code = w->exec->code;
        const struct isa_timing *timing = w->timing;
        const uint16_t *registers = code->registers + timing->registers;
        uint64_t sources = 0, ready = operands_ready(sm, w, timing, registers, &sources);
        if (UNLIKELY(ready == PENDING)) {
            sm_warp_block(sm, w, WARP_REGISTER, STALL_long_scoreboard);
            return;
        }
        if (UNLIKELY(timing->role)) {
            if (waits_for_role(sm, w))
                return;
            if (timing->counters)
                ready = max_u64(ready, counted_ready(w, timing));
            if (timing->role == ROLE_BULK_WAIT) {
                earliest = max_u64(earliest, bulk_done(w, timing->role_count));
                sm_warp_account(w, earliest, STALL_long_scoreboard);
            }
            if (timing->role == ROLE_PRODUCTS) {
                earliest = max_u64(earliest, sm_products_done(w, timing->role_count));
                sm_warp_account(w, earliest, STALL_math_pipe_throttle);
            }
            if (timing->role == ROLE_RELEASE) { /* a fence stands before it */
                earliest = max_u64(earliest, sm->cycle + fence_left(sm, w, false));
                sm_warp_account(w, earliest, STALL_membar);
            }
        }
        if (LIKELY(timing->steps) || free_ops == FREE_OPS_MOST) {
            uint64_t at = max_u64(earliest, when_at(sm, ready, w->steps->unit));
            uint64_t line = fetch_line_of(sm, w, timing);
            if (UNLIKELY(w->code_line != line)) {
                uint32_t wait = fetch_wait(sm, w, line);
                if (wait) {
                    sm_warp_account(w, at, stall_of(ready));
                    sm_warp_ready(sm, w, max_u64(at, earliest + wait), STALL_no_instruction);
                    return;
                }
            }
            sm_warp_ready(sm, w, at, stall_of(ready));
            return;
        }
        struct isa_stepped stepped; /* it is part of another machine instruction, or of none */
        uint32_t slots_at = code->slots_at;
        struct sm_block *block = w->block;
        w->kernel->isa->step(w->exec, &stepped);
        sm_warp_set_results(w, slots_at, timing, registers, sources);
        bool goes_on = !stepped.moved || settle(sm, w);
        if (stepped.moved && block->waiting) /* it may have been the last that others waited for */
            sm_block_wake_others(sm, block);
        if (!goes_on)
            return;
    }
}

/* The same for most operations: one that needs registers alone, which are known, and its line of code, which
 * was fetched. False: it is another. */
static inline bool prepare_simple(struct sm *sm, struct subcore *sub, struct sm_warp *w)
{
    note_op(w);
    const struct isa_code *code = w->exec->code;
    const struct isa_timing *timing = w->timing;
    if (timing->role || timing->guards || !timing->steps || w->code_line != fetch_line_of(sm, w, timing))
        return false;
    const uint16_t *registers = code->registers + timing->registers;
    const uint64_t *board = w->board + code->slots_at;
    uint64_t ready = 0; /* PENDING is the most of all */
    for (uint32_t i = 0, count = (uint32_t)timing->reads + timing->writes; i < count; i++)
        ready = max_u64(ready, board[registers[i]]);
    if (UNLIKELY(ready == PENDING))
        return false;
    can_issue(sm, sub, w, max_u64(w->since, when_at(sm, ready, w->steps->unit)), stall_of(ready));
    return true;
}

void sm_warp_release(struct sm *sm, struct sm_warp *w)
{
    switch ((enum sm_warp_state)w->state) {
    case WARP_REGISTER:
        if (w->board[w->waits_for] == PENDING)
            return;
        break;
    case WARP_STORES:
        if (sm_block_writes(sm, w->block))
            return;
        break;
    case WARP_LOADS:
        if (w->loads)
            return;
        break;
    case WARP_COPIES:
    case WARP_GRID:
        break;
    case WARP_DRAIN:
        if (!w->loads) {
            sm_warp_account(w, sm->cycle, STALL_drain);
            sm_block_warp_left(sm, w);
        }
        return;
    default:
        return;
    }
    sm_warp_account(w, sm->cycle, (enum stall)w->reason);
    sm_warp_prepare(sm, w);
}

/* Counting what was issued; sm_count_kernel makes the rest of it. */
static void count_issue(struct sm_warp *w, const struct isa_step *step, uint32_t active, uint32_t on)
{
    struct sm_counters *counters = &w->kernel->counters;
    counters->instructions++;
    counters->thread_instructions += active;
    counters->by_unit[step->unit]++;
    counters->lanes_active[on]++;
    if (w->profile) {
        w->profile->issued++;
        w->profile->threads +=
            step->unit == UNIT_CONTROL ? active : on; /* not taking a branch is work, too */
    }
}

/* Units near each other hand results on sooner; those with a queue read their operands later. */
static uint32_t crossing(enum unit_result from, enum unit_result to)
{
    if (from == to || to == RESULT_QUEUE || from == RESULT_SHORT || from == RESULT_FIXED)
        return 0;
    return from == RESULT_FP64 || to == RESULT_FP64 || from == RESULT_QUEUE ? 2 : 1;
}

void sm_warp_crossings(struct sm *sm)
{
    for (uint32_t from = RESULT_ALU; from < RESULT_LONG; from++)
        for (uint32_t unit = 0; unit < UNIT_COUNT; unit++)
            sm->crossing[from][unit] =
                (uint8_t)(crossing((enum unit_result)from, (enum unit_result)sm->cost[unit].result) *
                          sm->config.spec->cross_cycles);
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

/* Gives the cycle in which the unit begins. */
static uint64_t take_units(struct sm *sm, struct subcore *sub, const struct unit_cost *cost)
{
    uint64_t begins = max_u64(sm->cycle, sub->unit_free[cost->place]);
    if (cost->shared) {
        begins = max_u64(begins, sm->shared_free[cost->place]);
        sm->shared_free[cost->place] = begins + cost->shared;
    }
    sub->unit_free[cost->place] = begins + cost->interval;
    return begins;
}

/* How long an operation with a role holds its warp up once it was issued, and as what that is counted. */
static uint64_t wait_for_role(struct sm *sm, struct sm_warp *w, enum isa_role role,
                              const struct isa_stepped *stepped, enum stall *why)
{
    const struct sm_spec *spec = sm->config.spec;
    switch (role) {
    case ROLE_SLEEP:
        *why = STALL_sleeping;
        return stepped->mask
                   ? clock_cycle(&sm->clock, stepped->sleep_ns * UINT64_C(1000)) + spec->sleep_cycles
                   : 0;
    case ROLE_FENCE:
    case ROLE_FENCE_SYSTEM:
        *why = STALL_membar;
        if (role == ROLE_FENCE_SYSTEM || sm->config.is_member)
            l1_acquire(sm, w);
        else
            l1_forget(sm);
        return fence_left(sm, w, role == ROLE_FENCE_SYSTEM);
    case ROLE_FENCE_BLOCK:
        *why = STALL_membar;
        return spec->fence_block_cycles;
    case ROLE_BARRIER:
        *why = STALL_barrier;
        return sm->cost[UNIT_SYNC].latency;
    case ROLE_FORGET:
        sm_forget_data_now(sm);
        l1_acquire(sm, w);
        return 0;
    case ROLE_COMMIT:
        w->group++;
        return 0;
    case ROLE_BULK_COMMIT:
        bulk_commit(w);
        return 0;
    case ROLE_CLUSTER_WAIT:
        l1_forget(sm);
        return 0;
    case ROLE_LAUNCH: /* it comes to the host's notice then */
        component_stop(sm->component, sm_time(sm, sm->cycle) + sm->config.launch_ps);
        return 0;
    case ROLE_TRIGGER:
        sm_block_trigger(sm, w->block);
        return 0;
    case ROLE_PRODUCT:
        sm_product_issued(sm, w);
        return 0;
    case ROLE_PRODUCTS_COMMIT:
        sm_products_committed(w);
        return 0;
    default:
        return 0;
    }
}

/* The warp stands behind the operation, or wherever it went; when can it go on? */
static void go_on(struct sm *sm, struct sm_warp *w, const struct isa_stepped *stepped, uint32_t unit)
{
    const struct sm_spec *spec = sm->config.spec;
    struct sm_counters *counters = &w->kernel->counters;
    uint64_t wait = 0;
    enum stall why = STALL_branch_resolving;
    enum isa_role role = w->timing->role;
    if (sm->cost[unit].does == UNIT_DOES_JUMP)
        wait = sm->cost[unit].latency;
    if (role == ROLE_BRANCH) {
        counters->branches++;
        counters->divergent_branches += stepped->diverged;
        if (stepped->branched)
            wait = sm->cost[UNIT_CONTROL].latency + spec->branch_taken_cycles;
        if (stepped->diverged)
            wait += spec->diverge_cycles;
    } else if (role) {
        wait += wait_for_role(sm, w, role, stepped, &why);
    }
    struct sm_block *block = w->block;
    if (wait && !stepped->waits)
        sm_warp_account(w, sm->cycle + wait, why);
    sm->cycle++;
    if (!stepped->moved || settle(sm, w))
        sm_warp_prepare(sm, w);
    sm->cycle--;
    if (block->waiting)
        sm_block_wake_others(sm, block);
}

/* The cycle from which a step has what it needs of those before it. */
static uint64_t step_needs(const struct sm *sm, const struct sm_warp *w, const struct isa_step *step)
{
    if (step->flags & STEP_GUARDED)
        return guard_at(sm, w->chain_at);
    if (step->flags & STEP_CHAINED)
        return when_at(sm, w->chain_at, step->unit);
    return step->flags & STEP_JOINS ? when_at(sm, w->result_at, step->unit) : 0;
}

/* A step of an operation that becomes several: when others can use its result. */
static void note_step(const struct sm *sm, struct sm_warp *w, const struct isa_step *step, uint64_t begins)
{
    if (step->flags & STEP_BESIDE)
        return;
    if (step->flags & STEP_FLOWS)
        begins = max_u64(begins, step_needs(sm, w, step));
    w->chain_at = (begins + sm->cost[step->unit].latency) * RESULT_KINDS + sm->cost[step->unit].result;
    w->result_at = max_u64(w->result_at, w->chain_at);
}

/* The next step of the operation: when can it issue? One that flows does before it could: the compiler puts
 * instructions of others between the steps. */
static void prepare_step(struct sm *sm, struct sm_warp *w)
{
    const struct isa_step *step = &w->steps[w->step];
    uint64_t at = step->flags & STEP_FLOWS ? 0 : step_needs(sm, w, step);
    sm_warp_ready(sm, w, max_u64(at, sm->cycle + 1), STALL_wait);
}

/* Another machine instruction of the operation under way. */
static void issue_further(struct sm *sm, struct sm_warp *w, uint64_t begins)
{
    const struct isa_timing *timing = w->timing;
    const struct isa_step *step = &w->steps[w->step];
    uint32_t on = isa_count_lanes(w->exec->active);
    count_issue(w, step, on, on);
    w->since = sm->cycle + 1;
    note_step(sm, w, step, begins);
    w->step++;
    if (w->step < timing->steps) {
        prepare_step(sm, w);
        return;
    }
    w->step = 0;
    const struct isa_code *code = w->under_way;
    w->code_line = fetch_code_line(sm, w, code, timing->first_step + timing->steps - 1);
    if (!w->memory_result)
        sm_warp_set_results(w, code->slots_at, timing, code->registers + timing->registers, w->result_at);
    go_on(sm, w, &w->stepped, step->unit);
}

/* What it issues is of arithmetic, of one machine instruction, and steers nothing. */
static inline void issue_simple(struct sm *sm, struct subcore *sub, struct sm_warp *w,
                                const struct unit_cost *cost)
{
    struct isa_warp *exec = w->exec;
    const struct isa_code *code = exec->code;
    const struct isa_timing *timing = w->timing;
    const uint16_t *registers = code->registers + timing->registers;
    struct sm_kernel *kernel = w->kernel;
    struct sm_block *block = w->block;
    struct isa_stepped stepped;
    sm_warp_account(w, sm->cycle, STALL_not_selected);
    uint64_t begins = take_units(sm, sub, cost);
    if (timing->reads > sm->config.spec->register_ports)
        sub->dispatch_free = sm->cycle + 1 + bank_wait(sm, sub, w, registers, timing->reads);
    lane_mask mask = exec->active;
    uint32_t active = isa_count_lanes(mask);
    kernel->isa->step(exec, &stepped);
    count_issue(w, w->steps, active, stepped.mask == mask ? active : isa_count_lanes(stepped.mask));
    w->under_way = code;
    w->since = sm->cycle + 1;
    sm_warp_set_results(w, code->slots_at, timing, registers,
                        (begins + cost->latency) * RESULT_KINDS + cost->result);
    if (UNLIKELY(stepped.moved || !prepare_simple(sm, sub, w))) {
        sm->cycle++;
        if (!stepped.moved || settle(sm, w))
            sm_warp_prepare(sm, w);
        sm->cycle--;
    }
    if (block->waiting)
        sm_block_wake_others(sm, block);
}

/* It may wait for room in the memory system, or for the sub-core's registers. */
static bool cannot_issue(struct sm *sm, struct subcore *sub, struct sm_warp *w, bool is_memory)
{
    if (is_memory && lsu_is_full(sm)) {
        sm_warp_account(w, sm->cycle, STALL_not_selected);
        sm_warp_block(sm, w, WARP_ROOM, throttle_of(sm, &w->steps[w->step]));
        sm->room_wanted = true;
        return true;
    }
    if (sub->dispatch_free <= sm->cycle)
        return false;
    sm_warp_account(w, sm->cycle, STALL_not_selected);
    sm_warp_ready(sm, w, sub->dispatch_free, STALL_dispatch_stall);
    return true;
}

bool sm_warp_issue(struct sm *sm, struct subcore *sub, struct sm_warp *w)
{
    const struct isa_timing *timing = w->timing;
    const struct isa_step *step = &w->steps[w->step];
    const uint32_t unit = step->unit;
    const struct unit_cost *cost = &sm->cost[unit];
    const uint8_t does = cost->does;
    bool is_memory = does == UNIT_DOES_MEMORY || does == UNIT_DOES_MEMORY_QUEUE;
    if (UNLIKELY(is_memory || sub->dispatch_free > sm->cycle) && cannot_issue(sm, sub, w, is_memory))
        return false;
    if (LIKELY(timing->plain && timing->steps == 1 && !timing->role && does == UNIT_DOES_NOTHING)) {
        issue_simple(sm, sub, w, cost);
        return true;
    }
    sm_warp_account(w, sm->cycle, STALL_not_selected);
    uint64_t begins = take_units(sm, sub, cost);
    if (does == UNIT_DOES_HOLDS_ISSUE)
        sub->dispatch_free = sm->cycle + sm->config.spec->wide_issue_cycles;
    if (w->step) {
        issue_further(sm, w, begins);
        return true;
    }
    struct isa_warp *exec = w->exec;
    const struct isa_code *code = exec->code;
    struct isa_stepped stepped;
    struct request *request = &w->kernel->team->request;
    const uint16_t *registers = code->registers + timing->registers;
    if (timing->reads > sm->config.spec->register_ports)
        sub->dispatch_free = sm->cycle + 1 + bank_wait(sm, sub, w, registers, timing->reads);
    lane_mask mask = exec->active;
    uint32_t active = isa_count_lanes(mask);
    w->kernel->isa->step(exec, &stepped);
    count_issue(w, step, active, stepped.mask == mask ? active : isa_count_lanes(stepped.mask));
    w->since = sm->cycle + 1;
    bool memory = !timing->plain && (request->of.kind || request->shared || request->local || request->param);
    w->under_way = code;
    if (memory)
        lsu_issue(sm, w, timing, registers);
    else if (timing->steps == 1)
        sm_warp_set_results(w, code->slots_at, timing, registers,
                            (begins + cost->latency) * RESULT_KINDS + cost->result);
    if (UNLIKELY(w->kernel->text.length != w->kernel->text_seen))
        sm_kernel_note_print(sm, w->kernel);
    if (timing->steps > 1) {
        w->step = 1;
        w->stepped = stepped;
        w->memory_result = memory;
        w->result_at = 0;
        note_step(sm, w, step, begins);
        prepare_step(sm, w);
        return true;
    }
    go_on(sm, w, &stepped, unit);
    return true;
}
