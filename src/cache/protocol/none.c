/* None: caches that know nothing of each other. Copies are stale until they are evicted; write-backs
 * overwrite. */
#include "cache/protocol/rows.h"

#define KINDS(X)                                                                                             \
    X(Get, REQUEST, 0, 0)                                                                                    \
    X(Put, REQUEST, 1, 0)                                                                                    \
    X(Data, RESPONSE, 1, 0)                                                                                  \
    X(WbAck, RESPONSE, 0, 0)
PROTOCOL_KINDS(KINDS)

#define CACHE_STATES(ROW)                                                                                    \
    ROW(I, COH_REST)                                                                                         \
    ROW(V, COH_REST | COH_READ | COH_WRITE)                                                                  \
    ROW(IL, 0)                                                                                               \
    ROW(IM, 0)                                                                                               \
    ROW(VI, COH_COPY)
enum { CACHE_STATES(C_STATE_ID) };
static const struct coh_state cache_states[] = {CACHE_STATES(STATE_ROW)};

static const struct coh_row cache_rows[] = {
    C(I, LOAD, ANY, IL, SEND(Get, HOME, COH_FOR_SELF)),
    C(I, STORE, ANY, IM, SEND(Get, HOME, COH_FOR_SELF)),
    C(V, LOAD, ANY, V, DO(SERVE_LOAD)),
    C(V, STORE, ANY, V, DO(SERVE_STORE)),
    C(V, EVICT, DIRTY, VI, SEND(Put, HOME, COH_FOR_SELF)),
    C(V, EVICT, ANY, I, NONE),
    Z3(c, IL),
    C(IL, Data, ANY, V, DO(TAKE), DO(CLEAN), DO(SERVE_LOAD)),
    Z3(c, IM),
    C(IM, Data, ANY, V, DO(TAKE), DO(SERVE_STORE)),
    Z3(c, VI),
    C(VI, WbAck, ANY, I, DO(CLEAN)),
};
TABLE(cache, "cache", "a private cache", cache_states, cache_rows, CORE_OPS);

#define HOME_STATES(ROW) ROW(U, COH_REST)
enum { HOME_STATES(H_STATE_ID) };
static const struct coh_state home_states[] = {HOME_STATES(STATE_ROW)};

static const struct coh_row home_rows[] = {
    H(U, Get, ANY, U, SEND(Data, SENDER, 0)),
    H(U, Put, ANY, U, DO(TAKE), SEND(WbAck, SENDER, 0)),
    H(U, DMA_READ, ANY, U, DO(SERVE_LOAD)),
    H(U, DMA_WRITE, ANY, U, DO(SERVE_STORE)),
};
TABLE(home, "home", "memory", home_states, home_rows, DMA_OPS);

const struct protocol protocol_none = {
    .name = "none",
    .help = "no coherence: copies are stale until they are evicted",
    .kinds = kinds,
    .kind_count = KIND_COUNT,
    .tables = {[COH_CACHE] = &cache, [COH_HOME] = &home},
    .is_incoherent = true,
};
