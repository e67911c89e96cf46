/* The words that tables are written in. For this room only: include it, define lists of kinds and states, and
 * write rows.
 *
 *   #define KINDS(X) X(GetS, REQUEST, 0, 0) ...            name, class, has data, weight
 *   #define CACHE_STATES(X) X(I, COH_REST) ...
 *   PROTOCOL_KINDS(KINDS)
 *   enum { CACHE_STATES(C_STATE_ID) };
 *   static const struct coh_state cache_states[] = {CACHE_STATES(STATE_ROW)};
 *   static const struct coh_row cache_rows[] = {
 *       C(I, LOAD, ANY, IS, SEND(GetS, HOME, COH_FOR_SELF)),
 *   };
 */
#ifndef PROTOCOL_ROWS_H
#define PROTOCOL_ROWS_H

#include "cache/protocol/protocol.h"

#define OP_EVENT_ID(id, name) e_##id,
enum { COH_OPS(OP_EVENT_ID) };

#define KIND_ID(name, class, data, weight)       k_##name,
#define KIND_EVENT_ID(name, class, data, weight) e_##name = COH_OP_COUNT + k_##name,
#define KIND_ROW(name, class, data, weight)      {#name, COH_##class, data, weight},
#define PROTOCOL_KINDS(LIST)                                                                                 \
    enum { LIST(KIND_ID) KIND_COUNT };                                                                       \
    enum { LIST(KIND_EVENT_ID) };                                                                            \
    static const struct coh_kind kinds[] = {LIST(KIND_ROW)};

#define C_STATE_ID(name, flags) c_##name,
#define H_STATE_ID(name, flags) h_##name,
#define L_STATE_ID(name, flags) l_##name,
#define G_STATE_ID(name, flags) g_##name,
#define STATE_ROW(name, flags)  {#name, flags},

/* Rows of a cache, a home, an L1, a GPU's L2 with a table of its own. */
#define ROW_OF(p, state, event, when, next, ...)                                                             \
    {                                                                                                        \
        p##_##state, e_##event, COH_IF_##when, p##_##next,                                                   \
        {                                                                                                    \
            __VA_ARGS__                                                                                      \
        }                                                                                                    \
    }
#define C(state, event, when, next, ...) ROW_OF(c, state, event, when, next, __VA_ARGS__)
#define H(state, event, when, next, ...) ROW_OF(h, state, event, when, next, __VA_ARGS__)
#define L(state, event, when, next, ...) ROW_OF(l, state, event, when, next, __VA_ARGS__)
#define G(state, event, when, next, ...) ROW_OF(g, state, event, when, next, __VA_ARGS__)

/* The event waits; three of a core at once. */
#define Z(p, state, event)                                                                                   \
    {                                                                                                        \
        p##_##state, e_##event, COH_IF_ANY, p##_##state,                                                     \
        {                                                                                                    \
            {                                                                                                \
                COH_DO_STALL, 0, 0, 0                                                                        \
            }                                                                                                \
        }                                                                                                    \
    }
#define Z3(p, state) Z(p, state, LOAD), Z(p, state, STORE), Z(p, state, EVICT)

#define SEND(kind, to, flags)                                                                                \
    {                                                                                                        \
        COH_DO_SEND, k_##kind, COH_TO_##to, flags                                                            \
    }
#define DO(verb)                                                                                             \
    {                                                                                                        \
        COH_DO_##verb, 0, 0, 0                                                                               \
    }
#define NONE                                                                                                 \
    {                                                                                                        \
        COH_DO_NOTHING, 0, 0, 0                                                                              \
    }

#define TABLE(id, name, help, states, rows, ops)                                                             \
    static const struct coh_table id = {                                                                     \
        name, help, states, rows, sizeof(states) / sizeof *(states), sizeof(rows) / sizeof *(rows), ops}

#define OP(id)   (1u << COH_##id)
#define CORE_OPS (OP(LOAD) | OP(STORE) | OP(EVICT))
#define DMA_OPS  (OP(DMA_READ) | OP(DMA_WRITE))

#endif
