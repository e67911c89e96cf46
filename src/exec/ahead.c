/* See ahead.h. The first block runs alone; whether threads are started then depends on how much of it ran
 * before it met others. */
#include "exec/ahead.h"
#include "exec/rota.h"
#include "base/bits.h"
#include "base/mem.h"

#include <stdatomic.h>

enum {
    WINDOW = 64,        /* blocks that are begun ahead of the next turn, at most */
    WORTH_BLOCK = 1000, /* warp instructions of a block before it meets others, that waking a thread pays; */
    WORTH_LAUNCH = 50000, /* and of all blocks, that starting it does */
    WORTH_PART = 8,       /* ... and at least such a part of the block's */
};

struct begun {
    struct worker *worker; /* that runs it, or NULL: its turn is over, and this came of it: */
    enum block_ran ran;
    struct block *block; /* NULL: it has ended */
};

struct ahead {
    struct grid *grid;
    pthread_mutex_t lock;
    pthread_cond_t room;  /* in the window */
    uint64_t begun, next; /* blocks; the one whose turn is next */
    struct begun window[WINDOW + 1];
    struct rota rota; /* the leader's */
    struct worker **workers;
    pthread_t *threads;
    unsigned most, started; /* threads; the first is the launch's own */
    bool weighed;           /* it is decided whether to start them */
};

static bool stopped(struct ahead *ahead)
{
    return atomic_load_explicit(&ahead->grid->stop, memory_order_relaxed);
}

void ahead_await(struct worker *worker)
{
    struct ahead *ahead = worker->ahead;
    pthread_mutex_lock(&ahead->lock);
    while (!worker->has_turn && !stopped(ahead))
        pthread_cond_wait(&worker->turn, &ahead->lock);
    pthread_mutex_unlock(&ahead->lock);
    worker->is_ahead = false;
    if (!worker->has_turn)
        longjmp(*worker->on_fault, 1);
}

static struct worker *new_worker(struct ahead *ahead)
{
    struct worker *worker = worker_new(ahead->grid);
    worker->ahead = ahead;
    pthread_cond_init(&worker->turn, NULL);
    return worker;
}

static void free_worker(struct worker *worker)
{
    pthread_cond_destroy(&worker->turn);
    worker_free(worker);
}

static void *worker_main(void *context);

static void start_threads(struct ahead *ahead, const struct block *first)
{
    uint64_t left = ahead->grid->block_count - ahead->next;
    uint64_t before = first->before_meeting ? first->before_meeting : first->instructions;
    if (before < WORTH_BLOCK || before < first->instructions / WORTH_PART || left * before < WORTH_LAUNCH)
        return;
    pthread_mutex_lock(&ahead->lock);
    for (; ahead->started < ahead->most && ahead->started <= left; ahead->started++) {
        struct worker *worker = ahead->workers[ahead->started] = new_worker(ahead);
        if (pthread_create(&ahead->threads[ahead->started], NULL, worker_main, worker)) {
            free_worker(worker); /* the others do its part */
            break;
        }
    }
    pthread_mutex_unlock(&ahead->lock);
}

/* The first turn of the next block. False: another worker runs it, and leads on from here. */
static bool take_turn(struct ahead *ahead, struct worker *worker, struct block **block, enum block_ran *ran)
{
    pthread_mutex_lock(&ahead->lock);
    uint64_t number = ahead->next++;
    pthread_cond_signal(&ahead->room);
    if (number == ahead->begun) {
        ahead->begun++;
        pthread_mutex_unlock(&ahead->lock);
        *block = worker_begin_block(worker, number);
        *ran = rota_turn(worker, *block);
        return true;
    }
    struct begun *begun = &ahead->window[number % (WINDOW + 1)];
    struct worker *other = begun->worker;
    if (other) {
        other->has_turn = true;
        pthread_cond_signal(&other->turn);
    } else {
        *ran = begun->ran;
        *block = begun->block;
    }
    pthread_mutex_unlock(&ahead->lock);
    return !other;
}

/* Gives blocks their turns, until another worker leads or all blocks have ended. */
static void lead(struct ahead *ahead, struct worker *worker)
{
    struct rota *rota = &ahead->rota;
    while (!stopped(ahead)) {
        struct block *block = NULL;
        enum block_ran ran = BLOCK_ENDED;
        bool wants = rota_wants_new(rota, ahead->grid);
        if (wants)
            rota->since_new = 0;
        if (wants && ahead->next < ahead->grid->block_count) {
            if (!take_turn(ahead, worker, &block, &ran))
                return;
        } else if ((block = rota_take(rota))) {
            ran = rota_turn(worker, block);
        } else {
            return;
        }
        if (!ahead->weighed && ran == BLOCK_ENDED)
            start_threads(ahead, block);
        ahead->weighed = true;
        if (block)
            rota_end_turn(rota, worker, block, ran);
    }
}

/* Runs a block of that number ahead. True: its turn came meanwhile, so this worker leads. */
static bool run_ahead(struct ahead *ahead, struct worker *worker, uint64_t number, struct block **block,
                      enum block_ran *ran)
{
    struct begun *begun = &ahead->window[number % (WINDOW + 1)];
    worker->is_ahead = true;
    *block = worker_begin_block(worker, number);
    *ran = rota_turn(worker, *block);
    worker->is_ahead = false;
    pthread_mutex_lock(&ahead->lock);
    bool leads = worker->has_turn;
    if (!leads)
        *begun = (struct begun){NULL, *ran, *ran == BLOCK_ENDED ? NULL : *block};
    pthread_mutex_unlock(&ahead->lock);
    if (!leads && *ran == BLOCK_ENDED)
        worker_end_block(worker, *block);
    return leads;
}

/* The next block that nobody has begun, when the window has room for it. False: there is none. */
static bool begin_next(struct ahead *ahead, struct worker *worker, uint64_t *number)
{
    pthread_mutex_lock(&ahead->lock);
    while (!stopped(ahead) && ahead->begun < ahead->grid->block_count && ahead->begun - ahead->next >= WINDOW)
        pthread_cond_wait(&ahead->room, &ahead->lock);
    bool good = !stopped(ahead) && ahead->begun < ahead->grid->block_count;
    if (good) {
        *number = ahead->begun++;
        ahead->window[*number % (WINDOW + 1)].worker = worker;
        worker->has_turn = false;
    }
    pthread_mutex_unlock(&ahead->lock);
    return good;
}

/* All that wait look again: somebody met a fault. */
static void wake_all(struct ahead *ahead)
{
    pthread_mutex_lock(&ahead->lock);
    pthread_cond_broadcast(&ahead->room);
    for (unsigned i = 0; i < ahead->started; i++)
        pthread_cond_signal(&ahead->workers[i]->turn);
    pthread_mutex_unlock(&ahead->lock);
}

/* The launch's own thread leads first; all others run blocks ahead. Not a part of who calls setjmp, so that a
 * fault cannot clobber its variables. */
static __attribute__((noinline)) void take_part(struct ahead *ahead, struct worker *worker)
{
    uint64_t number;
    if (worker->leads)
        lead(ahead, worker);
    while (begin_next(ahead, worker, &number)) {
        struct block *block;
        enum block_ran ran;
        if (run_ahead(ahead, worker, number, &block, &ran)) {
            rota_end_turn(&ahead->rota, worker, block, ran);
            lead(ahead, worker);
        }
    }
}

static void *worker_main(void *context)
{
    struct worker *worker = context;
    struct ahead *ahead = worker->ahead;
    jmp_buf on_fault;
    worker->on_fault = &on_fault;
    if (!setjmp(on_fault))
        take_part(ahead, worker);
    if (stopped(ahead))
        wake_all(ahead);
    return NULL;
}

void ahead_run(struct grid *grid, unsigned threads, struct launch_result *result)
{
    struct ahead *ahead = mem_alloc(1, sizeof *ahead);
    *ahead = (struct ahead){.grid = grid, .most = threads, .started = 1};
    pthread_mutex_init(&ahead->lock, NULL);
    pthread_cond_init(&ahead->room, NULL);
    rota_init(&ahead->rota, grid);
    ahead->workers = mem_alloc(threads, sizeof(struct worker *));
    ahead->threads = mem_alloc(threads, sizeof *ahead->threads);
    struct worker *first = ahead->workers[0] = new_worker(ahead);
    first->leads = true;
    worker_main(first);
    for (unsigned i = 1; i < ahead->started; i++)
        pthread_join(ahead->threads[i], NULL);
    for (unsigned i = 0; i < ahead->started; i++) {
        launch_add_counts(result, &ahead->workers[i]->result);
        free_worker(ahead->workers[i]);
    }
    mem_free(ahead->workers);
    mem_free(ahead->threads);
    pthread_cond_destroy(&ahead->room);
    pthread_mutex_destroy(&ahead->lock);
    mem_free(ahead);
}
