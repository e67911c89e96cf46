/* Coherence protocols as tables. Pure: no clock, no data, no addresses.
 *
 * A protocol has one table for each kind of controller: `cache` (a private cache), `home` (the node that
 * orders requests for a line), and for GPUs `l1` (a cache below a GPU's L2). A row says what a controller
 * does when an event meets a line in some state: the actions, and the next state. Rows of one state and event
 * are tried in order; the first whose condition holds is taken. The timed controllers (src/coherence), the
 * model checker (src/cache/check) and `heddle protocol show` all read the same rows.
 *
 * What a line holds besides its state is in struct coh_line; its data is the owner's business. A call of
 * coh_apply changes the line and says in struct coh_effect what else is to be done, in this order: take the
 * message's data, serve the operations that wait, send messages. */
#ifndef PROTOCOL_PROTOCOL_H
#define PROTOCOL_PROTOCOL_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Operations: what a core, the cache itself or a copy engine asks for. Messages are events, too. */
#define COH_OPS(X)                                                                                           \
    X(LOAD, "load")                                                                                          \
    X(STORE, "store")                                                                                        \
    X(EVICT, "evict")                                                                                        \
    X(ACQUIRE, "acquire") /* later loads see what others released before */                                  \
    X(RELEASE, "release") /* earlier stores are seen by others */                                            \
    X(DMA_READ, "dma-read")                                                                                  \
    X(DMA_WRITE, "dma-write")

#define COH_OP_ID(id, name) COH_##id,
enum coh_op { COH_OPS(COH_OP_ID) COH_OP_COUNT, COH_NO_OP = 0xff };

enum {
    COH_KINDS_MOST = 32,
    COH_STATES_MOST = 32,
    COH_ACTIONS_MOST = 5,
    COH_SENDS_MOST = 4,
    COH_AGENTS_MOST = 64
};
enum { COH_EVENTS_MOST = COH_OP_COUNT + COH_KINDS_MOST, COH_NOBODY = 0xff };

/* A message's event. */
static inline unsigned coh_event_of(unsigned kind)
{
    return COH_OP_COUNT + kind;
}

/* Virtual networks: handling a message may wait for one of a later class only, so classes cannot deadlock. */
#define COH_CLASSES(X)                                                                                       \
    X(REQUEST, "request") X(FORWARD, "forward") X(RESPONSE, "response") X(UNBLOCK, "unblock")
#define COH_CLASS_ID(id, name) COH_##id,
enum coh_class { COH_CLASSES(COH_CLASS_ID) COH_CLASS_COUNT };

struct coh_kind {
    const char *name;
    uint8_t class; /* enum coh_class */
    bool has_data; /* it carries the line */
    int8_t weight; /* what it adds to the answers that its receiver awaits: -1 for an answer */
};

#define COH_STATE_FLAGS(X)                                                                                   \
    X(REST, 1, "rest")   /* nothing is under way */                                                          \
    X(READ, 2, "read")   /* the copy here is the last value written, and loads may read it */                \
    X(WRITE, 4, "write") /* stores may write it: no one else has a copy that can be read */                  \
    X(OWNS, 8, "owns")   /* the copy here may differ from memory's: it must not be lost */                   \
    X(COPY, 16, "copy")  /* there is a copy, though none of the above says so */
#define COH_STATE_FLAG_ID(id, bit, name) COH_##id = bit,
enum coh_state_flag { COH_STATE_FLAGS(COH_STATE_FLAG_ID) };

struct coh_state {
    const char *name;
    uint8_t flags; /* enum coh_state_flag */
};

/* Conditions of rows. */
#define COH_CONDITIONS(X)                                                                                    \
    X(ANY, "any")                                                                                            \
    X(ALL_IN, "all-in")     /* with this message, no answer is awaited any more */                           \
    X(NONE_OUT, "none-out") /* no answer is awaited */                                                       \
    X(FROM_OWNER, "from-owner")                                                                              \
    X(FROM_SHARER, "from-sharer")                                                                            \
    X(NO_OTHERS, "no-others") /* no sharer but the sender */                                                 \
    X(DIRTY, "dirty")

#define COH_CONDITION_ID(id, text) COH_IF_##id,
enum coh_condition { COH_CONDITIONS(COH_CONDITION_ID) COH_CONDITION_COUNT };

/* What an action does. */
#define COH_VERBS(X)                                                                                         \
    X(NOTHING, "nothing")                                                                                    \
    X(SEND, "send")                                                                                          \
    X(STALL, "wait")                    /* the event waits until the line changes, and is tried again */     \
    X(TAKE, "take")                     /* the message's data, with its dirty bit */                         \
    X(MERGE, "merge")                   /* ... and a line that is dirty stays so */                          \
    X(PERFORM, "perform")               /* at home: the message is a store, and happens now */               \
    X(SERVE_LOAD, "load")               /* the loads that wait are done */                                   \
    X(SERVE_STORE, "store")             /* the stores that wait write the copy here, which is dirty then */  \
    X(DONE, "done")                     /* what waits is done, and changes no copy here */                   \
    X(COUNT, "count")                   /* adds the message's weight to the answers awaited */               \
    X(AWAIT_ALL, "await-all")           /* answers of the other caches, and memory's */                      \
    X(AWAIT_CACHES, "await-others")     /* ... of the other caches */                                        \
    X(AWAIT_EVERYONE, "await-everyone") /* at home: of every cache */                                        \
    X(AWAIT_SHARERS, "await-sharers")   /* at home: of every sharer */                                       \
    X(AWAIT_ONE, "await-one")                                                                                \
    X(OWNER_IS_SENDER, "sender-owns")                                                                        \
    X(OWNER_NONE, "nobody-owns")                                                                             \
    X(ADD_SENDER, "add-sender") /* to the sharers */                                                         \
    X(ONLY_SENDER, "only-sender")                                                                            \
    X(NO_SHARERS, "no-sharers")                                                                              \
    X(CLEAN, "clean")                                                                                        \
    X(KEEP_REQUESTER, "note-requester")

#define COH_VERB_ID(id, text) COH_DO_##id,
enum coh_verb { COH_VERBS(COH_VERB_ID) COH_VERB_COUNT };

/* Where a message goes. From SHARERS on, it may be to nobody. */
#define COH_TARGETS(X)                                                                                       \
    X(HOME, "home")                                                                                          \
    X(MEMORY, "memory")                                                                                      \
    X(SENDER, "sender")                                                                                      \
    X(REQUESTER, "requester") /* whom the message is for */                                                  \
    X(NOTED, "noted")         /* by note-requester */                                                        \
    X(OWNER, "owner")                                                                                        \
    X(SHARERS, "sharers")                                                                                    \
    X(OTHER_SHARERS, "other-sharers") /* but the requester and the owner */                                  \
    X(OTHERS, "others")               /* all caches but the requester */                                     \
    X(EVERYONE, "everyone")           /* all caches */

#define COH_TARGET_ID(id, text) COH_TO_##id,
enum coh_target { COH_TARGETS(COH_TARGET_ID) COH_TARGET_COUNT };

#define COH_SEND_FLAGS(X)                                                                                    \
    X(FOR_SELF, 1, "for-self")    /* the sender is the requester */                                          \
    X(TELLS, 2, "tells")          /* tells how many other sharers answer to the requester */                 \
    X(PASSES, 4, "passes")        /* passes on the number that the message told */                           \
    X(OF_STORE, 8, "of-store")    /* the data is the waiting store's, not the line's */                      \
    X(FOR_NOTED, 16, "for-noted") /* the noted one is the requester */
#define COH_SEND_FLAG_ID(id, bit, name) COH_##id = bit,
enum coh_send_flag { COH_SEND_FLAGS(COH_SEND_FLAG_ID) };

struct coh_action {
    uint8_t verb, kind, to, flags; /* the last three are of SEND */
};

struct coh_row {
    uint8_t state, event, when, next;
    struct coh_action actions[COH_ACTIONS_MOST];
};

struct coh_table {
    const char *name, *help;
    const struct coh_state *states;
    const struct coh_row *rows;
    size_t state_count, row_count;
    uint32_t ops; /* bits: operations that reach this controller */
};

enum coh_role { COH_CACHE, COH_HOME, COH_L1, COH_GPU_L2, COH_ROLE_COUNT };

/* How a GPU's L2 looks to the L1s below it: what they ask, as operations of the L2's line, and the answers.
 * Messages of these kinds between two controllers arrive in the order that they were sent in; all others may
 * overtake each other. */
struct coh_below {
    uint8_t get, put, data, ack; /* kinds */
};

struct protocol {
    const char *name, *help;
    const struct coh_kind *kinds;
    size_t kind_count;
    /* By role; the table of a GPU's L2 is the cache's unless it has its own. No l1: there are no GPUs. */
    const struct coh_table *tables[COH_ROLE_COUNT];
    struct coh_below below;
    bool memory_apart; /* the home is a cache with a memory behind it, which answers to these kinds: */
    uint8_t memory_read, memory_write, memory_data, memory_ack;
    bool gpu_l2_writes_through; /* a store there is the home's, and takes no room in the L2 */
    bool is_incoherent;         /* on purpose */
};

/* ---- protocols as text ---- */

/* Prints a protocol in the words of protocol_read. */
struct text;
void protocol_print(const struct protocol *protocol, struct text *text);

/* Reads one from a file; the caller's, until protocol_free. */
struct protocol *protocol_read(const char *path, struct err *err);
struct protocol *protocol_parse(char *content, const char *path, struct err *err); /* content is changed */
void protocol_free(struct protocol *protocol);

extern const struct protocol *const protocols[]; /* ends in NULL */
const struct protocol *protocol_find(const char *name);

/* ---- one line at one controller ---- */

struct coh_line {
    uint8_t state, dirty;
    uint8_t owner, noted; /* agents, or COH_NOBODY */
    int16_t awaited;      /* answers; may be below 0 for a while */
    uint16_t unused;
    uint64_t sharers; /* bits of agents */
};

struct coh_message {
    uint8_t kind, from, to, requester; /* agents */
    uint8_t dirty;
    int8_t count; /* what it adds to the answers awaited */
};

struct coh_sending {
    struct coh_message message; /* `to` is not set: */
    uint64_t to;                /* bits of agents */
    bool of_store;              /* its data is the waiting store's */
    bool may_be_none;           /* that no agent gets it is no mistake */
};

struct coh_effect {
    bool stall, take, performs, serves_load, serves_store, done;
    uint8_t count;
    struct coh_sending sends[COH_SENDS_MOST];
};

/* Which agents there are. Caches (and a GPU's L2) are agents 0 to caches-1. */
struct coh_place {
    uint8_t self, home, memory, caches;
};

/* A table ready for use: rows by state and event. */
struct coh_controller {
    const struct protocol *protocol;
    const struct coh_table *table;
    uint16_t first[COH_STATES_MOST][COH_EVENTS_MOST]; /* plus 1; 0: there is no row */
};

void coh_controller_init(struct coh_controller *controller, const struct protocol *protocol,
                         const struct coh_table *table);

/* The row that applies, or NULL: such an event cannot happen in this state. `message` is NULL for operations.
 */
const struct coh_row *coh_row_of(const struct coh_controller *controller, const struct coh_line *line,
                                 unsigned event, const struct coh_message *message);

void coh_apply(const struct coh_controller *controller, const struct coh_place *place,
               const struct coh_row *row, struct coh_line *line, const struct coh_message *message,
               struct coh_effect *effect);

/* The table of a role: NULL if the protocol has no such controllers. */
const struct coh_table *protocol_table(const struct protocol *protocol, enum coh_role role);

const char *coh_event_name(const struct protocol *protocol, unsigned event);
const char *coh_condition_name(unsigned condition);

/* Whether a table makes sense by itself: rows in bounds, none hidden behind another, no operation without a
 * row. The first state of a table is that of a line of which nothing is known. */
bool protocol_valid(const struct protocol *protocol, struct err *err);

static inline bool coh_state_is(const struct coh_table *table, unsigned state, unsigned flags)
{
    return (table->states[state].flags & flags) == flags;
}

#endif
