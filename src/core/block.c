/* Blocks on an SM: they come with an order of the dispatcher, and leave when all their warps have. */
#include "core/parts.h"
#include "base/mem.h"

#include <string.h>

void kernel_count(struct sm *sm, struct sm_kernel *kernel)
{
    uint64_t cycles = sm->cycle - kernel->since;
    kernel->since = sm->cycle;
    if (kernel->blocks_now)
        kernel->counters.cycles_active += cycles;
    kernel->counters.warp_cycles += cycles * kernel->warps_now;
}

void kernel_note_print(struct sm *sm, struct sm_kernel *kernel)
{
    mem_grow(kernel->printed, kernel->printed_count, kernel->printed_capacity);
    kernel->printed[kernel->printed_count++] = (struct printed){sm->cycle, kernel->text.length};
    kernel->text_seen = kernel->text.length;
}

static struct sm_kernel *kernel_of(struct sm *sm, uint32_t slot)
{
    struct sm_kernel *kernel = &sm->kernels[slot];
    const struct sm_launch *launch = &sm->config.launches[slot];
    if (kernel->team)
        return kernel;
    const struct kernel *code = launch->launch->kernel;
    kernel->serial = launch->serial;
    kernel->team = team_new(launch->launch, launch->serial, sm->number, launch->workspace, &sm->on_fault);
    kernel->team->worker->clock = &sm->cycle;
    kernel->team->worker->clock_hz = sm->config.clock_hz;
    kernel->team->worker->printed = &kernel->text;
    if (launch->profile)
        kernel->profile = mem_alloc(code->codes[code->function]->op_count, sizeof *kernel->profile);
    if (!sm->blocks_now)
        l1_forget(sm); /* what other kernels wrote must be seen */
    memory_set_shared(sm, launch->shared_bytes);
    return kernel;
}

/* Room for one more warp: warps of a block go to sub-cores in turn. */
static struct sm_warp *take_warp(struct sm *sm)
{
    for (uint32_t i = 0; i < sm->config.subcores; i++) {
        uint32_t s = (sm->next_subcore + i) % sm->config.subcores;
        struct sm_warp *warps = &sm->warps[(size_t)s * SUBCORE_WARPS];
        for (uint32_t lane = 0; lane < sm->config.warps_per_subcore; lane++)
            if (warps[lane].state == WARP_NONE) {
                sm->next_subcore = (s + 1) % sm->config.subcores;
                warps[lane].subcore = (uint8_t)s;
                warps[lane].lane = (uint8_t)lane;
                return &warps[lane];
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
    uint32_t capacity = w->board_capacity, subcore = w->subcore, lane = w->lane;
    if (capacity < slots + 1) {
        mem_free(board);
        capacity = slots + 1;
        board = mem_alloc(capacity, sizeof *board);
    } else {
        memset(board, 0, (slots + 1) * sizeof *board);
    }
    *w = (struct sm_warp){.exec = &block->exec->warps[index],
                          .kernel = block->kernel,
                          .block = block,
                          .board = board,
                          .board_capacity = capacity,
                          .subcore = (uint8_t)subcore,
                          .lane = (uint8_t)lane,
                          .age = sm->ages,
                          .since = sm->cycle,
                          .pending_op = UINT64_MAX,
                          .code_base = launch->code_at};
    sm->ages++;
    w->state = WARP_BARRIER; /* until prepared */
    if (!warp_settle(w->exec))
        BUG("a warp waits before its first instruction");
    uint64_t starts = sm->cycle + after + index * sm->config.spec->warp_start_cycles;
    warp_account(sm, w, starts, STALL_no_instruction);
    warp_prepare(sm, w);
}

static void begin(struct sm *sm, struct sm_block *block, const struct sm_block_message *order, uint64_t after)
{
    struct sm_kernel *kernel = kernel_of(sm, order->kernel);
    kernel_count(sm, kernel);
    block->exec = team_begin_block(kernel->team, order->number);
    block->kernel = kernel;
    block->number = order->number;
    block->warps_left = block->exec->warp_count;
    block->waiting = block->stores = 0;
    kernel->blocks_now++;
    kernel->warps_now += block->warps_left;
    kernel->counters.blocks++;
    kernel->counters.warps += block->warps_left;
    sm->blocks_now++;
    sm->warps_now += block->warps_left;
    for (uint32_t i = 0; i < block->exec->warp_count; i++)
        start_warp(sm, block, i, after);
}

/* Blocks come ahead of their time: they wait until there are fewer of their kernel than there may be. */
static void begin_waiting(struct sm *sm, uint64_t after)
{
    while (sm->waiting_count) {
        struct sm_block_message order = sm->waiting[sm->waiting_first];
        if (sm->kernels[order.kernel].blocks_now >= order.most)
            return;
        struct sm_block *block = sm->blocks;
        while (block->exec)
            block++;
        sm->waiting_first = (sm->waiting_first + 1) % SM_WAITING;
        sm->waiting_count--;
        begin(sm, block, &order, after);
    }
}

void block_begin(struct sm *sm, const struct sm_block_message *order)
{
    REQUIRE(sm->waiting_count < SM_WAITING);
    sm->waiting[(sm->waiting_first + sm->waiting_count++) % SM_WAITING] = *order;
    begin_waiting(sm, sm->config.spec->block_start_cycles);
}

void block_warp_left(struct sm *sm, struct sm_warp *w)
{
    struct sm_block *block = w->block;
    struct sm_kernel *kernel = w->kernel;
    struct subcore *sub = &sm->subcores[w->subcore];
    kernel_count(sm, kernel);
    kernel->warps_now--;
    sm->warps_now--;
    w->state = WARP_NONE;
    w->age = UINT64_MAX; /* loads whose values nobody waits for find another one */
    sub->runnable &= ~(UINT32_C(1) << w->lane);
    sub->reader = NULL;
    if (--block->warps_left)
        return;
    struct sm_block_message report = {.number = block->number, .kernel = (uint32_t)(kernel - sm->kernels)};
    team_end_block(kernel->team, block->exec);
    block->exec = NULL;
    kernel->blocks_now--;
    sm->blocks_now--;
    uint64_t at = sm_time(sm, sm->cycle + sm->config.spec->block_end_cycles),
             now = component_now(sm->component);
    if (!port_send(sm->reports, 0, at > now ? at - now : 0, SM_ENDED, &report, sizeof report))
        BUG("a report found no room");
    begin_waiting(sm, sm->config.spec->block_swap_cycles);
}

void block_wake_others(struct sm *sm, struct sm_block *block)
{
    for (uint32_t i = 0; block->exec && i < block->exec->warp_count; i++) {
        struct sm_warp *w = &sm->warps[block->warps[i]];
        if (w->state != WARP_BARRIER || w->block != block)
            continue;
        bool ready = !w->exec->fragment_count;
        for (uint32_t f = 0; f < w->exec->fragment_count; f++)
            ready |= w->exec->fragments[f]->state == FRAGMENT_READY;
        if (!ready || !warp_settle(w->exec))
            continue;
        block->waiting--;
        w->state = WARP_READY; /* it is not waiting any more, whatever comes next */
        warp_account(sm, w, sm->cycle + sm->cost[UNIT_SYNC].latency, STALL_barrier);
        warp_prepare(sm, w);
    }
}
