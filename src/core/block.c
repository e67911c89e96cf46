/* Blocks on an SM: they start with an order of the dispatcher, and end when all their warps have ended. */
#include "core/l1.h"
#include "base/mem.h"
#include "exec/observer.h"

#include <string.h>

void sm_kernel_account(struct sm *sm, struct sm_kernel *kernel)
{
    uint64_t cycles = sm->cycle - kernel->since;
    kernel->since = sm->cycle;
    if (kernel->blocks_now)
        kernel->counters.cycles_active += cycles;
    kernel->counters.warp_cycles += cycles * kernel->warps_now;
}

void sm_kernel_note_print(struct sm *sm, struct sm_kernel *kernel)
{
    mem_grow(kernel->printed, kernel->printed_count, kernel->printed_capacity);
    kernel->printed[kernel->printed_count++] = (struct printed){sm->cycle, kernel->text.length};
    kernel->text_seen = kernel->text.length;
}

void sm_kernel_make(struct sm *sm, uint32_t slot)
{
    struct sm_kernel *kernel = &sm->kernels[slot];
    const struct sm_launch *launch = &sm->config.launches[slot];
    sm->kernels_made = (uint32_t)max_u64(sm->kernels_made, slot + 1);
    kernel->serial = launch->serial;
    kernel->isa = launch_isa(launch->launch);
    kernel->code = launch->launch->kernel->code;
    kernel->team = team_new(launch->launch, launch->serial, sm->config.first_sm + sm->number,
                            launch->workspace, &sm->on_fault);
    kernel->team->worker->clock = &sm->cycle;
    kernel->team->worker->clock_hz = sm->config.clock_hz;
    kernel->team->worker->printed = &kernel->text;
    if (launch->profile)
        kernel->profile = mem_alloc(kernel->code->count, sizeof *kernel->profile);
}

/* What other kernels wrote must be seen. */
static void see_others(struct sm *sm)
{
    l1_forget(sm);
    if (!sm->config.spec->constants_kept)
        fetch_forget_constants(sm, sm_time(sm, sm->cycle));
}

static struct sm_kernel *kernel_of(struct sm *sm, uint32_t slot)
{
    struct sm_kernel *kernel = &sm->kernels[slot];
    if (kernel->team)
        return kernel;
    sm_kernel_make(sm, slot);
    see_others(sm);
    l1_set_shared(sm, sm->config.launches[slot].shared_bytes);
    return kernel;
}

static void becomes_youngest(struct subcore *sub, uint32_t lane)
{
    const uint32_t bit = UINT32_C(1) << lane;
    for (uint32_t i = 0; i < SUBCORE_WARPS; i++) {
        sub->older[i] &= ~bit;
        sub->younger[i] |= bit;
    }
    sub->older[lane] = ~bit;
    sub->younger[lane] = 0;
}

/* Room for one more warp: warps of a block go to sub-cores in turn. */
static struct sm_warp *take_warp(struct sm *sm)
{
    for (uint32_t i = 0; i < sm->config.subcores; i++) {
        uint32_t s = (sm->next_subcore + i) % sm->config.subcores;
        for (uint32_t lane = 0; lane < sm->config.warps_per_subcore; lane++)
            if (sm_warp_of(sm, s, lane)->state == WARP_NONE) {
                sm->next_subcore = (s + 1) % sm->config.subcores;
                sm_warp_of(sm, s, lane)->place = (uint8_t)(s * SUBCORE_WARPS + lane);
                becomes_youngest(&sm->subcores[s], lane);
                return sm_warp_of(sm, s, lane);
            }
    }
    BUG("an SM was given more warps than it holds");
}

static void start_warp(struct sm *sm, struct sm_block *block, uint32_t index, uint64_t after)
{
    struct sm_warp *w = take_warp(sm);
    const struct sm_launch *launch = &sm->config.launches[block->kernel - sm->kernels];
    uint32_t slots = launch->launch->kernel->slots;
    block->warps[index] = (uint16_t)(w - sm->warps);
    uint64_t *board = w->board;
    uint32_t capacity = w->board_capacity;
    if (capacity < slots + 1) {
        mem_free(board);
        capacity = slots + 1;
        board = mem_alloc(capacity, sizeof *board);
    } else {
        memset(board, 0, (slots + 1) * sizeof *board);
    }
    *w = (struct sm_warp){.exec = block_warp(block->exec, index),
                          .kernel = block->kernel,
                          .block = block,
                          .board = board,
                          .board_capacity = capacity,
                          .place = w->place,
                          .since = sm->cycle,
                          .code_base = launch->code_at};
    w->state = WARP_BARRIER; /* until prepared */
    if (!w->kernel->isa->settle(w->exec))
        BUG("a warp waits before its first instruction");
    uint64_t starts = sm->cycle + after + index * sm->config.spec->warp_start_cycles;
    sm_warp_account(w, starts, STALL_no_instruction);
    sm_warp_prepare(sm, w);
}

static uint32_t take_writes(struct sm *sm, struct sm_block *block, uint32_t kernel)
{
    uint32_t number = sm->free_writes;
    if (number == NO_SLOT) {
        mem_grow(sm->writes, sm->writes_count, sm->writes_capacity);
        number = sm->writes_count++;
        REQUIRE(number < TO_SERIAL);
    } else {
        sm->free_writes = sm->writes[number].next;
    }
    sm->writes[number] = (struct writes){.block = block, .kernel = kernel};
    return number;
}

static void free_writes(struct sm *sm, uint32_t number)
{
    sm->writes[number].next = sm->free_writes;
    sm->free_writes = number;
}

static void begin(struct sm *sm, struct sm_block *block, const struct sm_block_message *order,
                  const uint16_t *sms, uint64_t after)
{
    struct sm_kernel *kernel = kernel_of(sm, order->kernel);
    sm_kernel_account(sm, kernel);
    block->exec = team_begin_block(kernel->team, order->number, sms);
    block->kernel = kernel;
    block->number = order->number;
    block->warps_left = block->exec->warp_count;
    block->waiting = 0;
    block->drained_at = 0;
    block->triggered = false;
    block->writes = take_writes(sm, block, order->kernel);
    tell_block(sm, block, PROBE_BEGINS);
    kernel->blocks_now++;
    kernel->warps_now += block->warps_left;
    kernel->counters.blocks++;
    kernel->counters.warps += block->warps_left;
    sm->blocks_now++;
    sm->warps_now += block->warps_left;
    for (uint32_t i = 0; i < block->exec->warp_count; i++)
        start_warp(sm, block, i, after);
}

/* Warps of blocks start one after the other. */
void sm_block_begin(struct sm *sm, const struct sm_block_message *order, const uint16_t *sms)
{
    const struct sm_spec *spec = sm->config.spec;
    struct sm_block *block = sm->blocks;
    while (block->exec)
        block++;
    uint64_t starts = max_u64(sm->cycle + spec->block_start_cycles, sm->next_start);
    begin(sm, block, order, sms, starts - sm->cycle);
    uint64_t takes = spec->block_gap_cycles + block->warps_left * spec->warp_start_cycles;
    sm->next_start = starts + max_u64(takes, spec->block_least_cycles);
}

static void report(struct sm *sm, enum sm_message what, const struct sm_block_message *message,
                   uint64_t cycle)
{
    uint64_t at = sm_time(sm, cycle), now = component_now(sm->component);
    if (!port_send(sm->reports, 0, at > now ? at - now : 0, what, message, sizeof *message))
        BUG("a report found no room");
}

void sm_block_warp_left(struct sm *sm, struct sm_warp *w)
{
    struct sm_block *block = w->block;
    struct sm_kernel *kernel = w->kernel;
    struct subcore *sub = &sm->subcores[w->place / SUBCORE_WARPS];
    sm_kernel_account(sm, kernel);
    kernel->warps_now--;
    sm->warps_now--;
    w->state = WARP_NONE;
    sub->runnable &= ~(UINT32_C(1) << w->place % SUBCORE_WARPS);
    sub->reader = NULL;
    block->drained_at = max_u64(block->drained_at, w->drained_at);
    if (--block->warps_left)
        return;
    struct sm_block_message message = {.number = block->number,
                                       .kernel = (uint32_t)(kernel - sm->kernels),
                                       .writes = sm_block_writes(sm, block) != 0,
                                       .triggered = block->triggered};
    tell_block(sm, block, PROBE_ENDS);
    const struct cga *cluster = block->exec->cluster;
    if (UNLIKELY(cluster != NULL))
        dsm_left(sm, block);
    team_end_block(kernel->team, block->exec);
    block->exec = NULL;
    kernel->blocks_now--;
    sm->blocks_now--;
    if (message.writes)
        sm->writes[block->writes].block = NULL;
    else
        free_writes(sm, block->writes);
    report(sm, SM_ENDED, &message, max_u64(sm->cycle, block->drained_at) + sm->config.spec->block_end_cycles);
    if (UNLIKELY(cluster != NULL))
        dsm_wake(sm, cluster);
}

/* Writes */

void sm_block_write_begins(struct sm *sm, struct sm_warp *w, uint64_t leaves)
{
    sm->writes[w->block->writes].lines++;
    sm->stores_under_way++;
    w->drained_at = max_u64(w->drained_at, leaves);
}

void sm_block_write_done(struct sm *sm, uint32_t number)
{
    struct writes *writes = &sm->writes[number];
    struct sm_block *block = writes->block;
    if (--writes->lines)
        return;
    for (uint32_t i = 0; block && i < block->exec->warp_count; i++)
        if (sm->warps[block->warps[i]].state == WARP_STORES)
            sm_warp_release(sm, &sm->warps[block->warps[i]]);
    if (block)
        return;
    struct sm_block_message message = {.kernel = writes->kernel};
    free_writes(sm, number);
    if (message.kernel != SM_KERNELS)
        report(sm, SM_SETTLED, &message, sm->cycle + sm->config.spec->block_end_cycles);
}

/* Kernels that depend on each other */

void sm_block_trigger(struct sm *sm, struct sm_block *block)
{
    struct sm_block_message message = {.number = block->number,
                                       .kernel = (uint32_t)(block->kernel - sm->kernels)};
    if (block->triggered)
        return;
    block->triggered = true;
    report(sm, SM_TRIGGERED, &message, sm->cycle);
}

bool sm_kernel_waits(const struct sm *sm, const struct sm_kernel *kernel)
{
    uint32_t slot = (uint32_t)(kernel - sm->kernels);
    return sm->config.launches[slot].depends && !(sm->released >> slot & 1);
}

void sm_kernel_release(struct sm *sm, const struct sm_block_message *order)
{
    struct sm_kernel *kernel = &sm->kernels[order->kernel];
    if (sm->config.launches[order->kernel].serial != order->number)
        return; /* it has ended, and did not wait */
    sm->released |= UINT32_C(1) << order->kernel;
    if (!kernel->team)
        return;
    see_others(sm);
    for (uint32_t i = 0; i < sm_warp_count(sm); i++)
        if (sm->warps[i].state == WARP_GRID && sm->warps[i].kernel == kernel)
            sm_warp_release(sm, &sm->warps[i]);
}

void sm_block_abandon_all(struct sm *sm)
{
    for (uint32_t i = 0; i <= sm->config.blocks; i++) {
        if (sm->blocks[i].exec && !sm_block_writes(sm, &sm->blocks[i]))
            free_writes(sm, sm->blocks[i].writes);
        sm->blocks[i].exec = NULL;
    }
    for (uint32_t i = 0; i < sm->writes_count; i++) {
        sm->writes[i].block = NULL;
        sm->writes[i].kernel = SM_KERNELS;
    }
    sm->blocks_now = sm->warps_now = 0;
}

void sm_block_wake_others(struct sm *sm, struct sm_block *block)
{
    if (!block->exec || !block->exec->opened)
        return;
    block->exec->opened = false;
    for (uint32_t i = 0; block->exec && i < block->exec->warp_count; i++) {
        struct sm_warp *w = &sm->warps[block->warps[i]];
        if (w->state != WARP_BARRIER || w->block != block)
            continue;
        if (!w->kernel->isa->is_awake(w->exec) || !w->kernel->isa->settle(w->exec))
            continue;
        block->waiting--;
        w->state = WARP_READY; /* it is not waiting any more, whatever comes next */
        sm_warp_account(w, sm->cycle + sm->cost[UNIT_SYNC].latency, STALL_barrier);
        sm_warp_prepare(sm, w);
    }
}
