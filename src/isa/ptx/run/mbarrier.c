/* Barriers in shared memory (mbarrier): a word each, with the bits of an H200. From the highest: the phase;
 * what is still to arrive, 20 bits; the bytes still to come, 21 bits; what each phase begins with, 20 bits.
 * The first two numbers are held as negative ones, so that the last arrival carries into the phase. */
#include "ptx_run/async.h"
#include "ptx_run/isa.h"

#include "exec/cga.h"
#include "base/bits.h"

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

void async_signal_lanes(struct warp *w, const struct op *op, const struct access *access, lanes who)
{
    struct request *request = w->isa.block->worker->request;
    uint64_t bytes = (uint64_t)access->bytes * access->count;
    lanes far = request ? (lanes)request->cluster & who : 0;
    EACH_LANE (lane, who & ~far)
        mbarrier_signal(w, op, lane, async_address(w, &access->barrier, lane), bytes);
    EACH_LANE (lane, far) {
        uint64_t at = async_address(w, &access->barrier, lane);
        (void)access_cluster_place(w, op, lane, at, 8, true);
        if ((at ^ request->of.at[lane]) >> CLUSTER_SHARED_SHIFT & 0xff)
            warp_fault(w, op, UINT32_C(1) << lane, FAULT_INSTRUCTION, at,
                       "a store whose barrier is in another block's shared memory than its bytes");
        request->compare[lane] = at & (WINDOW_BYTES - 1);
        request->signals = true;
    }
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
    if (UNLIKELY(m->access.acquires) && w->isa.block->cluster && w->isa.block->worker->request)
        w->isa.block->worker->request->forgets = done != 0;
    predicate_set(w, op->d, active, done);
}

/* ---- operations ---- */

/* What an operation of a lane is made of; for a barrier of a block on another SM it travels as one number. */
struct signal {
    enum mbarrier_op op;
    uint32_t count, bytes; /* that arrive; that are expected or come */
};

/* One below 2^32 is MBARRIER_COMPLETE, as isa/warp.h wants it. */
static uint64_t pack_signal(const struct signal *signal)
{
    uint64_t op = signal->op == MBARRIER_COMPLETE ? 0 : (uint64_t)signal->op + 1;
    return op << 56 | (uint64_t)(signal->count & COUNT_MASK) << 32 | signal->bytes;
}

static struct signal unpack_signal(uint64_t operand)
{
    uint64_t op = operand >> 56;
    return (struct signal){.op = op ? (enum mbarrier_op)(op - 1) : MBARRIER_COMPLETE,
                           .count = (uint32_t)(operand >> 32 & COUNT_MASK),
                           .bytes = (uint32_t)operand};
}

enum { WHY_BYTES = 160 };

/* Bytes to come are at most so many; more ends the kernel, as on an H200. */
static bool count_bytes(uint64_t *state, uint64_t bytes, bool come, char why[WHY_BYTES])
{
    const int64_t most = (1 << 20) - 1;
    int64_t before = -(int64_t)((int64_t)(*state << (64 - 42)) >> (64 - 42 + BYTES_AT)); /* with its sign */
    int64_t after = come ? before - (int64_t)bytes : before + (int64_t)bytes;
    *state = expect_bytes(*state, come ? -bytes : bytes);
    if ((int64_t)bytes <= most && after <= most && after >= -most)
        return true;
    snprintf(why, WHY_BYTES, "%llu bytes %s a barrier that waits for %lld: it can count %lld",
             (unsigned long long)bytes, come ? "come to" : "are expected by", (long long)before,
             (long long)most);
    return false;
}

/* The state after it; false: why it ends the kernel, as on an H200, also when nobody is left to arrive. */
static bool operate(const struct signal *signal, uint64_t *state, char why[WHY_BYTES])
{
    if (signal->op == MBARRIER_EXPECT || signal->op == MBARRIER_COMPLETE)
        return count_bytes(state, signal->bytes, signal->op == MBARRIER_COMPLETE, why);
    if (pending_of(*state) < signal->count) {
        snprintf(why, WHY_BYTES,
                 "%llu arrivals at a barrier that waits for %llu more in its phase, or was not initialized",
                 (unsigned long long)signal->count, (unsigned long long)pending_of(*state));
        return false;
    }
    if (signal->bytes && !count_bytes(state, signal->bytes, false, why))
        return false;
    *state = arrive(*state, signal->count, signal->op == MBARRIER_ARRIVE_DROP);
    return true;
}

/* One lane's. */
static struct signal signal_of(const struct warp *w, const struct op *op, uint32_t lane)
{
    const struct mbarrier *m = op->more;
    uint32_t operand = m->has_count ? ((const uint32_t *)warp_at(w, op->b))[lane] : 0;
    bool counts_bytes = m->expects || m->op == MBARRIER_EXPECT || m->op == MBARRIER_COMPLETE;
    return (struct signal){.op = m->op,
                           .count = m->has_count && !counts_bytes ? operand : 1,
                           .bytes = counts_bytes ? operand : 0};
}

/* Gives the state after it. */
static uint64_t operate_lane(struct warp *w, const struct op *op, uint32_t lane, uint64_t state)
{
    const struct mbarrier *m = op->more;
    struct signal signal = signal_of(w, op, lane);
    char why[WHY_BYTES];
    if (m->op == MBARRIER_INIT)
        return mbarrier_new(m->has_count ? ((const uint32_t *)warp_at(w, op->b))[lane] : 0);
    if (m->op == MBARRIER_INVAL) /* its last state stays there, as on an H200, and who waits late finds it */
        return state;
    if (m->op == MBARRIER_COPY_ARRIVE) /* the copies before it are done already */
        return m->noinc ? arrive(state, 1, false) : state;
    uint64_t before = state;
    if (!operate(&signal, &state, why))
        warp_fault(w, op, UINT32_C(1) << lane, FAULT_CLUSTER, 0, "%s", why);
    if (m->returns) /* the state before names the phase to wait for; an H200 gives half of it */
        ((uint64_t *)warp_at(w, op->d))[lane] =
            (before & ~UINT64_C(0xffffffff)) | (m->keeps       ? 1
                                                : m->has_count ? ((const uint32_t *)warp_at(w, op->b))[lane]
                                                               : 0);
    return state;
}

/* Barriers of blocks on other SMs. */
static void request_signals(struct warp *w, const struct op *op, lanes far)
{
    const struct mbarrier *m = op->more;
    struct request *request = w->isa.block->worker->request;
    bool is_possible = m->op == MBARRIER_ARRIVE || m->op == MBARRIER_ARRIVE_DROP ||
                       m->op == MBARRIER_EXPECT || m->op == MBARRIER_COMPLETE;
    if (!is_possible || m->returns)
        warp_fault(w, op, far, FAULT_INSTRUCTION, 0,
                   "this operation is not possible on a barrier of another block");
    request->of.kind = REQUEST_SIGNAL;
    request->of.bytes = 8;
    EACH_LANE (lane, far) {
        struct signal signal = signal_of(w, op, lane);
        request->operand[lane] = pack_signal(&signal);
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

void ptx_signal(struct block *block, uint64_t offset, uint64_t operand)
{
    struct signal signal = unpack_signal(operand);
    char *place = block->shared + offset, why[WHY_BYTES];
    uint64_t state = load(place);
    bool ended;
    if (!operate(&signal, &state, why))
        block_fault(block, 0, FAULT_CLUSTER, offset,
                    "a barrier in its shared memory, by another block of the cluster", why);
    store(place, signal.op == MBARRIER_EXPECT ? state : finish(state, &ended));
}

static void run_mbarrier(struct warp *w, const struct op *op, lanes active)
{
    const struct mbarrier *m = op->more;
    struct request *request = w->isa.block->worker->request;
    char *places[WARP_LANES];
    w->wait = WAIT_NOT;
    access_resolve(w, op, &m->access, active, places);
    if (request) {
        request->shared_use = SHARED_SYNC;
        request->shared_sync = sync_of(m->op);
        if (UNLIKELY(request->cluster)) {
            request_signals(w, op, (lanes)request->cluster);
            active &= ~(lanes)request->cluster;
        }
    }
    if (m->op == MBARRIER_TEST || m->op == MBARRIER_TRY) {
        test(w, op, active, places);
        return;
    }
    EACH_LANE (lane, active) {
        bool ended = false;
        uint64_t state = operate_lane(w, op, lane, load(places[lane]));
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
    m->access.writes = m->access.reaches = true;
    m->access.acquires = access_acquires(opcode);
    if (access_releases(opcode))
        op->role = ROLE_CLUSTER_ARRIVE;
    if (!lower_address(lower, lower_operand(lower, i++), op, &m->access))
        return LOWER_FAILED;
    m->has_count = i < lower->inst->count;
    enum isa_type type = waits && !m->parity ? TYPE_u64 : TYPE_u32;
    if (m->has_count && !lower_source(lower, lower_operand(lower, i), type, &op->b))
        return LOWER_FAILED;
    return LOWERED;
}
