/* MI: a line is in one cache at a time, whoever wants to read or write it. */
#include "cache/protocol/rows.h"

#define KINDS(X)                                                                                             \
    X(Get, REQUEST, 0, 0)                                                                                    \
    X(Put, REQUEST, 1, 0)                                                                                    \
    X(Fwd, FORWARD, 0, 0)                                                                                    \
    X(WbAck, FORWARD, 0, 0)                                                                                  \
    X(Data, RESPONSE, 1, 0)                                                                                  \
    X(Unb, UNBLOCK, 0, 0)
PROTOCOL_KINDS(KINDS)

/* IL, IM: a load or a store waits. MI: written back. II: ... and the line was given away meanwhile. */
#define CACHE_STATES(ROW)                                                                                    \
    ROW(I, COH_REST)                                                                                         \
    ROW(M, COH_REST | COH_READ | COH_WRITE | COH_OWNS)                                                       \
    ROW(IL, 0)                                                                                               \
    ROW(IM, 0)                                                                                               \
    ROW(MI, COH_COPY)                                                                                        \
    ROW(II, 0)
enum { CACHE_STATES(C_STATE_ID) };
static const struct coh_state cache_states[] = {CACHE_STATES(STATE_ROW)};

static const struct coh_row cache_rows[] = {
    C(I, LOAD, ANY, IL, SEND(Get, HOME, COH_FOR_SELF)),
    C(I, STORE, ANY, IM, SEND(Get, HOME, COH_FOR_SELF)),
    C(M, LOAD, ANY, M, DO(SERVE_LOAD)),
    C(M, STORE, ANY, M, DO(SERVE_STORE)),
    C(M, EVICT, ANY, MI, SEND(Put, HOME, COH_FOR_SELF)),
    C(M, Fwd, ANY, I, SEND(Data, REQUESTER, 0)),
    Z3(c, IL),
    C(IL, Data, ANY, M, DO(TAKE), DO(SERVE_LOAD), SEND(Unb, HOME, 0)),
    Z3(c, IM),
    C(IM, Data, ANY, M, DO(TAKE), DO(SERVE_STORE), SEND(Unb, HOME, 0)),
    Z3(c, MI),
    C(MI, Fwd, ANY, II, SEND(Data, REQUESTER, 0)),
    C(MI, WbAck, ANY, I, NONE),
    Z3(c, II),
    C(II, WbAck, ANY, I, NONE),
};
TABLE(cache, "cache", "a private cache", cache_states, cache_rows, CORE_OPS);

/* U: in no cache. X: in one. B: on its way to one. DR, DW: on its way here, for a copy engine. */
#define HOME_STATES(ROW) ROW(U, COH_REST | COH_OWNS) ROW(X, COH_REST) ROW(B, 0) ROW(DR, 0) ROW(DW, 0)
enum { HOME_STATES(H_STATE_ID) };
static const struct coh_state home_states[] = {HOME_STATES(STATE_ROW)};

static const struct coh_row home_rows[] = {
    H(U, Get, ANY, B, SEND(Data, SENDER, 0)),
    H(U, Put, ANY, U, SEND(WbAck, SENDER, 0)),
    H(U, DMA_READ, ANY, U, DO(SERVE_LOAD)),
    H(U, DMA_WRITE, ANY, U, DO(SERVE_STORE)),
    H(X, Get, ANY, B, SEND(Fwd, OWNER, 0)),
    H(X, Put, FROM_OWNER, U, DO(TAKE), DO(OWNER_NONE), SEND(WbAck, SENDER, 0)),
    H(X, Put, ANY, X, SEND(WbAck, SENDER, 0)),
    H(X, DMA_READ, ANY, DR, SEND(Fwd, OWNER, COH_FOR_SELF)),
    H(X, DMA_WRITE, ANY, DW, SEND(Fwd, OWNER, COH_FOR_SELF)),
    Z(h, B, Get),
    Z(h, B, Put),
    Z(h, B, DMA_READ),
    Z(h, B, DMA_WRITE),
    H(B, Unb, ANY, X, DO(OWNER_IS_SENDER)),
    Z(h, DR, Get),
    Z(h, DR, Put),
    Z(h, DR, DMA_READ),
    Z(h, DR, DMA_WRITE),
    H(DR, Data, ANY, U, DO(TAKE), DO(SERVE_LOAD), DO(OWNER_NONE)),
    Z(h, DW, Get),
    Z(h, DW, Put),
    Z(h, DW, DMA_READ),
    Z(h, DW, DMA_WRITE),
    H(DW, Data, ANY, U, DO(TAKE), DO(SERVE_STORE), DO(OWNER_NONE)),
};
TABLE(home, "home", "orders requests, and keeps the line in memory", home_states, home_rows, DMA_OPS);

const struct protocol protocol_mi = {
    .name = "mi",
    .help = "one copy of a line at a time",
    .kinds = kinds,
    .kind_count = KIND_COUNT,
    .tables = {[COH_CACHE] = &cache, [COH_HOME] = &home},
};
