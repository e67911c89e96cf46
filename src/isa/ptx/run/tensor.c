/* Tensor copies (cp.async.bulk.tensor and its relatives): between a tensor in global memory, as a tensor map
 * describes it, and boxes of it in shared memory. A box is copied row by row: a row is what lies side by side
 * in both, a run of the first dimension. */
#include "ptx_run/async.h"
#include "base/bits.h"
#include "exec/cga.h"
#include "exec/tensormap.h"

#include <string.h>

/* ---- which elements ---- */

/* Elements of global memory and of the box, the next row of which is asked for with next_row. Of an
 * interleaved tensor they are slices of 16 or 32 bytes, and a box has one of the slices that its last
 * dimension but one counts. */
struct walk {
    const struct tensormap *map;
    uint32_t bytes;               /* of an element */
    int64_t from[TENSORMAP_DIMS]; /* coordinates that the copy is given */
    uint32_t counts[TENSORMAP_DIMS];
    uint32_t at[TENSORMAP_DIMS];   /* tile: of the row in the box */
    int64_t pixel[TENSORMAP_DIMS]; /* im2col: of the row; and what is added to it */
    int64_t offsets[3];
    uint64_t row, rows; /* so many were given, there are */
};

/* A row: elements from first on and to before end are in the tensor, the others outside of it. */
struct row {
    uint64_t global; /* address of element 0, were it there */
    uint64_t box;    /* offset in bytes */
    uint32_t first, end;
};

static void begin_walk(struct walk *walk)
{
    const struct tensormap *map = walk->map;
    walk->rows = 1;
    walk->bytes = map->interleave ? UINT32_C(8) << map->interleave : tensormap_type_bytes(map->type);
    walk->counts[0] = map->box[0];
    for (uint32_t i = 1; i < map->rank && !map->is_im2col; i++) {
        bool is_slice = map->interleave && i == map->rank - 2;
        walk->counts[i] = is_slice ? 1 : (map->box[i] + map->step[i] - 1) / map->step[i];
        walk->rows *= walk->counts[i];
    }
    if (map->is_im2col)
        walk->rows = map->pixels;
    memcpy(walk->pixel, walk->from, sizeof walk->pixel);
}

static void step_tile(struct walk *walk)
{
    for (uint32_t i = 1; i < walk->map->rank && ++walk->at[i] == walk->counts[i]; i++)
        walk->at[i] = 0;
}

/* Pixels are those of a box between two corners, line by line, and of one image after another. */
static void step_im2col(struct walk *walk)
{
    const struct tensormap *map = walk->map;
    uint32_t i = 1;
    for (; i + 1 < map->rank; i++) {
        walk->pixel[i] += map->step[i];
        if (walk->pixel[i] < (int64_t)map->dim[i] + map->upper[i - 1])
            return;
        walk->pixel[i] = map->lower[i - 1];
    }
    walk->pixel[i] += map->step[i];
}

/* Where the row is in dimension i, of 1 and more. */
static int64_t place_of(const struct walk *walk, uint32_t i)
{
    const struct tensormap *map = walk->map;
    if (!map->is_im2col)
        return walk->from[i] + (int64_t)walk->at[i] * map->step[i];
    return walk->pixel[i] + (i + 1 < map->rank ? walk->offsets[i - 1] : 0);
}

static bool next_row(struct walk *walk, struct row *row)
{
    const struct tensormap *map = walk->map;
    int64_t bytes = walk->bytes, count = walk->counts[0], left;
    if (walk->row == walk->rows)
        return false;
    row->global = map->address + (uint64_t)(walk->from[0] * bytes);
    row->box = walk->row * (uint64_t)(count * bytes);
    row->first = (uint32_t)min_u64(walk->from[0] < 0 ? (uint64_t)-walk->from[0] : 0, (uint64_t)count);
    left = (int64_t)map->dim[0] - walk->from[0];
    row->end = (uint32_t)(left < 0 ? 0 : min_u64((uint64_t)left, (uint64_t)count));
    for (uint32_t i = 1; i < map->rank; i++) {
        int64_t place = place_of(walk, i);
        row->global += (uint64_t)place * map->stride[i];
        if (place < 0 || (uint64_t)place >= map->dim[i])
            row->end = 0;
    }
    row->end = row->end < row->first ? row->first : row->end;
    walk->row++;
    if (map->is_im2col)
        step_im2col(walk);
    else
        step_tile(walk);
    return true;
}

/* Pieces of 16 bytes of shared memory change places in each so many bytes: bits of the address. */
static uint64_t swizzled(const struct tensormap *map, uint64_t at)
{
    uint64_t mask = (UINT64_C(1) << map->swizzle) - 1;
    return at ^ ((at >> 7 & mask) << 4);
}

/* ---- what is outside, and values that change on their way ---- */

static void fill(const struct tensormap *map, char *to, uint64_t bytes)
{
    static const uint16_t half_nan = 0x7fff;
    static const uint32_t nan = 0x7fffffff;
    static const uint64_t long_nan = UINT64_C(0x7fffffffffffffff);
    uint32_t size = tensormap_type_bytes(map->type);
    const void *value = size == 2 ? (const void *)&half_nan : size == 4 ? (const void *)&nan : &long_nan;
    memset(to, 0, bytes);
    for (uint64_t i = 0; map->fills_nan && i < bytes; i += size)
        memcpy(to + i, value, size);
}

static void load_bytes(const struct tensormap *map, char *to, const char *from, uint64_t bytes)
{
    memcpy(to, from, bytes);
    if (tensormap_rounds(map))
        tensormap_round(tensormap_rounds(map), to, bytes);
}

/* ---- instructions ---- */

enum tensor_kind { TENSOR_LOAD, TENSOR_STORE, TENSOR_REDUCE, TENSOR_PREFETCH };

struct tensor {
    enum tensor_kind kind;
    uint32_t dims;
    bool is_im2col;
    struct async_address map, shared, barrier;
    uint32_t coordinates[TENSORMAP_DIMS]; /* places */
    uint32_t offsets[3], offset_count;
    struct async_targets targets;
    const char *opcode;
};

/* The map is in global or constant memory, or a parameter of the kernel. */
static void read_map(struct warp *w, const struct op *op, uint32_t lane, uint64_t at, struct tensormap *map)
{
    const struct tensor *tensor = op->more;
    const struct grid *grid = w->isa.block->worker->grid;
    const char *bytes;
    if (at % 64)
        warp_fault(w, op, UINT32_C(1) << lane, FAULT_MISALIGNED, at,
                   "a tensor map at 0x%llx, which is not aligned to 64 bytes", (unsigned long long)at);
    if (access_space_at(at) == PTX_PARAM && at - WINDOW_PARAM + TENSORMAP_BYTES <= grid->param_bytes)
        bytes = grid->params + (at - WINDOW_PARAM);
    else
        bytes = access_bytes(w, op, lane, PTX_GLOBAL, at, TENSORMAP_BYTES, false);
    if (!tensormap_decode(map, (const unsigned char *)bytes) || map->rank != tensor->dims ||
        map->is_im2col != tensor->is_im2col)
        warp_fault(w, op, UINT32_C(1) << lane, FAULT_INSTRUCTION, at,
                   "0x%llx is not a tensor map of %u dimensions for this copy", (unsigned long long)at,
                   tensor->dims);
    if (map->interleave && (map->is_im2col || map->step[0] != 1))
        warp_fault(
            w, op, UINT32_C(1) << lane, FAULT_INSTRUCTION, at,
            "Heddle does not know im2col of interleaved tensors, nor strides of their first dimension");
}

static void begin_copy(struct warp *w, const struct op *op, uint32_t lane, const struct tensormap *map,
                       struct walk *walk)
{
    const struct tensor *tensor = op->more;
    *walk = (struct walk){.map = map};
    for (uint32_t i = 0; i < tensor->dims; i++)
        walk->from[i] = (int32_t)lane_get(warp_at(w, tensor->coordinates[i]), 4, lane);
    for (uint32_t i = 0; i < tensor->offset_count; i++)
        walk->offsets[i] = (uint16_t)lane_get(warp_at(w, tensor->offsets[i]), 2, lane);
    begin_walk(walk);
}

/* Some bytes of a row between global memory and where they are in the box, at one end of which `box` is. */
struct move {
    struct warp *w;
    const struct op *op;
    uint32_t lane;
    const struct tensormap *map;
    uint32_t element_bytes;
    char *box;          /* on the host; NULL: other blocks alone get it */
    uint64_t shared_at; /* its address */
    bool for_others;    /* blocks of the cluster, in a model that keeps time */
    const struct async_reduction *reduction;
    bool requests; /* a model that keeps time copies */
};

/* Where bytes of the box are in shared memory: from its beginning on. */
static uint64_t place_in_box(const struct move *move, uint64_t offset)
{
    return swizzled(move->map, move->shared_at + offset) - move->shared_at;
}

/* `far`: where they are on the host. */
static void move_bytes(const struct move *move, uint64_t global, char *far, uint64_t offset, uint64_t bytes)
{
    const struct tensor *tensor = move->op->more;
    uint64_t place = place_in_box(move, offset);
    char *near = move->box ? move->box + place : NULL;
    bool writes = tensor->kind != TENSOR_LOAD;
    if (move->requests)
        async_request(move->w, move->lane, global, near, (move->shared_at + place) & (WINDOW_BYTES - 1),
                      bytes, writes);
    else if (tensor->kind == TENSOR_LOAD)
        load_bytes(move->map, near, far, bytes);
    else if (tensor->kind == TENSOR_STORE)
        memcpy(far, near, bytes);
    else
        async_reduce(move->reduction, far, near, bytes, true);
}

static void fill_bytes(const struct move *move, uint64_t offset, uint64_t bytes)
{
    uint32_t size = tensormap_type_bytes(move->map->type);
    uint64_t place = place_in_box(move, offset);
    uint64_t what = !move->map->fills_nan ? PIECE_IS_ZERO
                    : size == 2           ? PIECE_IS_NAN16
                    : size == 4           ? PIECE_IS_NAN32
                                          : PIECE_IS_NAN64;
    if (move->box)
        fill(move->map, move->box + place, bytes);
    if (move->for_others)
        async_request(move->w, move->lane, what, NULL, (move->shared_at + place) & (WINDOW_BYTES - 1), bytes,
                      false);
}

/* A row in parts that lie side by side in shared memory, too: all of it, or 16 bytes. */
static void move_row(const struct move *move, const struct row *row)
{
    const struct tensor *tensor = move->op->more;
    uint64_t size = move->element_bytes, all = move->map->box[0] * size;
    uint64_t unit = move->map->swizzle ? 16 : all, first = row->first * size, end = row->end * size;
    char *far = first < end ? access_bytes(move->w, move->op, move->lane, PTX_GLOBAL, row->global + first,
                                           end - first, tensor->kind != TENSOR_LOAD)
                            : NULL;
    for (uint64_t at = 0, part; at < all; at += part) {
        part = min_u64(unit - at % unit, all - at);
        uint64_t from = max_u64(at, first), to = min_u64(at + part, end);
        if (tensor->kind == TENSOR_LOAD && (from > at || to < at + part))
            fill_bytes(move, row->box + at, part);
        if (from < to)
            move_bytes(move, row->global + from, far + (from - first), row->box + from, to - from);
    }
}

static uint64_t box_bytes(const struct walk *walk)
{
    return walk->rows * walk->counts[0] * walk->bytes;
}

/* Of shared memory that it may touch: a swizzle mixes all of a line. */
static uint64_t room_of(const struct walk *walk)
{
    uint64_t line = walk->map->swizzle ? 128 : 1;
    return (box_bytes(walk) + line - 1) / line * line;
}

static void copy_box(struct move *move, struct walk walk)
{
    for (struct row row; next_row(&walk, &row);)
        move_row(move, &row);
}

static void check_shared(struct warp *w, const struct op *op, uint32_t lane, uint64_t at)
{
    if (at % 128)
        warp_fault(w, op, UINT32_C(1) << lane, FAULT_MISALIGNED, at,
                   "a box of a tensor at 0x%llx of shared memory, which is not aligned to 128 bytes",
                   (unsigned long long)at);
}

static void load(struct move *move, const struct walk *walk, uint64_t shared)
{
    const struct tensor *tensor = move->op->more;
    struct warp *w = move->w;
    uint64_t bytes = box_bytes(walk), barrier = async_address(w, &tensor->barrier, move->lane);
    for (uint64_t ranks = async_ranks(w, &tensor->targets, move->lane, shared); ranks; ranks &= ranks - 1) {
        uint32_t rank = (uint32_t)__builtin_ctzll(ranks);
        uint32_t counts = tensor->targets.has_mask ? rank : (uint32_t)(barrier >> CLUSTER_SHARED_SHIFT);
        move->shared_at = async_address_of(shared, rank);
        move->box = access_bytes(w, move->op, move->lane, PTX_CLUSTER, move->shared_at, room_of(walk), true);
        copy_box(move, *walk);
        barrier = async_address_of(barrier, counts);
        mbarrier_signal(w, move->op, move->lane, barrier, bytes);
    }
}

/* The same in time: one read of memory for all blocks that get it. */
static void load_in_time(struct move *move, const struct walk *walk, uint64_t shared)
{
    const struct tensor *tensor = move->op->more;
    struct warp *w = move->w;
    uint64_t barrier = async_address(w, &tensor->barrier, move->lane);
    uint64_t own = w->isa.block->shared_from | (shared & (WINDOW_BYTES - 1));
    if (!tensor->targets.has_mask && (shared ^ barrier) >> CLUSTER_SHARED_SHIFT)
        warp_fault(w, move->op, UINT32_C(1) << move->lane, FAULT_INSTRUCTION, barrier,
                   "a copy whose barrier is in another block's shared memory than its bytes");
    struct async_ends ends = async_ends(w, move->op, move->lane, &tensor->targets, shared, room_of(walk));
    move->shared_at = own;
    move->for_others = ends.others != 0;
    if (ends.is_own)
        move->box = access_bytes(w, move->op, move->lane, PTX_CLUSTER, own, room_of(walk), true);
    copy_box(move, *walk);
    async_request_barrier(w, move->op, move->lane, ends, barrier, box_bytes(walk));
    w->isa.block->worker->request->of.rounds = (uint8_t)tensormap_rounds(move->map);
}

static void run_tensor(struct warp *w, const struct op *op, lanes active)
{
    const struct tensor *tensor = op->more;
    w->wait = WAIT_NOT;
    EACH_LANE (lane, active) {
        struct tensormap map;
        struct walk walk;
        struct async_reduction reduction;
        read_map(w, op, lane, async_address(w, &tensor->map, lane), &map);
        begin_copy(w, op, lane, &map, &walk);
        struct move move = {.w = w,
                            .op = op,
                            .lane = lane,
                            .map = &map,
                            .element_bytes = walk.bytes,
                            .reduction = &reduction,
                            .requests = w->isa.block->worker->clock != NULL};
        if (tensor->kind == TENSOR_PREFETCH)
            continue;
        uint64_t shared = async_address(w, &tensor->shared, lane);
        check_shared(w, op, lane, shared);
        if (tensor->kind == TENSOR_REDUCE &&
            !async_find_reduction(tensor->opcode, tensormap_type_name(map.type), &reduction))
            warp_fault(w, op, UINT32_C(1) << lane, FAULT_INSTRUCTION, 0,
                       "this reduction is not possible with elements of type %s",
                       tensormap_type_name(map.type));
        if (tensor->kind == TENSOR_LOAD) {
            (move.requests ? load_in_time : load)(&move, &walk, shared);
            continue;
        }
        move.shared_at = shared;
        move.box = access_bytes(w, op, lane, PTX_CLUSTER, shared, room_of(&walk), false);
        copy_box(&move, walk);
        if (move.requests && tensor->kind == TENSOR_REDUCE)
            async_request_reduction(w, &reduction);
    }
}

/* [map, {x, y}] */
static bool lower_map(struct lower *lower, const struct ptx_operand *operand, struct tensor *tensor)
{
    if (operand->kind != PTX_OP_MEMORY || operand->count != 2)
        return lower_fail(lower, "a tensor map and coordinates in brackets were expected") == LOWERED;
    const struct ptx_operand *vector = lower_element(lower, operand, 1);
    bool is_vector = vector->kind == PTX_OP_VECTOR;
    if ((is_vector ? vector->count : 1) != tensor->dims)
        return lower_fail(lower, "%u coordinates were expected", tensor->dims) == LOWERED;
    for (uint32_t i = 0; i < tensor->dims; i++)
        if (!lower_source(lower, is_vector ? lower_element(lower, vector, i) : vector, TYPE_u32,
                          &tensor->coordinates[i]))
            return false;
    return async_lower_address(lower, operand, PTX_GENERIC, &tensor->map);
}

static bool lower_offsets(struct lower *lower, const struct ptx_operand *operand, struct tensor *tensor)
{
    bool is_vector = operand->kind == PTX_OP_VECTOR;
    tensor->offset_count = tensor->dims - 2;
    if ((is_vector ? operand->count : 1) != tensor->offset_count)
        return lower_fail(lower, "%u offsets were expected", tensor->offset_count) == LOWERED;
    for (uint32_t i = 0; i < tensor->offset_count; i++)
        if (!lower_source(lower, is_vector ? lower_element(lower, operand, i) : operand, TYPE_u16,
                          &tensor->offsets[i]))
            return false;
    return true;
}

static bool find_dims(const char *opcode, uint32_t *dims)
{
    static const char *const names[] = {"1d", "2d", "3d", "4d", "5d"};
    for (*dims = 1; *dims <= TENSORMAP_DIMS; ++*dims)
        if (ptx_opcode_has(opcode, names[*dims - 1]))
            return true;
    return false;
}

enum lowered lower_tensor(struct lower *lower, struct op *op)
{
    const char *opcode = lower->inst->opcode;
    struct tensor *tensor = lower_own(lower, sizeof *tensor);
    bool is_load = ptx_opcode_has(opcode, "mbarrier::complete_tx::bytes");
    uint32_t i = 0;
    tensor->opcode = opcode;
    tensor->kind = ptx_is(lower->inst, "cp.reduce")                       ? TENSOR_REDUCE
                   : ptx_is(lower->inst, "cp.async.bulk.prefetch.tensor") ? TENSOR_PREFETCH
                   : is_load                                              ? TENSOR_LOAD
                                                                          : TENSOR_STORE;
    tensor->is_im2col = ptx_opcode_has(opcode, "im2col") || ptx_opcode_has(opcode, "im2col_no_offs");
    op->unit = UNIT_LSU;
    op->more = tensor;
    op->run.exec = run_tensor;
    op->flags |= OP_WAITS;
    if (!find_dims(opcode, &tensor->dims) || ptx_opcode_has(opcode, "tile::gather4") ||
        ptx_opcode_has(opcode, "tile::scatter4") || ptx_opcode_has(opcode, "im2col::w") ||
        ptx_opcode_has(opcode, "im2col::w::128"))
        return lower_fail(lower, "Heddle does not know this copy");
    if (is_load && !async_lower_address(lower, lower_operand(lower, i++), PTX_CLUSTER, &tensor->shared))
        return LOWER_FAILED;
    if (!lower_map(lower, lower_operand(lower, i++), tensor))
        return LOWER_FAILED;
    if (is_load && !async_lower_address(lower, lower_operand(lower, i++), PTX_CLUSTER, &tensor->barrier))
        return LOWER_FAILED;
    if (!is_load && tensor->kind != TENSOR_PREFETCH &&
        !async_lower_address(lower, lower_operand(lower, i++), PTX_CLUSTER, &tensor->shared))
        return LOWER_FAILED;
    if (ptx_opcode_has(opcode, "im2col") && !lower_offsets(lower, lower_operand(lower, i++), tensor))
        return LOWER_FAILED;
    tensor->targets.has_mask = ptx_opcode_has(opcode, "multicast::cluster");
    return !tensor->targets.has_mask ||
                   lower_source(lower, lower_operand(lower, i), TYPE_u16, &tensor->targets.mask)
               ? LOWERED
               : LOWER_FAILED;
}

/* ---- tensormap.replace, tensormap.cp_fenceproxy ---- */

struct replace {
    struct access access;
    enum tensormap_field field;
    uint32_t index, value, value_bytes; /* place of the value */
};

static void run_replace(struct warp *w, const struct op *op, lanes active)
{
    const struct replace *replace = op->more;
    EACH_LANE (lane, active) {
        uint64_t at = lane_get(warp_at(w, op->a), replace->access.address_bytes, lane) + (uint64_t)op->value;
        enum ptx_space space = replace->access.space;
        if (space == PTX_GENERIC && access_space_at(at) == PTX_SHARED)
            space = PTX_SHARED, at -= WINDOW_SHARED;
        else if (space == PTX_GENERIC)
            space = PTX_GLOBAL;
        if (at % TENSORMAP_BYTES)
            warp_fault(w, op, UINT32_C(1) << lane, FAULT_MISALIGNED, at,
                       "a tensor map at 0x%llx, which is not aligned to 128 bytes", (unsigned long long)at);
        tensormap_replace((unsigned char *)access_bytes(w, op, lane, space, at, TENSORMAP_BYTES, true),
                          replace->field, replace->index,
                          lane_get(warp_at(w, replace->value), replace->value_bytes, lane));
    }
}

/* Copies a map from shared to global memory, where copies find it from then on. */
static void run_copy_map(struct warp *w, const struct op *op, lanes active)
{
    const struct async_address *addresses = op->more;
    EACH_LANE (lane, active) {
        uint64_t to = async_address(w, &addresses[0], lane), from = async_address(w, &addresses[1], lane);
        char *source = access_bytes(w, op, lane, PTX_CLUSTER, from, TENSORMAP_BYTES, false);
        memcpy(access_bytes(w, op, lane, PTX_GLOBAL, to, TENSORMAP_BYTES, true), source, TENSORMAP_BYTES);
    }
}

static enum lowered lower_copy_map(struct lower *lower, struct op *op)
{
    struct async_address *addresses = lower_own(lower, 2 * sizeof *addresses);
    op->more = addresses;
    op->run.exec = run_copy_map;
    return async_lower_address(lower, lower_operand(lower, 0), PTX_GLOBAL, &addresses[0]) &&
                   async_lower_address(lower, lower_operand(lower, 1), PTX_CLUSTER, &addresses[1])
               ? LOWERED
               : LOWER_FAILED;
}

enum lowered lower_tensormap(struct lower *lower, struct op *op)
{
    const char *opcode = lower->inst->opcode;
    op->unit = UNIT_LSU;
    if (ptx_is(lower->inst, "tensormap.cp_fenceproxy"))
        return lower_copy_map(lower, op);
    struct replace *replace = lower_own(lower, sizeof *replace);
    while (replace->field < TENSORMAP_FIELDS &&
           !ptx_opcode_has(opcode, tensormap_field_names[replace->field]))
        replace->field++;
    if (replace->field == TENSORMAP_FIELDS || !ptx_is(lower->inst, "tensormap.replace"))
        return lower_fail(lower, "Heddle does not know this operation on tensor maps");
    op->more = replace;
    op->run.exec = run_replace;
    replace->access.space = access_space_named(opcode);
    replace->value_bytes = ptx_opcode_has(opcode, "b64") ? 8 : 4;
    const struct ptx_operand *index = lower_operand(lower, 1);
    bool has_index = lower->inst->count > 2;
    if (has_index && (index->kind != PTX_OP_INTEGER || index->value >= TENSORMAP_DIMS))
        return lower_fail(lower, "the number of a dimension was expected");
    replace->index = has_index ? (uint32_t)index->value : 0;
    return lower_address(lower, lower_operand(lower, 0), op, &replace->access) &&
                   lower_source(lower, lower_operand(lower, has_index ? 2 : 1),
                                isa_type_of(replace->value_bytes), &replace->value)
               ? LOWERED
               : LOWER_FAILED;
}
