/* Blocks of a launch, and the workers that run them. */
#include "exec/cga.h"
#include "base/bits.h"
#include "base/demangle.h"
#include "base/mem.h"
#include "exec/heap.h"

#include <stdatomic.h>
#include <string.h>

void grid_init(struct grid *grid, const struct launch *launch, uint64_t serial, uint64_t workspace,
               struct fault *fault)
{
    struct kernel *kernel = launch->kernel;
    uint64_t param_bytes = kernel->facts.param_bytes;
    grid->launch = launch;
    grid->kernel = kernel;
    grid->serial = serial;
    grid->workspace = workspace;
    grid->fault = fault;
    grid->block_count = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    grid->cluster_size = launch_cluster_size(launch);
    grid->cluster_count = grid->block_count / grid->cluster_size;
    grid->threads_per_block = launch->block[0] * launch->block[1] * launch->block[2];
    grid->warps_per_block = (grid->threads_per_block + kernel->isa->lanes - 1) / kernel->isa->lanes;
    grid->param_bytes = param_bytes;
    grid->params = mem_alloc(1, param_bytes + 16);
    if (param_bytes)
        memcpy(grid->params, launch->params, param_bytes);
    pthread_mutex_init(&grid->lock, NULL);
}

void grid_fini(struct grid *grid)
{
    pthread_mutex_destroy(&grid->lock);
    mem_free(grid->params);
}

_Noreturn void block_fault(struct block *block, uint32_t thread, enum fault_kind kind, uint64_t address,
                           const char *where, const char *what)
{
    block_meets(block); /* of several faults, the one that comes first in order */
    struct grid *grid = block->worker->grid;
    const uint32_t *size = grid->launch->block;
    pthread_mutex_lock(&grid->lock);
    struct fault *fault = grid->fault;
    if (fault->kind == FAULT_NONE) {
        fault->kind = kind;
        fault->address = address;
        memcpy(fault->block, block->id, sizeof fault->block);
        fault->thread[0] = thread % size[0];
        fault->thread[1] = thread / size[0] % size[1];
        fault->thread[2] = thread / size[0] / size[1];
        const struct isa_ops *isa = grid->kernel->isa;
        snprintf(fault->text, sizeof fault->text, "kernel %s, %s (%u,%u,%u), %s (%u,%u,%u), %s: %s",
                 demangled(grid->kernel->facts.name), isa->block_word, block->id[0], block->id[1],
                 block->id[2], isa->thread_word, fault->thread[0], fault->thread[1], fault->thread[2], where,
                 what);
    }
    pthread_mutex_unlock(&grid->lock);
    atomic_store(&grid->stop, 1);
    longjmp(*block->worker->on_fault, 1);
}

/* Blocks */

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
    block->cluster = NULL;
    block->rank = block->shared_from = block->cluster_arrivals = 0;
    block->has_come = false;
    if (UNLIKELY(grid->cluster_size > 1)) {
        launch_cluster_of(launch, number, &block->rank);
        block->shared_from = block->rank << CLUSTER_SHARED_SHIFT;
    }
    block->patience = PATIENCE;
    block->before_meeting = 0;
    memset(block->barriers, 0, sizeof block->barriers);
    block->opened = false;
    block->instructions = block->clock_reads = 0;
    const struct isa_ops *isa = grid->kernel->isa;
    if (block->warp_capacity < grid->warps_per_block) {
        block->warps = mem_resize(block->warps, block->warp_capacity, grid->warps_per_block, isa->warp_bytes);
        block->warp_capacity = grid->warps_per_block;
    }
    block->warp_count = grid->warps_per_block;
    for (uint32_t i = 0; i < block->warp_count; i++) {
        struct isa_warp *warp = block_warp(block, i);
        uint32_t threads = grid->threads_per_block - i * isa->lanes;
        warp->block = block;
        warp->index = i;
        warp->ended = false;
        isa->start(warp, UINT64_MAX >> (ISA_LANES - min_u64(threads, isa->lanes)));
    }
    worker->result.warps += block->warp_count;
    worker->result.threads += grid->threads_per_block;
}

void block_free(struct block *block)
{
    for (uint32_t i = 0; i < block->warp_capacity; i++)
        block->worker->grid->kernel->isa->fini(block_warp(block, i));
    mem_free(block->warps);
    mem_free(block->shared);
    mem_free(block);
}

/* Workers */

/* The heap, if the address is there; or NULL. */
static const struct heap *heap_with(const struct image *image, uint64_t at)
{
    const struct heap *heap = image_heap(image);
    return heap && heap_holds(heap, at) ? heap : NULL;
}

bool worker_find(const struct worker *worker, uint64_t at, struct range *range)
{
    const struct image *image = worker->grid->launch->image;
    const struct heap *heap = heap_with(image, at);
    return heap ? heap_find(heap, worker->sm, at, range) : image_find(image, at, range);
}

void worker_describe(const struct worker *worker, uint64_t at, struct text *text)
{
    const struct image *image = worker->grid->launch->image;
    const struct heap *heap = heap_with(image, at);
    if (heap)
        heap_describe(heap, at, text);
    else
        image_describe(image, at, text);
}

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
    if (UNLIKELY(block->cluster != NULL))
        cga_leave(block);
    block->next = worker->pool;
    worker->pool = block;
}

void worker_show(struct worker *worker)
{
    enum { LOOK_EVERY = 1024 };
    struct grid *grid = worker->grid;
    if (worker->leads && ++worker->looks % LOOK_EVERY == 0)
        grid->launch->show(grid->launch->user,
                           min_u64(atomic_load(&grid->next_cluster), grid->cluster_count) *
                               grid->cluster_size,
                           worker->result.warp_instructions * grid->workers);
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
        if (block->cluster) /* a fault ended its launch */
            cga_drop(block);
        block_free(block);
    }
    for (struct cga *cluster = worker->clusters, *next; cluster; cluster = next) {
        next = cluster->next;
        mem_free(cluster);
    }
    text_fini(&worker->line);
    mem_free(worker->found);
    mem_free(worker);
}
