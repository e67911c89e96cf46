/* The threads of a run, and what they share. For window.c and away.c only. */
#ifndef ENGINE_CREW_H
#define ENGINE_CREW_H

#include "base/gate.h"
#include "engine/island.h"

#include <pthread.h>
#include <stdatomic.h>

struct crew_worker {
    struct mail *out; /* by box, of the window that runs now; one of `mail` */
    uint64_t *least;  /* by kind of island: the earliest event this worker knows to be still to come */
    struct crew *crew;
    struct mail *mail[2]; /* [window's parity][box] */
    unsigned index;
    uint32_t owned_count;
    struct island **owned;
    uint64_t *next;  /* of each owned island: when something happens on it */
    uint64_t *width; /* and how long a window it may run */
    struct turn {
        uint32_t place, events;
    } * turns; /* the owned islands in the order they are run in: the most costly first; of a single worker:
                  by region */
    uint32_t *region_turns; /* where those of a region begin */
    uint32_t *last_events;  /* of each: how many it handled when it last ran */
    uint32_t *active; /* the owned islands (their places in `next`) with something to do in this window */
    uint32_t active_count;
    uint64_t island_windows;
    /* touched by other workers */
    _Alignas(CACHE_LINE) _Atomic uint32_t taken; /* how many of `active` are taken */
    _Atomic uint32_t listed;                     /* the window that `active` is for */
};

struct crew {
    struct engine *engine;
    struct crew_worker *workers;
    unsigned count;
    unsigned spins;  /* before a waiting worker sleeps */
    uint64_t widest; /* engine_widest_window */
    const struct engine_run *run;
    uint64_t until;     /* run->until, or just behind the first failure */
    uint64_t bound;     /* how far windows may go: `until`, or what other ranks may still send */
    uint64_t *behind;   /* by kind of island: how much later than at `bound` something from other ranks can be
                           there; NULL: there are no other ranks */
    uint64_t start;     /* T of this window */
    uint64_t *ahead;    /* by kind of island: how far it may run, if that is more than its lookahead */
    uint64_t *least;    /* over all workers, while the next window is found */
    uint32_t region;    /* that runs in this window; 0: all do */
    uint32_t *box_of;   /* by island: which worker owns it; behind these: the rank that has it */
    uint32_t *place_of; /* by island of this rank: its place among those its worker owns */
    uint32_t boxes;
    struct away *away; /* what other ranks are told; NULL: there are none */
    bool stop;
    double told_progress;
    uint64_t told_island_windows;
    struct gate window; /* its number */
    _Alignas(CACHE_LINE) _Atomic uint32_t arrived;
    _Alignas(CACHE_LINE) _Atomic bool failed;
    /* between runs the threads sleep here */
    pthread_t *threads;
    pthread_mutex_t lock;
    pthread_cond_t called;
    uint64_t calls;
    bool dismissed;
    _Atomic uint32_t back;
    struct gate ended; /* the last of `calls` that all came back from */
};

/* An event was put on an island of this worker, from outside. */
void crew_note(struct crew *crew, const struct island *island, uint64_t time);

/* It is time to show the progress again. */
bool crew_shows_progress(const struct crew *crew);
void crew_show_progress(struct crew *crew, uint64_t time, uint64_t other_events);

/* After events came from outside, between windows: when something happens next on this rank. */
void crew_find_start(struct crew *crew);

#endif
