#include "replay/replay.h"
#include "base/archive.h"
#include "base/bits.h"
#include "exec/atomics.h"
#include "exec/block.h"
#include "exec/cga.h"
#include "exec/place.h"
#include "itrace/istream.h"

enum { WORKSPACE = 128 }; /* bytes that a grid's barrier has, at most */

struct replay_kernel {
    struct kernel base; /* first */
    struct itrace_reader *reader;
    size_t launch;
    const struct itrace_kernel *of;
    struct istream_codes codes;
    uint64_t workspace;   /* of a cooperative launch: where it was; or 0 */
    bool counts_branches; /* the instruction set that was recorded does */
};

struct replay_warp {
    struct isa_warp isa; /* first */
    struct istream_reader stream;
    uint32_t done; /* instructions of the run that were executed */
    bool has_run;  /* stream.run is the one it is in, or waits to begin */
    lane_mask exists;
    uint32_t arrivals[ISTREAM_BARRIERS]; /* openings of each barrier, when the warp arrived there last */
    uint32_t openings[ISTREAM_BARRIERS]; /* of the block's first warp: how often each barrier has opened */
    uint32_t group;                      /* the bit of its group's barrier, once it was there */
    uint32_t context_count;
    const struct chunk_warp *streams; /* NULL: the block's were given back */
    const char *why;                  /* its streams make no sense: so its next step is a fault; or NULL */
};

static struct replay_warp *own(struct isa_warp *warp)
{
    return (struct replay_warp *)(void *)warp;
}

static const struct replay_kernel *kernel_of(const struct isa_warp *warp)
{
    return (const struct replay_kernel *)(const void *)warp->block->worker->grid->kernel;
}

static uint32_t *openings_of(const struct block *block)
{
    return own(block_warp(block, 0))->openings;
}

static _Noreturn void damaged(const struct replay_warp *w, const char *why)
{
    block_fault(w->isa.block, w->isa.index * w->isa.block->worker->grid->kernel->isa->lanes,
                FAULT_INSTRUCTION, 0, "in the trace", why);
}

/* ---- starting and ending ---- */

static bool prepare(struct kernel *kernel, struct err *err)
{
    (void)kernel, (void)err;
    return true;
}

static bool open_streams(struct replay_warp *w)
{
    const struct replay_kernel *kernel = kernel_of(&w->isa);
    struct err err;
    const struct chunk_warp *warps =
        itrace_reader_take(kernel->reader, kernel->launch, w->isa.block->number, &err);
    if (!warps)
        return false;
    w->streams = &warps[w->isa.index];
    const struct itrace *trace = itrace_reader_trace(kernel->reader);
    w->stream.operations = trace->operations.own;
    w->stream.has_clusters = itrace_launch_cluster(&trace->launches[kernel->launch]) > 1;
    const struct chunk_warp *at = w->streams;
    w->stream.runs = (struct scan){.at = at->runs, .end = at->runs + at->runs_bytes};
    w->stream.data = (struct scan){.at = at->data, .end = at->data + at->data_bytes};
    w->stream.firsts = at->firsts;
    w->stream.firsts_end = at->firsts + at->first_count;
    return true;
}

static void start(struct isa_warp *warp, lane_mask exists)
{
    struct replay_warp *w = own(warp);
    uint32_t contexts = kernel_of(warp)->codes.context_count;
    struct access_context *kept = w->stream.contexts;
    if (w->context_count < contexts) {
        mem_free(kept);
        kept = mem_alloc(contexts, sizeof *kept);
        w->context_count = contexts;
    } else if (contexts) {
        memset(kept, 0, contexts * sizeof *kept);
    }
    w->stream = (struct istream_reader){.contexts = kept};
    w->done = 0;
    w->has_run = false;
    w->group = 0;
    w->exists = exists;
    w->streams = NULL;
    w->why = NULL;
    memset(w->arrivals, 0, sizeof w->arrivals);
    memset(w->openings, 0, sizeof w->openings);
    warp->code = kernel_of(warp)->base.code;
    warp->next = warp->code->timing;
    warp->active = exists;
}

static void fini(struct isa_warp *warp)
{
    mem_free(own(warp)->stream.contexts);
}

/* ---- running ---- */

static enum isa_ran run(struct isa_warp *warp)
{
    damaged(own(warp), "a trace is replayed with time (--mode timing)");
}

/* The barriers that the run is behind have opened since the warp arrived there. */
static bool may_begin(const struct replay_warp *w)
{
    const uint32_t *openings = openings_of(w->isa.block);
    const uint32_t known = (UINT32_C(1) << ISTREAM_BARRIERS) - 1;
    for (uint32_t left = (w->stream.run.opened | w->group) & known; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        if (openings[i] == w->arrivals[i])
            return false;
    }
    return true;
}

static void end_warp(struct replay_warp *w)
{
    const struct replay_kernel *kernel = kernel_of(&w->isa);
    w->isa.ended = true;
    itrace_reader_give(kernel->reader, kernel->launch, w->isa.block->number);
    w->streams = NULL;
}

/* A warp that cannot go on faults when it steps, as others do: whoever looks at it before expects no fault.
 */
static bool fault_later(struct replay_warp *w, const char *why)
{
    w->stream.run =
        (struct istream_run){.code = &kernel_of(&w->isa)->codes.at[0], .count = 1, .active = w->exists};
    w->has_run = true;
    w->done = 0;
    w->why = why;
    w->isa.code = w->stream.run.code->code;
    w->isa.next = w->isa.code->timing;
    w->isa.active = w->exists;
    return true;
}

static bool settle(struct isa_warp *warp)
{
    struct replay_warp *w = own(warp);
    struct istream_run *now = &w->stream.run;
    if (UNLIKELY(!w->streams)) {
        if (warp->ended)
            return false;
        if (!open_streams(w))
            return fault_later(w, "a chunk of blocks is damaged");
    }
    if (!w->has_run || w->done == now->count) {
        w->done = 0;
        w->has_run = istream_next_run(&w->stream, &kernel_of(warp)->codes);
        if (istream_is_bad(&w->stream))
            return fault_later(w, "its instructions are damaged");
        if (!w->has_run) {
            end_warp(w);
            return false;
        }
        now->active &= w->exists;
    }
    if ((now->opened || w->group) && !w->done && !may_begin(w))
        return false;
    warp->code = now->code->code;
    warp->next = &warp->code->timing[now->first + w->done];
    warp->active = now->active;
    return true;
}

static void open_cluster(struct block *block)
{
    block->cluster_arrivals = 0;
    block->has_come = false;
    block->opened = true;
    openings_of(block)[ISTREAM_CLUSTER]++;
}

static void check_barriers(struct block *block)
{
    if (UNLIKELY(block->cluster_arrivals)) {
        block->has_come = block->cluster_arrivals == block->alive;
        if (block->has_come && !block->cluster)
            open_cluster(block);
    }
    for (uint32_t i = 0; i < BARRIERS + GROUP_BARRIERS; i++) {
        struct barrier *barrier = &block->barriers[i];
        if (!barrier->arrived || barrier->arrived < (barrier->expected ? barrier->expected : block->alive))
            continue;
        *barrier = (struct barrier){0};
        openings_of(block)[i]++;
        block->opened = true;
    }
}

/* The last instruction of a run: who arrives at a barrier, who ends. */
static void do_events(struct replay_warp *w, struct isa_stepped *stepped)
{
    const struct istream_run *now = &w->stream.run;
    struct block *block = w->isa.block;
    stepped->sleep_ns = now->sleep_ns;
    if (now->events & EVENT_EXITS)
        block->alive -= (uint32_t)min_u64(now->exits, block->alive);
    uint32_t *openings = openings_of(block);
    if (now->events & EVENT_ARRIVES) {
        w->arrivals[now->barrier] = openings[now->barrier];
        if (UNLIKELY(now->barrier == ISTREAM_CLUSTER)) {
            block->cluster_arrivals += now->threads;
        } else {
            struct barrier *barrier = &block->barriers[now->barrier];
            barrier->arrived += now->threads;
            barrier->expected = now->expected ? now->expected : barrier->expected;
        }
    }
    if (now->events & (EVENT_EXITS | EVENT_ARRIVES))
        check_barriers(block);
    if (now->events & EVENT_ARRIVES)
        stepped->waits = now->events & EVENT_WAITS && now->events & EVENT_WHOLE &&
                         openings[now->barrier] == w->arrivals[now->barrier];
    else
        stepped->waits = now->events & EVENT_WAITS;
}

/* The warps of a group wait for each other, as each has read what all multiply. */
static void join_group(struct replay_warp *w)
{
    struct block *block = w->isa.block;
    uint32_t first = w->isa.index / 4 * 4, number = ISTREAM_GROUPS + first / 4;
    struct barrier *barrier = &block->barriers[number];
    w->group = UINT32_C(1) << number;
    w->arrivals[number] = openings_of(block)[number];
    barrier->arrived += block->worker->grid->kernel->isa->lanes;
    barrier->expected =
        (uint32_t)min_u64(block->warp_count - first, 4) * block->worker->grid->kernel->isa->lanes;
    check_barriers(block);
}

/* The workspace of a grid's barrier is somewhere else now. */
static void move_workspace(const struct replay_warp *w, struct delivery *of)
{
    uint64_t was = kernel_of(&w->isa)->workspace, is = w->isa.block->worker->grid->workspace;
    EACH_LANE (i, of->lanes)
        of->at[i] += of->at[i] - was < WORKSPACE ? is - was : 0;
}

/* Values are not known. Each launch writes others than the one before, as programs mostly do: copies of
 * managed memory in caches are then found to be old. */
static void choose_value(const struct replay_warp *w, struct request *request)
{
    uint64_t value = kernel_of(&w->isa)->launch % UINT8_MAX + 1;
    request->operand[0] = value;
    EACH_LANE (i, request->of.kind == REQUEST_ATOMIC ? request->of.lanes : 0)
        request->operand[i] = value;
}

/* Whether lanes can want that of other blocks: what they send is taken for granted where it arrives. */
static bool far_fits(const struct request *request, lane_mask lanes, uint64_t shared_bytes)
{
    const struct delivery *of = &request->of;
    uint32_t bytes = of->bytes;
    bool is_atomic = of->kind == REQUEST_ATOMIC, good = bytes && bytes <= 16 && !(bytes & (bytes - 1));
    good &= !is_atomic || atomic_rows[of->operation].bytes == bytes;
    good &= of->kind != REQUEST_SIGNAL || bytes == 8;
    EACH_LANE (i, lanes) {
        uint64_t offset = of->at[i] & ((UINT64_C(1) << CLUSTER_SHARED_SHIFT) - 1);
        good &= !(of->at[i] % bytes) && offset <= shared_bytes && shared_bytes - offset >= bytes;
        good &= !request->signals ||
                (request->compare[i] <= shared_bytes && shared_bytes - request->compare[i] >= 8);
        if (!good)
            return false;
    }
    return true;
}

static bool copies_fit(const struct request *request, uint64_t shared_bytes)
{
    bool good = request->of.barrier_at <= shared_bytes && shared_bytes - request->of.barrier_at >= 8;
    for (size_t i = 0; good && i < request->piece_count; i++) {
        const struct piece *piece = &request->pieces[i];
        good = piece->stage_at <= shared_bytes && shared_bytes - piece->stage_at >= piece->bytes;
    }
    return good;
}

/* Blocks may be elsewhere now, or have ended: then their shared memory is reached as the block's own. */
static void find_blocks(const struct replay_warp *w, struct request *request)
{
    const struct block *block = w->isa.block;
    const struct cga *cluster = block->cluster;
    struct delivery *of = &request->of;
    lane_mask near = 0;
    EACH_LANE (i, request->cluster) {
        uint64_t rank = of->at[i] >> CLUSTER_SHARED_SHIFT & 0xff;
        near |= (lane_mask)!cga_is_far(cluster, min_u64(rank, CLUSTER_MOST - 1)) << i;
    }
    of->targets &= cluster->left & ~(UINT64_C(1) << block->rank);
    if (!far_fits(request, request->cluster, block->shared_bytes) ||
        (of->targets && !copies_fit(request, block->shared_bytes)))
        damaged(w, "its accesses to other blocks are damaged");
    if (!near)
        return;
    EACH_LANE (i, near)
        request->shared_at[i] = (uint32_t)(of->at[i] & ((1u << CLUSTER_SHARED_SHIFT) - 1));
    request->shared |= near;
    request->shared_bytes = of->bytes;
    request->cluster &= ~near;
    of->lanes &= ~near;
    of->kind = of->lanes ? of->kind : REQUEST_NONE;
}

static void access_memory(struct replay_warp *w, uint32_t context, lane_mask mask)
{
    struct request *request = w->isa.block->worker->request;
    istream_access(&w->stream, context, mask, request);
    if (UNLIKELY(request->cluster || request->of.targets))
        find_blocks(w, request);
    if (request->of.kind == REQUEST_STORE || request->of.kind == REQUEST_ATOMIC)
        choose_value(w, request);
    if (UNLIKELY(kernel_of(&w->isa)->workspace) && request->of.kind != REQUEST_NONE)
        move_workspace(w, &request->of);
}

static void step(struct isa_warp *warp, struct isa_stepped *stepped)
{
    struct replay_warp *w = own(warp);
    struct worker *worker = warp->block->worker;
    struct launch_result *result = &worker->result;
    const struct istream_run *now = &w->stream.run;
    const struct isa_timing *row = warp->next;
    const lane_mask active = warp->active;
    const bool is_last = ++w->done == now->count;
    lane_mask mask = active;
    if (UNLIKELY(w->why))
        damaged(w, w->why);
    if (is_last && (now->moved || now->has_mask))
        mask = now->mask & active;
    else if (UNLIKELY(row->guards))
        mask = istream_guard(&w->stream, active) & active;
    *stepped = (struct isa_stepped){.mask = mask, .moved = is_last};
    const uint32_t count = isa_count_lanes(active);
    result->warp_instructions++;
    result->thread_instructions += count;
    result->thread_instructions_pred_on += mask == active ? count : isa_count_lanes(mask);
    if (!row->plain)
        access_memory(w, now->code->context[now->first + w->done - 1], mask);
    if (LIKELY(!is_last)) {
        warp->next++;
        return;
    }
    if (UNLIKELY(w->stream.data.bad))
        damaged(w, "its accesses to memory are damaged");
    stepped->branched = now->branched;
    stepped->diverged = now->diverged;
    if (row->role == ROLE_BRANCH && kernel_of(warp)->counts_branches) {
        result->branches++;
        result->divergent_branches += now->diverged;
    }
    if (now->events)
        do_events(w, stepped);
    if (UNLIKELY(row->role == ROLE_PRODUCTS))
        join_group(w);
}

static bool is_awake(const struct isa_warp *warp)
{
    const struct replay_warp *w = (const struct replay_warp *)(const void *)warp;
    return !w->has_run || w->done || may_begin(w);
}

static void check_limits(struct isa_warp *warp)
{
    (void)warp;
}

/* ---- memory: time without data ---- */

static void deliver(const struct delivery *of, uint64_t from, const unsigned char *data, lane_mask who)
{
    (void)of, (void)from, (void)data, (void)who;
}

static void collect(const struct request *request, uint64_t from, lane_mask who, unsigned char *data,
                    uint32_t *masks)
{
    uint32_t bytes = request->of.bytes;
    uint32_t bits = bytes >= 32 ? UINT32_MAX : (UINT32_C(1) << bytes) - 1;
    EACH_LANE (i, who) {
        uint32_t at = (uint32_t)(request->of.at[i] - from);
        masks[at / 32] |= bits << at % 32;
        memset(data + at, (int)request->operand[0], bytes);
    }
}

static void deliver_old(const struct delivery *of, uint32_t lane, uint64_t old)
{
    (void)of, (void)lane, (void)old;
}

static void complete(struct isa_warp *warp, const struct delivery *of, const unsigned char *stage)
{
    (void)warp, (void)of, (void)stage;
}

static void signal(struct block *block, uint64_t offset, uint64_t operand)
{
    (void)block, (void)offset, (void)operand;
}

/* ---- blocks that cannot go on ---- */

static bool force(struct block *block)
{
    (void)block;
    return false;
}

static void describe(const struct block *block, struct text *text)
{
    text_add(text, "block %llu of a recorded launch", (unsigned long long)block->number);
}

static void deadlock(struct block *block)
{
    damaged(own(block_warp(block, 0)), "its warps wait at barriers for each other, in vain");
}

/* ---- source ---- */

static void place(const struct kernel *kernel, const struct isa_code *code, uint32_t instruction,
                  struct code_place *to)
{
    (void)code; /* of functions, nothing is recorded */
    *to = ((const struct replay_kernel *)(const void *)kernel)->of->codes[0].places[instruction];
}

/* ---- checkpoints ---- */

static void archive_shape(const struct kernel *kernel, struct archive *archive)
{
    const struct replay_kernel *of = (const struct replay_kernel *)(const void *)kernel;
    archive_expect(archive, of->launch);
    archive_expect(archive, of->codes.context_count);
    archive_expect(archive, of->base.code->count);
}

static const struct isa_code *archive_code(const struct kernel *kernel, const struct isa_code *code,
                                           struct archive *archive)
{
    const struct replay_kernel *of = (const struct replay_kernel *)(const void *)kernel;
    uint64_t number = 0;
    while (!archive->reading && number < of->codes.count && of->codes.at[number].code != code)
        number++;
    number = archive_number(archive, number, of->codes.count - 1);
    return of->codes.at[number].code;
}

/* Where a cursor is, in bytes from the beginning of its stream. */
static void archive_place(struct archive *archive, const uint8_t **at, const uint8_t *begin, uint64_t bytes)
{
    uint64_t offset = archive_number(archive, archive->reading ? 0 : (uint64_t)(*at - begin), bytes);
    if (archive->reading)
        *at = begin + offset;
}

static void archive_warp(struct isa_warp *warp, struct archive *archive)
{
    struct replay_warp *w = own(warp);
    const struct replay_kernel *kernel = kernel_of(warp);
    struct istream_reader *stream = &w->stream;
    uint64_t is_open = archive_number(archive, w->streams != NULL, 1);
    if (archive->reading && is_open && !w->streams)
        open_streams(w);
    ARCHIVE_VALUE(archive, warp->ended);
    ARCHIVE_VALUE(archive, w->done);
    ARCHIVE_VALUE(archive, w->has_run);
    ARCHIVE_VALUE(archive, w->exists);
    ARCHIVE_VALUE(archive, w->arrivals);
    ARCHIVE_VALUE(archive, w->openings);
    ARCHIVE_VALUE(archive, w->group);
    if (archive->reading &&
        w->context_count < kernel->codes.context_count) { /* of a block that was not begun */
        mem_free(stream->contexts);
        stream->contexts = mem_alloc(kernel->codes.context_count, sizeof *stream->contexts);
        w->context_count = kernel->codes.context_count;
    }
    archive_bytes(archive, stream->contexts, kernel->codes.context_count * sizeof *stream->contexts);
    const struct isa_code *code = stream->run.code ? stream->run.code->code : kernel->base.code;
    struct istream_run flat = stream->run;
    flat.code = NULL;
    ARCHIVE_VALUE(archive, flat);
    code = archive_code(&kernel->base, code, archive);
    if (archive->reading) {
        stream->run = flat;
        for (uint32_t i = 0; i < kernel->codes.count; i++)
            if (kernel->codes.at[i].code == code)
                stream->run.code = &kernel->codes.at[i];
        archive_check(archive, flat.first < code->count && flat.count <= code->count - flat.first &&
                                   w->done <= flat.count);
    }
    if (is_open && archive->good) {
        archive_place(archive, &stream->runs.at, w->streams->runs, w->streams->runs_bytes);
        archive_place(archive, &stream->data.at, w->streams->data, w->streams->data_bytes);
        uint64_t firsts =
            archive_number(archive, (uint64_t)(stream->firsts - w->streams->firsts), w->streams->first_count);
        stream->firsts = w->streams->firsts + firsts;
    }
    if (archive->reading && archive->good && w->has_run) {
        warp->code = stream->run.code->code;
        warp->next = &warp->code->timing[stream->run.first + min_u64(w->done, stream->run.count - 1)];
        warp->active = stream->run.active;
    }
}

static void archive_delivery(const struct isa_warp *warp, struct delivery *of, struct archive *archive)
{
    static char barrier; /* that counts bytes: it is only known to be there */
    struct delivery flat = team_bare_delivery(of);
    ARCHIVE_VALUE(archive, flat);
    flat = team_bare_delivery(&flat);
    uint64_t counts = archive_number(archive, of->barrier != NULL, 1);
    archive_check(archive,
                  flat.kind <= REQUEST_PIECES && flat.width == warp->block->worker->grid->kernel->isa->lanes);
    if (archive->reading) {
        *of = flat;
        of->barrier = counts ? &barrier : NULL;
    }
}

static void archive_piece(const struct isa_warp *warp, struct piece *piece, struct archive *archive)
{
    (void)warp;
    struct piece flat = *piece;
    flat.host = NULL;
    ARCHIVE_VALUE(archive, flat);
    if (archive->reading)
        *piece = flat;
}

#define REPLAY_ISA(width)                                                                                    \
    {                                                                                                        \
        .name = "trace", .block_word = "block", .thread_word = "thread", .lanes = width,                     \
        .warp_bytes = sizeof(struct replay_warp), .prepare = prepare, .start = start, .fini = fini,          \
        .run = run, .settle = settle, .step = step, .is_awake = is_awake, .check_limits = check_limits,      \
        .deliver = deliver, .collect = collect, .deliver_old = deliver_old, .complete = complete,            \
        .signal = signal, .open_cluster = open_cluster, .force = force, .describe = describe,                \
        .deadlock = deadlock, .place = place, .archive_shape = archive_shape, .archive_warp = archive_warp,  \
        .archive_code = archive_code, .archive_delivery = archive_delivery, .archive_piece = archive_piece   \
    }

const struct isa_ops replay_isa_32 = REPLAY_ISA(32), replay_isa_64 = REPLAY_ISA(64);

/* ---- kernels ---- */

struct kernel *replay_kernel_new(struct itrace_reader *reader, size_t launch)
{
    const struct itrace *trace = itrace_reader_trace(reader);
    const struct itrace_kernel *of = &trace->kernels[trace->launches[launch].kernel];
    struct replay_kernel *made = mem_alloc(1, sizeof *made);
    kernel_init(&made->base, trace->lanes == 64 ? &replay_isa_64 : &replay_isa_32, of->facts.name);
    made->base.facts = of->facts;
    made->base.number = of->number;
    made->base.slots = of->slots;
    made->base.code_bytes = of->code_bytes;
    made->base.code = &of->codes[0].code;
    made->base.dynamic_shared_at = of->dynamic_shared_at;
    made->reader = reader;
    made->launch = launch;
    made->of = of;
    made->workspace = trace->launches[launch].cooperative ? trace->launches[launch].workspace : 0;
    made->counts_branches = trace->launches[launch].counts.branches;
    made->codes.at = mem_alloc(of->code_count, sizeof *made->codes.at);
    made->codes.count = of->code_count;
    for (uint32_t i = 0; i < of->code_count; i++)
        istream_code_init(&made->codes.at[i], &of->codes[i].code, &made->codes.context_count);
    return &made->base;
}

void replay_kernel_free(struct kernel *kernel)
{
    struct replay_kernel *made = (struct replay_kernel *)(void *)kernel;
    for (uint32_t i = 0; i < made->codes.count; i++)
        istream_code_fini(&made->codes.at[i]);
    mem_free(made->codes.at);
    kernel_fini(kernel);
    mem_free(made);
}
