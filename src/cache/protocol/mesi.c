/* MESI with an inclusive shared L2 as the home, and memory behind it. Owners send data straight to
 * requesters. */
#include "cache/protocol/rows.h"
#include "cache/protocol/kinds.h"

#define MESI_KINDS(X)                                                                                        \
    X(Upg, REQUEST, 0, 0)                                                                                    \
    X(DataP, RESPONSE, 1, 0)                                                                                 \
    X(WbData, UNBLOCK, 1, 0)                                                                                 \
    X(MemRead, REQUEST, 0, 0)                                                                                \
    X(MemWrite, REQUEST, 1, 0)                                                                               \
    X(MemData, RESPONSE, 1, 0)                                                                               \
    X(MemAck, RESPONSE, 0, 0)
#define KINDS(X) MOESI_KINDS(X) MESI_KINDS(X)
PROTOCOL_KINDS(KINDS)

/* ISi: an invalidation passed the data, which serves the load and is not kept. PI: written back. DI: ... and
 * given away meanwhile. SM: a copy is here, answers are not. */
#define CACHE_STATES(ROW)                                                                                    \
    ROW(I, COH_REST)                                                                                         \
    ROW(S, COH_REST | COH_READ)                                                                              \
    ROW(E, COH_REST | COH_READ | COH_WRITE)                                                                  \
    ROW(M, COH_REST | COH_READ | COH_WRITE | COH_OWNS)                                                       \
    ROW(IS, 0)                                                                                               \
    ROW(ISi, 0)                                                                                              \
    ROW(IM, 0)                                                                                               \
    ROW(SM, COH_COPY)                                                                                        \
    ROW(PI, COH_COPY)                                                                                        \
    ROW(DI, 0)
enum { CACHE_STATES(C_STATE_ID) };
static const struct coh_state cache_states[] = {CACHE_STATES(STATE_ROW)};

static const struct coh_row cache_rows[] = {
    C(I, LOAD, ANY, IS, SEND(GetS, HOME, COH_FOR_SELF)),
    C(I, STORE, ANY, IM, SEND(GetX, HOME, COH_FOR_SELF)),
    C(I, Inv, ANY, I, SEND(Ack, REQUESTER, 0)),

    C(S, LOAD, ANY, S, DO(SERVE_LOAD)),
    C(S, STORE, ANY, SM, SEND(Upg, HOME, COH_FOR_SELF)),
    C(S, EVICT, ANY, I, NONE),
    C(S, Inv, ANY, I, SEND(Ack, REQUESTER, 0)),

    C(E, LOAD, ANY, E, DO(SERVE_LOAD)),
    C(E, STORE, ANY, M, DO(SERVE_STORE)),
    C(E, EVICT, ANY, PI, SEND(Put, HOME, COH_FOR_SELF)),
    C(E, Inv, ANY, I, SEND(Ack, REQUESTER, 0)),
    C(E, FwdS, ANY, S, SEND(DataP, REQUESTER, 0), SEND(WbData, HOME, 0)),
    C(E, FwdX, ANY, I, SEND(Data, REQUESTER, 0)),

    C(M, LOAD, ANY, M, DO(SERVE_LOAD)),
    C(M, STORE, ANY, M, DO(SERVE_STORE)),
    C(M, EVICT, ANY, PI, SEND(Put, HOME, COH_FOR_SELF)),
    C(M, Inv, ANY, I, SEND(WbData, HOME, 0)),
    C(M, FwdS, ANY, S, SEND(DataP, REQUESTER, 0), SEND(WbData, HOME, 0)),
    C(M, FwdX, ANY, I, SEND(Data, REQUESTER, 0)),

    Z3(c, IS),
    C(IS, Inv, ANY, ISi, SEND(Ack, REQUESTER, 0)),
    C(IS, Data, ANY, S, DO(TAKE), DO(SERVE_LOAD)),
    C(IS, DataX, ANY, E, DO(TAKE), DO(SERVE_LOAD), SEND(UnbX, HOME, 0)),
    C(IS, DataP, ANY, S, DO(TAKE), DO(SERVE_LOAD), SEND(Unb, HOME, 0)),

    Z3(c, ISi),
    C(ISi, Inv, ANY, ISi, SEND(Ack, REQUESTER, 0)),
    C(ISi, Data, ANY, I, DO(TAKE), DO(SERVE_LOAD)),
    C(ISi, DataX, ANY, E, DO(TAKE), DO(SERVE_LOAD), SEND(UnbX, HOME, 0)),
    C(ISi, DataP, ANY, I, DO(TAKE), DO(SERVE_LOAD), SEND(Unb, HOME, 0)),

    Z3(c, IM),
    C(IM, Inv, ANY, IM, SEND(Ack, REQUESTER, 0)),
    C(IM, Ack, ANY, IM, DO(COUNT)),
    C(IM, Data, ALL_IN, M, DO(COUNT), DO(TAKE), DO(SERVE_STORE), SEND(UnbX, HOME, 0)),
    C(IM, Data, ANY, SM, DO(COUNT), DO(TAKE)),

    Z3(c, SM),
    C(SM, Inv, ANY, IM, SEND(Ack, REQUESTER, 0)),
    C(SM, AckN, ALL_IN, M, DO(COUNT), DO(SERVE_STORE), SEND(UnbX, HOME, 0)),
    C(SM, AckN, ANY, SM, DO(COUNT)),
    C(SM, Ack, ALL_IN, M, DO(COUNT), DO(SERVE_STORE), SEND(UnbX, HOME, COH_FOR_SELF)),
    C(SM, Ack, ANY, SM, DO(COUNT)),

    Z3(c, PI),
    C(PI, Inv, ANY, DI, SEND(WbData, HOME, 0)),
    C(PI, FwdS, ANY, DI, SEND(DataP, REQUESTER, 0), SEND(WbData, HOME, 0)),
    C(PI, FwdX, ANY, DI, SEND(Data, REQUESTER, 0)),
    C(PI, WbAck, ANY, I, NONE),
    Z3(c, DI),
    C(DI, Inv, ANY, DI, SEND(Ack, REQUESTER, 0)),
    C(DI, WbAck, ANY, I, NONE),
};
TABLE(cache, "l1", "a private cache below the L2", cache_states, cache_rows, CORE_OPS);

/* N: not here. S: shared by caches. M: only here. X: a cache owns it. F1, FS, FX: read from memory, for one
 * reader, several, a writer. BX, BS: until the requester unblocks it; BSd, BSu: ... and only the data, the
 * unblock is missing. ES, EX, EM: evicted; caches, the owner, memory have yet to answer. DR: read from
 * memory, for a copy engine. */
#define HOME_STATES(ROW)                                                                                     \
    ROW(N, COH_REST)                                                                                         \
    ROW(S, COH_REST | COH_OWNS)                                                                              \
    ROW(M, COH_REST | COH_OWNS)                                                                              \
    ROW(X, COH_REST)                                                                                         \
    ROW(F1, 0)                                                                                               \
    ROW(FS, 0)                                                                                               \
    ROW(FX, 0)                                                                                               \
    ROW(BX, 0)                                                                                               \
    ROW(BS, 0)                                                                                               \
    ROW(BSd, 0)                                                                                              \
    ROW(BSu, COH_OWNS)                                                                                       \
    ROW(ES, COH_OWNS)                                                                                        \
    ROW(EX, 0)                                                                                               \
    ROW(EM, 0)                                                                                               \
    ROW(DR, 0)                                                                                               \
    ROW(DW, 0)
enum { HOME_STATES(H_STATE_ID) };
static const struct coh_state home_states[] = {HOME_STATES(STATE_ROW)};

/* Copy engines wait until the line is evicted. */
#define NO_DMA(state)    Z(h, state, DMA_READ), Z(h, state, DMA_WRITE)
#define BUSY(state)      Z(h, state, GetS), Z(h, state, GetX), Z(h, state, Upg), Z(h, state, EVICT), NO_DMA(state)
#define STALE_PUT(state) H(state, Put, ANY, state, SEND(WbAck, SENDER, 0))

static const struct coh_row home_rows[] = {
    H(N, GetS, ANY, F1, DO(ADD_SENDER), DO(KEEP_REQUESTER), SEND(MemRead, MEMORY, COH_FOR_SELF)),
    H(N, GetX, ANY, FX, DO(KEEP_REQUESTER), SEND(MemRead, MEMORY, COH_FOR_SELF)),
    H(N, Upg, ANY, FX, DO(KEEP_REQUESTER), SEND(MemRead, MEMORY, COH_FOR_SELF)),
    STALE_PUT(N),
    H(N, DMA_READ, ANY, DR, SEND(MemRead, MEMORY, COH_FOR_SELF)),
    H(N, DMA_WRITE, ANY, DW, SEND(MemRead, MEMORY, COH_FOR_SELF)), /* it may write a part of the line */

    H(F1, GetS, ANY, FS, DO(ADD_SENDER)),
    Z(h, F1, GetX),
    Z(h, F1, Upg),
    Z(h, F1, EVICT),
    NO_DMA(F1),
    STALE_PUT(F1),
    H(F1, MemData, ANY, BX, DO(TAKE), SEND(DataX, NOTED, COH_FOR_NOTED)),
    H(FS, GetS, ANY, FS, DO(ADD_SENDER)),
    Z(h, FS, GetX),
    Z(h, FS, Upg),
    Z(h, FS, EVICT),
    NO_DMA(FS),
    STALE_PUT(FS),
    H(FS, MemData, ANY, S, DO(TAKE), SEND(Data, SHARERS, 0)),
    BUSY(FX),
    STALE_PUT(FX),
    H(FX, MemData, ANY, BX, DO(TAKE), SEND(Data, NOTED, COH_FOR_NOTED)),

    H(S, GetS, ANY, S, DO(ADD_SENDER), SEND(Data, SENDER, 0)),
    H(S, GetX, ANY, BX, SEND(Data, SENDER, COH_TELLS), SEND(Inv, OTHER_SHARERS, 0)),
    H(S, Upg, FROM_SHARER, BX, SEND(AckN, SENDER, COH_TELLS), SEND(Inv, OTHER_SHARERS, 0)),
    H(S, Upg, ANY, BX, SEND(Data, SENDER, COH_TELLS), SEND(Inv, OTHER_SHARERS, 0)),
    STALE_PUT(S),
    H(S, EVICT, ANY, ES, DO(AWAIT_SHARERS), SEND(Inv, SHARERS, COH_FOR_SELF)),
    NO_DMA(S),

    H(M, GetS, ANY, BX, SEND(DataX, SENDER, 0)),
    H(M, GetX, ANY, BX, SEND(Data, SENDER, 0)),
    H(M, Upg, ANY, BX, SEND(Data, SENDER, 0)),
    STALE_PUT(M),
    H(M, EVICT, DIRTY, EM, SEND(MemWrite, MEMORY, COH_FOR_SELF)),
    H(M, EVICT, ANY, N, NONE),
    NO_DMA(M),

    H(X, GetS, ANY, BS, SEND(FwdS, OWNER, 0), DO(OWNER_NONE)),
    H(X, GetX, ANY, BX, SEND(FwdX, OWNER, 0), DO(OWNER_NONE)),
    H(X, Upg, ANY, BX, SEND(FwdX, OWNER, 0), DO(OWNER_NONE)),
    H(X, Put, FROM_OWNER, M, DO(MERGE), DO(OWNER_NONE), DO(NO_SHARERS), SEND(WbAck, SENDER, 0)),
    STALE_PUT(X),
    H(X, EVICT, ANY, EX, SEND(Inv, OWNER, COH_FOR_SELF), DO(OWNER_NONE), DO(NO_SHARERS)),
    NO_DMA(X),

    BUSY(BX),
    Z(h, BX, Put),
    H(BX, UnbX, ANY, X, DO(OWNER_IS_SENDER), DO(ONLY_SENDER)),
    BUSY(BS),
    Z(h, BS, Put),
    H(BS, Unb, ANY, BSd, DO(ADD_SENDER)),
    H(BS, WbData, ANY, BSu, DO(MERGE)),
    BUSY(BSd),
    STALE_PUT(BSd),
    H(BSd, WbData, ANY, S, DO(MERGE)),
    BUSY(BSu),
    STALE_PUT(BSu),
    H(BSu, Unb, ANY, S, DO(ADD_SENDER)),

    BUSY(ES),
    STALE_PUT(ES),
    H(ES, Ack, ALL_IN, EM, DO(COUNT), DO(NO_SHARERS), SEND(MemWrite, MEMORY, COH_FOR_SELF)),
    H(ES, Ack, ANY, ES, DO(COUNT)),
    BUSY(EX),
    Z(h, EX, Put),
    H(EX, WbData, ANY, EM, DO(MERGE), SEND(MemWrite, MEMORY, COH_FOR_SELF)),
    H(EX, Ack, ANY, EM, SEND(MemWrite, MEMORY, COH_FOR_SELF)),
    BUSY(EM),
    STALE_PUT(EM),
    H(EM, MemAck, ANY, N, DO(CLEAN)),
    BUSY(DR),
    STALE_PUT(DR),
    H(DR, MemData, ANY, N, DO(TAKE), DO(SERVE_LOAD)),
    BUSY(DW),
    STALE_PUT(DW),
    H(DW, MemData, ANY, EM, DO(TAKE), DO(SERVE_STORE), SEND(MemWrite, MEMORY, COH_FOR_SELF)),
};
TABLE(home, "l2", "the shared L2, inclusive; orders requests", home_states, home_rows, DMA_OPS | OP(EVICT));

const struct protocol protocol_mesi = {
    .name = "mesi",
    .help = "inclusive shared L2 as home, three hops",
    .kinds = kinds,
    .kind_count = KIND_COUNT,
    .tables = {[COH_CACHE] = &cache, [COH_HOME] = &home},
    .memory_apart = true,
    .memory_read = k_MemRead,
    .memory_write = k_MemWrite,
    .memory_data = k_MemData,
    .memory_ack = k_MemAck,
};
