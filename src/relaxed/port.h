/* A parallel port: which cycles of a structure that threads share are taken. It is a matrix of bits, a row
 * for each port and a column for each cycle; a request takes the first slots in a row that are free, by
 * compare-and-set, whatever the clocks of other threads show. So no cycle has more requests than ports.
 *
 *   slot = relaxed_port_reserve(&port, cycle, parts, &carry, &counts);   // parts: RELAXED_PARTS are a cycle
 *
 * Columns are a window of simulated time: at least four epochs. Clocks of threads are in the first two (see
 * phaser.h); requests reach into the others, by the latencies that lie before them. When an epoch is over for
 * all threads, its columns are used again. Requests that find no room in the window are put behind its end:
 * their slots are taken from the columns that come next. */
#ifndef RELAXED_PORT_H
#define RELAXED_PORT_H

#include "base/mem.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { RELAXED_PARTS = 64 };

/* What a thread counts of its requests to all ports. */
struct relaxed_port_counts {
    uint64_t requests;
    uint64_t shared; /* of these, to ports of several SMs, or of an SM that threads share */
    uint64_t failed; /* another thread took the slots first, and they were looked for again */
    uint64_t late;   /* the port had already given a slot of a later cycle, to another SM or part of one */
    uint64_t past;   /* the cycle asked for lay in an epoch that was over */
    uint64_t beyond; /* the slot lay behind the window */
    uint64_t waited; /* cycles from those asked for to those given */
};

enum relaxed_port_use {
    RELAXED_ONE_SM,     /* one thread asks, for one SM */
    RELAXED_ONE_THREAD, /* one thread asks, for several SMs: some come late */
    RELAXED_THREADS     /* several threads ask at once */
};

/* What all requests read, and what some of them change, are in different cache lines. */
struct relaxed_port {
    _Alignas(CACHE_LINE) _Atomic uint64_t start; /* the window's first cycle */
    _Atomic uint64_t *bits;                      /* row by row */
    uint32_t ports, words;                       /* words of a row: a power of two */
    enum relaxed_port_use use;
    _Alignas(CACHE_LINE) _Atomic uint64_t latest; /* the last word, in time, that a slot was given in */
    _Atomic uint64_t owed; /* cycles that were given behind the window, over all ports */
};

/* For clocks that advance by epochs of so many cycles. */
void relaxed_port_init(struct relaxed_port *port, uint32_t ports, uint64_t epoch, enum relaxed_port_use use);
void relaxed_port_fini(struct relaxed_port *port);

/* Nothing is taken, and the window begins here. No other thread uses it now. */
void relaxed_port_restart(struct relaxed_port *port, uint64_t start);

/* The window begins here from now on; no thread asks for cycles before. One thread at a time. */
void relaxed_port_advance(struct relaxed_port *port, uint64_t start);

/* The first cycle, from this one on, where a port is free for so many parts of cycles. Less than a cycle is
 * free of charge until it adds up to one: what was not charged is in *carry, which is the caller's, so that
 * threads need not share it. */
uint64_t relaxed_port_reserve(struct relaxed_port *port, uint64_t cycle, uint64_t parts, uint32_t *carry,
                              struct relaxed_port_counts *counts);

/* The host fetches what a request at this cycle will change. */
void relaxed_port_prefetch(const struct relaxed_port *port, uint64_t cycle);

/* Takes so many whole cycles from this one on. False: no port is free. */
bool relaxed_port_try(struct relaxed_port *port, uint64_t cycle, uint64_t cycles,
                      struct relaxed_port_counts *counts);

/* For tests: ports that are taken in a cycle of the window. */
uint32_t relaxed_port_taken(const struct relaxed_port *port, uint64_t cycle);

#endif
