/* The memory that a recorded program's process and heddle share: what to record, and a lane for each thread
 * with two buffers of accesses. The plugin in the program's process (trace/qemu) fills one of them while
 * heddle (collect.c) writes the other to a trace. All that was recorded is here: however the program ends,
 * heddle finds it, and nothing of the program's files and descriptors is touched. */
#ifndef RECORD_SHARED_H
#define RECORD_SHARED_H

#include "trace/access.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    RECORD_LANES = 1024,     /* threads at a time */
    RECORD_BUFFER = 1 << 14, /* accesses: 256 KiB, which a core's own cache holds */
    RECORD_COLLECTORS = 64,  /* at most */
    RECORD_RANGES = 32,      /* of threads' numbers */
    RECORD_CLOCK_SHIFT = 17, /* instruction counts are kept where struct trace_access has them */
    RECORD_MERGED_MOST = 64, /* bytes */
    /* When one thread has run so many times the instructions that it took for its accesses, and so many
     * more that none is late by chance, the others are not waited for: they sleep, or all but do. */
    RECORD_PATIENCE_TIMES = 4,
    RECORD_PATIENCE_MORE = 1 << 28,
};

struct record_range {
    uint32_t first, last;
};

struct record_options {
    uint64_t skip;         /* instructions, of all threads together */
    uint64_t skip_threads; /* before that: until there are so many */
    uint64_t accesses;     /* of each thread; 0: all */
    bool run_on;           /* the program goes on when all was recorded */
    uint32_t range_count;  /* 0: all threads */
    struct record_range ranges[RECORD_RANGES];
};

enum record_state {
    LANE_FREE,
    LANE_LIVE,  /* the plugin fills it */
    LANE_ENDED, /* its thread has; free again when heddle has taken all */
};

struct record_lane {
    /* The plugin's, in every access. */
    _Alignas(64) struct trace_access *into; /* where its process has the buffer */
    uint64_t clock;                         /* instructions in blocks that were begun */
    _Atomic uint32_t count;                 /* of accesses in `into` */
    uint32_t room;
    /* The plugin's, now and then. */
    uint32_t merged;     /* of `count`, how many lanes_merge has seen */
    _Atomic uint32_t at; /* which buffer it fills */
    uint64_t left;       /* accesses still wanted */
    uint64_t check;      /* the clock at which to look around */
    uint64_t counted;    /* while skipping: how much of the clock others know of */
    uint64_t began;      /* the clock at which recording did */
    uint64_t stopped;    /* ... and ended, when all its accesses were recorded */
    uint32_t thread;     /* by order of appearance */
    uint32_t cpu;        /* QEMU's number of it */
    /* Of both sides. */
    _Alignas(64) _Atomic uint32_t full[2]; /* accesses handed over; 0: the plugin may fill it */
    _Atomic uint32_t state;
};

struct record_shared {
    struct record_options options;
    uint32_t collectors;             /* a lane's is its number modulo these */
    _Atomic uint32_t lanes_used;     /* lanes beyond were never used */
    _Atomic uint32_t threads;        /* that there were, in all */
    _Atomic uint32_t over;           /* each thread had its accesses */
    _Atomic uint32_t began;          /* recording */
    _Atomic uint32_t became_another; /* the program called exec */
    _Atomic uint32_t children;       /* processes it made */
    _Atomic uint32_t too_many_threads;
    _Atomic uint64_t skipped;                                /* instructions */
    _Alignas(64) _Atomic uint32_t posted[RECORD_COLLECTORS]; /* changes when a lane has something */
    struct record_lane lanes[RECORD_LANES];
    struct trace_access buffers[RECORD_LANES][2][RECORD_BUFFER]; /* pages nobody touches cost nothing */
};

static inline void record_sleep(_Atomic uint32_t *word, uint32_t while_it_is)
{
    syscall(SYS_futex, word, FUTEX_WAIT, while_it_is, NULL, NULL, 0); /* may wake early: callers look again */
}

static inline void record_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* Accesses of one instruction that touch each other are one: QEMU splits those of vectors into words. Those
 * before `from` are merged already; returns how many are left of `count`. */
static inline uint32_t record_merge(struct trace_access *accesses, uint32_t from, uint32_t count)
{
    uint32_t kept = from;
    for (uint32_t i = from; i < count; i++) {
        struct trace_access next = accesses[i], *last = &accesses[kept - 1];
        uint64_t bytes = kept ? trace_bytes(*last) + trace_bytes(next) : 0;
        if (kept && trace_instruction(*last) == trace_instruction(next) &&
            trace_writes(*last) == trace_writes(next) && last->address + trace_bytes(*last) == next.address &&
            bytes <= RECORD_MERGED_MOST)
            *last = trace_access(last->address, trace_instruction(next), (uint32_t)bytes, trace_writes(next));
        else
            accesses[kept++] = next;
    }
    return kept;
}

#endif
