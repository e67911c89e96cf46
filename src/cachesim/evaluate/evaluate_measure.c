/* Points, measured. What is simulated is in memory before the clock starts: reading traces is no part of it.
 * The first quarter of the accesses is simulated before, too, when caches are empty and memory is being
 * found. */
#include "cachesim/evaluate/evaluate.h"
#include "base/bits.h"
#include "base/host.h"
#include "base/mem.h"
#include "base/progress.h"

#include <math.h>

const char *const evaluate_hosts[EVALUATE_HOST_COUNT] = {
#define X(name, text) text,
    EVALUATE_HOSTS(X)
#undef X
};

/* ---- accesses of all tiles ---- */

struct replay {
    const _Atomic int *interrupt;
    struct point_key key; /* of the first point it is for */
    uint32_t tiles;
    struct trace_access *accesses; /* key.accesses of each tile */
    size_t *counts;                /* of each tile in each batch */
    size_t batches, capacity;
    uint64_t total;
};

static bool same_accesses(const struct point_key *a, const struct point_key *b)
{
    return a->workload == b->workload && a->tiles == b->tiles && a->quantum == b->quantum &&
           a->accesses == b->accesses;
}

static void replay_fini(struct replay *replay)
{
    mem_free_pages(replay->accesses);
    mem_free(replay->counts);
    *replay = (struct replay){0};
}

static void keep_batch(struct replay *replay, const struct caches_batch *batch, size_t *places)
{
    if (replay->batches == replay->capacity) {
        size_t more = replay->capacity ? 2 * replay->capacity : 16;
        replay->counts =
            mem_resize(replay->counts, replay->capacity, more, replay->tiles * sizeof *replay->counts);
        replay->capacity = more;
    }
    size_t *counts = replay->counts + replay->batches++ * replay->tiles;
    for (uint32_t i = 0; i < replay->tiles; i++) {
        memcpy(replay->accesses + i * replay->key.accesses + places[i], batch->at[i],
               batch->count[i] * sizeof *replay->accesses);
        places[i] += counts[i] = batch->count[i];
        replay->total += counts[i];
    }
}

static bool read_all(struct replay *replay, struct feed *feed, struct err *err)
{
    struct caches_batch batch;
    size_t *places = mem_alloc(replay->tiles, sizeof *places);
    uint64_t before = 1;
    bool good = true;
    while (good && !*replay->interrupt && before != replay->total) {
        before = replay->total;
        good = feed_next(feed, &batch, err);
        if (good)
            keep_batch(replay, &batch, places);
    }
    replay->batches -= good && replay->batches; /* the last has nothing */
    mem_free(places);
    return good;
}

static bool replay_make(struct replay *replay, const struct evaluation *e, const struct point_key *key,
                        struct err *err)
{
    const struct evaluate_workload *workload = &evaluate_workloads[key->workload];
    struct text paths[PROGRAMS_MOST * THREADS_MOST] = {0};
    const char *names[COUNT_OF(paths)];
    uint32_t count = 0;
    REQUIRE(evaluate_workload_traces(workload) <= COUNT_OF(paths));
    for (uint32_t i = 0; i < evaluate_workload_programs(workload); i++) {
        for (uint32_t number = 1; number <= workload->threads; number++) {
            evaluate_trace_path(&paths[count], e->folder, workload->programs[i], workload->threads, number);
            names[count] = paths[count].at;
            count++;
        }
    }
    *replay = (struct replay){.key = *key, .tiles = key->tiles, .interrupt = e->r->interrupt};
    replay->accesses = mem_alloc_pages(key->tiles, key->accesses * sizeof *replay->accesses);
    struct feed *feed =
        feed_open(&(struct feed_spec){.paths = names,
                                      .path_count = count,
                                      .offset = OFFSET,
                                      .generate = workload->generate,
                                      .cores = workload->threads,
                                      .accesses = key->accesses,
                                      .tiles = key->tiles,
                                      .seed = 1,
                                      .batch = caches_device_batch(caches_devices, key->tiles),
                                      .quantum = key->quantum,
                                      .threads = e->r->host.threads,
                                      .interrupt = e->r->interrupt},
                  err);
    bool good = feed && read_all(replay, feed, err);
    feed_close(feed);
    for (uint32_t i = 0; i < count; i++)
        text_fini(&paths[i]);
    return good;
}

/* ---- one run ---- */

struct caches_spec evaluate_point_spec(const struct point_key *key)
{
    return (struct caches_spec){.machine = key->machine,
                                .tiles = key->tiles,
                                .l1 = {64 << 10, key->l1_ways ? key->l1_ways : 16, 64},
                                .l2 = {512 << 10, 16, 64},
                                .snoop = evaluate_workloads[key->workload].threads,
                                .quantum = key->quantum,
                                .seed = 1};
}

static const struct caches_device *device_of(enum evaluate_host host)
{
    const struct caches_backend *backend = evaluate_host_is_gpu(host) ? &caches_cuda : &caches_cpu;
    const struct caches_device *device = caches_devices;
    while (device->backend != backend)
        device++;
    return device;
}

struct walk { /* through a replay */
    const struct replay *replay;
    const struct caches_backend *backend;
    struct caches *caches;
    size_t at, most; /* the next batch; accesses of a tile that are run at once */
    const struct trace_access **from;
    size_t *counts;
    uint64_t done;
};

/* Batches are put together to what suits the device. */
static bool walk_to(struct walk *walk, size_t end, struct err *err)
{
    const struct replay *replay = walk->replay;
    while (walk->at < end) {
        uint64_t here = 0;
        memset(walk->counts, 0, replay->tiles * sizeof *walk->counts);
        while (walk->at < end && (!here || here < (uint64_t)walk->most * replay->tiles)) {
            const size_t *counts = replay->counts + walk->at++ * replay->tiles;
            for (uint32_t i = 0; i < replay->tiles; i++) {
                walk->counts[i] += counts[i];
                here += counts[i];
            }
        }
        if (*replay->interrupt)
            return err_set(err, "interrupted");
        if (!walk->backend->run(walk->caches, &(struct caches_batch){walk->from, walk->counts}, err))
            return false;
        for (uint32_t i = 0; i < replay->tiles; i++)
            walk->from[i] += walk->counts[i];
        walk->done += here;
    }
    return true;
}

/* The batches that are simulated before the clock starts. */
static size_t warm_batches(const struct replay *replay)
{
    uint64_t done = 0;
    size_t batch = 0;
    while (batch + 1 < replay->batches && done < replay->total / 4) {
        for (uint32_t i = 0; i < replay->tiles; i++)
            done += replay->counts[batch * replay->tiles + i];
        batch++;
    }
    return batch;
}

/* Simulates all, and times the later part. */
static bool time_walk(struct walk *walk, struct evaluate_point *point, struct err *err)
{
    const struct replay *replay = walk->replay;
    struct caches_result before = {0}, *result = &point->result;
    if (!walk_to(walk, warm_batches(replay), err) || !walk->backend->count(walk->caches, &before, err))
        return false;
    uint64_t warm = walk->done;
    double start = host_seconds();
    if (!walk_to(walk, replay->batches, err))
        return false;
    if (point->key.host == EVALUATE_GPU_RESIDENT) /* only now is anything simulated */
        start = host_seconds();
    if (!walk->backend->count(walk->caches, result, err))
        return false;
    double share = (double)(walk->done - warm) / (double)walk->done;
    point->seconds = (host_seconds() - start) / share;
    point->million_per_s = (double)result->accesses / 1e6 / fmax(point->seconds, 1e-9);
    point->transfer_s = (result->transfer_s - before.transfer_s) / share;
    point->l1_s = (result->l1_s - before.l1_s) / share;
    point->l2_s = (result->l2_s - before.l2_s) / share;
    return true;
}

/* From the counts of each cache, which are not kept. */
static void sum_up(struct evaluate_point *point)
{
    struct caches_result *result = &point->result;
    uint64_t busiest = 0;
    for (uint32_t i = 0; i < point->key.tiles; i++)
        busiest = max_u64(busiest, caches_accesses(&result->l2_of[i]));
    uint64_t all = caches_accesses(&result->l2);
    point->imbalance = all ? (double)busiest * point->key.tiles / (double)all : 0;
    point->digest = digest_bytes(0, result->l1_of, point->key.tiles * sizeof *result->l1_of);
    if (point->key.machine != CACHES_L1)
        point->digest = digest_bytes(point->digest, result->l2_of, point->key.tiles * sizeof *result->l2_of);
}

static bool run_once(const struct evaluation *e, const struct replay *replay, struct evaluate_point *point,
                     struct err *err)
{
    const struct caches_device *device = device_of(point->key.host);
    struct caches_host host = {.threads = point->key.host == EVALUATE_CPU_ONE ? 1 : e->r->host.threads,
                               .no_overlap = point->key.host == EVALUATE_GPU_SERIAL,
                               .resident = point->key.host == EVALUATE_GPU_RESIDENT,
                               .per_block = point->key.per_block};
    struct caches_spec spec = evaluate_point_spec(&point->key);
    struct walk walk = {.replay = replay,
                        .backend = device->backend,
                        .caches = device->backend->make(&spec, &host, err),
                        .most = caches_device_batch(device, replay->tiles),
                        .from = mem_alloc(replay->tiles, sizeof *walk.from),
                        .counts = mem_alloc(replay->tiles, sizeof *walk.counts)};
    for (uint32_t i = 0; i < replay->tiles; i++)
        walk.from[i] = replay->accesses + i * replay->key.accesses;
    point->result.l1_of = mem_alloc(replay->tiles, sizeof *point->result.l1_of);
    point->result.l2_of = mem_alloc(replay->tiles, sizeof *point->result.l2_of);
    bool good = walk.caches && time_walk(&walk, point, err);
    if (good)
        sum_up(point);
    mem_free(point->result.l1_of);
    mem_free(point->result.l2_of);
    point->result.l1_of = point->result.l2_of = NULL;
    mem_free(walk.from);
    mem_free(walk.counts);
    if (walk.caches)
        device->backend->close(walk.caches);
    return good;
}

/* ---- all points ---- */

/* What is over soon is measured twice, and the better one counts. */
static bool measure(const struct evaluation *e, const struct replay *replay, struct evaluate_point *point,
                    struct err *err)
{
    double start = host_seconds();
    struct evaluate_point again = *point;
    if (!run_once(e, replay, point, err))
        return false;
    if (host_seconds() - start < 0.5 && !e->quick) {
        if (!run_once(e, replay, &again, err))
            return false;
        if (again.digest != point->digest)
            return err_set(err, "two runs of a point counted differently: that is a mistake of Heddle's");
        if (again.seconds < point->seconds)
            *point = again;
    }
    point->is_measured = true;
    return true;
}

/* Wherever it was simulated, what was counted is the same. */
static bool agrees(const struct evaluation *e, const struct evaluate_point *point, struct err *err)
{
    for (size_t i = 0; i < e->point_count; i++) {
        const struct evaluate_point *other = &e->points[i];
        const struct point_key *a = &point->key, *b = &other->key;
        if (!other->is_measured || !same_accesses(a, b) || a->machine != b->machine ||
            a->l1_ways != b->l1_ways || other->digest == point->digest)
            continue;
        struct text command = {0};
        evaluate_point_command(&command, a);
        err_set(err, "%s and %s do not count the same; that is a mistake of Heddle's: %s",
                evaluate_hosts[a->host], evaluate_hosts[b->host], command.at);
        text_fini(&command);
        return false;
    }
    return true;
}

bool evaluation_measure(struct evaluation *e, struct err *err)
{
    struct replay replay = {0};
    struct progress progress;
    size_t done = 0;
    bool good = true;
    progress_init(&progress, "evaluate", "points");
    for (size_t first = 0; good && first < e->point_count; first++) {
        if (e->points[first].is_measured)
            continue;
        good = replay_make(&replay, e, &e->points[first].key, err);
        for (size_t i = first; good && i < e->point_count; i++) {
            struct evaluate_point *point = &e->points[i];
            if (!same_accesses(&point->key, &replay.key))
                continue;
            if (!e->r->no_progress)
                progress_update(&progress, (double)done / (double)e->point_count, done);
            done++;
            good = !*e->r->interrupt && measure(e, &replay, point, err) && agrees(e, point, err);
        }
        replay_fini(&replay);
    }
    progress_fini(&progress);
    return good;
}
