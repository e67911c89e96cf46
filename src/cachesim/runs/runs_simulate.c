/* Runs configurations over the accesses. Those that take them in the same order are run together: each batch
 * is read once. */
#include "cachesim/runs/runs.h"
#include "base/bits.h"
#include "base/host.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/workers.h"
#include "cachesim/cpu/stack.h"
#include "cachesim/plan.h"

/* What accesses of a pass depend on. */
struct pass_key {
    uint32_t cores; /* of a generated program */
    uint64_t quantum;
};

struct pass {
    const struct caches_request *r;
    struct pass_key key;
    struct configuration **members;
    size_t count;
    size_t alone;            /* the first so many are simulated each by itself; stacks have the others */
    struct stacks *stacks;   /* or NULL */
    uint32_t tiles;          /* the most of any member: tiles of smaller ones read the same */
    struct workers *workers; /* that share out those alone, or NULL: one after the other, with all threads */
    struct caches_batch batch;
};

static struct pass_key key_of(const struct caches_request *r, const struct caches_spec *spec)
{
    return (struct pass_key){r->generate ? spec->snoop : 1, spec->quantum};
}

static size_t batch_of(const struct caches_request *r, uint32_t tiles)
{
    return r->batch ? r->batch : caches_device_batch(r->device, tiles);
}

static struct feed *open_feed(const struct pass *pass, struct err *err)
{
    const struct caches_request *r = pass->r;
    return feed_open(&(struct feed_spec){.paths = r->traces,
                                         .path_count = r->trace_count,
                                         .offset = r->offset,
                                         .generate = r->generate,
                                         .cores = pass->key.cores,
                                         .accesses = r->accesses,
                                         .tiles = pass->tiles,
                                         .seed = r->spec.seed,
                                         .batch = batch_of(r, pass->tiles),
                                         .quantum = pass->key.quantum,
                                         .threads = r->host.threads,
                                         .interrupt = r->interrupt},
                     err);
}

/* Those that stacks can have go last. */
static void arrange(struct pass *pass)
{
    struct configuration **members = mem_alloc(pass->count, sizeof *members);
    size_t alone = 0, stacked = 0;
    for (size_t i = 0; i < pass->count; i++) {
        bool can = pass->r->device->shares_cores && stacks_can(&pass->members[i]->spec);
        members[can ? pass->count - ++stacked : alone++] = pass->members[i];
    }
    memcpy(pass->members, members, pass->count * sizeof *members);
    mem_free(members);
    pass->alone = stacked > 1 ? alone : pass->count;
}

static void make_stacks(struct pass *pass)
{
    size_t count = pass->count - pass->alone;
    if (!count)
        return;
    const struct caches_spec **specs = mem_alloc(count, sizeof *specs);
    for (size_t i = 0; i < count; i++)
        specs[i] = &pass->members[pass->alone + i]->spec;
    pass->stacks = stacks_new(specs, count, pass->r->host.threads);
    mem_free(specs);
}

/* State is memory that is taken when it is first used: what cannot be is told before. */
static bool fits_host(const struct pass *pass, struct err *err)
{
    double bytes = 0, there = (double)host_memory();
    for (size_t i = 0; pass->r->device->shares_cores && i < pass->count; i++) {
        struct caches_plan plan;
        caches_plan(&plan, &pass->members[i]->spec);
        bytes += (double)plan.spec.tiles * (double)(plan.l1_bytes + plan.l2_bytes);
    }
    return bytes <= there || err_set(err,
                                     "this machine has %.1f GiB of memory; the caches' state needs %.1f GiB: "
                                     "fewer tiles, smaller caches or fewer configurations need less",
                                     there / (1 << 30), bytes / (1 << 30));
}

static bool make_members(struct pass *pass, struct err *err)
{
    struct caches_host host = pass->r->host;
    if (!fits_host(pass, err))
        return false;
    make_stacks(pass);
    if (pass->workers)
        host.threads = 1;
    for (size_t i = 0; i < pass->alone; i++) {
        struct configuration *one = pass->members[i];
        one->caches = pass->r->device->backend->make(&one->spec, &host, err);
        if (!one->caches && pass->r->device != caches_devices)
            err_add(err, "; --device %s gives the same counts", caches_devices->backend->name);
        if (!one->caches)
            return false;
    }
    return true;
}

static void run_member(void *user, uint32_t i, unsigned worker)
{
    (void)worker;
    struct pass *pass = user;
    struct configuration *one = pass->members[i];
    struct err err;
    if (!one->wrong && !pass->r->device->backend->run(one->caches, &pass->batch, &err))
        one->wrong = mem_text(err.text);
}

static bool run_batch(struct pass *pass, struct err *err)
{
    if (pass->stacks)
        stacks_run(pass->stacks, &pass->batch);
    if (pass->workers)
        workers_run(pass->workers, (uint32_t)pass->alone, run_member, pass);
    for (uint32_t i = 0; i < pass->alone; i++) {
        if (!pass->workers)
            run_member(pass, i, 0);
        if (pass->members[i]->wrong)
            return err_set(err, "%s", pass->members[i]->wrong);
    }
    return true;
}

static uint64_t count_batch(const struct pass *pass)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < pass->tiles; i++)
        count += pass->batch.count[i];
    return count;
}

static bool run_batches(struct pass *pass, struct feed *feed, struct progress *progress, double passes_done,
                        double passes, uint64_t *done, struct err *err)
{
    uint64_t total = feed_total(feed), before = *done;
    while (!*pass->r->interrupt) {
        if (!feed_next(feed, &pass->batch, err))
            return false;
        uint64_t here = count_batch(pass);
        if (!here)
            return true;
        if (!run_batch(pass, err))
            return false;
        *done += here * pass->count;
        double share = (double)(*done - before) / (double)pass->count / (double)total;
        if (!pass->r->no_progress)
            progress_update(progress, total ? (passes_done + share) / passes : -1, *done);
    }
    return err_set(err, "interrupted");
}

static bool count_members(struct pass *pass, struct configurations *all, struct err *err)
{
    for (size_t i = pass->alone; i < pass->count; i++)
        stacks_count(pass->stacks, i - pass->alone, &pass->members[i]->result);
    for (size_t i = 0; i < pass->alone; i++) {
        struct configuration *one = pass->members[i];
        if (!pass->r->device->backend->count(one->caches, &one->result, err))
            return false;
        all->transfer_s += one->result.transfer_s;
        all->l1_s += one->result.l1_s;
        all->l2_s += one->result.l2_s;
    }
    return true;
}

static bool run_pass(struct pass *pass, struct configurations *all, struct progress *progress,
                     double passes_done, double passes, uint64_t *done, struct err *err)
{
    unsigned threads = pass->r->host.threads;
    arrange(pass);
    if (pass->r->device->shares_cores && threads > 1 && pass->alone > threads)
        pass->workers = workers_new(threads);
    struct feed *feed = open_feed(pass, err);
    bool good = feed && make_members(pass, err) &&
                run_batches(pass, feed, progress, passes_done, passes, done, err) &&
                count_members(pass, all, err);
    for (size_t i = 0; i < pass->count; i++) {
        if (pass->members[i]->caches)
            pass->r->device->backend->close(pass->members[i]->caches);
        pass->members[i]->caches = NULL;
    }
    feed_close(feed);
    workers_free(pass->workers);
    stacks_free(pass->stacks);
    return good;
}

static bool same_key(struct pass_key a, struct pass_key b)
{
    return a.cores == b.cores && a.quantum == b.quantum;
}

bool configurations_share_pass(const struct caches_request *r, const struct configuration *a,
                               const struct configuration *b)
{
    return same_key(key_of(r, &a->spec), key_of(r, &b->spec));
}

/* The configurations of a key; false when an earlier one has it, too. */
static bool gather(struct pass *pass, const struct configurations *all, size_t first)
{
    pass->key = key_of(pass->r, &all->at[first].spec);
    pass->count = pass->tiles = 0;
    for (size_t i = 0; i < all->count; i++) {
        if (!same_key(pass->key, key_of(pass->r, &all->at[i].spec)))
            continue;
        if (i < first)
            return false;
        pass->members[pass->count++] = &all->at[i];
        pass->tiles = (uint32_t)max_u64(pass->tiles, all->at[i].spec.tiles);
    }
    return true;
}

/* Traces are opened again for each pass. */
static bool passes_can_be(const struct caches_request *r, size_t passes, struct err *err)
{
    for (uint32_t i = 0; passes > 1 && i < r->trace_count; i++) {
        if (!feed_can_reopen(r->traces[i]))
            return err_set(err,
                           "%s: exact and quanta take accesses in other orders, so that it must be read %zu "
                           "times, which only plain files can be",
                           r->traces[i], passes);
    }
    return true;
}

bool caches_simulate(const struct caches_request *r, struct configurations *all, struct err *err)
{
    struct pass pass = {.r = r, .members = mem_alloc(all->count, sizeof *pass.members)};
    struct progress progress;
    size_t passes = 0, passes_done = 0;
    uint64_t done = 0;
    double start = host_seconds();
    bool good;
    progress_init(&progress, "caches", "accesses");
    for (size_t i = 0; i < all->count; i++)
        passes += gather(&pass, all, i);
    good = passes_can_be(r, passes, err);
    for (size_t i = 0; good && i < all->count; i++) {
        if (!gather(&pass, all, i))
            continue;
        pass.workers = NULL;
        pass.stacks = NULL;
        good = run_pass(&pass, all, &progress, (double)passes_done++, (double)passes, &done, err);
    }
    progress_fini(&progress);
    mem_free(pass.members);
    all->wall_s = host_seconds() - start;
    return good;
}
