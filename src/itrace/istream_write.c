/* Instructions of a warp become streams of bytes. */
#include "itrace/istream.h"

void istream_code_init(struct istream_code *own, const struct isa_code *code, uint32_t *count)
{
    own->code = code;
    own->context = mem_alloc(code->count, sizeof *own->context);
    for (uint32_t i = 0; i < code->count; i++)
        own->context[i] = code->timing[i].plain ? UINT32_MAX : (*count)++;
}

void istream_code_fini(struct istream_code *own)
{
    mem_free(own->context);
}

/* ---- runs ---- */

static uint32_t events_of(const struct isa_stepped *stepped, const struct istream_step *step)
{
    uint32_t events = 0;
    if (step->arrives)
        events |= EVENT_ARRIVES | (step->waits ? EVENT_WAITS : 0) | (step->whole ? EVENT_WHOLE : 0);
    else if (stepped->waits)
        events |= EVENT_WAITS;
    if (step->exits)
        events |= EVENT_EXITS;
    if (stepped->sleep_ns)
        events |= EVENT_SLEEPS;
    return events;
}

static void put_events(struct istream_writer *w, uint32_t events, const struct isa_stepped *stepped,
                       const struct istream_step *step)
{
    struct blob *runs = &w->runs;
    blob_put_varint(runs, events);
    if (events & EVENT_OPENED)
        blob_put_varint(runs, w->opened);
    if (events & EVENT_ARRIVES) {
        blob_put_varint(runs, step->barrier);
        blob_put_varint(runs, step->threads);
        blob_put_varint(runs, step->expected);
    }
    if (events & EVENT_EXITS)
        blob_put_varint(runs, step->exits);
    if (events & EVENT_SLEEPS)
        blob_put_varint(runs, stepped->sleep_ns);
}

/* The run is over; stepped: with this instruction, or NULL: with the one before. */
static void end_run(struct istream_writer *w, const struct isa_stepped *stepped,
                    const struct istream_step *step)
{
    uint32_t flags = 0, events = w->opened ? EVENT_OPENED : 0;
    if (stepped) {
        events |= events_of(stepped, step);
        flags |= stepped->moved ? RUN_MOVED : 0;
        flags |= stepped->branched ? RUN_BRANCHED : 0;
        flags |= stepped->diverged ? RUN_DIVERGED : 0;
        bool guarded = w->code->code->timing[w->first + w->count - 1].guards && !stepped->moved;
        if (stepped->mask != w->active || guarded)
            flags |= stepped->mask ? RUN_MASK : RUN_MASK_NONE;
    }
    flags |= w->active != w->last_active ? RUN_ACTIVE : 0;
    flags |= w->code != w->last_code ? RUN_CODE : 0;
    flags |= events ? RUN_EVENTS : 0;
    blob_put(&w->runs, (uint8_t)flags);
    blob_put_signed(&w->runs, (int64_t)w->first - w->last_end);
    blob_put_varint(&w->runs, w->count);
    if (flags & RUN_ACTIVE)
        blob_put_varint(&w->runs, w->active);
    if (flags & RUN_CODE)
        blob_put_varint(&w->runs, w->code->code->code_at);
    if (flags & RUN_MASK)
        blob_put_varint(&w->runs, stepped->mask);
    if (events)
        put_events(w, events, stepped, step);
    w->last_active = w->active;
    w->last_code = w->code;
    w->last_end = w->first + w->count;
    w->count = 0;
}

static void begin_run(struct istream_writer *w, const struct istream_code *code, uint32_t instruction,
                      lane_mask active)
{
    w->code = code;
    w->first = instruction;
    w->active = active;
    w->opened = 0;
    if (LIKELY(!w->waits))
        return;
    w->waits = false;
    for (uint32_t i = 0; i < COUNT_OF(w->waiting); i++) {
        bool waits = w->waiting[i] & active || w->waiting[i] == UINT64_MAX; /* all: be any active or none */
        w->opened |= (uint32_t)waits << i;
        w->waiting[i] = waits && w->waiting[i] == UINT64_MAX ? 0 : w->waiting[i] & ~active;
        w->waits |= w->waiting[i] != 0;
    }
}

void istream_end(struct istream_writer *w)
{
    if (w->count)
        end_run(w, NULL, NULL);
}

/* ---- addresses ---- */

/* Whether all these lanes are where the grid says; what others have does not count. 32 bits tell how far they
 * are from the first in most grids. The width is a constant: compilers make the best of it. */
#define LANES_FIT(at, lanes, width, grid, type)                                                              \
    do {                                                                                                     \
        uint32_t first = first_lane(lanes);                                                                  \
        uint32_t shift = (grid)->shift, mask = (1u << shift) - 1;                                            \
        type base = (at)[first] - (type)address_grid_offset(grid, first), differ = 0;                        \
        for (uint32_t i = 0; i < (width); i++) {                                                             \
            uint32_t offset = (uint32_t)(grid)->stride * (i & mask) + (uint32_t)(grid)->row * (i >> shift);  \
            type missed = (at)[i] ^ (base + (type)(int32_t)offset);                                          \
            differ |= (lanes) >> i & 1 ? missed : 0;                                                         \
        }                                                                                                    \
        return !differ;                                                                                      \
    } while (0)

FOR_EACH_HOST static bool fits_32(const uint64_t at[], uint32_t lanes, const struct address_grid *grid)
{
    LANES_FIT(at, lanes, 32, grid, uint64_t);
}

FOR_EACH_HOST static bool fits_64(const uint64_t at[], lane_mask lanes, const struct address_grid *grid)
{
    LANES_FIT(at, lanes, 64, grid, uint64_t);
}

/* Addresses in shared memory have 32 bits, whatever the grid. */
FOR_EACH_HOST static bool shared_fits_32(const uint32_t at[], uint32_t lanes, const struct address_grid *grid)
{
    LANES_FIT(at, lanes, 32, grid, uint32_t);
}

FOR_EACH_HOST static bool shared_fits_64(const uint32_t at[], lane_mask lanes,
                                         const struct address_grid *grid)
{
    LANES_FIT(at, lanes, 64, grid, uint32_t);
}

static bool is_small(const struct address_grid *grid)
{
    return (uint32_t)grid->stride + (1 << 24) < 1 << 25 && (uint32_t)grid->row + (1 << 24) < 1 << 25;
}

static bool fits(const uint64_t at[], lane_mask lanes, const struct address_grid *grid)
{
    if (LIKELY(is_small(grid)))
        return lanes >> 32 ? fits_64(at, lanes, grid) : fits_32(at, (uint32_t)lanes, grid);
    uint32_t first = first_lane(lanes);
    uint64_t base = at[first] - address_grid_offset(grid, first);
    EACH_LANE (i, lanes)
        if (at[i] != base + address_grid_offset(grid, i))
            return false;
    return true;
}

/* The addresses of some lanes, and what is known of them. */
struct lanes_at {
    const uint64_t *at;
    const uint32_t *shared_at; /* or NULL: `at` is as it is; else it is `room`, filled when it is needed */
    uint64_t *room;
    lane_mask lanes;
    uint64_t base;          /* of the first */
    uint32_t layout, bytes; /* enum lanes_layout; of a lane */
};

/* Whether the grid is that of a full warp with this stride. */
static bool is_stride(const struct address_grid *grid, lane_mask lanes, int32_t stride)
{
    uint32_t whole = lanes == UINT32_MAX ? 5 : 6;
    if (grid->shift >= whole)
        return grid->stride == stride;
    return grid->row == stride << grid->shift && (!grid->shift || grid->stride == stride);
}

/* The grid that the first lanes and the first row make, if there is one. */
static void find_grid(const uint64_t at[], lane_mask lanes, struct address_grid *grid)
{
    uint32_t first = first_lane(lanes), last = 63 - (uint32_t)__builtin_clzll(lanes), end = first + 1;
    *grid = (struct address_grid){.shift = 6};
    lane_mask rest = lanes & (lanes - 1);
    if (!rest)
        return;
    uint32_t next = first_lane(rest);
    int64_t distance = (int64_t)(at[next] - at[first]);
    if (distance % (int64_t)(next - first))
        return;
    int64_t stride = distance / (int64_t)(next - first);
    if (stride != (int32_t)stride)
        return;
    grid->stride = (int32_t)stride;
    while (end <= last && lanes >> end & 1 && at[end] == at[first] + (uint64_t)stride * (end - first))
        end++;
    if (first || end > last || end & (end - 1)) /* no row of 2, 4, ... lanes */
        return;
    int64_t row = (int64_t)(at[end] - at[0]);
    if (row != (int32_t)row)
        return;
    grid->shift = (uint8_t)__builtin_ctz(end);
    grid->row = (int32_t)row;
}

static void put_list(struct blob *data, const uint64_t at[], lane_mask lanes, bool scaled)
{
    uint8_t *to = blob_room(data, ISA_LANES * BLOB_VARINT_MOST);
    uint64_t before = at[first_lane(lanes)];
    uint32_t shift = scaled ? 2 : 0;
    EACH_LANE (i, lanes & (lanes - 1)) {
        to = blob_write_signed(to, (int64_t)(at[i] - before) >> shift);
        before = at[i];
    }
    data->count = (size_t)(to - data->at);
}

static void put_table(struct istream_writer *w, const uint64_t at[], lane_mask lanes, uint64_t base,
                      bool scaled)
{
    struct blob *data = &w->data;
    uint8_t *to = blob_room(data, ISA_LANES);
    w->table_bytes += isa_count_lanes(lanes);
    uint32_t shift = scaled ? 2 : 0;
    if (lanes == UINT32_MAX || lanes == UINT64_MAX) {
        uint32_t width = lanes == UINT32_MAX ? 32 : 64;
        for (uint32_t i = 0; i < width; i++)
            to[i] = (uint8_t)((at[i] - base) >> shift);
        data->count += width;
        return;
    }
    EACH_LANE (i, lanes)
        *to++ = (uint8_t)((at[i] - base) >> shift);
    data->count = (size_t)(to - data->at);
}

/* How addresses lie that are in no grid. */
enum { LEAP = 64 }; /* units from lane to lane that take two bytes in a list */
struct spread {
    uint64_t low, high, odd; /* odd: bits below units of 4 bytes in which they differ */
    bool leaps;              /* some lane is far from the one before: in a list it takes two bytes */
};

FOR_EACH_HOST static struct spread spread_full(const uint64_t at[], uint32_t width)
{
    uint64_t low = at[0], high = at[0], odd = 0, far = 0, farther = 0;
    for (uint32_t i = 1; i < width; i++) {
        low = at[i] < low ? at[i] : low;
        high = at[i] > high ? at[i] : high;
        odd |= at[i] ^ at[0];
        far |= at[i] - at[i - 1] + LEAP > 2 * LEAP - 1;
        farther |= at[i] - at[i - 1] + 4 * LEAP > 8 * LEAP - 1;
    }
    return (struct spread){low, high, odd & 3, odd & 3 ? far : farther};
}

static struct spread spread_of(const uint64_t at[], lane_mask lanes)
{
    if (lanes == UINT32_MAX || lanes == UINT64_MAX)
        return spread_full(at, lanes == UINT32_MAX ? 32 : 64);
    uint32_t before = first_lane(lanes);
    struct spread s = {.low = at[before], .high = at[before]};
    bool far = false, farther = false;
    EACH_LANE (i, lanes) {
        s.low = min_u64(s.low, at[i]);
        s.high = max_u64(s.high, at[i]);
        s.odd |= (at[i] ^ at[before]) & 3;
        far |= at[i] - at[before] + LEAP > 2 * LEAP - 1;
        farther |= at[i] - at[before] + 4 * LEAP > 8 * LEAP - 1;
        before = i;
    }
    s.leaps = s.odd ? far : farther;
    return s;
}

static uint8_t *write_grid(uint8_t *at, const struct address_grid *grid)
{
    *at++ = grid->shift;
    return blob_write_signed(blob_write_signed(at, grid->stride), grid->row);
}

/* Addresses in no grid. Those in a table are told from the last base on, if they are behind it and near; else
 * from their lowest one. */
static uint32_t form_of_none(struct lanes_at *of, const struct access_context *context)
{
    struct spread s = spread_of(of->at, of->lanes);
    uint32_t scaled = s.odd ? 0 : ADDRESSES_SCALED, shift = scaled ? 2 : 0;
    if (!s.leaps || (s.high - s.low) >> shift > UINT8_MAX)
        return ADDRESSES_LIST | scaled;
    bool from_last = context->seen && s.low >= context->base &&
                     (s.high - context->base) >> shift <= UINT8_MAX &&
                     !((s.low - context->base) & ((1u << shift) - 1));
    of->base = from_last ? context->base : s.low;
    return ADDRESSES_TABLE | scaled;
}

static bool shared_fits(const struct lanes_at *of, const struct address_grid *grid)
{
    return of->lanes >> 32 ? shared_fits_64(of->shared_at, of->lanes, grid)
                           : shared_fits_32(of->shared_at, (uint32_t)of->lanes, grid);
}

/* How addresses are told; the grid becomes theirs, if they have one. */
static uint32_t form_of(struct lanes_at *of, struct access_context *context)
{
    struct address_grid *grid = &context->grid;
    struct address_grid found;
    if (of->layout) {
        int32_t stride = of->layout == LAYOUT_SAME ? 0 : (int32_t)of->bytes;
        if (LIKELY(is_stride(grid, of->lanes, stride)))
            return 0;
        *grid = (struct address_grid){.stride = stride, .shift = 6};
        return ADDRESSES_GRID;
    }
    if (LIKELY(of->shared_at ? shared_fits(of, grid) : fits(of->at, of->lanes, grid)))
        return 0;
    if (of->shared_at)
        for (uint32_t i = 0; i < ISA_LANES; i++)
            of->room[i] = of->shared_at[i];
    find_grid(of->at, of->lanes, &found);
    if (!fits(of->at, of->lanes, &found))
        return form_of_none(of, context);
    *grid = found;
    return ADDRESSES_GRID;
}

static void put_addresses(struct istream_writer *w, struct access_context *context, struct lanes_at *of,
                          lane_mask mask)
{
    enum { HEAD_MOST = 2 + 4 * BLOB_VARINT_MOST };
    struct blob *data = &w->data;
    uint32_t form = form_of(of, context);
    bool in_table = form & ADDRESSES_TABLE, seen = context->seen;
    uint64_t base = of->base;
    int64_t missed = (int64_t)(base - context->base - (in_table ? 0 : (uint64_t)(int64_t)context->delta));
    form |= of->lanes != mask ? ADDRESSES_LANES : 0;
    form |= seen && missed ? ADDRESSES_MISSED : 0;
    uint8_t *to = blob_room(data, HEAD_MOST);
    *to++ = (uint8_t)form;
    if (UNLIKELY(form & ADDRESSES_LANES))
        to = blob_write_varint(to, of->lanes);
    if (UNLIKELY(form & ADDRESSES_GRID))
        to = write_grid(to, &context->grid);
    if (form & ADDRESSES_MISSED)
        to = blob_write_signed(to, missed);
    data->count = (size_t)(to - data->at);
    if (UNLIKELY(!seen))
        blob_put_all(&w->firsts, &base, sizeof base);
    context->delta = seen && !in_table ? istream_delta(base, context->base) : 0;
    context->base = base;
    context->seen = true;
    if (form & ADDRESSES_LIST)
        put_list(data, of->at, of->lanes, form & ADDRESSES_SCALED);
    else if (in_table)
        put_table(w, of->at, of->lanes, base, form & ADDRESSES_SCALED);
}

/* A set that is not of global memory; the context predicts the first of an instruction. */
static void put_set(struct istream_writer *w, struct access_context *context, bool *predicted,
                    struct lanes_at *of, lane_mask mask)
{
    struct access_context none = {.seen = true};
    put_addresses(w, *predicted ? &none : context, of, mask);
    *predicted = true;
}

static struct lanes_at lanes_at(const uint64_t at[], lane_mask lanes)
{
    return (struct lanes_at){.at = at, .lanes = lanes, .base = at[first_lane(lanes)]};
}

static void put_shared(struct istream_writer *w, struct access_context *context, bool *predicted,
                       const struct request *request, lane_mask mask)
{
    uint64_t at[ISA_LANES];
    struct lanes_at of = {.at = at,
                          .room = at,
                          .shared_at = request->shared_at,
                          .lanes = request->shared,
                          .base = request->shared_at[first_lane(request->shared)],
                          .layout = request->shared_layout,
                          .bytes = request->shared_bytes};
    put_set(w, context, predicted, &of, mask);
}

/* ---- accesses ---- */

static bool operands_differ(const struct request *request)
{
    uint32_t first = first_lane(request->of.lanes);
    EACH_LANE (i, request->of.lanes)
        if (request->operand[i] != request->operand[first])
            return true;
    return false;
}

static void shape_of(const struct request *request, struct access_shape *shape)
{
    const struct delivery *of = &request->of;
    *shape = (struct access_shape){.kind = of->kind};
    if (LIKELY(of->kind == REQUEST_NONE && !request->local && !request->param)) {
        shape->sets = request->shared ? SET_SHARED : 0;
        shape->shared_bytes = request->shared ? request->shared_bytes : 0;
        shape->flags = request->shared && request->shared_atomic ? ACCESS_SHARED_ATOMIC : 0;
        return;
    }
    if (request->shared) {
        shape->sets |= SET_SHARED;
        shape->shared_bytes = request->shared_bytes;
        shape->flags |= request->shared_atomic ? ACCESS_SHARED_ATOMIC : 0;
    }
    if (request->local) {
        shape->sets |= SET_LOCAL;
        shape->local_bytes = request->local_bytes;
        shape->flags |= request->local_writes ? ACCESS_LOCAL_WRITES : 0;
    }
    shape->sets |= request->param ? SET_PARAM : 0;
    if (of->kind == REQUEST_NONE)
        return;
    shape->sets |= of->kind == REQUEST_PIECES ? SET_PIECES : of->lanes ? SET_GLOBAL : 0;
    shape->bytes = of->kind == REQUEST_SIGNAL ? 8 : of->bytes; /* a barrier has as many */
    shape->flags |= (of->keep ? ACCESS_KEEP : 0) | (of->acquires ? ACCESS_ACQUIRES : 0) |
                    (of->is_async ? ACCESS_ASYNC : 0) | (of->barrier ? ACCESS_BARRIER : 0) |
                    (request->writes ? ACCESS_WRITES : 0);
    if (of->kind != REQUEST_ATOMIC)
        return;
    shape->operation = of->operation;
    shape->flags |= of->returns ? ACCESS_RETURNS : 0;
    shape->sets |= of->returns && operands_differ(request) ? SET_OPERANDS_DIFFER : 0;
}

/* Any bytes: from where to where each piece is, as distances from the end of the one before. */
static void put_pieces(struct istream_writer *w, struct access_context *context,
                       const struct request *request)
{
    struct blob *data = &w->data;
    uint64_t next = context->base;
    blob_put_varint(data, request->of.lanes);
    blob_put_varint(data, request->of.stage_bytes);
    blob_put_varint(data, request->piece_count);
    for (size_t i = 0; i < request->piece_count; i++) {
        const struct piece *piece = &request->pieces[i];
        if (!i && !context->seen)
            blob_put_all(&w->firsts, &piece->at, sizeof piece->at);
        else
            blob_put_signed(data, (int64_t)(piece->at - next));
        context->base = i ? context->base : piece->at;
        context->seen = true;
        blob_put_varint(data, piece->bytes);
        next = piece->at + piece->bytes;
    }
}

/* What the request has to do with other blocks of the cluster. */
static void put_far(struct istream_writer *w, const struct request *request)
{
    struct blob *data = &w->data;
    const struct delivery *of = &request->of;
    uint64_t next = 0;
    uint32_t flags = (request->cluster ? FAR_LANES : 0) | (request->signals ? FAR_SIGNALS : 0) |
                     (request->forgets ? FAR_FORGETS : 0) | (of->targets ? FAR_TARGETS : 0) |
                     (of->reduces ? FAR_REDUCES : 0);
    blob_put(data, (uint8_t)flags);
    if (flags & FAR_LANES)
        blob_put_varint(data, request->cluster);
    if (flags & FAR_SIGNALS)
        EACH_LANE (i, request->cluster)
            blob_put_varint(data, request->compare[i]);
    if (flags & FAR_REDUCES)
        blob_put(data, of->operation);
    if (!(flags & FAR_TARGETS))
        return;
    blob_put_varint(data, of->targets);
    blob_put_varint(data, of->barrier_at);
    for (size_t i = 0; i < request->piece_count; i++) {
        blob_put_signed(data, (int64_t)(request->pieces[i].stage_at - next));
        next = request->pieces[i].stage_at + request->pieces[i].bytes;
    }
}

static void put_access(struct istream_writer *w, struct access_context *context, lane_mask mask,
                       const struct request *request)
{
    struct access_shape shape;
    shape_of(request, &shape);
    bool same = !memcmp(&shape, &context->shape, sizeof shape);
    blob_put(&w->data, same);
    if (!same) {
        blob_put_all(&w->data, &shape, sizeof shape);
        context->shape = shape;
    }
    bool predicted = shape.sets & (SET_PIECES | SET_GLOBAL);
    if (shape.sets & SET_PIECES)
        put_pieces(w, context, request);
    else if (shape.sets & SET_GLOBAL) {
        struct lanes_at of = lanes_at(request->of.at, request->of.lanes);
        of.layout = request->of.layout;
        of.bytes = request->of.bytes;
        put_addresses(w, context, &of, mask);
    }
    if (shape.sets & SET_SHARED)
        put_shared(w, context, &predicted, request, mask);
    if (shape.sets & SET_LOCAL) {
        struct lanes_at of = lanes_at(request->local_at, request->local);
        put_set(w, context, &predicted, &of, mask);
    }
    if (shape.sets & SET_PARAM) {
        struct lanes_at of = lanes_at(request->param_at, request->param);
        put_set(w, context, &predicted, &of, mask);
    }
    if (UNLIKELY(w->has_clusters) && shape.sets)
        put_far(w, request);
}

static struct access_context *context_of(struct istream_writer *w, uint32_t number, uint32_t count)
{
    if (UNLIKELY(number >= w->context_count)) {
        w->contexts = mem_resize(w->contexts, w->context_count, count, sizeof *w->contexts);
        w->context_count = count;
    }
    return &w->contexts[number];
}

/* ---- instructions ---- */

static void put_guard(struct blob *data, lane_mask mask, lane_mask active)
{
    blob_put(data, mask == active ? 0 : mask ? 2 : 1);
    if (mask && mask != active)
        blob_put_varint(data, mask);
}

/* The next instruction belongs to the run, which begins with it if there is none. */
static inline void go_on(struct istream_writer *w, const struct istream_code *code, uint32_t instruction,
                         lane_mask active)
{
    if (w->count && (w->code != code || instruction != w->first + w->count || active != w->active))
        end_run(w, NULL, NULL);
    if (!w->count)
        begin_run(w, code, instruction, active);
}

void istream_put_plain(struct istream_writer *w, const struct istream_code *code, uint32_t instruction,
                       uint32_t count, lane_mask active)
{
    go_on(w, code, instruction, active);
    w->count += count;
}

void istream_put(struct istream_writer *w, const struct istream_code *code, uint32_t context_count,
                 uint32_t instruction, lane_mask active, const struct isa_stepped *stepped,
                 const struct istream_step *step, const struct request *request)
{
    const struct isa_timing *row = &code->code->timing[instruction];
    go_on(w, code, instruction, active);
    w->count++;
    bool ends = stepped->moved || step->arrives || step->exits || stepped->sleep_ns ||
                (stepped->mask != active && !row->guards);
    if (row->guards && !ends)
        put_guard(&w->data, stepped->mask, active);
    if (!row->plain)
        put_access(w, context_of(w, code->context[instruction], context_count), stepped->mask, request);
    if (ends)
        end_run(w, stepped, step);
    if (step->arrives && step->waits)
        w->waiting[step->barrier] |= step->waiting, w->waits = true;
    if (UNLIKELY(step->waiting_for_cluster))
        w->waiting[ISTREAM_CLUSTER] |= step->waiting_for_cluster, w->waits = true;
}

void istream_writer_reset(struct istream_writer *w)
{
    struct istream_writer kept = {.contexts = w->contexts,
                                  .context_count = w->context_count,
                                  .has_clusters = w->has_clusters,
                                  .runs = {w->runs.at, 0, w->runs.capacity},
                                  .data = {w->data.at, 0, w->data.capacity},
                                  .firsts = {w->firsts.at, 0, w->firsts.capacity}};
    if (kept.context_count)
        memset(kept.contexts, 0, kept.context_count * sizeof *kept.contexts);
    *w = kept;
}

void istream_writer_fini(struct istream_writer *w)
{
    blob_fini(&w->runs);
    blob_fini(&w->data);
    blob_fini(&w->firsts);
    mem_free(w->contexts);
}
