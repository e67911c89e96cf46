/* The engine: parallel discrete-event simulation with the same results, bit for bit, on any number of
 * threads.
 *
 * A model consists of islands, which hold components; components have ports, which are plugged into links. A
 * component accesses only its own state; components communicate by messages from port to port. Every link
 * between two islands has a latency above zero, so the engine can run islands at the same time: see
 * docs/engine.md.
 *
 * Ownership: the engine owns everything that is made with it, until engine_free. A component's spec belongs
 * to the caller and must outlive the engine. Payloads are copied. */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "base/clock.h"
#include "base/err.h"
#include "base/stat.h"

#include <stdbool.h>
#include <stdint.h>

struct engine;
struct island;
struct component;
struct port;
struct link;
struct archive;
struct text;

/* An event, also as it crosses islands: flat, without pointers, the same bytes in memory, in a checkpoint and
 * between machines. A change of its layout changes ENGINE_MESSAGE_VERSION. */
enum { ENGINE_MESSAGE_VERSION = 1 };

enum event_what {
    EVENT_OWN,      /* a component's own */
    EVENT_MESSAGE,  /* arrives at a port */
    EVENT_RECEIVED, /* a message that has waited for its turn to enter the port */
    EVENT_CREDIT,   /* comes back to the port that sent a message */
    EVENT_WAKE,     /* never in a queue: for hooks only */
};

struct event {
    uint64_t time;       /* ps */
    uint64_t order;      /* among events of one time: source island, then the source's sequence number */
    uint32_t target;     /* component, for its own event; port, for a message or credit */
    uint8_t what;        /* enum event_what */
    uint8_t kind;        /* what it means to the model */
    uint16_t bytes;      /* of payload */
    uint32_t from;       /* message: the sender's plug on the link; credit: the plug it comes from */
    uint32_t wire_bytes; /* that it takes on a link, overhead included */
    unsigned char payload[];
};

/* ---- making a model ---- */

struct zone;
struct ranks;

struct engine_spec {
    uint64_t seed;          /* of all random streams */
    uint32_t payload_bytes; /* the largest payload; 0: 24, which fill a cache line with their header */

    /* More events than this on one island at the same time are an error: time stands still; 0: 10 million. */
    uint64_t same_time_limit;

    /* For tests, or NULL: while an island runs, what belongs to other islands is out of reach, and a touch of
     * it ends the process with both names. One thread runs them all. What an island's handlers allocate is
     * the island's; for what its model makes before, see island_own. The caller's; freed after all that is in
     * it. */
    struct zone *apart;

    /* The processes that the islands are spread over (ranks/ranks.h), or NULL: this one has them all. All
     * make the same model, and call the same functions in the same order. */
    struct ranks *ranks;

    bool measures; /* engine_island_ns: how long each island takes */
};

struct engine *engine_new(const struct engine_spec *spec);
void engine_free(struct engine *engine);

/* The handlers of a component. One may be NULL if it is never called; if it is called all the same, that is a
 * bug, reported with the component's name. */
struct component_ops {
    const char *type;
    /* At time 0, before all else. */
    void (*start)(struct component *self, void *state);
    /* Its own event is due. */
    void (*event)(struct component *self, void *state, const struct event *event);
    /* A message joined the port's queue. */
    void (*arrive)(struct component *self, void *state, struct port *port);
    /* A credit came back from `plug` to a port that refused a message (to any plug) since the last call. */
    void (*ready)(struct component *self, void *state, struct port *port, uint32_t plug);
    /* The moment of component_wake is here. */
    void (*wake)(struct component *self, void *state);
    /* Called when no event is left: returns true if the component still waits for something, and adds to
     * `text` what that is. */
    bool (*waits)(const struct component *self, const void *state, struct text *text);
    /* Saves what the component has besides its state to a checkpoint, and restores it into a component that
     * was made the same way. NULL: nothing. See base/archive.h. */
    void (*archive)(struct component *self, void *state, struct archive *archive);
    const struct stat_table *stats; /* counters in the state */
    bool runs_ahead; /* uses component_horizon: how often it is woken is then not part of the result */
};

struct island *engine_island(struct engine *engine, const char *name);

/* Islands that are made from now on are of this region, such as all of one GPU; 0, as at first: of none. One
 * thread runs a region for as long as it can before it turns to another: its state stays in the host's
 * caches. It has no effect on results. */
void engine_region(struct engine *engine, uint32_t region);

/* Where there are ranks: islands that are made from now on are on this one; at first on rank 0. Only there is
 * their state ever touched. */
void engine_rank(struct engine *engine, uint32_t rank);
bool island_is_here(const struct island *island);

/* The same of one that is there already; before engine_ready. */
void engine_place(struct engine *engine, uint32_t island, uint32_t rank);
uint32_t engine_island_count(const struct engine *engine);

const char *engine_island_name(const struct engine *engine, uint32_t island);

/* Of the host's time, that it has run so far on this rank. */
uint64_t engine_island_ns(const struct engine *engine, uint32_t island);

/* Islands that nobody placed are spread evenly, in the order they were made in. */
void engine_spread(struct engine *engine);

/* Where islands are apart: what is allocated from now on belongs to this island; with NULL, to nobody again.
 */
void island_own(struct engine *engine, struct island *island);

/* `ports` names the ports, separated by commas: "request,reply". The state is zeroed memory of `state_bytes`;
 * it must be plain data, without pointers, because a checkpoint is a copy of it. Anything else is kept
 * elsewhere and saved by ops.archive. */
struct component *engine_component(struct engine *engine, struct island *island, const char *name,
                                   const struct component_ops *ops, const void *spec, size_t state_bytes,
                                   const char *ports);

/* Where a link's bandwidth is a limit. On a link that limits only arrivals, messages may overtake each other.
 */
enum link_limits { LINK_BOTH, LINK_OUT, LINK_IN };

struct link_spec {
    uint64_t latency_ps;     /* from the departure of the last byte to its arrival; above 0 between islands */
    uint64_t bytes_per_s;    /* of each plug, out of it and into it; 0: no limit */
    enum link_limits limits; /* or only one of these */
    uint32_t overhead_bytes; /* that travel with each message beside its payload */
    uint32_t credits;        /* messages a plug may have under way or queued at another plug; 0: no limit */
    const char *where;       /* "file:line" of its description, for errors; or NULL */
};

/* A link has two plugs or more; with more it is a crossbar: each can send to each. */
struct link *engine_link(struct engine *engine, const char *name, const struct link_spec *spec);
bool link_plug(struct link *link, struct port *port, struct err *err);

/* The same for a port that only sends or only receives messages. Islands that influence each other only
 * through a third one may then run further ahead of each other. */
enum port_way { PORT_BOTH, PORT_SENDS, PORT_RECEIVES, PORT_WAYS };
bool link_plug_one_way(struct link *link, struct port *port, enum port_way way, struct err *err);

/* While a link rests, nobody sends anything over it, and windows are as wide as without it. Between runs; it
 * has no effect on results. */
void link_rest(struct link *link, bool rests);

/* Checks the model and computes the lookahead of each island. After it, nothing can be added. */
bool engine_ready(struct engine *engine, struct err *err);

/* ---- inside a component ---- */

uint64_t component_now(const struct component *self);

/* How far a component may run on its own inside `wake`: nothing else happens on its island before this
 * moment. The horizon depends on windows and on where runs are cut, so a component that uses it (runs_ahead)
 * must reach the same state for any horizon: do everything that is due before it, and wake up again for the
 * rest. A failure must be raised at the time that the component was woken for. */
uint64_t component_horizon(const struct component *self);

const void *component_spec(const struct component *self);
void *component_state(const struct component *self); /* the same as the handlers are given */
size_t component_state_bytes(const struct component *self);
const char *component_name(const struct component *self);
const struct component_ops *component_type(const struct component *self); /* as given */
uint32_t component_island(const struct component *self);
bool component_is_here(const struct component *self); /* on this rank: else it is only a name */
uint32_t component_rank(const struct component *self);
uint64_t component_seed(const struct component *self); /* for rng_init, with the component's name as stream */
struct port *component_port(const struct component *self, uint32_t number);

/* An own event after `delay`. */
void component_schedule(struct component *self, uint64_t delay, uint8_t kind, const void *payload,
                        uint16_t bytes);

/* Calls `wake` at `time` (after now), after all events of that time; of several requests, the earliest
 * counts. */
void component_wake(struct component *self, uint64_t time);

/* Ends the run with this error; of several, the earliest counts, then that of the first island. The engine
 * can then neither continue nor be saved. */
void component_fail(struct component *self, const char *format, ...)
    __attribute__((format(__printf__, 2, 3)));

/* Ends this run at `time`, as if it had been its `until`; of several, at the earliest. It must be at least as
 * far ahead as the longest window is wide (engine_widest_window), so that no island has run beyond it. */
void component_stop(struct component *self, uint64_t time);
uint64_t engine_widest_window(const struct engine *engine);

bool port_is_here(const struct port *port);               /* on this rank */
uint32_t port_island(const struct port *port);            /* of its component */
uint32_t port_number(const struct port *port);            /* within its component */
uint32_t port_plug(const struct port *port);              /* its place on its link */
uint32_t port_plugs(const struct port *port);             /* how many plugs its link has */
uint32_t port_fill(const struct port *port);              /* messages waiting in it */
uint32_t port_room(const struct port *port, uint32_t to); /* messages that may be sent there now */
uint64_t port_free_at(const struct port *port);           /* when the last byte sent so far will have left */

/* Sends to the plug `to` of the port's link. Returns false when there is no credit, that is, no room at the
 * other side: nothing is sent, and `ready` is called when a credit returns. On a link with bandwidth messages
 * leave one after the other in the order they were sent in; `delay` holds this one, and all after it, back
 * for that time. (For a latency that differs from message to message, schedule an own event and send then.)
 *
 * All bytes of a payload count in digests: leave no padding unset. On the wire the message
 * takes the payload's size and the link's overhead; port_send_sized takes another size, for models that do
 * not carry all data. */
bool port_send(struct port *port, uint32_t to, uint64_t delay, uint8_t kind, const void *payload,
               uint16_t bytes);
bool port_send_sized(struct port *port, uint32_t to, uint64_t delay, uint8_t kind, const void *payload,
                     uint16_t bytes, uint32_t wire_bytes);

/* The first message in the port's queue, or NULL; and its removal, which gives the credit back. */
const struct event *port_head(const struct port *port);
void port_pop(struct port *port);

/* ---- running ---- */

enum engine_outcome {
    ENGINE_FINISHED,    /* nothing is left to happen */
    ENGINE_UNTIL,       /* all before `until` has happened */
    ENGINE_INTERRUPTED, /* `interrupt` was set; the state is whole and can be saved or run on */
    ENGINE_FAILED,      /* err says why */
};

/* What ranks tell rank 0 beside events, for someone who watches the run: it travels with their messages and
 * changes no result. All are called while no component runs. */
struct engine_asides {
    /* On the others, when a message leaves for rank 0: adds what there is to tell. `asked`: rank 0 is about
     * to show its progress. */
    void (*tell)(void *user, bool asked, struct text *bytes);
    /* On rank 0: what came from this rank. False: it makes no sense. */
    bool (*take)(void *user, uint32_t rank, const char *bytes, size_t count);
    /* On rank 0, then: all that happened before this time on any rank was told. */
    void (*passed)(void *user, uint64_t time);
    void *user;
};

struct engine_run {
    uint64_t until;               /* ps; TIME_NEVER: to the end */
    unsigned threads;             /* 0 is taken as 1 */
    const _Atomic int *interrupt; /* or NULL; when it is set, by a signal's handler say, the run ends soon */

    /* Or NULL; called now and then, by some thread, while no component runs. The events are those of all
     * ranks. */
    void (*progress)(void *user, uint64_t time, uint64_t events);

    /* Or NULL; called likewise, after each window: when it began, and how many islands had something to do in
     * it. So many can run at once. */
    void (*window)(void *user, uint64_t time, uint64_t islands);
    void *user;
    const struct engine_asides *asides; /* or NULL */

    /* Islands take turns moment by moment, on one thread: all that happens at one time happens island after
     * island (engine_moment), then all of the next time. On each rank. The results are the same. */
    bool by_moment;
};

/* Of a run by_moment, inside a component: what happens later anywhere has a later time, or the same time and
 * a larger place. False: no island runs. */
bool engine_moment(const struct engine *engine, uint64_t *time, uint64_t *place);

enum engine_outcome engine_run(struct engine *engine, const struct engine_run *run, struct err *err);

/* From outside, between runs (but not after an interrupted one): an own event of the component at `time`,
 * engine_time or later. */
void engine_post(struct engine *engine, struct component *component, uint64_t time, uint8_t kind,
                 const void *payload, uint16_t bytes);

/* The time up to which all islands have run, and the number of events so far. When no event is left, it is
 * the time of the last one; for components that run ahead, the time they were last woken. */
uint64_t engine_time(const struct engine *engine);
uint64_t engine_events(const struct engine *engine);

/* How the work was cut up: windows, and how often an island had something to do in one. It depends on
 * cuts (checkpoints, interrupts), not on the threads. */
uint64_t engine_windows(const struct engine *engine);
uint64_t engine_island_windows(const struct engine *engine);

/* A digest of all components' state, counters included. */
uint64_t engine_state_digest(const struct engine *engine);

/* The sum of a counter over all components of a type; by the offset of its field in the state. */
uint64_t engine_stat_sum(const struct engine *engine, const struct component_ops *type, size_t offset);

/* All components, in the order they were made in. */
size_t engine_component_count(const struct engine *engine);
const struct component *engine_component_at(const struct engine *engine, size_t index);

/* Who waits for whom now, between windows: ports for room at others; and components by their own word. Calls
 * with the names; `what`: in words. */
void engine_each_wait(const struct engine *engine,
                      void (*call)(void *user, const char *who, const char *what), void *user);
uint32_t component_ports(const struct component *self);

/* ---- checkpoints ---- */

/* Saves everything that is needed to continue, and `note` (such as the configuration). Between runs only. */
bool engine_save(const struct engine *engine, const char *path, const char *note, struct err *err);

/* Into a model that was made the same way and is ready; it must not have run. */
bool engine_load(struct engine *engine, const char *path, struct err *err);

/* The same as a part of something larger, both ways. Reading: archive->good says whether it matched; if not,
 * the engine can only be freed. */
void engine_archive(struct engine *engine, struct archive *archive);

/* Where there are ranks: afterwards rank 0 knows the state and the counts of all islands, as if it had run
 * them alone. Between runs; all ranks call it. */
bool engine_gather(struct engine *engine, struct err *err);

struct ranks *engine_ranks(const struct engine *engine); /* as in its spec */

bool engine_read_note(const char *path, struct text *note, struct err *err);

/* ---- hooks ---- */

enum hook_point {
    HOOK_HANDLE = 1, /* on a component: an event of any sort is about to be handled */
    HOOK_SEND = 2,   /* on a port: a message leaves */
    HOOK_CROSS = 4,  /* on a link: a message enters it */
    HOOK_ARRIVE = 8, /* on a port: a message has arrived */
};

/* What a hook sees and may alter. It runs in the thread that runs the island, so its data must be separate
 * for each island (index by `island`). Its data is not in checkpoints. */
struct hook_context {
    enum hook_point point;
    enum event_what what;
    uint32_t island;
    uint64_t time;
    struct component *component;
    struct port *port;   /* NULL for own events and wake-ups */
    uint32_t to;         /* SEND, CROSS: the plug the message goes to */
    struct event *event; /* kind and payload may be changed; NULL for a wake-up */
    uint64_t delay;      /* SEND, CROSS: may be raised */
    bool drop; /* may be set: the event does not happen, the message (or credit!) is lost on its way */
};

struct hook {
    void (*call)(struct hook *hook, struct hook_context *context);
    unsigned points; /* HOOK_HANDLE | ... */
    void *user;
    struct hook *next; /* the engine's */
};

/* Attach before a run; a hook hangs on one thing. Without a hook a point costs one untaken branch. */
void component_hook(struct component *component, struct hook *hook);
void port_hook(struct port *port, struct hook *hook);
void link_hook(struct link *link, struct hook *hook);

/* ---- the watch: a digest over every event's time, island, target, kind and payload ---- */

/* Call before the first run; the digest travels with checkpoints. */
void engine_watch(struct engine *engine);
uint64_t engine_watch_digest(const struct engine *engine);

#endif
