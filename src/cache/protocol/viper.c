/* VIPER: a GPU with write-through caches and scopes, after AMD's (GPU_VIPER in gem5), beside CPUs of `moesi`.
 *
 * The GPU's L2 never owns a line: it reads lines as a sharer, and passes every store on to the home, which
 * first takes the line from the CPUs. L1s do not wait for stores; a release waits for all of their answers,
 * an acquire empties the L1. So programs without data races are sequentially consistent, if they use the
 * right scopes:
 *
 *   scope   release                            acquire
 *   block   nothing: one L1                    nothing
 *   device  wait for the answers of stores     empty the L1; loads under way are stale
 *   system  the same: stores are at home       the same: the home invalidates the L2's lines
 */
#include "cache/protocol/rows.h"
#include "cache/protocol/kinds.h"

#define VIPER_KINDS(X)                                                                                       \
    X(GetV, REQUEST, 0, 0)                                                                                   \
    X(Wt, REQUEST, 1, 0)                                                                                     \
    X(WtAck, RESPONSE, 0, 0)
#define KINDS(X) MOESI_KINDS(X) VIPER_KINDS(X) GPU_KINDS(X)
PROTOCOL_KINDS(KINDS)

/* ---- an L1 ---- */

#define L1_STATES(ROW) ROW(I, COH_REST) ROW(V, COH_REST | COH_COPY) ROW(IV, 0) ROW(IVs, 0)
enum { L1_STATES(L_STATE_ID) };
static const struct coh_state l1_states[] = {L1_STATES(STATE_ROW)};

#define WRITE_THROUGH DO(AWAIT_ONE), SEND(Write, HOME, COH_FOR_SELF | COH_OF_STORE), DO(DONE)

static const struct coh_row l1_rows[] = {
    L(I, LOAD, ANY, IV, SEND(Read, HOME, COH_FOR_SELF)),
    L(I, STORE, ANY, I, WRITE_THROUGH),
    L(I, ACQUIRE, ANY, I, NONE),
    L(I, RELEASE, NONE_OUT, I, NONE),
    Z(l, I, RELEASE),
    L(I, WriteAck, ANY, I, DO(COUNT)),
    L(V, LOAD, ANY, V, DO(SERVE_LOAD)),
    L(V, STORE, ANY, I, WRITE_THROUGH),
    L(V, EVICT, ANY, I, NONE),
    L(V, ACQUIRE, ANY, I, NONE),
    L(V, RELEASE, ANY, V, NONE), /* stores of the line are done: a read follows them to the L2 */
    Z3(l, IV),
    L(IV, ACQUIRE, ANY, IVs, NONE),
    L(IV, RELEASE, NONE_OUT, IV, NONE),
    Z(l, IV, RELEASE),
    L(IV, ReadData, ANY, V, DO(TAKE), DO(SERVE_LOAD)),
    L(IV, WriteAck, ANY, IV, DO(COUNT)),
    Z3(l, IVs),
    L(IVs, ACQUIRE, ANY, IVs, NONE),
    L(IVs, RELEASE, NONE_OUT, IVs, NONE),
    Z(l, IVs, RELEASE),
    L(IVs, ReadData, ANY, I, DO(TAKE), DO(SERVE_LOAD)),
    L(IVs, WriteAck, ANY, IVs, DO(COUNT)),
};
TABLE(l1, "l1", "a GPU's L1, below its L2", l1_states, l1_rows, CORE_OPS | OP(ACQUIRE) | OP(RELEASE));

/* ---- the L2 ---- */

/* IV: a read is under way. VW, IW: a store is on its way home. */
#define GPU_L2_STATES(ROW)                                                                                   \
    ROW(I, COH_REST) ROW(V, COH_REST | COH_READ) ROW(IV, 0) ROW(VW, COH_COPY) ROW(IW, 0)
enum { GPU_L2_STATES(G_STATE_ID) };
static const struct coh_state gpu_l2_states[] = {GPU_L2_STATES(STATE_ROW)};

static const struct coh_row gpu_l2_rows[] = {
    G(I, LOAD, ANY, IV, SEND(GetV, HOME, COH_FOR_SELF)),
    G(I, STORE, ANY, IW, SEND(Wt, HOME, COH_FOR_SELF | COH_OF_STORE)),
    G(I, Inv, ANY, I, SEND(Ack, REQUESTER, 0)),
    G(V, LOAD, ANY, V, DO(SERVE_LOAD)),
    G(V, STORE, ANY, VW, SEND(Wt, HOME, COH_FOR_SELF | COH_OF_STORE)),
    G(V, EVICT, ANY, I, NONE),
    G(V, Inv, ANY, I, SEND(Ack, REQUESTER, 0)),
    Z3(g, IV),
    G(IV, Inv, ANY, IV, SEND(Ack, REQUESTER, 0)),
    G(IV, Data, ANY, V, DO(TAKE), DO(SERVE_LOAD), SEND(Unb, HOME, 0)),
    Z3(g, VW),
    G(VW, Inv, ANY, IW, SEND(Ack, REQUESTER, 0)),
    G(VW, WtAck, ANY, V, DO(SERVE_STORE), DO(CLEAN)),
    Z3(g, IW),
    G(IW, Inv, ANY, IW, SEND(Ack, REQUESTER, 0)),
    G(IW, WtAck, ANY, I, DO(DONE)),
};
TABLE(gpu_l2, "gpu l2", "a GPU's L2, written through", gpu_l2_states, gpu_l2_rows, CORE_OPS);

/* ---- CPUs and the home ---- */

#define MOESI_MORE_BUSY(state) , Z(h, state, GetV), Z(h, state, Wt)
#define MOESI_MORE_HOME_ROWS                                                                                 \
    H(U, GetV, ANY, BS, SEND(Data, SENDER, 0)), H(S, GetV, ANY, BS, SEND(Data, SENDER, 0)),                  \
        H(X, GetV, ANY, BO, SEND(FwdS, OWNER, 0)), H(O, GetV, ANY, BO, SEND(FwdS, OWNER, 0)),                \
        H(U, Wt, ANY, S, DO(PERFORM), DO(ADD_SENDER), SEND(WtAck, SENDER, 0)),                               \
        H(S, Wt, NO_OTHERS, S, DO(PERFORM), DO(ADD_SENDER), SEND(WtAck, SENDER, 0)),                         \
        H(S, Wt, ANY, FS, DO(STALL), DO(AWAIT_SHARERS), SEND(Inv, SHARERS, COH_FOR_SELF)),                   \
        H(X, Wt, ANY, FX, DO(STALL), SEND(FwdX, OWNER, COH_FOR_SELF)),                                       \
        H(O, Wt, ANY, FX, DO(STALL), SEND(FwdX, OWNER, COH_FOR_SELF | COH_TELLS),                            \
          SEND(Inv, OTHER_SHARERS, COH_FOR_SELF)),
#include "cache/protocol/moesi.def"

const struct protocol protocol_viper = {
    .name = "viper",
    .help = "CPUs and a GPU: write-through GPU caches, scopes",
    .kinds = kinds,
    .kind_count = KIND_COUNT,
    .tables = {[COH_CACHE] = &cache, [COH_HOME] = &home, [COH_L1] = &l1, [COH_GPU_L2] = &gpu_l2},
    .below = {k_Read, k_Write, k_ReadData, k_WriteAck},
    .gpu_l2_writes_through = true,
};
