/* Streams of bytes become the instructions of a warp again (istream.h). Whatever the bytes are, nothing
 * beyond them is read, and what comes of them can be simulated: lanes that exist, instructions of the code.
 */
#include "itrace/istream.h"
#include "exec/atomics.h"

static const struct istream_code *find_code(const struct istream_codes *codes, uint64_t code_at)
{
    for (uint32_t i = 0; i < codes->count; i++)
        if (codes->at[i].code->code_at == code_at)
            return &codes->at[i];
    return NULL;
}

static void read_events(struct istream_reader *reader, struct istream_run *run)
{
    struct scan *runs = &reader->runs;
    run->events = (uint32_t)scan_varint(runs);
    run->opened = run->events & EVENT_OPENED ? (uint32_t)scan_varint(runs) : 0;
    if (run->events & EVENT_ARRIVES) {
        run->barrier =
            (uint32_t)scan_varint(runs) % (reader->has_clusters ? ISTREAM_BARRIERS : ISTREAM_GROUPS);
        run->threads = (uint32_t)scan_varint(runs);
        run->expected = (uint32_t)scan_varint(runs);
    }
    run->exits = run->events & EVENT_EXITS ? (uint32_t)scan_varint(runs) : 0;
    run->sleep_ns = run->events & EVENT_SLEEPS ? (uint32_t)scan_varint(runs) : 0;
}

bool istream_next_run(struct istream_reader *reader, const struct istream_codes *codes)
{
    struct scan *runs = &reader->runs;
    struct istream_run *run = &reader->run;
    if (runs->at == runs->end)
        return false;
    uint32_t flags = scan_byte(runs);
    run->first = (uint32_t)((int64_t)run->first + run->count + scan_signed(runs));
    run->count = (uint32_t)scan_varint(runs);
    if (flags & RUN_ACTIVE)
        run->active = scan_varint(runs);
    if (flags & RUN_CODE)
        run->code = find_code(codes, scan_varint(runs));
    run->has_mask = flags & (RUN_MASK | RUN_MASK_NONE);
    run->mask = flags & RUN_MASK ? scan_varint(runs) : flags & RUN_MASK_NONE ? 0 : run->active;
    run->moved = flags & RUN_MOVED;
    run->branched = flags & RUN_BRANCHED;
    run->diverged = flags & RUN_DIVERGED;
    run->events = run->opened = run->exits = run->sleep_ns = 0;
    if (flags & RUN_EVENTS)
        read_events(reader, run);
    if (!run->code || !run->count || run->first >= run->code->code->count ||
        run->count > run->code->code->count - run->first)
        runs->bad = true;
    return !runs->bad;
}

lane_mask istream_guard(struct istream_reader *reader, lane_mask active)
{
    switch (scan_byte(&reader->data)) {
    case 0:
        return active;
    case 1:
        return 0;
    default:
        return scan_varint(&reader->data);
    }
}

/* ---- addresses ---- */

static uint64_t next_first(struct istream_reader *reader)
{
    if (reader->firsts == reader->firsts_end) {
        reader->data.bad = true;
        return 0;
    }
    return *reader->firsts++;
}

static void read_list(struct scan *data, uint64_t at[], lane_mask lanes, uint64_t base, bool scaled)
{
    EACH_LANE (i, lanes & (lanes - 1)) {
        int64_t distance = scan_signed(data);
        base += (uint64_t)distance * (scaled ? 4 : 1);
        at[i] = base;
    }
}

static void read_table(struct scan *data, uint64_t at[], lane_mask lanes, uint64_t base, bool scaled)
{
    const uint8_t *told = scan_take(data, isa_count_lanes(lanes));
    uint32_t shift = scaled ? 2 : 0;
    EACH_LANE (i, lanes)
        at[i] = base + (told ? (uint64_t)*told++ << shift : 0);
}

FOR_EACH_HOST static void fill_full(uint64_t at[], uint32_t width, uint64_t base,
                                    const struct address_grid *grid)
{
    uint64_t stride = (uint64_t)(int64_t)grid->stride, row = (uint64_t)(int64_t)grid->row;
    uint32_t shift = grid->shift, mask = (1u << shift) - 1;
    for (uint32_t i = 0; i < width; i++)
        at[i] = base + stride * (i & mask) + row * (i >> shift);
}

static void fill_grid(uint64_t at[], lane_mask lanes, uint64_t base, const struct address_grid *grid)
{
    if (LIKELY(lanes == UINT32_MAX || lanes == UINT64_MAX)) {
        fill_full(at, lanes == UINT32_MAX ? 32 : 64, base, grid);
        return;
    }
    base -= address_grid_offset(grid, first_lane(lanes));
    EACH_LANE (i, lanes)
        at[i] = base + address_grid_offset(grid, i);
}

static void read_grid(struct scan *data, struct address_grid *grid)
{
    grid->shift = scan_byte(data) & 7;
    grid->stride = (int32_t)scan_signed(data);
    grid->row = (int32_t)scan_signed(data);
}

/* Gives the lanes, of those that a warp of so many has. */
static lane_mask read_addresses(struct istream_reader *reader, struct access_context *context, uint64_t at[],
                                lane_mask mask, uint32_t width)
{
    struct scan *data = &reader->data;
    uint32_t form = scan_byte(data);
    lane_mask lanes = form & ADDRESSES_LANES ? scan_varint(data) : mask;
    lanes &= UINT64_MAX >> (ISA_LANES - width);
    if (form & ADDRESSES_GRID)
        read_grid(data, &context->grid);
    if (!lanes) {
        data->bad = true;
        return 0;
    }
    bool in_table = form & ADDRESSES_TABLE;
    uint64_t expected = context->base + (in_table ? 0 : (uint64_t)(int64_t)context->delta);
    uint64_t base = context->seen ? expected : next_first(reader);
    if (form & ADDRESSES_MISSED)
        base += (uint64_t)scan_signed(data);
    context->delta = context->seen && !in_table ? istream_delta(base, context->base) : 0;
    context->base = base;
    context->seen = true;
    at[first_lane(lanes)] = base;
    if (form & ADDRESSES_LIST)
        read_list(data, at, lanes, base, form & ADDRESSES_SCALED);
    else if (in_table)
        read_table(data, at, lanes, base, form & ADDRESSES_SCALED);
    else
        fill_grid(at, lanes, base, &context->grid);
    return lanes;
}

/* A set that is not of global memory; the context predicts the first of an instruction. */
static lane_mask read_set(struct istream_reader *reader, struct access_context *context, bool *predicted,
                          uint64_t at[], lane_mask mask, uint32_t width)
{
    struct access_context none = {.seen = true};
    lane_mask lanes = read_addresses(reader, *predicted ? &none : context, at, mask, width);
    *predicted = true;
    return lanes;
}

/* ---- accesses ---- */

/* What an L1 cache takes of a lane or piece at most; a damaged trace may say more. */
enum { PIECE_MOST = 1 << 20, PIECES_MOST = 1 << 16 };

static bool is_bulk_load(const struct request *request)
{
    return request->of.is_async && (request->of.barrier || request->of.targets) && !request->writes;
}

static void read_pieces(struct istream_reader *reader, struct access_context *context,
                        struct request *request)
{
    struct scan *data = &reader->data;
    request->of.lanes = scan_varint(data) & UINT64_MAX >> (ISA_LANES - request->of.width);
    uint64_t next = context->base, stage_bytes = scan_varint(data), count = scan_varint(data);
    if (count > PIECES_MOST || stage_bytes > PIECE_MOST) {
        data->bad = true;
        return;
    }
    for (uint64_t i = 0; i < count; i++) {
        mem_grow(request->pieces, request->piece_count, request->piece_capacity);
        struct piece *piece = &request->pieces[request->piece_count++];
        uint64_t at = !i && !context->seen ? next_first(reader) : next + (uint64_t)scan_signed(data);
        context->base = i ? context->base : at;
        context->seen = true;
        *piece = (struct piece){.at = at, .bytes = (uint32_t)scan_varint(data)};
        data->bad |= piece->bytes > PIECE_MOST || (at < PIECE_AT_MOST && !reader->has_clusters);
        if (data->bad)
            piece->bytes = 0;
        next = at + piece->bytes;
        stage_bytes = max_u64(stage_bytes, piece->bytes);
    }
    /* No data is of use; all pieces come from, or go to, the beginning of the stage. */
    if (request->stage_capacity < stage_bytes) {
        request->stage = mem_resize(request->stage, request->stage_capacity, stage_bytes, 1);
        request->stage_capacity = stage_bytes;
    }
    for (size_t i = 0; i < request->piece_count && request->writes; i++)
        request->pieces[i].host = (char *)request->stage;
    request->of.stage_bytes =
        is_bulk_load(request) ? 0 : stage_bytes; /* it has its places in shared memory */
}

static uint8_t own_operation(const struct istream_reader *reader, const struct access_shape *shape)
{
    bool is_atomic = shape->kind == REQUEST_ATOMIC;
    return is_atomic && reader->operations ? reader->operations[shape->operation] : shape->operation;
}

/* Nothing that the memory pipeline could not take. */
static bool shape_is_good(const struct access_shape *shape, uint32_t operation, bool has_clusters)
{
    enum { LOCAL_BYTES = 32 };
    bool has_lanes = shape->sets & SET_GLOBAL, has_pieces = shape->sets & SET_PIECES;
    if (shape->kind > (has_clusters ? REQUEST_SIGNAL : REQUEST_PIECES) || operation >= atomic_row_count)
        return false;
    if ((shape->kind == REQUEST_PIECES) != has_pieces ||
        (shape->kind != REQUEST_NONE && !has_pieces) != has_lanes)
        return false;
    if (shape->kind == REQUEST_ATOMIC && atomic_rows[operation].bytes == ATOMIC_WIDE_BYTES &&
        shape->bytes != ATOMIC_WIDE_BYTES)
        return false;
    return shape->local_bytes <= LOCAL_BYTES && (!has_lanes || shape->bytes) &&
           (!(shape->sets & SET_LOCAL) || shape->local_bytes) &&
           (!(shape->sets & SET_SHARED) || shape->shared_bytes);
}

static void take_shape(const struct access_shape *shape, struct request *request)
{
    struct delivery *of = &request->of;
    static char barrier; /* that counts bytes: it is only known to be there */
    of->kind = shape->kind;
    of->bytes = shape->bytes;
    of->keep = shape->flags & ACCESS_KEEP;
    of->acquires = shape->flags & ACCESS_ACQUIRES;
    of->returns = shape->flags & ACCESS_RETURNS;
    of->is_async = shape->flags & ACCESS_ASYNC;
    of->barrier = shape->flags & ACCESS_BARRIER ? &barrier : NULL;
    of->operation = shape->operation;
    request->writes = shape->flags & ACCESS_WRITES;
    request->shared_bytes = shape->shared_bytes;
    request->local_bytes = shape->local_bytes;
    request->shared_atomic = shape->flags & ACCESS_SHARED_ATOMIC;
    request->local_writes = shape->flags & ACCESS_LOCAL_WRITES;
}

/* Where the pieces of a copy go in the shared memory of other blocks. Bytes that are nowhere in memory are of
 * one line. */
static bool read_targets(struct scan *data, struct request *request)
{
    uint64_t next = 0;
    request->of.targets = scan_varint(data);
    request->of.barrier_at = (uint32_t)scan_varint(data);
    for (size_t i = 0; i < request->piece_count; i++) {
        struct piece *piece = &request->pieces[i];
        piece->stage_at = next + (uint64_t)scan_signed(data);
        next = piece->stage_at + piece->bytes;
        if (piece->at == PIECE_IS_HERE ? !request->writes : piece->at < PIECE_AT_MOST && !piece->at)
            return false;
    }
    if (is_bulk_load(request))
        request->of.stage_bytes = 0;
    return request->of.targets && request->of.kind == REQUEST_PIECES && request->of.is_async;
}

/* Copies in bulk are made line by line. */
static bool pieces_are_of_lines(const struct request *request)
{
    enum { LINE = 128 };
    for (size_t i = 0; i < request->piece_count; i++) {
        const struct piece *piece = &request->pieces[i];
        bool is_memory = piece->at >= PIECE_AT_MOST;
        if (piece->bytes > LINE || (is_memory && piece->at % LINE + piece->bytes > LINE) ||
            (!is_memory && !request->of.targets))
            return false;
    }
    return true;
}

static bool read_far(struct istream_reader *reader, struct request *request)
{
    struct scan *data = &reader->data;
    uint32_t flags = scan_byte(data);
    request->cluster = flags & FAR_LANES ? scan_varint(data) : 0;
    request->signals = flags & FAR_SIGNALS;
    request->forgets = flags & FAR_FORGETS;
    EACH_LANE (i, request->signals ? request->cluster & request->of.lanes : 0)
        request->compare[i] = scan_varint(data);
    if (flags & FAR_REDUCES) {
        uint32_t told = scan_byte(data), own = reader->operations ? reader->operations[told] : told;
        request->of.reduces = true;
        request->of.operation = (uint8_t)own;
        if (own >= atomic_row_count || atomic_rows[own].bytes != request->of.bytes)
            return false;
    }
    if (flags & FAR_TARGETS && !read_targets(data, request))
        return false;
    bool is_bulk = is_bulk_load(request) || (request->of.is_async && request->writes);
    return !(request->cluster & ~request->of.lanes) &&
           (request->of.kind != REQUEST_PIECES ? !request->of.reduces
                                               : !is_bulk || pieces_are_of_lines(request));
}

static void set_operands(struct request *request, bool differ)
{
    EACH_LANE (i, request->of.lanes) {
        request->operand[i] = differ ? i : 0;
        request->compare[i] = request->operand_upper[i] = request->compare_upper[i] = 0;
    }
}

static bool are_aligned(const struct request *request)
{
    uint64_t any = 0;
    EACH_LANE (i, request->of.lanes)
        any |= request->of.at[i];
    return any % ATOMIC_WIDE_BYTES == 0;
}

void istream_access(struct istream_reader *reader, uint32_t number, lane_mask mask, struct request *request)
{
    struct scan *data = &reader->data;
    struct access_context *context = &reader->contexts[number];
    struct access_shape *shape = &context->shape;
    if (scan_byte(data) != 1) {
        const uint8_t *told = scan_take(data, sizeof *shape);
        if (told)
            memcpy(shape, told, sizeof *shape);
        uint8_t operation = own_operation(reader, shape);
        if (shape_is_good(shape, operation, reader->has_clusters)) {
            shape->operation = operation;
        } else {
            data->bad = true;
            *shape = (struct access_shape){0};
        }
    }
    uint32_t width = request->of.width;
    if (!shape->sets)
        return;
    take_shape(shape, request);
    bool predicted = shape->sets & (SET_PIECES | SET_GLOBAL);
    if (shape->sets & SET_PIECES)
        read_pieces(reader, context, request);
    else if (shape->sets & SET_GLOBAL)
        request->of.lanes = read_addresses(reader, context, request->of.at, mask, width);
    if (shape->kind == REQUEST_ATOMIC && atomic_rows[shape->operation].bytes == ATOMIC_WIDE_BYTES &&
        !are_aligned(request)) {
        data->bad = true;
        request_clear(request); /* the host cannot do it there */
        return;
    }
    if (shape->kind == REQUEST_ATOMIC)
        set_operands(request, shape->sets & SET_OPERANDS_DIFFER);
    if (shape->sets & SET_SHARED) {
        uint64_t shared_at[ISA_LANES];
        request->shared = read_set(reader, context, &predicted, shared_at, mask, width);
        EACH_LANE (i, request->shared)
            request->shared_at[i] = (uint32_t)shared_at[i];
    }
    if (shape->sets & SET_LOCAL)
        request->local = read_set(reader, context, &predicted, request->local_at, mask, width);
    if (shape->sets & SET_PARAM)
        request->param = read_set(reader, context, &predicted, request->param_at, mask, width);
    if (UNLIKELY(reader->has_clusters) && !read_far(reader, request)) {
        data->bad = true;
        request_clear(request); /* it may be carried out before that is seen */
    }
}
