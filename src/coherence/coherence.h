/* A coherent memory system in time: caches, homes with memory, and a network between them, under any protocol
 * of src/cache/protocol. Values travel with messages: a wrong table, or a lost message, shows as a wrong
 * value.
 *
 * Agents are endpoints of the network, and islands each: first the caches of CPUs, then the GPU's L2 (if
 * there are L1s), then homes, then L1s. A client uses an agent from the same island: it asks with agent_ask,
 * and is called when an operation is done. Lines are spread over homes. */
#ifndef COHERENCE_COHERENCE_H
#define COHERENCE_COHERENCE_H

#include "cache/protocol/protocol.h"
#include "coherence/topology.h"
#include "engine/engine.h"

enum { COHERENCE_LINE_MOST = 128, COHERENCE_WORD = 8 };

struct coherence_spec {
    const struct protocol *protocol;
    uint32_t cpus; /* caches of CPUs */
    uint32_t l1s;  /* of the GPU; 0: there is none */
    uint32_t homes;
    uint32_t line_bytes;   /* 32 to COHERENCE_LINE_MOST */
    uint64_t memory_bytes; /* of all homes together */
    uint32_t cache_sets, cache_ways, gpu_l2_sets, gpu_l2_ways, l1_sets, l1_ways;
    uint32_t home_sets, home_ways; /* where the home is a cache */
    uint64_t cache_latency_ps, home_latency_ps, memory_latency_ps;
    uint32_t room;    /* messages of each virtual network that an agent has room for; 0: for any number */
    uint32_t mshrs;   /* lines that are not here and that operations of a cache wait for; 0: some hundred */
    bool jitter;      /* for tests: messages are delayed at random, so that they overtake each other */
    bool one_network; /* for tests: all classes of messages share a virtual network, which may deadlock */
    struct topology_spec topology;
};

/* What is asked of an agent: a word of memory, below memory_bytes. A client may have some hundred operations
 * under way, and one release. */
struct coherence_op {
    uint64_t id;      /* the client's */
    uint64_t address; /* of a word; anything for acquire and release */
    uint64_t
        value;  /* to store, or to add; when it is done: what was loaded, or was there before an addition */
    uint8_t op; /* enum coh_op */
    bool adds;  /* a store that adds */
    uint8_t unused[6];
};

struct agent;
struct archive;

/* A client of an agent. Its state is `state_bytes` at the end of the component's, plain data. */
struct coherence_client {
    size_t state_bytes;
    void (*start)(struct agent *agent, void *client);
    void (*event)(struct agent *agent, void *client, uint64_t what); /* after agent_later */
    void (*done)(struct agent *agent, void *client, const struct coherence_op *op);
    /* Or NULL: what it has besides its state, to checkpoints and back. */
    void (*archive)(struct agent *agent, void *client, struct archive *archive);
};

struct coherence;

/* The largest payload of its messages, for struct engine_spec. */
uint32_t coherence_payload_bytes(void);

/* `clients` is by agent; NULL: an agent without one. They must outlive the engine. The spec is
 * copied. */
struct coherence *coherence_new(struct engine *engine, const struct coherence_spec *spec,
                                const struct coherence_client *const *clients, void *const *users,
                                struct err *err);
void coherence_free(struct coherence *coherence); /* after the engine */

uint32_t coherence_agents(const struct coherence_spec *spec);
enum coh_role coherence_role(const struct coherence_spec *spec, uint32_t agent);

/* What memory holds when all is written back; after a run. */
uint64_t coherence_read(const struct coherence *coherence, uint64_t address);

/* Counters of all agents of a role. */
#define COHERENCE_COUNTERS(X)                                                                                \
    X(hits, "operations that were done at once")                                                             \
    X(misses, "operations that waited for a message")                                                        \
    X(waits, "operations and messages that waited for a line that was busy")                                 \
    X(evictions, "lines that were evicted")                                                                  \
    X(messages, "messages sent")                                                                             \
    X(data_messages, "... with a line")
struct coherence_counters {
#define COHERENCE_FIELD(name, help) uint64_t name;
    COHERENCE_COUNTERS(COHERENCE_FIELD)
};
struct coherence_counters coherence_count(const struct coherence *coherence, enum coh_role role);

/* Starts an agent's client again, between runs: its `event` is called. */
void coherence_post(struct coherence *coherence, struct engine *engine, uint32_t agent, uint64_t what);

/* ---- for clients ---- */

void agent_ask(struct agent *agent, const struct coherence_op *op);
void agent_later(struct agent *agent, uint64_t delay_ps, uint64_t what);
uint64_t agent_now(const struct agent *agent);
uint32_t agent_id(const struct agent *agent);
void *agent_user(const struct agent *agent);

#endif
