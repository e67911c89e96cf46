#include "itrace/recorder.h"
#include "itrace/races.h"
#include "base/archive.h"
#include "exec/block.h"
#include "exec/cga.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* A kernel that was launched: the functions of it that ran. */
struct recorded_kernel {
    const struct kernel *kernel; /* as long as it is loaded */
    uint64_t number;             /* of the kernel, in this process */
    struct isa_ops isa;          /* the kernel's, with our step */
    pthread_mutex_t lock;
    struct istream_code **codes; /* in the order they were found; never moved */
    uint32_t code_count, code_capacity;
    uint32_t copied; /* of these, that the trace has */
    _Atomic uint32_t context_count;
};

struct recorded_launch {
    struct observer observer; /* first */
    struct itrace_recorder *recorder;
    struct recorded_kernel *kernel;
    struct itrace_launch_writer *writer;
    size_t number; /* in the trace's list */
    _Atomic uint32_t doubts;
    _Atomic uint64_t workspace;
    struct races *races;               /* or NULL: its instructions are in doubt anyway */
    struct recorded_block *pool, *all; /* to use again, and all of them; with the kernel's lock held */
    struct afar *afar; /* where it is gathered for another rank, which has the writer; or NULL */
};

struct afar {
    pthread_mutex_t lock; /* of: */
    struct archive blocks;
    uint32_t codes, doubts; /* that were told */
    uint64_t workspace;
};

struct recorded_block {
    struct recorded_launch *launch;
    struct recorded_block *next, *made_before;
    const struct isa_ops *isa;  /* the kernel's own */
    struct chunk_block streams; /* where those of its warps gather */
    struct races_block *races;  /* or NULL */
    uint32_t warp_count;
    struct recorded_warp {
        struct istream_writer stream;
        const struct istream_code *code;
        lane_mask came; /* to the cluster's barrier */
    } warps[];
};

struct itrace_recorder {
    struct itrace *trace;
    struct itrace_writer *writer;
    pthread_mutex_t lock;             /* of what follows and of the trace's lists */
    struct recorded_kernel **kernels; /* as in the trace */
    size_t kernel_count, kernel_capacity;
};

/* ---- code ---- */

static const struct istream_code *find_code(struct recorded_kernel *kernel, const struct isa_code *code)
{
    pthread_mutex_lock(&kernel->lock);
    struct istream_code *found = NULL;
    for (uint32_t i = 0; i < kernel->code_count && !found; i++)
        if (kernel->codes[i]->code == code)
            found = kernel->codes[i];
    if (!found) {
        uint32_t count = kernel->context_count;
        mem_grow(kernel->codes, kernel->code_count, kernel->code_capacity);
        found = kernel->codes[kernel->code_count++] = mem_alloc(1, sizeof *found);
        istream_code_init(found, code, &count);
        kernel->context_count = count;
    }
    pthread_mutex_unlock(&kernel->lock);
    return found;
}

/* ---- instructions ---- */

/* Threads come to the cluster's barrier, or wait there. */
static void note_cluster(struct recorded_warp *w, const struct isa_stepped *stepped, uint32_t arrivals,
                         enum isa_role role, struct istream_step *step)
{
    if (arrivals) {
        w->came |= stepped->mask;
        step->arrives = true;
        step->barrier = ISTREAM_CLUSTER;
        step->threads = arrivals;
    }
    if (role == ROLE_CLUSTER_WAIT) {
        step->waiting_for_cluster = w->came & stepped->mask;
        w->came &= ~stepped->mask;
    }
}

static void note_step(struct recorded_block *own, struct isa_warp *warp, const struct isa_stepped *stepped,
                      uint32_t alive, uint32_t cluster_arrivals, enum isa_role role,
                      struct istream_step *step)
{
    const struct block *block = warp->block;
    struct recorded_warp *w = &own->warps[warp->index];
    _Static_assert((int)ISTREAM_GROUPS == (int)BARRIERS &&
                       (int)ISTREAM_CLUSTER == (int)BARRIERS + (int)GROUP_BARRIERS,
                   "as block.arrival numbers them");
    *step = (struct istream_step){.exits = alive - block->alive};
    if (w->stream.has_clusters)
        note_cluster(w, stepped, block->cluster_arrivals - cluster_arrivals, role, step);
    if (role == ROLE_SLEEP && stepped->mask)
        atomic_fetch_or(&own->launch->doubts, 1u << DOUBT_SLEEP);
    if (role != ROLE_BARRIER || !block->arrival.threads)
        return;
    step->arrives = true;
    step->waits = block->arrival.waits;
    step->whole = block->arrival.whole;
    step->barrier = block->arrival.number;
    step->threads = block->arrival.threads;
    step->expected = block->arrival.expected;
    step->waiting = block->arrival.waiting;
}

static void step_recorded(struct isa_warp *warp, struct isa_stepped *stepped)
{
    struct block *block = warp->block;
    struct recorded_block *own = block->observed;
    struct recorded_warp *w = &own->warps[warp->index];
    const struct isa_code *code = warp->code;
    const struct isa_timing *row = warp->next;
    lane_mask active = warp->active;
    uint32_t alive = block->alive, arrivals = block->cluster_arrivals;
    static const struct istream_step nothing;
    struct istream_step special;
    const struct istream_step *step = &nothing;
    bool opened = block->opened;
    block->opened = false;
    if (UNLIKELY(!w->code || w->code->code != code))
        w->code = find_code(own->launch->kernel, code);
    block->arrival.threads = 0;
    own->isa->step(warp, stepped);
    if (UNLIKELY(row->role || block->alive != alive || block->cluster_arrivals != arrivals)) {
        note_step(own, warp, stepped, alive, arrivals, (enum isa_role)row->role, &special);
        step = &special;
    }
    istream_put(&w->stream, w->code, own->launch->kernel->context_count, (uint32_t)(row - code->timing),
                active, stepped, step, block->worker->request);
    if (UNLIKELY(w->stream.has_clusters) && block->worker->request->shared_use == SHARED_SYNC &&
        block->worker->request->shared_sync == SYNC_TEST) /* how often it looks, others' time says */
        atomic_fetch_or(&own->launch->doubts, 1u << DOUBT_ORDER);
    if (own->races) {
        if (!row->plain)
            races_use(own->races, warp->index, block->worker->request);
        if (UNLIKELY(block->opened))
            races_opened(own->races);
    }
    block->opened |= opened;
}

static uint32_t glide_recorded(struct isa_warp *warp, uint32_t most)
{
    struct recorded_block *own = warp->block->observed;
    struct recorded_warp *w = &own->warps[warp->index];
    const struct isa_code *code = warp->code;
    const struct isa_timing *row = warp->next;
    uint32_t count = own->isa->glide(warp, most);
    if (!count)
        return 0;
    if (UNLIKELY(!w->code || w->code->code != code))
        w->code = find_code(own->launch->kernel, code);
    istream_put_plain(&w->stream, w->code, (uint32_t)(row - code->timing), count, warp->active);
    return count;
}

/* ---- blocks ---- */

static void block_begins(struct observer *observer, struct block *block)
{
    struct recorded_launch *launch = (struct recorded_launch *)observer;
    pthread_mutex_lock(&launch->kernel->lock);
    struct recorded_block *own = launch->pool;
    if (own)
        launch->pool = own->next;
    pthread_mutex_unlock(&launch->kernel->lock);
    if (!own) {
        own = mem_alloc(1, sizeof *own + block->warp_count * sizeof *own->warps);
        own->launch = launch;
        own->isa = launch->kernel->kernel->isa;
        own->warp_count = block->warp_count;
        pthread_mutex_lock(&launch->kernel->lock);
        own->made_before = launch->all;
        launch->all = own;
        pthread_mutex_unlock(&launch->kernel->lock);
        if (launch->races)
            own->races = races_block_new(launch->races, block->warp_count, block->shared_bytes);
    }
    bool has_clusters = launch_has_clusters(block->worker->grid->launch);
    for (uint32_t i = 0; i < own->warp_count; i++) {
        own->warps[i].stream.has_clusters = has_clusters;
        own->warps[i].came = 0;
    }
    if (own->races)
        races_block_begin(own->races, block->number);
    block->observed = own;
    launch->workspace = block->worker->grid->workspace;
}

static void archive_blob(struct blob *blob, struct archive *archive)
{
    ARCHIVE_LIST(archive, blob->at, blob->count, blob->capacity);
}

static void archive_block(struct chunk_block *block, struct archive *archive)
{
    archive_blob(&block->lengths, archive);
    archive_blob(&block->runs, archive);
    archive_blob(&block->data, archive);
    archive_blob(&block->firsts, archive);
    ARCHIVE_VALUE(archive, block->table_bytes);
}

static void keep_block(struct recorded_launch *launch, uint64_t number, struct chunk_block *block)
{
    struct afar *afar = launch->afar;
    if (!afar) {
        itrace_launch_writer_add(launch->writer, number, block);
        return;
    }
    pthread_mutex_lock(&afar->lock);
    archive_number(&afar->blocks, number, UINT64_MAX);
    archive_block(block, &afar->blocks);
    pthread_mutex_unlock(&afar->lock);
    chunk_block_reset(block);
}

static void block_ends(struct observer *observer, struct block *block)
{
    struct recorded_launch *launch = (struct recorded_launch *)observer;
    struct recorded_block *own = block->observed;
    if (block->clock_reads)
        atomic_fetch_or(&launch->doubts, 1u << DOUBT_CLOCK);
    for (uint32_t i = 0; i < own->warp_count; i++) {
        istream_end(&own->warps[i].stream);
        chunk_block_add(&own->streams, &own->warps[i].stream);
        istream_writer_reset(&own->warps[i].stream);
    }
    if (own->races)
        races_block_end(own->races);
    keep_block(launch, block->number, &own->streams);
    block->observed = NULL;
    pthread_mutex_lock(&launch->kernel->lock);
    own->next = launch->pool;
    launch->pool = own;
    pthread_mutex_unlock(&launch->kernel->lock);
}

static void free_block(struct recorded_block *own)
{
    for (uint32_t i = 0; i < own->warp_count; i++)
        istream_writer_fini(&own->warps[i].stream);
    chunk_block_fini(&own->streams);
    mem_free(own);
}

/* ---- kernels into the trace ---- */

static void copy_code(struct itrace *trace, const struct kernel *kernel, const struct isa_code *code,
                      bool own_code, struct itrace_code *to)
{
    uint32_t registers = 0, steps = 0;
    for (uint32_t i = 0; i < code->count; i++) {
        const struct isa_timing *row = &code->timing[i];
        registers = (uint32_t)max_u64(registers, (uint64_t)row->registers + row->reads + row->writes);
        steps = (uint32_t)max_u64(steps, (uint64_t)row->first_step + row->steps);
    }
    to->code = *code;
    to->register_count = registers;
    to->step_count = steps;
    struct isa_timing *rows = mem_alloc((size_t)code->count + 1, sizeof *rows);
    uint16_t *list = mem_alloc((size_t)registers + 1, sizeof *list);
    struct isa_step *step_list = mem_alloc((size_t)steps + 1, sizeof *step_list);
    memcpy(rows, code->timing, code->count * sizeof *rows);
    if (registers)
        memcpy(list, code->registers, registers * sizeof *list);
    if (steps)
        memcpy(step_list, code->steps, steps * sizeof *step_list);
    to->code.timing = rows;
    to->code.registers = list;
    to->code.steps = step_list;
    to->places = mem_alloc((size_t)code->count + 1, sizeof *to->places);
    for (uint32_t i = 0; i < code->count && own_code; i++) {
        struct code_place place = {0};
        kernel_place(kernel, i, &place);
        place.file = itrace_text(trace, place.file);
        place.function = itrace_text(trace, place.function);
        place.kernel = itrace_text(trace, place.kernel);
        place.module = itrace_text(trace, place.module);
        place.instruction = itrace_text(trace, place.instruction);
        to->places[i] = place;
    }
}

/* The functions that ran since the last time. With the recorder's lock held. */
static void copy_codes(struct itrace *trace, struct recorded_kernel *own, struct itrace_kernel *to)
{
    pthread_mutex_lock(&own->lock);
    for (; own->copied < own->code_count; own->copied++) {
        const struct isa_code *code = own->codes[own->copied]->code;
        mem_grow(to->codes, to->code_count, to->code_capacity);
        copy_code(trace, own->kernel, code, code == own->kernel->code, &to->codes[to->code_count++]);
    }
    pthread_mutex_unlock(&own->lock);
}

static void copy_facts(struct itrace *trace, const struct kernel *kernel)
{
    mem_grow(trace->kernels, trace->kernel_count, trace->kernel_capacity);
    struct itrace_kernel *to = &trace->kernels[trace->kernel_count++];
    *to = (struct itrace_kernel){.facts = kernel->facts,
                                 .number = kernel->number,
                                 .slots = kernel->slots,
                                 .code_bytes = kernel->code_bytes,
                                 .dynamic_shared_at = kernel->dynamic_shared_at};
    to->facts.name = itrace_text(trace, kernel->facts.name);
    if (!trace->lanes) {
        trace->lanes = kernel->isa->lanes;
        trace->isa = mem_text(kernel->isa->name);
    }
}

/* ---- launches ---- */

static uint32_t doubt_of(enum races_found found)
{
    return found == RACES_READS ? 1u << DOUBT_RACE : found == RACES_WRITES ? 1u << DOUBT_WRITES : 0;
}

/* With the lock held. */
static size_t find_kernel(struct itrace_recorder *recorder, const struct kernel *kernel)
{
    for (size_t i = recorder->kernel_count; i-- > 0;)
        if (recorder->kernels[i]->number == kernel->number)
            return i;
    struct recorded_kernel *made = mem_alloc(1, sizeof *made);
    made->kernel = kernel;
    made->number = kernel->number;
    made->isa = *kernel->isa;
    made->isa.step = step_recorded;
    made->isa.glide = kernel->isa->glide ? glide_recorded : NULL;
    pthread_mutex_init(&made->lock, NULL);
    mem_grow(recorder->kernels, recorder->kernel_count, recorder->kernel_capacity);
    recorder->kernels[recorder->kernel_count] = made;
    find_code(made, kernel->code);
    if (recorder->trace)
        copy_facts(recorder->trace, kernel);
    return recorder->kernel_count++;
}

/* ---- on several ranks ---- */

/* The functions that ran since the last time. */
static void tell_codes(struct recorded_launch *launch, struct archive *archive)
{
    struct recorded_kernel *own = launch->kernel;
    pthread_mutex_lock(&own->lock);
    archive_number(archive, own->code_count - launch->afar->codes, UINT32_MAX);
    for (; launch->afar->codes < own->code_count; launch->afar->codes++)
        own->kernel->isa->archive_code(own->kernel, own->codes[launch->afar->codes]->code, archive);
    pthread_mutex_unlock(&own->lock);
}

static void take_codes(struct recorded_kernel *own, struct archive *archive)
{
    for (uint64_t count = archive_number(archive, 0, UINT32_MAX); count && archive->good; count--) {
        const struct isa_code *code = own->kernel->isa->archive_code(own->kernel, NULL, archive);
        if (archive_check(archive, code))
            find_code(own, code);
    }
}

static void tell(struct observer *observer, struct text *bytes)
{
    struct recorded_launch *own = (struct recorded_launch *)observer;
    struct afar *afar = own->afar;
    struct text races = {0};
    if (!afar)
        return;
    if (own->races)
        races_tell(own->races, &races);
    if (afar->blocks.text.length || races.length || own->kernel->code_count > afar->codes ||
        own->doubts != afar->doubts || own->workspace != afar->workspace) {
        struct archive archive = archive_writer();
        tell_codes(own, &archive);
        archive_number(&archive, afar->doubts = own->doubts, UINT32_MAX);
        archive_number(&archive, afar->workspace = own->workspace, UINT64_MAX);
        archive_text(&archive, &races);
        archive_text(&archive, &afar->blocks.text);
        text_add_bytes(bytes, archive.text.at, archive.text.length);
        text_fini(&archive.text);
        afar->blocks.text.length = 0;
    }
    text_fini(&races);
}

static void take_blocks(struct recorded_launch *own, struct archive *archive)
{
    struct chunk_block block = {0};
    while (archive->good && archive->at < archive->end) {
        uint64_t number = archive_number(archive, 0, UINT64_MAX);
        archive_block(&block, archive);
        if (archive->good)
            itrace_launch_writer_add(own->writer, number, &block);
    }
    chunk_block_fini(&block);
}

static bool take(struct observer *observer, const char *bytes, size_t count)
{
    struct recorded_launch *own = (struct recorded_launch *)observer;
    struct archive archive = archive_reader(bytes, count);
    struct text races = {0}, blocks = {0};
    take_codes(own->kernel, &archive);
    own->doubts |= (uint32_t)archive_number(&archive, 0, UINT32_MAX);
    uint64_t workspace = archive_number(&archive, 0, UINT64_MAX);
    if (workspace)
        own->workspace = workspace;
    archive_text(&archive, &races);
    archive_text(&archive, &blocks);
    struct archive of_blocks = archive_reader(blocks.at, blocks.length);
    bool good = archive.good && own->writer &&
                (!races.length || (own->races && races_take(own->races, races.at, races.length)));
    if (good)
        take_blocks(own, &of_blocks);
    text_fini(&races);
    text_fini(&blocks);
    return good && of_blocks.good;
}

/* ---- launches begin and end ---- */

static struct recorded_launch *begin_launch(struct itrace_recorder *recorder, const struct kernel *kernel,
                                            size_t *number)
{
    struct recorded_launch *made = mem_alloc(1, sizeof *made);
    pthread_mutex_lock(&recorder->lock);
    *number = find_kernel(recorder, kernel);
    made->kernel = recorder->kernels[*number];
    pthread_mutex_unlock(&recorder->lock);
    made->observer = (struct observer){
        .isa = &made->kernel->isa, .begins = block_begins, .ends = block_ends, .tell = tell, .take = take};
    made->recorder = recorder;
    made->doubts = kernel->facts.ordered ? 1u << DOUBT_ORDER : 0;
    if (!made->doubts)
        made->races = races_new();
    return made;
}

static void end_launch(struct recorded_launch *own)
{
    for (struct recorded_block *block = own->all, *next; block; block = next) {
        next = block->made_before;
        free_block(block);
    }
    races_free(own->races);
    mem_free(own);
}

struct observer *itrace_recorder_begin(struct itrace_recorder *recorder, const struct kernel *kernel,
                                       size_t launch)
{
    size_t number;
    struct recorded_launch *made = begin_launch(recorder, kernel, &number);
    pthread_mutex_lock(&recorder->lock);
    recorder->trace->launches[launch].kernel = (uint32_t)number;
    pthread_mutex_unlock(&recorder->lock);
    made->number = launch;
    made->writer = itrace_launch_writer_new(recorder->writer);
    return &made->observer;
}

struct observer *itrace_recorder_begin_afar(struct itrace_recorder *recorder, const struct kernel *kernel)
{
    size_t number;
    struct recorded_launch *made = begin_launch(recorder, kernel, &number);
    made->afar = mem_alloc(1, sizeof *made->afar);
    made->afar->blocks = archive_writer();
    pthread_mutex_init(&made->afar->lock, NULL);
    if (made->races)
        races_send(made->races);
    return &made->observer;
}

void itrace_recorder_end_afar(struct observer *observer)
{
    struct recorded_launch *own = (struct recorded_launch *)observer;
    text_fini(&own->afar->blocks.text);
    pthread_mutex_destroy(&own->afar->lock);
    mem_free(own->afar);
    end_launch(own);
}

void itrace_recorder_skip(struct itrace_recorder *recorder, const struct kernel *kernel, size_t launch)
{
    pthread_mutex_lock(&recorder->lock);
    size_t number = find_kernel(recorder, kernel);
    recorder->trace->launches[launch].kernel = (uint32_t)number;
    copy_codes(recorder->trace, recorder->kernels[number], &recorder->trace->kernels[number]);
    pthread_mutex_unlock(&recorder->lock);
}

void itrace_recorder_end(struct itrace_recorder *recorder, struct observer *observer, bool good,
                         const struct launch_result *result)
{
    struct recorded_launch *own = (struct recorded_launch *)observer;
    struct itrace_launch ended = {0};
    itrace_launch_writer_end(own->writer, good, &ended);
    pthread_mutex_lock(&recorder->lock);
    struct itrace_launch *launch = &recorder->trace->launches[own->number];
    launch->recorded = ended.recorded;
    launch->chunks = ended.chunks;
    launch->chunk_count = ended.chunk_count;
    launch->chunk_capacity = ended.chunk_capacity;
    launch->doubts |= own->doubts | (own->races ? doubt_of(races_find(own->races)) : 0);
    launch->counts = *result;
    launch->workspace = own->workspace;
    copy_codes(recorder->trace, own->kernel, &recorder->trace->kernels[launch->kernel]);
    pthread_mutex_unlock(&recorder->lock);
    end_launch(own);
}

struct itrace_recorder *itrace_recorder_new(struct itrace *trace, struct itrace_writer *writer)
{
    struct itrace_recorder *recorder = mem_alloc(1, sizeof *recorder);
    recorder->trace = trace;
    recorder->writer = writer;
    pthread_mutex_init(&recorder->lock, NULL);
    return recorder;
}

static void free_kernel(struct recorded_kernel *own)
{
    for (uint32_t i = 0; i < own->code_count; i++) {
        istream_code_fini(own->codes[i]);
        mem_free(own->codes[i]);
    }
    pthread_mutex_destroy(&own->lock);
    mem_free(own->codes);
    mem_free(own);
}

static int by_place(const void *a, const void *b)
{
    const struct itrace_code *left = a, *right = b;
    return left->code.code_at < right->code.code_at ? -1 : left->code.code_at > right->code.code_at;
}

/* Functions behind the kernel's own were found by the threads, or ranks, that came to them first. */
static void sort_codes(struct itrace *trace)
{
    for (size_t i = 0; i < trace->kernel_count; i++)
        if (trace->kernels[i].code_count > 2)
            qsort(trace->kernels[i].codes + 1, trace->kernels[i].code_count - 1, sizeof(struct itrace_code),
                  by_place);
}

void itrace_recorder_free(struct itrace_recorder *recorder)
{
    if (recorder->trace)
        sort_codes(recorder->trace);
    for (size_t i = 0; i < recorder->kernel_count; i++)
        free_kernel(recorder->kernels[i]);
    pthread_mutex_destroy(&recorder->lock);
    mem_free(recorder->kernels);
    mem_free(recorder);
}
