/* All cores of the host. Groups of tiles that snoop on each other are pieces of work, or parts of a group:
 * lines of different parts never meet. */
#include "base/mem.h"
#include "base/workers.h"
#include "cachesim/cpu/tile.h"

static void run_group(const struct caches *caches, const struct walk *walk)
{
    struct cursor *cursors = mem_alloc(walk->tiles, sizeof *cursors);
    for (uint32_t i = 0; i < walk->tiles; i++) {
        cursors[i].at = caches->batch->at[walk->first + i];
        cursors[i].end = cursors[i].at + caches->batch->count[walk->first + i];
    }
    walk_run(walk, cursors);
    mem_free(cursors);
}

/* Of a group of one tile. */
static void count_repeats(const struct caches *caches, uint32_t group)
{
    for (uint32_t i = 0; i < caches->split.chunks; i++) {
        const struct repeats *repeats = &caches->split.repeats[(size_t)group * caches->split.chunks + i];
        caches->l1_of[group].reads += repeats->reads;
        caches->l1_of[group].writes += repeats->writes;
    }
}

static void run_part(const struct caches *caches, const struct walk *walk, uint32_t part)
{
    uint32_t snoop = caches->plan.spec.snoop, group = walk->first / snoop;
    for (uint32_t i = 0; i < caches->split.chunks; i++)
        walk_run_items(walk, split_list(&caches->split, group, i, part));
    if (part == 0 && snoop == 1)
        count_repeats(caches, group);
}

static void run_piece(void *user, uint32_t piece, unsigned worker)
{
    (void)worker;
    struct caches *caches = user;
    uint32_t snoop = caches->plan.spec.snoop;
    uint32_t part = piece % caches->split.parts;
    struct walk walk = {.caches = caches,
                        .first = piece / caches->split.parts * snoop,
                        .tiles = snoop,
                        .l1_of = caches->l1_of + (size_t)part * caches->plan.spec.tiles,
                        .l2_of = caches->l2_of + (size_t)part * caches->plan.spec.tiles,
                        .asks = caches->requests + (size_t)piece * caches->buckets,
                        .queue = &(struct l2_queue){.asked = 0}};
    if (caches->split.parts == 1)
        run_group(caches, &walk);
    else
        run_part(caches, &walk, part);
    walk_end(&walk);
}

static void split_piece(void *user, uint32_t piece, unsigned worker)
{
    (void)worker;
    struct caches *caches = user;
    uint32_t chunks = caches->split.chunks;
    split_chunk(&caches->split, &caches->plan, caches->batch, piece / chunks, piece % chunks);
}

/* ---- quantum mode: each tile alone, then what it did is told to the others ---- */

static void run_alone(void *user, uint32_t tile, unsigned worker)
{
    (void)worker;
    struct caches *caches = user;
    struct walk walk = {.caches = caches,
                        .first = tile,
                        .tiles = 1,
                        .l1_of = caches->l1_of,
                        .l2_of = caches->l2_of,
                        .asks = caches->requests + (size_t)tile * caches->buckets,
                        .told = caches->plan.spec.snoop > 1 ? &caches->told[tile] : NULL,
                        .queue = &(struct l2_queue){.asked = 0}};
    size_t end = min_u64(caches->batch->count[tile], caches->from + caches->plan.spec.quantum);
    struct cursor cursor = {caches->batch->at[tile] + caches->from, caches->batch->at[tile] + end};
    if (caches->from < end)
        walk_run(&walk, &cursor);
    walk_end(&walk);
}

static void tell(struct caches *caches, uint32_t tile, const struct told *told)
{
    const struct coherent_shape *shape = told->l2 ? &caches->plan.l2 : &caches->plan.l1;
    uint32_t snoop = caches->plan.spec.snoop, first = tile / snoop * snoop;
    uint64_t tag;
    uint32_t set = set_of(shape, told->line, &tag);
    struct coherent_group group = level_group(shape, told->l2 ? caches->l2 : caches->l1,
                                              told->l2 ? caches->l2_of : caches->l1_of, first, snoop, set);
    struct coherent_outcome outcome = {0};
    coherent_snoop(shape, &group, tile - first, tag, told->take, &outcome);
}

static void tell_group(void *user, uint32_t group, unsigned worker)
{
    (void)worker;
    struct caches *caches = user;
    uint32_t snoop = caches->plan.spec.snoop;
    for (uint32_t tile = group * snoop; tile < (group + 1) * snoop; tile++) {
        struct told_list *list = &caches->told[tile];
        for (size_t i = 0; i < list->count; i++)
            tell(caches, tile, &list->at[i]);
        list->count = 0;
    }
}

static void run_quanta(struct caches *caches)
{
    size_t most = 0;
    for (uint32_t i = 0; i < caches->plan.spec.tiles; i++)
        most = max_u64(most, caches->batch->count[i]);
    for (caches->from = 0; caches->from < most; caches->from += caches->plan.spec.quantum) {
        workers_run(caches->workers, caches->plan.spec.tiles, run_alone, caches);
        if (caches->plan.spec.snoop > 1)
            workers_run(caches->workers, caches->plan.groups, tell_group, caches);
        if (caches->plan.spec.machine == CACHES_SHARED)
            slices_run(caches);
    }
}

static bool cpu_run(struct caches *caches, const struct caches_batch *batch, struct err *err)
{
    (void)err;
    caches->batch = batch;
    if (caches->plan.spec.quantum) {
        run_quanta(caches);
        return true;
    }
    if (caches->split.parts > 1)
        workers_run(caches->workers, caches->plan.groups * caches->split.chunks, split_piece, caches);
    workers_run(caches->workers, caches->plan.groups * caches->split.parts, run_piece, caches);
    if (caches->plan.spec.machine == CACHES_SHARED)
        slices_run(caches);
    return true;
}

/* ---- making and counting ---- */

static uint32_t pieces(const struct caches *caches)
{
    return caches->plan.spec.quantum ? caches->plan.spec.tiles : caches->plan.groups * caches->split.parts;
}

static void cpu_free(struct caches *caches)
{
    if (!caches)
        return;
    for (size_t i = 0; i < (size_t)pieces(caches) * caches->buckets; i++)
        mem_free(caches->requests[i].at);
    for (uint32_t i = 0; i < caches->plan.spec.tiles; i++)
        mem_free(caches->told[i].at);
    split_fini(&caches->split, &caches->plan);
    split_works_free(caches->slice_works, workers_count(caches->workers));
    workers_free(caches->workers);
    mem_free(caches->requests);
    mem_free(caches->told);
    mem_free_pages(caches->l1);
    mem_free_pages(caches->l2);
    mem_free(caches->l1_of);
    mem_free(caches->l2_of);
    mem_free(caches);
}

/* Neighbouring sets are of different parts: each begins a line of the host's, which threads would otherwise
 * take from each other all the time. */
static void set_apart(struct caches_plan *plan)
{
    plan->l1.set_bytes = (plan->l1.set_bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    plan->l2.set_bytes = (plan->l2.set_bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    plan->l1_bytes = (uint64_t)plan->l1.sets * plan->l1.set_bytes;
    plan->l2_bytes = (uint64_t)plan->l2.sets * plan->l2.set_bytes;
}

static struct caches *cpu_make(const struct caches_spec *spec, const struct caches_host *host,
                               struct err *err)
{
    if (!caches_check(spec, err))
        return NULL;
    struct caches *caches = mem_alloc(1, sizeof *caches);
    caches_plan(&caches->plan, spec);
    caches->workers = workers_new(host->threads);
    unsigned workers = workers_count(caches->workers);
    split_init(&caches->split, &caches->plan, workers);
    if (caches->split.parts > 1)
        set_apart(&caches->plan);
    caches->l1 = mem_alloc_pages(spec->tiles, caches->plan.l1_bytes);
    caches->l2 = mem_alloc_pages(spec->tiles, caches->plan.l2_bytes);
    caches->l1_of = mem_alloc_lines((size_t)caches->split.parts * spec->tiles, sizeof *caches->l1_of);
    caches->l2_of = mem_alloc_lines((size_t)caches->split.parts * spec->tiles, sizeof *caches->l2_of);
    caches->buckets = spec->machine == CACHES_SHARED ? (uint32_t)min_u64(spec->tiles, 8 * workers) : 0;
    caches->requests = mem_alloc((size_t)pieces(caches) * caches->buckets, sizeof *caches->requests);
    caches->told = mem_alloc(spec->tiles, sizeof *caches->told);
    caches->slice_works = split_works_new(workers);
    return caches;
}

static bool cpu_count(struct caches *caches, struct caches_result *result, struct err *err)
{
    (void)err;
    uint32_t tiles = caches->plan.spec.tiles;
    result->l1 = result->l2 = (struct coherent_counters){0};
    for (uint32_t tile = 0; tile < tiles; tile++) {
        struct coherent_counters l1 = {0}, l2 = {0};
        for (size_t i = tile; i < (size_t)caches->split.parts * tiles; i += tiles) {
            counters_add(&l1, &caches->l1_of[i]);
            counters_add(&l2, &caches->l2_of[i]);
        }
        counters_add(&result->l1, &l1);
        counters_add(&result->l2, &l2);
        if (result->l1_of)
            result->l1_of[tile] = l1;
        if (result->l2_of)
            result->l2_of[tile] = l2;
    }
    result->accesses = result->l1.reads + result->l1.writes;
    return true;
}

const struct caches_backend caches_cpu = {
    "cpu", "all cores of the host", cpu_make, cpu_free, cpu_run, cpu_count, NULL};
