/* For this room only. */
#ifndef FOLLOW_PARTS_H
#define FOLLOW_PARTS_H

#include "base/calendar.h"
#include "cache/tags.h"
#include "coherence/follow/follow.h"

enum { FOLLOW_MEMORY = COH_AGENTS_MOST - 1, FOLLOW_NODES_MOST = 256 };

/* A line that some cache has, or whose home knows something of it: its state at every cache, and at home. */
struct follow_line {
    uint64_t line;
    uint32_t next; /* in its bucket, or of the free ones; plus 1 */
    uint32_t unused;
    uint64_t
        misses; /* bits: whose copy misses a store; by cache, then the home's; memory's is FOLLOW_MEMORY */
    struct coh_line at[]; /* by cache, then the home's; behind them the GPUs' bytes */
};

struct follow_lines {
    char *at;
    size_t bytes_each;
    uint32_t used, capacity, spare; /* plus 1 */
    uint32_t *buckets;
    uint32_t bucket_count; /* a power of two */
};

void follow_lines_init(struct follow_lines *lines, size_t bytes_each);
void follow_lines_fini(struct follow_lines *lines);
struct follow_line *follow_line_find(const struct follow_lines *lines, uint64_t line); /* or NULL */
struct follow_line *follow_line_make(struct follow_lines *lines, uint64_t line); /* pointers to others end */
void follow_line_free(struct follow_lines *lines, struct follow_line *line);
static inline struct follow_line *follow_line_at(const struct follow_lines *lines, uint32_t number)
{
    return (struct follow_line *)(void *)(lines->at + (size_t)number * lines->bytes_each);
}

/* ---- the way between agents ---- */

struct follow_link {
    uint64_t latency_ps, period_ps; /* in which PERIOD_BYTES pass; 0: no limit */
    uint32_t overhead_bytes, flit_bytes;
    struct calendar *ways[2]; /* by direction; NULL where there is no limit */
};

struct follow_ways {
    uint32_t node_count, link_count;
    struct follow_link *links;
    uint64_t *node_latency;
    uint16_t *next_node, *next_link; /* by node and destination */
};

bool follow_ways_init(struct follow_ways *ways, const struct net_graph *graph, struct err *err);
void follow_ways_fini(struct follow_ways *ways);

/* When a message that leaves at this time is there; adds the links that it crosses. */
uint64_t follow_ways_pass(struct follow_ways *ways, uint32_t from, uint32_t to, uint32_t bytes,
                          uint64_t time_ps, uint64_t *hops);

/* Bytes that pass a narrow place, in periods: when those that come at this time have passed. */
uint64_t follow_narrow_pass(struct calendar *calendar, uint64_t period_ps, uint32_t bytes, uint64_t time_ps);
uint64_t follow_narrow_period(uint64_t bytes_per_s);

/* ---- an access ---- */

struct follow_message {
    uint64_t time_ps, order;
    struct coh_message message;
    bool misses; /* its data misses a store */
    bool is_op;  /* no message, but what an agent asks for itself */
    uint8_t op;
    uint8_t source; /* enum follow_from, of its data */
};

struct follow {
    struct follow_spec spec;
    struct follow_client client;
    struct coh_controller controllers[COH_ROLE_COUNT];
    struct follow_lines lines;
    struct follow_ways ways;
    struct calendar *memory; /* or NULL */
    uint64_t memory_period_ps;
    uint32_t caches;                         /* CPUs and GPUs */
    struct tags *gpu_tags[16];               /* by GPU; NULL: any number of lines */
    struct tags *home_tags[COH_AGENTS_MOST]; /* by home, or NULL */
    struct follow_counts counts;
    struct err failure;

    /* Of the access that is under way: */
    struct follow_message *queue, *stalled; /* messages on their way, and at lines that are busy */
    size_t queue_count, queue_capacity, stalled_count, stalled_capacity;
    uint64_t order;
    uint32_t agent;
    enum coh_op op;
    bool waits;         /* the access was taken, and is not done */
    bool performed;     /* its store was done at home */
    bool missed_before; /* the agent's copy missed a store before that */
    bool fetched;       /* the home read the line from memory */
    struct follow_reply reply;
};

/* Lines in front of memory, and memory (memory.c). */
uint64_t follow_memory_read(struct follow *follow, uint32_t home, uint64_t line, uint64_t time_ps,
                            enum follow_from *from);
void follow_memory_write(struct follow *follow, uint32_t home, uint64_t line, uint64_t time_ps);

#endif
