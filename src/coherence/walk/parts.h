/* For this room only. */
#ifndef WALK_PARTS_H
#define WALK_PARTS_H

#include "base/calendar.h"
#include "cache/tags.h"
#include "coherence/walk/walk.h"

enum { WALK_MEMORY = COH_AGENTS_MOST - 1, WALK_NODES_MOST = 256 };

/* A line that some cache has, or whose home knows something of it: its state at every cache, and at home. */
struct walk_line {
    uint64_t line;
    uint32_t next; /* in its bucket, or of the free ones; plus 1 */
    uint32_t unused;
    uint64_t misses; /* bits: whose copy misses a store; by cache, then the home's; memory's is WALK_MEMORY */
    struct coh_line at[]; /* by cache, then the home's; behind them the GPUs' bytes */
};

struct walk_lines {
    char *at;
    size_t bytes_each;
    uint32_t used, capacity, spare; /* plus 1 */
    uint32_t *buckets;
    uint32_t bucket_count; /* a power of two */
};

void walk_lines_init(struct walk_lines *lines, size_t bytes_each);
void walk_lines_fini(struct walk_lines *lines);
struct walk_line *walk_line_find(const struct walk_lines *lines, uint64_t line); /* or NULL */
struct walk_line *walk_line_make(struct walk_lines *lines, uint64_t line);       /* pointers to others end */
void walk_line_free(struct walk_lines *lines, struct walk_line *line);
static inline struct walk_line *walk_line_at(const struct walk_lines *lines, uint32_t number)
{
    return (struct walk_line *)(void *)(lines->at + (size_t)number * lines->bytes_each);
}

/* ---- the way between agents ---- */

struct walk_link {
    uint64_t latency_ps, period_ps; /* in which PERIOD_BYTES pass; 0: no limit */
    uint32_t overhead_bytes, flit_bytes;
    struct calendar *ways[2]; /* by direction; NULL where there is no limit */
};

struct walk_ways {
    uint32_t node_count, link_count;
    struct walk_link *links;
    uint64_t *node_latency;
    uint16_t *next_node, *next_link; /* by node and destination */
};

bool walk_ways_init(struct walk_ways *ways, const struct net_graph *graph, struct err *err);
void walk_ways_fini(struct walk_ways *ways);

/* When a message that leaves at this time is there; adds the links that it crosses. */
uint64_t walk_ways_pass(struct walk_ways *ways, uint32_t from, uint32_t to, uint32_t bytes, uint64_t time_ps,
                        uint64_t *hops);

/* Bytes that pass a narrow place, in periods: when those that come at this time have passed. */
uint64_t walk_narrow_pass(struct calendar *calendar, uint64_t period_ps, uint32_t bytes, uint64_t time_ps);
uint64_t walk_narrow_period(uint64_t bytes_per_s);

/* ---- an access ---- */

struct walk_message {
    uint64_t time_ps, order;
    struct coh_message message;
    bool misses; /* its data misses a store */
    bool is_op;  /* no message, but what an agent asks for itself */
    uint8_t op;
    uint8_t source; /* enum walk_from, of its data */
};

struct walk {
    struct walk_spec spec;
    struct walk_client client;
    struct coh_controller controllers[COH_ROLE_COUNT];
    struct walk_lines lines;
    struct walk_ways ways;
    struct calendar *memory; /* or NULL */
    uint64_t memory_period_ps;
    uint32_t caches;                         /* CPUs and GPUs */
    struct tags *gpu_tags[16];               /* by GPU; NULL: any number of lines */
    struct tags *home_tags[COH_AGENTS_MOST]; /* by home, or NULL */
    struct walk_counts counts;
    struct err failure;

    /* Of the access that is under way: */
    struct walk_message *queue, *stalled; /* messages on their way, and at lines that are busy */
    size_t queue_count, queue_capacity, stalled_count, stalled_capacity;
    uint64_t order;
    uint32_t agent;
    enum coh_op op;
    bool waits;         /* the access was taken, and is not done */
    bool performed;     /* its store was done at home */
    bool missed_before; /* the agent's copy missed a store before that */
    bool fetched;       /* the home read the line from memory */
    struct walk_reply reply;
};

/* Lines in front of memory, and memory (memory.c). */
uint64_t walk_memory_read(struct walk *walk, uint32_t home, uint64_t line, uint64_t time_ps,
                          enum walk_from *from);
void walk_memory_write(struct walk *walk, uint32_t home, uint64_t line, uint64_t time_ps);

#endif
