/* An untimed launch: blocks spread over host threads. Each worker runs a block to its end before the next. A
 * block whose threads wait for another block is set aside, as long as the GPU could hold both. */
#include "exec/cga.h"
#include "exec/stepwise.h"
#include "exec/turns.h"
#include "base/bits.h"
#include "base/demangle.h"
#include "base/host.h"
#include "base/mem.h"

#include <sched.h>
#include <stdatomic.h>

enum block_ran { BLOCK_ENDED, BLOCK_WAITS, BLOCK_ONLY_WAITED };

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

/* The next of the grid; with clusters, a list of all blocks of the next. */
static struct block *take_blocks(struct worker *worker)
{
    struct grid *grid = worker->grid;
    if (atomic_load(&grid->next_cluster) >= grid->cluster_count)
        return NULL;
    uint64_t number = atomic_fetch_add(&grid->next_cluster, 1);
    if (number >= grid->cluster_count)
        return NULL;
    if (UNLIKELY(grid->cluster_size > 1))
        return cga_begin(worker, number);
    struct block *block = worker_begin_block(worker, number);
    block->next = NULL;
    return block;
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

/* Runs blocks until there are none. Those that wait are in a ring: each gets its turn, then a new one starts,
 * as long as the GPU has room for it. */
static void run_blocks(struct worker *worker)
{
    struct grid *grid = worker->grid;
    uint64_t room = room_of(grid);
    struct block *waiting = NULL, **last = &waiting;
    uint64_t count = 0, since_new = 0, idle_turns = 0;
    while (!atomic_load_explicit(&grid->stop, memory_order_relaxed)) {
        struct block *block = NULL;
        bool new_first = grid->launch->cooperative; /* none gets far before all have begun */
        if (!count || ((new_first || since_new >= count) && count < room)) {
            block = take_blocks(worker);
            since_new = 0;
            for (struct block *other = block ? block->next : NULL; other; other = other->next, count++) {
                *last = other;
                last = &other->next;
            }
        }
        if (!block && count) {
            block = waiting;
            waiting = block->next;
            if (!waiting)
                last = &waiting;
            count--;
            since_new++;
        }
        if (!block)
            return;
        block->next = NULL;
        block->clock_from = worker->result.warp_instructions - block->instructions;
        enum block_ran ran = block_run(block);
        block->instructions = worker->result.warp_instructions - block->clock_from;
        if (UNLIKELY(grid->launch->show))
            worker_show(worker);
        note_waiting(worker, block, ran == BLOCK_ONLY_WAITED);
        give_way(count, ran == BLOCK_ONLY_WAITED, &idle_turns);
        if (ran == BLOCK_ENDED) {
            worker_end_block(worker, block);
        } else {
            *last = block;
            last = &block->next;
            count++;
        }
    }
}

static void *worker_main(void *context)
{
    struct worker *worker = context;
    jmp_buf on_fault;
    worker->on_fault = &on_fault;
    if (!setjmp(on_fault))
        run_blocks(worker);
    return NULL;
}

static void add_counts(struct launch_result *sum, const struct launch_result *part)
{
#define C(name) sum->name += part->name;
    LAUNCH_COUNTS(C)
#undef C
}

static void run_workers(struct grid *grid, unsigned threads, struct launch_result *result)
{
    struct worker **workers = mem_alloc(threads, sizeof(struct worker *));
    pthread_t *handles = mem_alloc(threads, sizeof *handles);
    unsigned started = 1;
    for (unsigned i = 0; i < threads; i++)
        workers[i] = worker_new(grid);
    workers[0]->leads = true;
    for (; started < threads; started++)
        if (pthread_create(&handles[started], NULL, worker_main, workers[started]))
            break; /* the others do its part */
    worker_main(workers[0]);
    for (unsigned i = 1; i < started; i++)
        pthread_join(handles[i], NULL);
    for (unsigned i = 0; i < threads; i++) {
        add_counts(result, &workers[i]->result);
        worker_free(workers[i]);
    }
    mem_free(workers);
    mem_free(handles);
}

/* What cooperative groups keep of the barrier of all blocks. */
enum { WORKSPACE = 128 };
#define WORKSPACE_HINT UINT64_C(0x4d0000000000) /* the same address in each run, if nothing else is there */

static void *workspace_new(struct grid *grid)
{
    if (!grid->launch->cooperative)
        return NULL;
    void *memory = mem_map(WORKSPACE_HINT, WORKSPACE);
    grid->workspace = (uintptr_t)memory;
    image_add(grid->launch->image,
              (struct range){grid->workspace, WORKSPACE, "the workspace of grid-wide barriers", false});
    return memory;
}

static void workspace_free(struct grid *grid, void *memory)
{
    if (memory)
        image_remove(grid->launch->image, grid->workspace);
    if (memory)
        mem_unmap(memory, WORKSPACE);
}

bool launch_run(const struct launch *launch, struct launch_result *result)
{
    static _Atomic uint64_t serial;
    struct err err;
    *result = (struct launch_result){0};
    if (!kernel_prepare(launch->kernel, &err)) {
        result->fault.kind = FAULT_INSTRUCTION;
        snprintf(result->fault.text, sizeof result->fault.text, "%.2000s", err.text);
        return false;
    }
    struct grid grid = {0};
    grid_init(&grid, launch, atomic_fetch_add(&serial, 1) + 1, 0, &result->fault);
    void *workspace = workspace_new(&grid);
    uint64_t threads = launch->kernel->facts.ordered ? 1 : max_u64(launch->threads, 1);
    grid.workers = max_u64(min_u64(threads, grid.block_count), 1);
    launches_running++;
    if (launch->observer)
        stepwise_run(launch, grid.serial, grid.workspace, result);
    else if (launch->watch)
        turns_run(launch, grid.serial, grid.workspace, result);
    else
        run_workers(&grid, (unsigned)grid.workers, result);
    launches_running--;
    workspace_free(&grid, workspace);
    grid_fini(&grid);
    return result->fault.kind == FAULT_NONE && !(launch->interrupt && *launch->interrupt);
}
