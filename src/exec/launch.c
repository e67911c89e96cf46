/* A launch: blocks spread over host threads. Each worker runs a block to its end before the next; one whose
 * threads wait for another block is put aside, as far as the GPU would hold both. */
#include "exec/memory.h"
#include "exec/step.h"
#include "exec/sync.h"
#include "exec/turns.h"
#include "exec/warp.h"
#include "base/demangle.h"
#include "base/bits.h"
#include "base/host.h"
#include "base/mem.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>

_Noreturn void warp_fault(struct warp *w, const struct op *op, lanes who, enum fault_kind kind,
                          uint64_t address, const char *format, ...)
{
    struct block *block = w->block;
    struct worker *worker = block->worker;
    struct grid *grid = worker->grid;
    const uint32_t *size = grid->launch->block;
    if (op < w->code->ops || op >= w->code->ops + w->code->op_count)
        op = op->more;
    if (kind == FAULT_ADDRESS || kind == FAULT_MISALIGNED)
        memory_blame(w, op);
    uint32_t thread = w->index * WARP_LANES + first_lane(who);
    char said[1400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(said, sizeof said, format, arguments);
    va_end(arguments);
    struct text where = {0};
    code_where(w->code, op, &where);
    pthread_mutex_lock(&grid->lock);
    struct fault *fault = grid->fault;
    if (fault->kind == FAULT_NONE) {
        fault->kind = kind;
        fault->address = address;
        memcpy(fault->block, block->id, sizeof fault->block);
        fault->thread[0] = thread % size[0];
        fault->thread[1] = thread / size[0] % size[1];
        fault->thread[2] = thread / size[0] / size[1];
        snprintf(fault->text, sizeof fault->text, "kernel %s, block (%u,%u,%u), thread (%u,%u,%u), %s: %s",
                 demangled(grid->kernel->facts.name), block->id[0], block->id[1], block->id[2],
                 fault->thread[0], fault->thread[1], fault->thread[2], where.at, said);
    }
    pthread_mutex_unlock(&grid->lock);
    text_fini(&where);
    atomic_store(&grid->stop, 1);
    longjmp(*worker->on_fault, 1);
}

/* Blocks */

/* How often a warp looks whether another wrote what it waits for. Who waited in vain for another block looks
 * only now and then. */
enum { PATIENCE = 128, IMPATIENCE = 4 };

static void block_start(struct worker *worker, struct block *block, uint64_t number)
{
    const struct grid *grid = worker->grid;
    const struct launch *launch = grid->launch;
    block->worker = worker;
    block->number = number;
    block->id[0] = (uint32_t)(number % launch->grid[0]);
    block->id[1] = (uint32_t)(number / launch->grid[0] % launch->grid[1]);
    block->id[2] = (uint32_t)(number / launch->grid[0] / launch->grid[1]);
    block->shared_bytes = grid->kernel->dynamic_shared_at + launch->shared_bytes;
    if (block->shared_bytes > block->shared_capacity) {
        mem_free(block->shared);
        block->shared = mem_alloc_lines(block->shared_bytes, 1);
        block->shared_capacity = block->shared_bytes;
    } else if (block->shared_bytes) {
        memset(block->shared, 0, block->shared_bytes);
    }
    block->alive = grid->threads_per_block;
    block->patience = PATIENCE;
    memset(block->barriers, 0, sizeof block->barriers);
    block->opened = false;
    block->instructions = block->clock_reads = 0;
    if (block->warp_capacity < grid->warps_per_block) {
        block->warps =
            mem_resize(block->warps, block->warp_capacity, grid->warps_per_block, sizeof *block->warps);
        block->warp_capacity = grid->warps_per_block;
    }
    block->warp_count = grid->warps_per_block;
    for (uint32_t i = 0; i < block->warp_count; i++) {
        uint32_t threads = grid->threads_per_block - i * WARP_LANES;
        lanes exists = threads >= WARP_LANES ? UINT32_MAX : (UINT32_C(1) << threads) - 1;
        warp_start(&block->warps[i], block, i, exists);
    }
    worker->result.warps += block->warp_count;
    worker->result.threads += grid->threads_per_block;
}

void block_free(struct block *block)
{
    for (uint32_t i = 0; i < block->warp_capacity; i++)
        warp_fini(&block->warps[i]);
    mem_free(block->warps);
    mem_free(block->shared);
    mem_free(block);
}

_Noreturn void block_report_deadlock(struct block *block)
{
    for (uint32_t i = 0; i < block->warp_count; i++) {
        struct warp *w = &block->warps[i];
        for (uint32_t j = 0; j < w->fragment_count; j++) {
            struct fragment *f = w->fragments[j];
            w->now = f;
            warp_use_frame(w);
            const struct level *top = &f->levels[f->depth - 1];
            struct text text = {0};
            char where[1200];
            block_describe(block, &text);
            snprintf(where, sizeof where, "%s", text.at);
            text_fini(&text);
            warp_fault(w, &w->code->ops[top->pc], top->mask, FAULT_DEADLOCK, 0,
                       "waits at a barrier that the block's other threads never reach; %s", where);
        }
    }
    BUG("a block without threads waits");
}

static bool force_sync(struct block *block)
{
    for (uint32_t i = 0; i < block->warp_count; i++)
        if (warp_check_sync(&block->warps[i], true))
            return true;
    return false;
}

enum block_ran { BLOCK_ENDED, BLOCK_WAITS, BLOCK_ONLY_WAITED };

static enum block_ran block_run(struct block *block)
{
    for (bool first = true;; first = false) {
        bool any_left = false, moved = false, spun = false;
        for (uint32_t i = 0; i < block->warp_count; i++) {
            struct warp *w = &block->warps[i];
            if (!w->fragment_count)
                continue;
            enum ran ran = warp_run(w);
            any_left |= ran != RAN_OUT;
            moved |= ran == RAN_OUT || ran == RAN_SLICE;
            spun |= ran == RAN_SPINS;
        }
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
            for (uint32_t j = 0; j < block->warps[i].fragment_count; j++)
                ready |= block->warps[i].fragments[j]->state == FRAGMENT_READY;
        if (!ready && !force_sync(block))
            block_report_deadlock(block);
    }
}

/* Workers */

struct block *worker_begin_block(struct worker *worker, uint64_t number)
{
    struct block *block = worker->pool;
    if (block) {
        worker->pool = block->next;
    } else {
        block = mem_alloc(1, sizeof *block);
        block->made_before = worker->made;
        worker->made = block;
    }
    block_start(worker, block, number);
    return block;
}

void worker_end_block(struct worker *worker, struct block *block)
{
    block->next = worker->pool;
    worker->pool = block;
}

void worker_show(struct worker *worker)
{
    enum { LOOK_EVERY = 1024 };
    struct grid *grid = worker->grid;
    if (worker->leads && ++worker->looks % LOOK_EVERY == 0)
        grid->launch->show(grid->launch->user, min_u64(atomic_load(&grid->next_block), grid->block_count),
                           worker->result.warp_instructions * grid->workers);
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
    block_describe(block, &text);
    launch->stuck(launch->user, text.at);
    text_fini(&text);
}

/* The next of the grid. */
static struct block *take_block(struct worker *worker)
{
    struct grid *grid = worker->grid;
    if (atomic_load(&grid->next_block) >= grid->block_count)
        return NULL;
    uint64_t number = atomic_fetch_add(&grid->next_block, 1);
    return number < grid->block_count ? worker_begin_block(worker, number) : NULL;
}

/* How many blocks a worker may have begun at a time. */
static uint64_t room_of(const struct grid *grid)
{
    const struct launch *launch = grid->launch;
    if (launch->cooperative || !launch->resident_blocks)
        return grid->block_count;
    return max_u64((launch->resident_blocks + grid->workers - 1) / grid->workers, 1);
}

/* Runs blocks until there are none. Those that wait are in a ring: each gets its turn, then a new one starts,
 * as long as the GPU has room for it. */
static void run_blocks(struct worker *worker)
{
    struct grid *grid = worker->grid;
    uint64_t room = room_of(grid);
    struct block *waiting = NULL, **last = &waiting;
    uint64_t count = 0, since_new = 0;
    while (!atomic_load_explicit(&grid->stop, memory_order_relaxed)) {
        struct block *block = NULL;
        bool new_first = grid->launch->cooperative; /* none gets far before all have begun */
        if (!count || ((new_first || since_new >= count) && count < room)) {
            block = take_block(worker);
            since_new = 0;
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

struct worker *worker_new(struct grid *grid)
{
    struct worker *worker = mem_alloc_lines(1, sizeof *worker);
    worker->grid = grid;
    worker->sm = UINT32_MAX;
    worker->found = mem_alloc(grid->kernel->access_count + 1, sizeof *worker->found);
    return worker;
}

void worker_free(struct worker *worker)
{
    for (struct block *block = worker->made, *next; block; block = next) {
        next = block->made_before;
        block_free(block);
    }
    text_fini(&worker->line);
    mem_free(worker->found);
    mem_free(worker);
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
    const struct kernel_facts *facts = &launch->kernel->facts;
    struct grid grid = {.launch = launch,
                        .kernel = launch->kernel,
                        .serial = atomic_fetch_add(&serial, 1) + 1,
                        .fault = &result->fault,
                        .block_count = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2],
                        .threads_per_block = launch->block[0] * launch->block[1] * launch->block[2],
                        .param_bytes = facts->param_bytes};
    grid.warps_per_block = (grid.threads_per_block + WARP_LANES - 1) / WARP_LANES;
    grid.params = mem_alloc(1, facts->param_bytes + 16);
    if (facts->param_bytes)
        memcpy(grid.params, launch->params, facts->param_bytes);
    pthread_mutex_init(&grid.lock, NULL);
    void *workspace = workspace_new(&grid);
    uint64_t threads = facts->ordered ? 1 : max_u64(launch->threads, 1);
    grid.workers = max_u64(min_u64(threads, grid.block_count), 1);
    if (launch->watch)
        turns_run(launch, grid.serial, grid.workspace, result);
    else
        run_workers(&grid, (unsigned)grid.workers, result);
    workspace_free(&grid, workspace);
    pthread_mutex_destroy(&grid.lock);
    mem_free(grid.params);
    return result->fault.kind == FAULT_NONE && !(launch->interrupt && *launch->interrupt);
}
