#include "cachesim/feed.h"
#include "base/bits.h"
#include "base/host.h"
#include "base/mem.h"
#include "base/workers.h"
#include "cachesim/feed_tile.h"

#include <sys/resource.h>

/* A block of a trace that is kept. */
struct keep_job {
    struct feed_trace *trace;
    uint32_t block;
    char *wrong;
};

struct feed {
    struct feed_spec spec;
    struct workers *workers;
    struct feed_trace *traces;
    struct keep_job *jobs; /* while traces are read to be kept */
    size_t job_count, job_capacity;
    struct feed_tile *tiles;
    struct trace_access *buffers;
    const struct trace_access **at; /* the batch */
    size_t *count;
};

/* ---- traces ---- */

/* A quarter of the host's memory, in all. */
static size_t room_of_host(void)
{
    return host_memory() / 4;
}

static size_t room_of_trace(const struct feed *feed)
{
    return (feed->spec.keep_bytes ? feed->spec.keep_bytes : room_of_host()) / feed->spec.path_count;
}

static uint32_t rounds(const struct feed *feed)
{
    return (feed->spec.tiles + feed->spec.path_count - 1) / feed->spec.path_count;
}

/* Accesses from a trace's beginning that some tile needs; 0: all. */
static uint64_t needed(const struct feed *feed)
{
    uint64_t last_start;
    if (!feed->spec.accesses || __builtin_mul_overflow(rounds(feed) - 1, feed->spec.offset, &last_start))
        return 0;
    return add_saturating(last_start, feed->spec.accesses);
}

/* What each trace needs, by itself: our own are looked into, foreign ones are read as well. */
static void look(void *user, uint32_t i, unsigned worker)
{
    (void)worker;
    struct feed *feed = user;
    struct feed_trace *trace = &feed->traces[i];
    struct err err;
    bool several = rounds(feed) > 1;
    bool good = feed_trace_look(trace, &err);
    if (good && several && !trace->file)
        good = feed_trace_keep(trace, needed(feed), room_of_trace(feed), &err);
    if (good && several && !trace->file && !trace->kept && feed->spec.offset)
        good = feed_trace_measure(trace, &err);
    if (!good)
        trace->wrong = mem_text(err.text);
}

static void keep_block(void *user, uint32_t i, unsigned worker)
{
    (void)worker;
    struct keep_job *job = &((struct feed *)user)->jobs[i];
    struct err err;
    if (!feed_trace_keep_block(job->trace, job->block, &err))
        job->wrong = mem_text(err.text);
}

/* Our own traces, block by block. */
static bool keep_own(struct feed *feed, struct err *err)
{
    for (uint32_t i = 0; i < feed->spec.path_count; i++) {
        struct feed_trace *trace = &feed->traces[i];
        if (!trace->file || !feed_trace_keep_begin(trace, needed(feed), room_of_trace(feed)))
            continue;
        for (uint32_t block = 0; (uint64_t)block * TRACE_BLOCK_ACCESSES < trace->count; block++) {
            mem_grow(feed->jobs, feed->job_count, feed->job_capacity);
            feed->jobs[feed->job_count++] = (struct keep_job){.trace = trace, .block = block};
        }
    }
    workers_run(feed->workers, (uint32_t)feed->job_count, keep_block, feed);
    for (size_t i = 0; i < feed->job_count; i++) {
        if (feed->jobs[i].wrong)
            return err_set(err, "%s", feed->jobs[i].wrong);
    }
    return true;
}

static bool open_traces(struct feed *feed, struct err *err)
{
    uint32_t count = feed->spec.path_count;
    feed->traces = mem_alloc(count, sizeof *feed->traces);
    for (uint32_t i = 0; i < count; i++)
        feed->traces[i] = (struct feed_trace){.path = feed->spec.paths[i], .interrupt = feed->spec.interrupt};
    workers_run(feed->workers, count, look, feed);
    for (uint32_t i = 0; i < count; i++) {
        if (feed->traces[i].wrong)
            return err_set(err, "%s", feed->traces[i].wrong);
    }
    return rounds(feed) == 1 || keep_own(feed, err);
}

/* Thousands of tiles may read a file each. */
static void allow_many_files(void)
{
    struct rlimit limit;
    if (!getrlimit(RLIMIT_NOFILE, &limit)) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* ---- tiles ---- */

/* Tiles are shared out to threads; where there are few of them, each is read by all threads. */
static void each_tile(struct feed *feed, work_fn *work)
{
    uint32_t tiles = feed->spec.tiles;
    if (2 * tiles > workers_count(feed->workers)) {
        workers_run(feed->workers, tiles, work, feed);
        return;
    }
    for (uint32_t i = 0; i < tiles; i++) {
        feed->tiles[i].workers = feed->workers;
        work(feed, i, 0);
    }
}

static void fail(struct feed_tile *tile, const struct err *err)
{
    mem_free(tile->wrong);
    tile->wrong = mem_text(err->text);
}

static void start_tile(void *user, uint32_t i, unsigned worker)
{
    (void)worker;
    struct feed *feed = user;
    const struct feed_spec *spec = &feed->spec;
    struct feed_tile *tile = &feed->tiles[i];
    struct err err;
    tile->capacity = spec->batch;
    tile->buffer = feed->buffers + (size_t)i * spec->batch;
    tile->left = spec->accesses ? spec->accesses : UINT64_MAX;
    if (spec->generate) {
        uint32_t program = i / spec->cores;
        tile->source = source_generate(spec->generate, i % spec->cores, spec->cores, spec->accesses,
                                       program ? digest_word(spec->seed, program) : spec->seed, &err);
        if (!tile->source)
            fail(tile, &err);
        else
            tile_fill(tile, true);
        return;
    }
    uint64_t start = (uint64_t)(i / spec->path_count) * spec->offset;
    tile->trace = &feed->traces[i % spec->path_count];
    if (!tile_start(tile, start, &err))
        fail(tile, &err);
}

static bool report(const struct feed *feed, struct err *err)
{
    for (uint32_t i = 0; i < feed->spec.tiles; i++) {
        if (feed->tiles[i].wrong)
            return err_set(err, "%s", feed->tiles[i].wrong);
    }
    return true;
}

static bool has_some(const struct feed *feed, struct err *err)
{
    for (uint32_t i = 0; i < feed->spec.tiles; i++) {
        const struct feed_tile *tile = &feed->tiles[i];
        if (!tile->count)
            return err_set(err, "%s: there is no access in it",
                           tile->trace ? tile->trace->path : feed->spec.generate);
    }
    return true;
}

/* Rounds begin at the same instruction count. */
static void align_rounds(struct feed *feed)
{
    uint32_t many = feed->spec.path_count;
    uint64_t first_of_all = 0;
    for (uint32_t round = 0; round < rounds(feed); round++) {
        uint64_t first = UINT64_MAX;
        uint32_t from = round * many, end = (uint32_t)min_u64(from + many, feed->spec.tiles);
        for (uint32_t i = from; i < end; i++)
            first = min_u64(first, trace_instruction(feed->tiles[i].at[0]));
        first_of_all = round ? first_of_all : first;
        for (uint32_t i = from; i < end; i++)
            tile_shift(&feed->tiles[i], first_of_all - first);
    }
}

static bool start(struct feed *feed, struct err *err)
{
    struct feed_spec *spec = &feed->spec;
    if (spec->generate && !spec->accesses)
        return err_set(err, "%s: a generator needs to know how many accesses to make", spec->generate);
    if (!spec->generate && !open_traces(feed, err))
        return false;
    each_tile(feed, start_tile);
    if (!report(feed, err) || !has_some(feed, err))
        return false;
    if (!spec->generate)
        align_rounds(feed);
    return true;
}

struct feed *feed_open(const struct feed_spec *spec, struct err *err)
{
    struct feed *feed = mem_alloc(1, sizeof *feed);
    feed->spec = *spec;
    feed->spec.batch = max_u64(spec->batch, 1);
    if (spec->quantum)
        feed->spec.batch = max_u64(spec->batch / spec->quantum, 1) * spec->quantum;
    allow_many_files();
    feed->workers = workers_new(spec->threads);
    feed->tiles = mem_alloc(spec->tiles, sizeof *feed->tiles);
    feed->buffers = mem_alloc_pages((size_t)spec->tiles, feed->spec.batch * sizeof *feed->buffers);
    feed->at = mem_alloc(spec->tiles, sizeof *feed->at);
    feed->count = mem_alloc(spec->tiles, sizeof *feed->count);
    if (!start(feed, err)) {
        feed_close(feed);
        return NULL;
    }
    return feed;
}

void feed_close(struct feed *feed)
{
    if (!feed)
        return;
    for (uint32_t i = 0; i < feed->spec.tiles; i++)
        tile_fini(&feed->tiles[i]);
    for (uint32_t i = 0; feed->traces && i < feed->spec.path_count; i++)
        feed_trace_fini(&feed->traces[i]);
    for (size_t i = 0; i < feed->job_count; i++)
        mem_free(feed->jobs[i].wrong);
    workers_free(feed->workers);
    mem_free(feed->traces);
    mem_free(feed->jobs);
    mem_free(feed->tiles);
    mem_free_pages(feed->buffers);
    mem_free(feed->at);
    mem_free(feed->count);
    mem_free(feed);
}

uint64_t feed_total(const struct feed *feed)
{
    const struct feed_spec *spec = &feed->spec;
    uint64_t total = 0;
    for (uint32_t i = 0; !spec->generate && i < spec->tiles; i++) {
        const struct feed_trace *trace = feed->tiles[i].trace;
        if (!trace->length && !trace->kept)
            return 0;
        uint64_t length = trace->length ? trace->length : spec->accesses; /* kept: as many as are needed */
        total += spec->accesses ? min_u64(length, spec->accesses) : length;
    }
    return spec->generate ? spec->accesses * spec->tiles : total;
}

/* ---- batches ---- */

static void fill_tile(void *user, uint32_t i, unsigned worker)
{
    (void)worker;
    struct feed *feed = user;
    struct feed_tile *tile = &feed->tiles[i];
    tile->at += feed->count[i];
    tile->count -= feed->count[i];
    tile_fill(tile, feed->spec.quantum);
}

/* The tile whose accesses at hand end first, by (instruction count, tile); those that ended do not count. */
static uint32_t first_to_end(const struct feed *feed)
{
    uint32_t first = UINT32_MAX;
    for (uint32_t i = 0; i < feed->spec.tiles; i++) {
        const struct feed_tile *tile = &feed->tiles[i];
        if (!tile->ended && (first == UINT32_MAX || tile->last < feed->tiles[first].last))
            first = i;
    }
    return first;
}

/* How many of them have instruction counts below `end`. */
static size_t count_below(const struct feed_tile *tile, uint64_t end)
{
    size_t low = 0, high = tile->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (trace_instruction(tile->at[middle]) < end)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* All that comes before the last access at hand of the tile that ends first, and that one. */
static void cut(struct feed *feed)
{
    uint32_t first = first_to_end(feed);
    for (uint32_t i = 0; i < feed->spec.tiles; i++) {
        const struct feed_tile *tile = &feed->tiles[i];
        bool all = first == UINT32_MAX || i == first;
        feed->count[i] = all ? tile->count : count_below(tile, feed->tiles[first].last + (i < first));
    }
}

bool feed_next(struct feed *feed, struct caches_batch *batch, struct err *err)
{
    each_tile(feed, fill_tile);
    if (!report(feed, err))
        return false;
    if (!feed->spec.quantum)
        cut(feed);
    for (uint32_t i = 0; i < feed->spec.tiles; i++) {
        feed->at[i] = feed->tiles[i].at;
        if (feed->spec.quantum)
            feed->count[i] = feed->tiles[i].count;
    }
    *batch = (struct caches_batch){feed->at, feed->count};
    return true;
}
