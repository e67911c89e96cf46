/* See rota.h. */
#include "exec/rota.h"
#include "exec/cga.h"
#include "base/bits.h"
#include "base/demangle.h"
#include "base/host.h"

#include <sched.h>
#include <stdatomic.h>

static enum block_ran block_run(struct block *block)
{
    const struct isa_ops *isa = block->worker->grid->kernel->isa;
    for (bool first = true;; first = false) {
        bool any_left = false, moved = false, spun = false;
        for (uint32_t i = 0; i < block->warp_count; i++) {
            struct isa_warp *warp = block_warp(block, i);
            if (warp->ended)
                continue;
            enum isa_ran ran = isa->run(warp);
            any_left |= ran != RAN_OUT;
            moved |= ran == RAN_OUT || ran == RAN_SLICE;
            spun |= ran == RAN_SPINS;
        }
        if (UNLIKELY(block->has_come))
            cga_came(block);
        if (!any_left)
            return BLOCK_ENDED;
        if (moved)
            continue;
        if (spun) {
            block->patience = IMPATIENCE;
            return first ? BLOCK_ONLY_WAITED : BLOCK_WAITS;
        }
        bool ready = false; /* a barrier may have let go warps that had their turn already */
        for (uint32_t i = 0; i < block->warp_count && !ready; i++)
            ready = !block_warp(block, i)->ended && isa->is_awake(block_warp(block, i));
        if (ready || isa->force(block))
            continue;
        if (!block->cluster || cga_is_stuck(block))
            isa->deadlock(block);
        return first ? BLOCK_ONLY_WAITED : BLOCK_WAITS;
    }
}

/* A block had its turn, in which nobody did anything but wait, or somebody did. */
static void note_waiting(struct worker *worker, const struct block *block, bool only_waited)
{
    enum { LOOK_EVERY = 1024 };
    const struct launch *launch = worker->grid->launch;
    if (LIKELY(!only_waited)) {
        worker->waiting_from = 0;
        return;
    }
    if (!launch->stuck || ++worker->waits % LOOK_EVERY)
        return;
    double now = host_seconds();
    worker->waiting_from = worker->waiting_from != 0 ? worker->waiting_from : now;
    if (now - worker->waiting_from < launch->stuck_seconds ||
        atomic_exchange(&worker->grid->told_stuck, true))
        return;
    struct text text = {0};
    text_add(&text, "kernel %s: for %g seconds its threads have only waited for others; ",
             demangled(worker->grid->kernel->facts.name), launch->stuck_seconds);
    worker->grid->kernel->isa->describe(block, &text);
    launch->stuck(launch->user, text.at);
    text_fini(&text);
}

/* How many blocks a worker may have begun at a time. */
static uint64_t room_of(const struct grid *grid)
{
    const struct launch *launch = grid->launch;
    if (launch->cooperative || !launch->resident_blocks)
        return grid->block_count;
    return max_u64((launch->resident_blocks + grid->workers - 1) / grid->workers, 1);
}

static _Atomic unsigned launches_running; /* in this process */

/* When all blocks of this worker have only waited for long, other kernels need the core more: those of
 * several GPUs that wait for each other run on different threads, of which there may be more than cores. A
 * kernel that is alone keeps it: on a busy host, the core comes back only after milliseconds. */
static void give_way(uint64_t count, bool only_waited, uint64_t *idle_turns)
{
    enum { PATIENT_TURNS = 100 };
    *idle_turns = only_waited ? *idle_turns + 1 : 0;
    if (*idle_turns <= count + PATIENT_TURNS || launches_running < 2)
        return;
    sched_yield();
    *idle_turns = 0;
}

void rota_count_launch(int by)
{
    launches_running += (unsigned)by;
}

void rota_init(struct rota *rota, const struct grid *grid)
{
    *rota = (struct rota){.last = &rota->waiting, .room = room_of(grid)};
}

bool rota_wants_new(const struct rota *rota, const struct grid *grid)
{
    bool new_first = grid->launch->cooperative; /* none gets far before all have begun */
    return !rota->count || ((new_first || rota->since_new >= rota->count) && rota->count < rota->room);
}

void rota_add(struct rota *rota, struct block *block)
{
    block->next = NULL;
    *rota->last = block;
    rota->last = &block->next;
    rota->count++;
}

struct block *rota_take(struct rota *rota)
{
    struct block *block = rota->waiting;
    if (!block)
        return NULL;
    rota->waiting = block->next;
    if (!rota->waiting)
        rota->last = &rota->waiting;
    rota->count--;
    rota->since_new++;
    return block;
}

enum block_ran rota_turn(struct worker *worker, struct block *block)
{
    block->next = NULL;
    block->worker = worker;
    block->clock_from = worker->result.warp_instructions - block->instructions;
    enum block_ran ran = block_run(block);
    block->instructions = worker->result.warp_instructions - block->clock_from;
    return ran;
}

void rota_end_turn(struct rota *rota, struct worker *worker, struct block *block, enum block_ran ran)
{
    if (UNLIKELY(worker->grid->launch->show))
        worker_show(worker);
    note_waiting(worker, block, ran == BLOCK_ONLY_WAITED);
    give_way(rota->count, ran == BLOCK_ONLY_WAITED, &rota->idle_turns);
    if (ran == BLOCK_ENDED)
        worker_end_block(worker, block);
    else
        rota_add(rota, block);
}
