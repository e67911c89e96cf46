/* Each thread of the host runs a block to its end before the next: of each warp in turn, all instructions
 * until it waits or its slice is over. If the order of blocks matters, they may wait for each other: one
 * thread runs as many as the GPU can hold, in turns. */
#include "exec/stepwise.h"
#include "exec/answer.h"
#include "exec/cga.h"
#include "exec/observer.h"
#include "exec/team.h"
#include "base/bits.h"
#include "base/mem.h"

#include <stdatomic.h>

/* Instructions of a warp before others have their turn; of one that may wait for other blocks: what it
 * executes while it waits should be as little as on a GPU. */
enum { SLICE = 4096, SLICE_ORDERED = 64 };

struct stepwise {
    const struct launch *launch;
    uint64_t serial, workspace, block_count, room;
    uint32_t cluster_size;
    _Atomic uint64_t next;
    _Atomic bool stop;
    pthread_mutex_t lock;
    struct launch_result *result;
};

/* Runs the warp until it waits, ends or its slice is over; false: it could do nothing. */
static bool run_warp(struct team *team, const struct isa_ops *isa, struct isa_warp *warp, uint32_t slice)
{
    struct request *request = &team->request;
    uint64_t *settled = &warp->block->settled, bit = UINT64_C(1) << warp->index;
    struct isa_stepped stepped = {.moved = !(*settled & bit)};
    if (warp->ended)
        return false;
    *settled &= ~bit;
    for (uint32_t left = slice; left; left--) {
        if (stepped.moved && !isa->settle(warp))
            return left != slice;
        if (isa->glide && warp->next->plain)
            left -= isa->glide(warp, left - 1);
        isa->step(warp, &stepped);
        if (request->of.kind || request->shared || request->local || request->param)
            answer_request(isa, warp, request);
    }
    *settled |= stepped.moved ? 0 : bit;
    isa->check_limits(warp);
    return true;
}

/* Gives each warp a slice, and again until the block has ended; or, if blocks take turns, once. */
static bool run_block(struct team *team, const struct isa_ops *isa, struct block *block, bool takes_turns)
{
    uint32_t slice = takes_turns ? SLICE_ORDERED : SLICE;
    do {
        bool moved = false;
        for (uint32_t i = 0; i < block->warp_count; i++)
            moved |= run_warp(team, isa, block_warp(block, i), slice);
        if (block_has_ended(block))
            return true;
        if (block->has_come) {
            cga_came(block);
            moved |= !block->has_come; /* it was the last */
        }
        if (!moved && !isa->force(block) && (!block->cluster || cga_is_stuck(block)))
            isa->deadlock(block);
    } while (!takes_turns);
    return false;
}

/* The next of the grid; with clusters, a list of all blocks of the next. */
static struct block *take_blocks(struct stepwise *s, struct team *team)
{
    uint64_t number = atomic_fetch_add(&s->next, 1);
    struct block *blocks = NULL;
    if (number < s->block_count / s->cluster_size)
        blocks = team_begin_cluster(team, number);
    for (struct block *block = blocks; block; block = block->next)
        block->settled = 0;
    return blocks;
}

/* Blocks that wait are in a ring: each gets its turn, then a new one begins. */
static void run_blocks(struct stepwise *s, struct team *team)
{
    const struct isa_ops *isa = launch_isa(s->launch);
    bool takes_turns = s->launch->kernel->facts.ordered || s->cluster_size > 1;
    uint64_t room = takes_turns ? s->room : 1;
    struct block *waiting = NULL, **last = &waiting;
    uint64_t count = 0;
    while (!atomic_load_explicit(&s->stop, memory_order_relaxed)) {
        struct block *block = count < room ? take_blocks(s, team) : NULL;
        if (block) {
            *last = block->next; /* others of its cluster */
            for (count++; *last; count++)
                last = &(*last)->next;
        } else if (waiting) {
            block = waiting;
            waiting = block->next;
            last = waiting ? last : &waiting;
        } else {
            return;
        }
        block->next = NULL;
        if (run_block(team, isa, block, takes_turns)) {
            team_end_block(team, block);
            count--;
        } else {
            *last = block;
            last = &block->next;
        }
        if (UNLIKELY(s->launch->show))
            worker_show(team->worker);
    }
}

static void add_result(struct stepwise *s, const struct team *team)
{
    pthread_mutex_lock(&s->lock);
#define C(name) s->result->name += team->worker->result.name;
    LAUNCH_COUNTS(C)
#undef C
    if (team->fault.kind != FAULT_NONE && s->result->fault.kind == FAULT_NONE)
        s->result->fault = team->fault;
    pthread_mutex_unlock(&s->lock);
}

static void *thread_main(void *user)
{
    struct stepwise *s = user;
    jmp_buf on_fault;
    struct team *team = team_new(s->launch, s->serial, UINT32_MAX, s->workspace, &on_fault);
    team->request.at_once = true;
    if (!setjmp(on_fault))
        run_blocks(s, team);
    else
        s->stop = true;
    add_result(s, team);
    team_free(team);
    return NULL;
}

void stepwise_run(const struct launch *launch, uint64_t serial, uint64_t workspace,
                  struct launch_result *result)
{
    struct stepwise s = {.launch = launch,
                         .serial = serial,
                         .workspace = workspace,
                         .block_count = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2],
                         .cluster_size = launch_cluster_size(launch),
                         .lock = PTHREAD_MUTEX_INITIALIZER,
                         .result = result};
    s.room = launch->resident_blocks && !launch->cooperative ? launch->resident_blocks : s.block_count;
    uint64_t threads =
        launch->kernel->facts.ordered ? 1 : min_u64(max_u64(launch->threads, 1), s.block_count);
    pthread_t *handles = mem_alloc(threads, sizeof *handles);
    uint64_t started = 1;
    for (; started < threads; started++)
        if (pthread_create(&handles[started], NULL, thread_main, &s))
            break; /* the others do its part */
    thread_main(&s);
    for (uint64_t i = 1; i < started; i++)
        pthread_join(handles[i], NULL);
    mem_free(handles);
    pthread_mutex_destroy(&s.lock);
}
