/* Asynchronous copies and their barriers. Copies are performed at once: waiting for them is short, and no
 * program can tell, because it must not look before it has waited. */
#include "ptx_run/access.h"
#include "ptx_run/isa.h"
#include "ptx_run/warp.h"

#include <string.h>

/* cp.async */

struct copy {
    struct access to, from;
    uint32_t from_place; /* of the source's address */
    int64_t from_offset;
    uint32_t bytes;
    bool has_size, keeps; /* a size of its own; in the SM's own cache, too */
};

static void run_copy(struct warp *w, const struct op *op, lanes active)
{
    const struct copy *copy = op->more;
    char *to[WARP_LANES], *from[WARP_LANES];
    struct op source = *op;
    source.a = copy->from_place;
    source.value = copy->from_offset;
    source.more = op;
    access_resolve(w, op, &copy->to, active, to);
    lanes reading = active; /* a size of 0 reads nothing, so its address need not be good */
    const uint32_t *sizes = warp_at(w, op->b);
    EACH_LANE (lane, active)
        if (copy->has_size && !sizes[lane])
            reading &= ~(UINT32_C(1) << lane);
    if (reading)
        access_resolve(w, &source, &copy->from, reading, from);
    struct request *request = w->isa.block->worker->request;
    if (request) {
        request->of.kind = REQUEST_PIECES;
        request->of.is_async = true;
        request->of.keep = copy->keeps;
    }
    EACH_LANE (lane, active) {
        uint32_t size = copy->has_size && sizes[lane] < copy->bytes ? sizes[lane] : copy->bytes;
        if (size && request)
            access_add_piece(request, (uintptr_t)from[lane], to[lane], size, lane);
        else if (size)
            memcpy(to[lane], from[lane], size);
        memset(to[lane] + size, 0, copy->bytes - size);
    }
}

/* mbarrier: one word of shared memory. Bit 63 is the phase; then the count that each phase begins with, and
 * what is still to arrive, 20 bits each; then the bytes still to come, as a signed number of 22 bits. */
enum { EXPECTED_AT = 42, PENDING_AT = 22, BYTES_AT = 0 };
#define PHASE      (UINT64_C(1) << 63)
#define COUNT_MASK UINT64_C(0xfffff)
#define BYTES_MASK UINT64_C(0x3fffff)

static uint64_t mbarrier_new(uint64_t count)
{
    return count << EXPECTED_AT | count << PENDING_AT;
}

static uint64_t pending_of(uint64_t state)
{
    return state >> PENDING_AT & COUNT_MASK;
}

static uint64_t finish(uint64_t state)
{
    if (pending_of(state) || (state & BYTES_MASK))
        return state;
    uint64_t expected = state >> EXPECTED_AT & COUNT_MASK;
    return ((state & PHASE) ^ PHASE) | mbarrier_new(expected);
}

static uint64_t arrive(uint64_t state, uint64_t count, bool drop)
{
    state -= count << PENDING_AT;
    if (drop)
        state -= count << EXPECTED_AT;
    return finish(state);
}

static uint64_t expect_bytes(uint64_t state, uint64_t bytes)
{
    return (state & ~BYTES_MASK) | ((state + bytes) & BYTES_MASK);
}

#define MBARRIER_OPS(M)                                                                                      \
    M(INIT, "mbarrier.init")                                                                                 \
    M(INVAL, "mbarrier.inval")                                                                               \
    M(ARRIVE_DROP, "mbarrier.arrive_drop")                                                                   \
    M(ARRIVE, "mbarrier.arrive")                                                                             \
    M(TEST, "mbarrier.test_wait")                                                                            \
    M(TRY, "mbarrier.try_wait")                                                                              \
    M(PENDING, "mbarrier.pending_count")                                                                     \
    M(EXPECT, "mbarrier.expect_tx")                                                                          \
    M(COMPLETE, "mbarrier.complete_tx")                                                                      \
    M(COPY_ARRIVE, "cp.async.mbarrier.arrive")

enum mbarrier_op {
#define M(id, name) MBARRIER_##id,
    MBARRIER_OPS(M)
#undef M
        MBARRIER_NONE
};

struct mbarrier {
    struct access access;
    enum mbarrier_op op;
    bool parity, has_count, expects, returns, noinc;
};

static uint64_t load(const char *place)
{
    uint64_t state;
    memcpy(&state, place, 8);
    return state;
}

static void store(char *place, uint64_t state)
{
    memcpy(place, &state, 8);
}

static bool is_done(const struct mbarrier *m, uint64_t state, uint64_t asked)
{
    bool phase = state & PHASE;
    return m->parity ? phase != (asked & 1) : phase != !!(asked & PHASE);
}

static void run_mbarrier(struct warp *w, const struct op *op, lanes active)
{
    const struct mbarrier *m = op->more;
    char *places[WARP_LANES];
    lanes done = 0;
    w->wait = WAIT_NOT;
    access_resolve(w, op, &m->access, active, places);
    if (w->isa.block->worker->request)
        w->isa.block->worker->request->shared_use = SHARED_SYNC;
    EACH_LANE (lane, active) {
        uint64_t state = load(places[lane]);
        uint64_t count = m->has_count ? ((const uint32_t *)warp_at(w, op->b))[lane] : 1;
        if (m->returns) /* the state before this arrival names the phase to wait for */
            ((uint64_t *)warp_at(w, op->d))[lane] = state;
        switch (m->op) {
        case MBARRIER_INIT:
            state = mbarrier_new(count & COUNT_MASK);
            break;
        case MBARRIER_INVAL: /* its last state stays there, as on an H200, and who waits late finds it */
            break;
        case MBARRIER_ARRIVE:
        case MBARRIER_ARRIVE_DROP:
            if (m->expects)
                state = expect_bytes(state, count), count = 1;
            state = arrive(state, count, m->op == MBARRIER_ARRIVE_DROP);
            break;
        case MBARRIER_COPY_ARRIVE: /* the copies before it are done already */
            if (m->noinc)
                state = arrive(state, 1, false);
            break;
        case MBARRIER_EXPECT:
            state = expect_bytes(state, count);
            break;
        case MBARRIER_COMPLETE:
            state = finish(expect_bytes(state, -count));
            break;
        case MBARRIER_TEST:
        case MBARRIER_TRY: {
            uint64_t asked = m->parity ? ((const uint32_t *)warp_at(w, op->b))[lane]
                                       : ((const uint64_t *)warp_at(w, op->b))[lane];
            done |= (lanes)is_done(m, state, asked) << lane;
            continue;
        }
        case MBARRIER_PENDING:
        case MBARRIER_NONE:
            continue;
        }
        if ((state ^ load(places[lane])) & PHASE && m->op != MBARRIER_INIT)
            w->wait = WAIT_OVER;
        store(places[lane], state);
    }
    if (m->op == MBARRIER_TEST || m->op == MBARRIER_TRY) {
        w->spins++;
        w->wait = done == active ? WAIT_OVER : WAIT_LONGER; /* others must arrive first */
        predicate_set(w, op->d, active, done);
    }
}

static void run_pending(struct warp *w, const struct op *op, lanes active)
{
    EACH_LANE (lane, active)
        ((uint32_t *)warp_at(w, op->d))[lane] =
            (uint32_t)pending_of(((const uint64_t *)warp_at(w, op->a))[lane]);
}

static enum mbarrier_op find_op(const struct ptx_inst *inst)
{
    static const char *const names[] = {
#define M(id, name) name,
        MBARRIER_OPS(M)
#undef M
    };
    for (int i = 0; i < MBARRIER_NONE; i++)
        if (ptx_is(inst, names[i]))
            return (enum mbarrier_op)i;
    return MBARRIER_NONE;
}

enum lowered lower_mbarrier(struct lower *lower, struct op *op)
{
    const char *opcode = lower->inst->opcode;
    struct mbarrier *m = lower_own(lower, sizeof *m);
    uint32_t i = 0;
    m->op = find_op(lower->inst);
    op->unit = UNIT_LSU;
    op->more = m;
    op->run.exec = run_mbarrier;
    if (m->op == MBARRIER_NONE || ptx_opcode_has(opcode, "shared::cluster"))
        return lower_fail(lower, "Heddle does not know this barrier operation");
    if (m->op == MBARRIER_PENDING) {
        op->run.exec = run_pending;
        return lower_destination(lower, lower_operand(lower, 0), TYPE_u32, &op->d) &&
                       lower_source(lower, lower_operand(lower, 1), TYPE_u64, &op->a)
                   ? LOWERED
                   : LOWER_FAILED;
    }
    m->parity = ptx_opcode_has(opcode, "parity");
    m->expects = ptx_opcode_has(opcode, "expect_tx");
    m->noinc = ptx_opcode_has(opcode, "noinc");
    bool waits = m->op == MBARRIER_TEST || m->op == MBARRIER_TRY;
    op->flags |= OP_WAITS;
    if (lower_operand(lower, 0)->kind != PTX_OP_MEMORY) {
        const struct ptx_operand *d = lower_operand(lower, i++);
        m->returns = !waits && d->kind != PTX_OP_SINK;
        if (d->kind != PTX_OP_SINK && !lower_destination(lower, d, waits ? TYPE_pred : TYPE_u64, &op->d))
            return LOWER_FAILED;
    }
    if (m->op == MBARRIER_COPY_ARRIVE) /* its thread goes on, in fact, and the copies arrive */
        op->role = ROLE_ALL_COPIES;
    m->access.space = access_space_named(opcode);
    m->access.bytes = 8;
    m->access.count = 1;
    m->access.writes = true;
    if (!lower_address(lower, lower_operand(lower, i++), op, &m->access))
        return LOWER_FAILED;
    m->has_count = i < lower->inst->count;
    enum isa_type type = waits && !m->parity ? TYPE_u64 : TYPE_u32;
    if (m->has_count && !lower_source(lower, lower_operand(lower, i), type, &op->b))
        return LOWER_FAILED;
    return LOWERED;
}

enum lowered lower_cp(struct lower *lower, struct op *op)
{
    const char *opcode = lower->inst->opcode;
    if (ptx_is(lower->inst, "cp.async.mbarrier"))
        return lower_mbarrier(lower, op);
    if (ptx_is(lower->inst, "cp.async.commit_group") || ptx_is(lower->inst, "cp.async.wait_group") ||
        ptx_is(lower->inst, "cp.async.wait_all")) {
        op->role = ptx_is(lower->inst, "cp.async.commit_group") ? ROLE_COMMIT
                   : ptx_is(lower->inst, "cp.async.wait_all")   ? ROLE_ALL_COPIES
                                                                : ROLE_COPIES;
        if (lower->inst->count && lower_operand(lower, 0)->kind == PTX_OP_INTEGER)
            op->value = (int64_t)lower_operand(lower, 0)->value;
        return lower_nothing(lower, op);
    }
    if (!ptx_opcode_has(opcode, "ca") && !ptx_opcode_has(opcode, "cg"))
        return lower_fail(lower, "Heddle does not know this copy");
    struct copy *copy = lower_own(lower, sizeof *copy);
    struct op source = {0};
    const struct ptx_operand *bytes = lower_operand(lower, 2), *size = lower_operand(lower, 3);
    op->unit = UNIT_LSU;
    op->more = copy;
    op->run.exec = run_copy;
    if (bytes->kind != PTX_OP_INTEGER || (bytes->value != 4 && bytes->value != 8 && bytes->value != 16))
        return lower_fail(lower, "4, 8 or 16 bytes were expected");
    copy->bytes = copy->to.bytes = copy->from.bytes = (uint8_t)bytes->value;
    copy->to.count = copy->from.count = 1;
    copy->to.space = PTX_SHARED;
    copy->to.writes = true;
    copy->from.space = PTX_GLOBAL;
    copy->keeps = ptx_opcode_has(opcode, "ca");
    if (!lower_address(lower, lower_operand(lower, 1), &source, &copy->from) ||
        !lower_address(lower, lower_operand(lower, 0), op, &copy->to))
        return LOWER_FAILED;
    copy->from_place = source.a;
    copy->from_offset = source.value;
    bool is_number = size->kind == PTX_OP_REGISTER || size->kind == PTX_OP_INTEGER;
    copy->has_size =
        is_number && lower_register_bytes(lower, size) != 8 && !ptx_opcode_has(opcode, "L2::cache_hint");
    if (copy->has_size && !lower_source(lower, size, TYPE_u32, &op->b))
        return LOWER_FAILED;
    return LOWERED;
}

/* cp.async.bulk: any number of bytes by one thread, between global and shared memory. What goes to shared
 * memory is counted by a barrier. Without clusters, the block's shared memory is that of its cluster. */

struct bulk {
    bool to_shared;
    uint32_t to, from, size, barrier; /* places */
    int64_t to_offset, from_offset, barrier_offset;
    uint8_t to_bytes, from_bytes, barrier_bytes; /* of the registers with addresses */
};

static uint64_t address_at(const struct warp *w, uint32_t place, uint32_t bytes, int64_t offset,
                           uint32_t lane)
{
    uint64_t at = lane_get(warp_at(w, place), bytes, lane) + (uint64_t)offset;
    return bytes == 4 ? (uint32_t)at : at;
}

/* For a model that keeps time: pieces of at most 128 bytes, so that they do not cross long lines. */
static void request_bulk(struct warp *w, const struct op *op, uint32_t lane, uint64_t to, uint64_t from,
                         uint64_t bytes)
{
    const struct bulk *bulk = op->more;
    struct request *request = w->isa.block->worker->request;
    enum ptx_space space = bulk->to_shared ? PTX_GLOBAL : PTX_SHARED;
    char *host = access_bytes(w, op, lane, space, from, bytes, false);
    uint64_t far = bulk->to_shared ? from : to;
    if (bulk->to_shared)
        host = access_bytes(w, op, lane, PTX_SHARED, to, bytes, true);
    request->of.kind = REQUEST_PIECES;
    request->of.is_async = true;
    request->writes = !bulk->to_shared;
    for (uint64_t done = 0, size; done < bytes; done += size) {
        size = 128 - (far + done) % 128;
        size = size < bytes - done ? size : bytes - done;
        access_add_piece(request, far + done, host + done, size, lane);
    }
    if (bulk->to_shared) {
        uint64_t at = address_at(w, bulk->barrier, bulk->barrier_bytes, bulk->barrier_offset, lane);
        char *barrier = access_bytes(w, op, lane, PTX_SHARED, at, 8, true);
        if (request->of.barrier && request->of.barrier != barrier)
            warp_fault(w, op, UINT32_C(1) << lane, FAULT_INSTRUCTION, at,
                       "timing does not know copies of one warp for several barriers at a time");
        request->of.barrier_bytes = bytes + (request->of.barrier ? request->of.barrier_bytes : 0);
        request->of.barrier = barrier;
    }
}

void ptx_request_complete(struct isa_warp *warp, const struct delivery *of, const unsigned char *stage)
{
    if (of->stage_bytes)
        tex_complete(ptx_warp(warp), of, stage);
    if (of->barrier)
        store(of->barrier, finish(expect_bytes(load(of->barrier), -of->barrier_bytes)));
}

static void run_bulk(struct warp *w, const struct op *op, lanes active)
{
    const struct bulk *bulk = op->more;
    w->wait = WAIT_NOT;
    EACH_LANE (lane, active) {
        uint64_t bytes = lane_get(warp_at(w, bulk->size), 4, lane);
        uint64_t to = address_at(w, bulk->to, bulk->to_bytes, bulk->to_offset, lane);
        uint64_t from = address_at(w, bulk->from, bulk->from_bytes, bulk->from_offset, lane);
        if ((to | from | bytes) & 15)
            warp_fault(w, op, UINT32_C(1) << lane, FAULT_MISALIGNED, to,
                       "a copy of %llu bytes from 0x%llx to 0x%llx, which must be multiples of 16",
                       (unsigned long long)bytes, (unsigned long long)from, (unsigned long long)to);
        char *d = access_bytes(w, op, lane, bulk->to_shared ? PTX_SHARED : PTX_GLOBAL, to, bytes, true);
        if (w->isa.block->worker->request) {
            request_bulk(w, op, lane, to, from, bytes);
            continue;
        }
        memcpy(d, access_bytes(w, op, lane, bulk->to_shared ? PTX_GLOBAL : PTX_SHARED, from, bytes, false),
               bytes);
        if (bulk->to_shared) {
            uint64_t at = address_at(w, bulk->barrier, bulk->barrier_bytes, bulk->barrier_offset, lane);
            char *barrier = access_bytes(w, op, lane, PTX_SHARED, at, 8, true);
            uint64_t before = load(barrier), after = finish(expect_bytes(before, -bytes));
            store(barrier, after);
            if ((before ^ after) & PHASE)
                w->wait = WAIT_OVER;
        }
    }
}

enum lowered lower_bulk(struct lower *lower, struct op *op)
{
    const char *opcode = lower->inst->opcode;
    struct bulk *bulk = lower_own(lower, sizeof *bulk);
    struct op parts[3];
    memset(parts, 0, sizeof parts);
    struct access access[3] = {{.space = PTX_GLOBAL}, {.space = PTX_GLOBAL}, {.space = PTX_SHARED}};
    bulk->to_shared = ptx_opcode_has(opcode, "mbarrier::complete_tx::bytes");
    bool to_global = ptx_opcode_has(opcode, "bulk_group") && ptx_opcode_has(opcode, "shared::cta");
    if ((!bulk->to_shared && !to_global) || ptx_opcode_has(opcode, "multicast::cluster") ||
        !ptx_opcode_has(opcode, "global"))
        return lower_fail(lower, "Heddle does not know this copy yet");
    op->unit = UNIT_LSU;
    op->more = bulk;
    op->run.exec = run_bulk;
    op->flags |= OP_WAITS;
    if (!lower_address(lower, lower_operand(lower, 0), &parts[0], &access[0]) ||
        !lower_address(lower, lower_operand(lower, 1), &parts[1], &access[1]) ||
        !lower_source(lower, lower_operand(lower, 2), TYPE_u32, &bulk->size) ||
        (bulk->to_shared && !lower_address(lower, lower_operand(lower, 3), &parts[2], &access[2])))
        return LOWER_FAILED;
    bulk->to = parts[0].a, bulk->to_offset = parts[0].value, bulk->to_bytes = access[0].address_bytes;
    bulk->from = parts[1].a, bulk->from_offset = parts[1].value, bulk->from_bytes = access[1].address_bytes;
    bulk->barrier = parts[2].a, bulk->barrier_offset = parts[2].value;
    bulk->barrier_bytes = access[2].address_bytes;
    return LOWERED;
}
