/* Barriers in shared memory (mbarrier): a word each, with the bits of an H200. From the highest: the phase;
 * what is still to arrive, 20 bits; the bytes still to come, 21 bits; what each phase begins with, 20 bits.
 * The first two numbers are held as negative ones, so that the last arrival carries into the phase. */
#include "ptx_run/async.h"
#include "ptx_run/isa.h"

#include <string.h>

enum { PENDING_AT = 43, BYTES_AT = 21, EXPECTED_AT = 1 };
#define PHASE      (UINT64_C(1) << 63)
#define COUNT_MASK UINT64_C(0xfffff)
#define BYTES_MASK UINT64_C(0x1fffff)

static uint64_t mbarrier_new(uint64_t count)
{
    uint64_t negative = -count & COUNT_MASK;
    return negative << EXPECTED_AT | negative << PENDING_AT;
}

static uint64_t pending_of(uint64_t state)
{
    return -(state >> PENDING_AT) & COUNT_MASK;
}

/* Of a phase that may have ended: then the next one has begun. */
static uint64_t finish(uint64_t state, bool *ended)
{
    *ended = !pending_of(state) && !(state >> BYTES_AT & BYTES_MASK);
    if (!*ended)
        return state;
    uint64_t expected = state >> EXPECTED_AT & COUNT_MASK;
    return ((state & PHASE) ^ PHASE) | expected << PENDING_AT | expected << EXPECTED_AT;
}

static uint64_t with_count(uint64_t state, uint32_t at, uint64_t mask, uint64_t value)
{
    return (state & ~(mask << at)) | (value & mask) << at;
}

static uint64_t arrive(uint64_t state, uint64_t count, bool drop)
{
    state = with_count(state, PENDING_AT, COUNT_MASK, (state >> PENDING_AT) + count);
    if (drop)
        state = with_count(state, EXPECTED_AT, COUNT_MASK, (state >> EXPECTED_AT) + count);
    return state;
}

static uint64_t expect_bytes(uint64_t state, uint64_t bytes)
{
    return with_count(state, BYTES_AT, BYTES_MASK, (state >> BYTES_AT) - bytes);
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
    bool parity, has_count, expects, returns, noinc, keeps; /* keeps: noComplete */
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

bool mbarrier_complete(char *place, uint64_t bytes)
{
    bool ended;
    store(place, finish(expect_bytes(load(place), -bytes), &ended));
    return ended;
}

void mbarrier_signal(struct warp *w, const struct op *op, uint32_t lane, uint64_t at, uint64_t bytes)
{
    if (mbarrier_complete(access_bytes(w, op, lane, PTX_CLUSTER, at, 8, true), bytes))
        w->wait = WAIT_OVER;
}

void ptx_request_complete(struct isa_warp *warp, const struct delivery *of, const unsigned char *stage)
{
    if (of->stage_bytes)
        tex_complete(ptx_warp(warp), of, stage);
    if (of->barrier)
        mbarrier_complete(of->barrier, of->barrier_bytes);
}

static bool is_done(const struct mbarrier *m, uint64_t state, uint64_t asked)
{
    bool phase = state & PHASE;
    return m->parity ? phase != (asked & 1) : phase != !!(asked & PHASE);
}

static void test(struct warp *w, const struct op *op, lanes active, char *const places[WARP_LANES])
{
    const struct mbarrier *m = op->more;
    lanes done = 0;
    EACH_LANE (lane, active) {
        uint64_t asked = lane_get(warp_at(w, op->b), m->parity ? 4 : 8, lane);
        done |= (lanes)is_done(m, load(places[lane]), asked) << lane;
    }
    if (w->isa.block->worker->request)
        w->isa.block->worker->request->shared_done = done;
    w->spins++;
    w->wait = done == active ? WAIT_OVER : WAIT_LONGER; /* others must arrive first */
    predicate_set(w, op->d, active, done);
}

/* As an H200, which ends the kernel when there is nobody left to arrive. */
/* Bytes to come are at most so many; more ends the kernel, too. */
static uint64_t count_bytes(struct warp *w, const struct op *op, uint32_t lane, uint64_t state,
                            uint64_t bytes, bool come)
{
    const int64_t most = (1 << 20) - 1;
    int64_t before = -(int64_t)((int64_t)(state << (64 - 42)) >> (64 - 42 + BYTES_AT)); /* with its sign */
    int64_t after = come ? before - (int64_t)bytes : before + (int64_t)bytes;
    if ((int64_t)bytes > most || after > most || after < -most)
        warp_fault(w, op, UINT32_C(1) << lane, FAULT_CLUSTER, 0,
                   "%llu bytes %s a barrier that waits for %lld: it can count %lld",
                   (unsigned long long)bytes, come ? "come to" : "are expected by", (long long)before,
                   (long long)most);
    return expect_bytes(state, come ? -bytes : bytes);
}

static void check_arrival(struct warp *w, const struct op *op, uint32_t lane, uint64_t state, uint64_t count)
{
    if (pending_of(state) < count)
        warp_fault(w, op, UINT32_C(1) << lane, FAULT_CLUSTER, 0,
                   "%llu arrivals at a barrier that waits for %llu more in its phase, or was not initialized",
                   (unsigned long long)count, (unsigned long long)pending_of(state));
}

/* One lane's operation; gives the state after it. */
static uint64_t operate(struct warp *w, const struct op *op, uint32_t lane, uint64_t state)
{
    const struct mbarrier *m = op->more;
    uint64_t operand = m->has_count ? ((const uint32_t *)warp_at(w, op->b))[lane] : 0;
    uint64_t count = m->has_count && !m->expects ? operand : 1;
    switch (m->op) {
    case MBARRIER_INIT:
        return mbarrier_new(operand);
    case MBARRIER_INVAL: /* its last state stays there, as on an H200, and who waits late finds it */
        return state;
    case MBARRIER_COPY_ARRIVE: /* the copies before it are done already */
        return m->noinc ? arrive(state, 1, false) : state;
    case MBARRIER_EXPECT:
        return count_bytes(w, op, lane, state, operand, false);
    case MBARRIER_COMPLETE:
        return count_bytes(w, op, lane, state, operand, true);
    default:
        check_arrival(w, op, lane, state, count);
        if (m->returns) /* the state before names the phase to wait for; an H200 gives half of it */
            ((uint64_t *)warp_at(w, op->d))[lane] =
                (state & ~UINT64_C(0xffffffff)) | (m->keeps ? 1 : operand);
        if (m->expects)
            state = count_bytes(w, op, lane, state, operand, false);
        return arrive(state, count, m->op == MBARRIER_ARRIVE_DROP);
    }
}

static uint8_t sync_of(enum mbarrier_op op)
{
    return op == MBARRIER_INIT                                ? SYNC_INIT
           : op == MBARRIER_INVAL                             ? SYNC_END
           : op == MBARRIER_TEST || op == MBARRIER_TRY        ? SYNC_TEST
           : op == MBARRIER_EXPECT || op == MBARRIER_COMPLETE ? SYNC_EXPECT
                                                              : SYNC_ARRIVE;
}

static void run_mbarrier(struct warp *w, const struct op *op, lanes active)
{
    const struct mbarrier *m = op->more;
    char *places[WARP_LANES];
    w->wait = WAIT_NOT;
    access_resolve(w, op, &m->access, active, places);
    struct request *request = w->isa.block->worker->request;
    if (request) {
        request->shared_use = SHARED_SYNC;
        request->shared_sync = sync_of(m->op);
    }
    if (m->op == MBARRIER_TEST || m->op == MBARRIER_TRY) {
        test(w, op, active, places);
        return;
    }
    EACH_LANE (lane, active) {
        bool ended = false;
        uint64_t state = operate(w, op, lane, load(places[lane]));
        if (m->op != MBARRIER_INIT && m->op != MBARRIER_INVAL && m->op != MBARRIER_EXPECT)
            state = finish(state, &ended);
        if (ended)
            w->wait = WAIT_OVER;
        store(places[lane], state);
    }
}

static void run_pending(struct warp *w, const struct op *op, lanes active)
{
    EACH_LANE (lane, active) {
        uint64_t state = ((const uint64_t *)warp_at(w, op->a))[lane];
        ((uint32_t *)warp_at(w, op->d))[lane] =
            (uint32_t)(COUNT_MASK + 1 -
                       (state >> PENDING_AT & COUNT_MASK)); /* of none: 2^20, as on an H200 */
    }
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
    if (m->op == MBARRIER_NONE)
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
    m->keeps = ptx_opcode_has(opcode, "noComplete");
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
