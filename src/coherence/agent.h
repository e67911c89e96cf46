/* An agent in time: a controller with its lines. For this room only. */
#ifndef COHERENCE_AGENT_H
#define COHERENCE_AGENT_H

#include "base/rng.h"
#include "cache/tags.h"
#include "coherence/coherence.h"
#include "net/message.h"

enum { AGENT_NOT_RESIDENT = UINT32_MAX, AGENT_MEMORY = COH_AGENTS_MOST - 1 };

/* Between agents; also an own event of one that sends later, or whose memory answers. */
struct packet {
    struct net_head head;
    struct coh_message message;
    uint8_t has_line, adds;
    uint64_t line;
    uint64_t address, word; /* of a store on its way, or what it found */
    uint8_t data[COHERENCE_LINE_MOST];
};

/* An operation or a message that waits at a line. */
struct agent_waiting {
    uint32_t next; /* plus 1 */
    uint8_t is_message;
    uint8_t whose;   /* the agent that gets the answer: this one, or an L1 */
    uint8_t network; /* whose room it has, plus 1; 0: none */
    uint8_t unused;
    struct coherence_op op;
    struct packet packet;
};

/* A line that is here, or that something waits for. */
struct entry {
    uint64_t line;
    struct coh_line state;
    uint32_t next;        /* in its bucket, or of the free ones; plus 1 */
    uint32_t slot;        /* of the tags, or AGENT_NOT_RESIDENT */
    uint32_t current;     /* the operation that was accepted and is not done; plus 1 */
    uint32_t first, last; /* of what waits until the line changes; plus 1 */
    uint8_t in_use;
    uint8_t wants_way; /* all ways of its set are busy */
    uint8_t releases;  /* the waiting release has not passed it */
    uint8_t unused;
    uint8_t data[COHERENCE_LINE_MOST];
};

struct agent_state {
    struct coherence_counters counters;
    struct rng rng;
    uint64_t free_entry, free_waiting; /* plus 1 */
    uint64_t entries_used, waitings_used;
    uint64_t blocked_first, blocked_last; /* operations that wait for a way; plus 1 */
    uint64_t released;                    /* the waiting release; plus 1 */
    uint64_t wanting;                     /* lines that want a way */
    /* Behind it: buckets, entries, waitings, tags, entries of slots, memory, the client's state. */
};

/* Constant; what the component's spec points to. */
struct agent {
    const struct coherence *coherence;
    const struct coherence_client *client;
    void *user;
    struct agent **self; /* the component's spec */
    struct component *component;
    struct agent_state *state;
    struct coh_controller controller;
    enum coh_role role;
    uint32_t id, buckets, entry_count, waiting_count, slots, sets, ways;
    size_t buckets_at, entries_at, waitings_at, tags_at, slots_at, memory_at, client_at, state_bytes;
    uint64_t latency_ps, memory_latency_ps;
    bool has_memory;
    bool stores_allocate; /* a store takes a way */
};

struct coherence {
    struct coherence_spec spec;
    struct agent *agents;
    struct network *network;
    struct topology_agents places;
};

/* Virtual networks: what L1s ask of the L2, if there are any, then enum coh_class. What an agent waits for
 * before it is done with a message comes by a later one. */
enum { AGENT_NETWORKS_MOST = COH_CLASS_COUNT + 1 };
uint32_t agent_networks(const struct coherence_spec *spec);
uint32_t agent_network_of(const struct coherence_spec *spec, unsigned kind);

void agent_archive(struct component *self, void *state, struct archive *archive);
extern const struct component_ops agent_ops;
enum { AGENT_CLIENT_EVENT = 2 };

/* ---- lines (lines.c) ---- */

static inline struct agent *agent_of(const struct component *self)
{
    return *(struct agent *const *)component_spec(self);
}

static inline void *agent_client(const struct agent *agent)
{
    return (char *)agent->state + agent->client_at;
}

static inline uint32_t *agent_buckets(const struct agent *agent)
{
    return (uint32_t *)(void *)((char *)agent->state + agent->buckets_at);
}

static inline struct entry *entry_at(const struct agent *agent, uint64_t number)
{
    return (struct entry *)(void *)((char *)agent->state + agent->entries_at) + (number - 1);
}

static inline struct agent_waiting *waiting_at(const struct agent *agent, uint64_t number)
{
    return (struct agent_waiting *)(void *)((char *)agent->state + agent->waitings_at) + (number - 1);
}

static inline struct tags *agent_tags(const struct agent *agent)
{
    return (struct tags *)(void *)((char *)agent->state + agent->tags_at);
}

static inline uint32_t *agent_slots(const struct agent *agent)
{
    return (uint32_t *)(void *)((char *)agent->state + agent->slots_at);
}

void agent_layout(struct agent *agent); /* sets offsets and state_bytes */
void agent_clear(struct agent *agent);

struct entry *entry_find(const struct agent *agent, uint64_t line); /* or NULL */
struct entry *entry_make(struct agent *agent, uint64_t line);       /* NULL: no room */
void entry_free(struct agent *agent, struct entry *entry);
uint8_t *entry_memory(const struct agent *agent, uint64_t line); /* of a home: where memory has it */

uint32_t waiting_take(struct agent *agent);
void waiting_give(struct agent *agent, uint32_t number);
void waiting_append(struct agent *agent, struct entry *entry, uint32_t number);

/* ---- the network ---- */

uint32_t agent_home_of(const struct agent *agent, uint64_t line);
void agent_send(struct agent *agent, struct packet *packet, uint32_t to, uint64_t delay_ps);

#endif
