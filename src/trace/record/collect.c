#include "record/collect.h"
#include "base/host.h"
#include "base/mem.h"
#include "base/text.h"
#include "trace/writer.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

struct record_shared *record_shared_new(int *file, struct err *err)
{
    struct record_shared *shared = MAP_FAILED;
    *file = memfd_create("heddle-record", MFD_CLOEXEC);
    if (*file >= 0 && !ftruncate(*file, sizeof *shared))
        shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, *file, 0);
    if (shared != MAP_FAILED) {
        unsigned cores = host_cores();
        shared->collectors = cores < RECORD_COLLECTORS ? cores : RECORD_COLLECTORS;
        return shared;
    }
    err_set(err, "trace record: cannot share memory with the program: %s", strerror(errno));
    if (*file >= 0)
        close(*file);
    return NULL;
}

void record_shared_free(struct record_shared *shared, int file)
{
    munmap(shared, sizeof *shared);
    close(file);
}

/* What a collector knows of a lane. */
struct lane_taken {
    struct trace_writer *writer; /* NULL: nothing came yet */
    uint32_t at;                 /* the buffer that comes next */
    struct record_thread thread;
};

struct collector {
    struct collect *collect;
    uint32_t number;
    pthread_t host;
};

struct collect {
    struct record_shared *shared;
    const char *folder;
    const struct collect_ops *ops;
    void *user;
    struct lane_taken lanes[RECORD_LANES];
    struct collector collectors[RECORD_COLLECTORS];
    _Atomic bool ending; /* the program has ended */
    _Atomic uint64_t accesses;
    pthread_mutex_t lock; /* of what follows */
    struct record_thread *threads;
    size_t thread_count, thread_capacity;
    struct err err;
    _Atomic bool failed;
};

static void fail(struct collect *collect, const struct err *err)
{
    pthread_mutex_lock(&collect->lock);
    bool first = !collect->failed;
    if (first)
        collect->err = *err;
    collect->failed = true;
    pthread_mutex_unlock(&collect->lock);
    if (first)
        collect->ops->failed(collect->user);
}

static struct trace_writer *open_trace(struct collect *collect, uint32_t thread, struct err *err)
{
    struct text path = {0};
    text_add(&path, "%s/%u.htrace", collect->folder, thread);
    struct trace_writer *writer = trace_writer_new(path.at, err);
    text_fini(&path);
    return writer;
}

/* What comes after a failure is dropped, that the program does not wait for us. */
static void take(struct collect *collect, uint32_t number, const struct trace_access *accesses,
                 uint32_t count)
{
    struct lane_taken *lane = &collect->lanes[number];
    struct err err;
    if (collect->failed)
        return;
    if (!lane->writer) {
        lane->thread = (struct record_thread){.number = collect->shared->lanes[number].thread};
        lane->writer = open_trace(collect, lane->thread.number, &err);
    }
    bool good = lane->writer && count <= RECORD_BUFFER;
    if (lane->writer && !good) /* nobody but the program itself could have done that */
        err_set(&err, "trace record: the program wrote over what is recorded of it");
    if (!good || !trace_write(lane->writer, accesses, count, &err)) {
        fail(collect, &err);
        return;
    }
    lane->thread.accesses += count;
    for (uint32_t i = 0; i < count; i++)
        lane->thread.writes += trace_writes(accesses[i]);
    collect->accesses += count;
}

static bool take_full(struct collect *collect, uint32_t number)
{
    struct record_lane *shared = &collect->shared->lanes[number];
    uint32_t *at = &collect->lanes[number].at, count = atomic_load(&shared->full[*at]);
    if (!count)
        return false;
    take(collect, number, collect->shared->buffers[number][*at], count);
    atomic_store(&shared->full[*at], 0);
    record_wake(&shared->full[*at]);
    *at ^= 1;
    return true;
}

/* What its thread had not handed over when the program ended. */
static void take_rest(struct collect *collect, uint32_t number)
{
    struct record_lane *shared = &collect->shared->lanes[number];
    uint32_t at = collect->lanes[number].at, count = atomic_load(&shared->count);
    struct trace_access *accesses = collect->shared->buffers[number][at];
    if (count && count <= RECORD_BUFFER && shared->merged <= count)
        count = record_merge(accesses, shared->merged, count);
    if (count)
        take(collect, number, accesses, count);
}

static void close_lane(struct collect *collect, uint32_t number)
{
    struct record_lane *shared = &collect->shared->lanes[number];
    struct lane_taken *lane = &collect->lanes[number];
    struct err err;
    uint64_t last = shared->stopped ? shared->stopped : shared->clock;
    lane->thread.instructions = (last - shared->began) >> RECORD_CLOCK_SHIFT;
    if (lane->writer && collect->failed) {
        trace_writer_abandon(lane->writer);
    } else if (lane->writer && !trace_writer_close(lane->writer, &err)) {
        fail(collect, &err);
    } else if (lane->writer) {
        pthread_mutex_lock(&collect->lock);
        mem_grow(collect->threads, collect->thread_count, collect->thread_capacity);
        collect->threads[collect->thread_count++] = lane->thread;
        pthread_mutex_unlock(&collect->lock);
    }
    *lane = (struct lane_taken){0};
    atomic_store(&shared->at, 0);
    atomic_store(&shared->state, LANE_FREE);
}

/* Whether it had anything. */
static bool serve(struct collect *collect, uint32_t number, bool ending)
{
    struct record_lane *shared = &collect->shared->lanes[number];
    uint32_t state = atomic_load(&shared->state); /* what an ended thread handed over is there */
    bool took = false;
    while (take_full(collect, number))
        took = true;
    if (state == LANE_LIVE && ending)
        take_rest(collect, number);
    if (state == LANE_ENDED || (state == LANE_LIVE && ending))
        close_lane(collect, number);
    return took;
}

static void *run_collector(void *user)
{
    struct collector *own = user;
    struct collect *collect = own->collect;
    _Atomic uint32_t *posted = &collect->shared->posted[own->number];
    for (;;) {
        uint32_t seen = atomic_load(posted);
        bool ending = collect->ending, took = false;
        for (uint32_t i = own->number; i < atomic_load(&collect->shared->lanes_used);
             i += collect->shared->collectors)
            took |= serve(collect, i, ending);
        if (ending)
            return NULL;
        if (!own->number)
            collect->ops->progress(collect->user, collect->accesses);
        if (!took)
            record_sleep(posted, seen);
    }
}

struct collect *collect_new(struct record_shared *shared, const char *folder, const struct collect_ops *ops,
                            void *user)
{
    struct collect *collect = mem_alloc(1, sizeof *collect);
    collect->shared = shared;
    collect->folder = folder;
    collect->ops = ops;
    collect->user = user;
    pthread_mutex_init(&collect->lock, NULL);
    for (uint32_t i = 0; i < shared->collectors; i++) {
        struct collector *own = &collect->collectors[i];
        *own = (struct collector){.collect = collect, .number = i};
        if (pthread_create(&own->host, NULL, run_collector, own))
            BUG("no thread can be made");
    }
    return collect;
}

static int by_number(const void *left, const void *right)
{
    const struct record_thread *a = left, *b = right;
    return (a->number > b->number) - (a->number < b->number);
}

bool collect_finish(struct collect *collect, struct err *err)
{
    struct record_shared *shared = collect->shared;
    collect->ending = true;
    for (uint32_t i = 0; i < shared->collectors; i++) {
        atomic_fetch_add(&shared->posted[i], 1);
        record_wake(&shared->posted[i]);
    }
    for (uint32_t i = 0; i < shared->collectors; i++)
        pthread_join(collect->collectors[i].host, NULL);
    if (collect->thread_count)
        qsort(collect->threads, collect->thread_count, sizeof *collect->threads, by_number);
    if (collect->failed)
        *err = collect->err;
    return !collect->failed;
}

const struct record_thread *collect_threads(const struct collect *collect, size_t *count)
{
    *count = collect->thread_count;
    return collect->threads;
}

void collect_free(struct collect *collect)
{
    pthread_mutex_destroy(&collect->lock);
    mem_free(collect->threads);
    mem_free(collect);
}
