#include "base/workers.h"
#include "base/err.h"
#include "base/mem.h"

#include <pthread.h>
#include <stdatomic.h>

struct workers {
    pthread_mutex_t lock;
    pthread_cond_t begin, end;
    pthread_t *threads;
    unsigned count;
    uint64_t round; /* counts calls of workers_run */
    unsigned busy;  /* threads that are not done with this round */
    bool stop;
    work_fn *work;
    void *user;
    uint32_t pieces;
    _Atomic uint32_t next; /* piece that nobody has begun */
};

struct worker_start {
    struct workers *workers;
    unsigned number;
};

static void work(struct workers *workers, unsigned number)
{
    for (;;) {
        uint32_t piece = atomic_fetch_add_explicit(&workers->next, 1, memory_order_relaxed);
        if (piece >= workers->pieces)
            return;
        workers->work(workers->user, piece, number);
    }
}

static void *thread_main(void *start)
{
    struct workers *workers = ((struct worker_start *)start)->workers;
    unsigned number = ((struct worker_start *)start)->number;
    mem_free(start);
    uint64_t seen = 0;
    pthread_mutex_lock(&workers->lock);
    while (!workers->stop) {
        if (workers->round == seen) {
            pthread_cond_wait(&workers->begin, &workers->lock);
            continue;
        }
        seen = workers->round;
        pthread_mutex_unlock(&workers->lock);
        work(workers, number);
        pthread_mutex_lock(&workers->lock);
        if (!--workers->busy)
            pthread_cond_signal(&workers->end);
    }
    pthread_mutex_unlock(&workers->lock);
    return NULL;
}

struct workers *workers_new(unsigned threads)
{
    struct workers *workers = mem_alloc(1, sizeof *workers);
    workers->count = threads ? threads : 1;
    workers->threads = mem_alloc(workers->count, sizeof *workers->threads);
    pthread_mutex_init(&workers->lock, NULL);
    pthread_cond_init(&workers->begin, NULL);
    pthread_cond_init(&workers->end, NULL);
    for (unsigned i = 1; i < workers->count; i++) {
        struct worker_start *start = mem_alloc(1, sizeof *start);
        *start = (struct worker_start){workers, i};
        if (pthread_create(&workers->threads[i], NULL, thread_main, start)) {
            mem_free(start); /* the host has no more: those there are do the work */
            workers->count = i;
        }
    }
    return workers;
}

void workers_free(struct workers *workers)
{
    if (!workers)
        return;
    pthread_mutex_lock(&workers->lock);
    workers->stop = true;
    pthread_cond_broadcast(&workers->begin);
    pthread_mutex_unlock(&workers->lock);
    for (unsigned i = 1; i < workers->count; i++)
        pthread_join(workers->threads[i], NULL);
    pthread_cond_destroy(&workers->begin);
    pthread_cond_destroy(&workers->end);
    pthread_mutex_destroy(&workers->lock);
    mem_free(workers->threads);
    mem_free(workers);
}

unsigned workers_count(const struct workers *workers)
{
    return workers->count;
}

void workers_run(struct workers *workers, uint32_t pieces, work_fn *fn, void *user)
{
    pthread_mutex_lock(&workers->lock);
    workers->work = fn;
    workers->user = user;
    workers->pieces = pieces;
    atomic_store(&workers->next, 0);
    workers->busy = workers->count - 1;
    workers->round++;
    pthread_cond_broadcast(&workers->begin);
    pthread_mutex_unlock(&workers->lock);
    work(workers, 0);
    pthread_mutex_lock(&workers->lock);
    while (workers->busy)
        pthread_cond_wait(&workers->end, &workers->lock);
    pthread_mutex_unlock(&workers->lock);
}
