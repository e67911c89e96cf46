/* Coherent accesses, one at a time. An access is followed through the tables of a protocol
 * (src/cache/protocol), message by message, until all is at rest again, and the caller gets the time at which
 * it was done. So whoever calls needs no events of its own: models of CPU cores, which want an answer at
 * once, and the host's memory of a GPU machine, which is one component of an engine.
 *
 * What it has in common with the timed agents of src/coherence: tables, messages, topologies, latencies. An
 * access that meets no other takes the same time (tests/unit/test_follow.c). What it does not have:
 * transactions of one line that overlap. Links and memory are shared by all, in the order of calls: each has
 * a calendar, so calls need not come in the order of their times.
 *
 * Copies have no bytes here. Instead it is known of each copy, at caches, the home and memory, whether it
 * misses a store. A protocol that forgets to probe a cache, or loses a line that was written back, shows as a
 * copy that does. */
#ifndef FOLLOW_WALK_H
#define FOLLOW_WALK_H

#include "base/stat.h"
#include "cache/protocol/protocol.h"
#include "cache/replace.h"
#include "coherence/topology.h"

struct follow_cache {
    uint32_t sets, ways; /* 0: whoever uses the agent says what leaves (follow_leave) */
    uint64_t latency_ps;
};

struct follow_spec {
    const struct protocol *protocol; /* which outlives it */
    uint32_t cpus, gpus, homes;
    uint32_t line_bytes;
    struct follow_cache cpu, gpu,
        home; /* the home: in front of memory, and the home itself where that is a cache */
    uint64_t memory_latency_ps, memory_bytes_per_s; /* 0: no limit */
    struct topology_spec topology;
};

/* Agents: CPUs, then GPUs, then homes. */
struct follow_client {
    /* Whether the CPU has changed the line since it may: it does not tell. */
    bool (*is_dirty)(void *user, uint32_t cpu, uint64_t line);
    /* A copy of the CPU ends, or may only be read from now on. */
    void (*lose)(void *user, uint32_t cpu, uint64_t line, bool invalidate);
    void *user;
};

#define FOLLOW_STATS(X, S)                                                                                   \
    X(S, accesses, "lines", "accesses of caches that reached the protocol")                                  \
    X(S, hits, "lines", "of these, done without a message")                                                  \
    X(S, messages, "messages", "sent between caches, homes and memory")                                      \
    X(S, data_messages, "messages", "of these, with a line")                                                 \
    X(S, hops, "messages", "links that messages crossed")                                                    \
    X(S, probes, "lines", "copies of CPUs that ended, or may only be read from then on")                     \
    X(S, home_hits, "lines", "reads of memory that the cache in front of it served")                         \
    X(S, memory_reads, "lines", "lines read from memory")                                                    \
    X(S, memory_writes, "lines", "lines written to memory")                                                  \
    X(S, transfers, "lines", "lines that came from another cache")                                           \
    X(S, evictions, "lines", "lines that left for want of room, at GPUs and homes")                          \
    X(S, copies_read, "lines", "lines that copy engines read")                                               \
    X(S, copies_written, "lines", "lines that copy engines wrote")                                           \
    X(S, stale, "lines", "accesses that got a copy that misses a store")

struct follow_counts {
    FOLLOW_STATS(STAT_FIELD, follow_counts)
};
extern const struct stat_table follow_stats;

enum follow_from { FOLLOW_FROM_HERE, FOLLOW_FROM_HOME, FOLLOW_FROM_MEMORY, FOLLOW_FROM_CACHE };

struct follow_reply {
    uint64_t done_ps;
    enum follow_from from;
    bool may_write; /* the agent may change its copy without asking */
    bool stale;     /* the copy misses a store of somebody */
    bool took;      /* a copy came with it */
    void *data;     /* of a GPU: the bytes of its copy, for the caller to fill and use; until the next call */
};

struct follow;

/* NULL: the spec does not go together. */
struct follow *follow_new(const struct follow_spec *spec, const struct follow_client *client,
                          struct err *err);
void follow_free(struct follow *follow);

/* COH_LOAD or COH_STORE of an agent at this time; of a copy engine, COH_DMA_READ or COH_DMA_WRITE: the agent
 * is the line's home then. */
struct follow_reply follow_access(struct follow *follow, uint32_t agent, uint64_t line, enum coh_op op,
                                  uint64_t time_ps);

/* A CPU has no room for the line any more. */
void follow_leave(struct follow *follow, uint32_t cpu, uint64_t line, bool dirty, uint64_t time_ps);

/* Bytes of a GPU's copy, or NULL: it has none that can be read. */
void *follow_copy(struct follow *follow, uint32_t gpu_agent, uint64_t line);

/* All that a GPU has a copy of leaves: before a kernel, where the protocol is none. */
void follow_leave_all(struct follow *follow, uint32_t agent, uint64_t time_ps);

bool follow_is_incoherent(const struct follow *follow); /* on purpose */
uint32_t follow_home_of(const struct follow *follow, uint64_t line);
const struct follow_counts *follow_counts(const struct follow *follow);

/* "": all went by the rows of the protocol. */
const char *follow_failure(const struct follow *follow);

/* Of a line's state at an agent: enum coh_state_flag. */
uint8_t follow_flags(const struct follow *follow, uint32_t agent, uint64_t line);

#endif
