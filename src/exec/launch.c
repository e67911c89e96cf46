/* An untimed launch: blocks spread over host threads. Each worker runs a block to its end before the next. A
 * block whose threads wait for another block is set aside, as long as the GPU could hold both. */
#include "exec/ahead.h"
#include "exec/cga.h"
#include "exec/rota.h"
#include "exec/stepwise.h"
#include "exec/turns.h"
#include "base/bits.h"
#include "base/mem.h"

#include <stdatomic.h>

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

/* Runs blocks until there are none. */
static void run_blocks(struct worker *worker)
{
    struct grid *grid = worker->grid;
    struct rota rota;
    rota_init(&rota, grid);
    while (!atomic_load_explicit(&grid->stop, memory_order_relaxed)) {
        struct block *block = NULL;
        if (rota_wants_new(&rota, grid)) {
            block = take_blocks(worker);
            rota.since_new = 0;
            for (struct block *other = block ? block->next : NULL, *next; other; other = next) {
                next = other->next;
                rota_add(&rota, other);
            }
        }
        if (!block)
            block = rota_take(&rota);
        if (!block)
            return;
        rota_end_turn(&rota, worker, block, rota_turn(worker, block));
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

void launch_add_counts(struct launch_result *sum, const struct launch_result *part)
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
        launch_add_counts(result, &workers[i]->result);
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

/* Threads that it is worth to start: a launch as small as the kernel's last one was is over before they
 * begin. */
static uint64_t workers_of(const struct grid *grid)
{
    enum { WORTH = 20000 }; /* warp instructions */
    uint64_t cost = atomic_load_explicit(&grid->kernel->block_cost, memory_order_relaxed);
    bool small = cost && grid->block_count < WORTH / cost;
    uint64_t threads = grid->kernel->facts.ordered || small ? 1 : grid->launch->threads;
    return max_u64(min_u64(threads, grid->block_count), 1);
}

static bool may_run_ahead(const struct grid *grid)
{
    const struct launch *launch = grid->launch;
    const struct kernel_facts *facts = &launch->kernel->facts;
    return launch->threads > 1 && facts->ordered && facts->meets && !facts->launches &&
           grid->block_count > 2 && grid->cluster_size == 1 && !launch->cooperative &&
           !launch->instruction_limit;
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
    grid.workers = workers_of(&grid);
    rota_count_launch(1);
    if (launch->observer)
        stepwise_run(launch, grid.serial, grid.workspace, result);
    else if (launch->watch)
        turns_run(launch, grid.serial, grid.workspace, result);
    else if (may_run_ahead(&grid))
        ahead_run(&grid, (unsigned)min_u64(launch->threads, grid.block_count), result);
    else
        run_workers(&grid, (unsigned)grid.workers, result);
    rota_count_launch(-1);
    atomic_store_explicit(&launch->kernel->block_cost,
                          result->warp_instructions / max_u64(grid.block_count, 1) + 1, memory_order_relaxed);
    workspace_free(&grid, workspace);
    grid_fini(&grid);
    return result->fault.kind == FAULT_NONE && !(launch->interrupt && *launch->interrupt);
}
