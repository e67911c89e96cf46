/* A machine that programs of other processes attach to (src/attach has their side).
 *
 * Time passes while all programs that are attached wait for it. What they ask for at one moment is done in
 * the order of their seats, so a run is the same bytes each time, if the same programs have the same seats.
 */
#ifndef SERVE_SERVE_H
#define SERVE_SERVE_H

#include "base/err.h"
#include "system/system.h"

/* What was done so far, for others that share the memory it is in. */
#define SERVE_LIVE(L)                                                                                        \
    L(programs) /* that came */                                                                              \
    L(kernels)  /* that have ended, and so on: */                                                            \
    L(copies)                                                                                                \
    L(copied_bytes)                                                                                          \
    L(warp_instructions)                                                                                     \
    L(kernel_ps) /* of simulated time, kernels added up */                                                   \
    L(time_ps)   /* of the machine */

struct serve_live {
#define L(name) _Atomic uint64_t name;
    SERVE_LIVE(L)
#undef L
};

/* Memory of a device that programs of another machine share with us (seat_window). */
struct serve_window {
    int file;
    uint64_t first, bytes; /* where the seats' part begins, and all of it */
    uint32_t seats;
    uint32_t bell_offset, bell_value;
};

struct hostmem_caches; /* mem/hostmem.h */
struct track_picture;  /* tracks/picture.h */
struct track_plan;
struct task; /* system/machine.h */

struct serve_options {
    const char *path; /* of the socket; the system's description is at PATH.ini, for programs that attach */
    const struct system *system;
    unsigned threads;
    uint32_t programs; /* time begins when so many are attached, and all ends when they have gone; 0: any
                          number may come and go, until an interruption */
    double patience_s; /* time passes without a program that makes no call for so long; 0: never */
    bool untimed;      /* kernels are only run (system/untimed.h) */
    const struct serve_window *window;   /* or NULL */
    const struct hostmem_caches *caches; /* of the host's memory, or NULL */
    /* Or NULL: a task begins; its sides that are memory of the program are where the program has them. */
    void (*begins)(void *user, const struct task *task);
    struct serve_live *live; /* or NULL */
    const _Atomic int *interrupt;
    void (*tell)(void *user, const char *line); /* who comes and goes; or NULL */
    const struct track_plan *picture;           /* a timeline is drawn (tracks/picture.h); or NULL */
    const char *show; /* a page shows it: as of --live (live_wish_parse); or NULL. Where it is: */
    void (*tell_shown)(const char *url);
    void *user;
};

struct serve_counts {
    uint64_t programs, kernels, copies;
    uint64_t time_ps;
    struct err no_picture; /* why the timeline is not there whole; or "" */
};

/* Returns when all is over; false: err says why it could not be. */
bool serve_run(const struct serve_options *options, struct serve_counts *counts, struct err *err);

/* ---- the same step by step: for programs whose CPU cores are simulated beside the machine ---- */

enum serve_turn {
    SERVE_IDLE,   /* nothing was to be done */
    SERVE_WORKED, /* letters were read, programs answered, or time has passed */
    SERVE_BEHIND, /* programs wait for time to pass, and the machine has come to `until_ps` */
};

struct serve;

struct serve *serve_new(const struct serve_options *options, struct err *err); /* options outlive it */
void serve_free(struct serve *serve, struct serve_counts *counts);

/* What is to be done now, without waiting for anybody. False: the machine broke. */
bool serve_take_turn(struct serve *serve, uint64_t until_ps, enum serve_turn *turn, struct err *err);

/* Time passes up to there, if there are tasks under way, though programs run. Whether there were. */
bool serve_let_on(struct serve *serve, uint64_t time_ps);
bool serve_is_busy(struct serve *serve);
uint64_t serve_time(const struct serve *serve);                 /* of the machine, picoseconds */
struct track_picture *serve_picture(const struct serve *serve); /* or NULL: none is drawn */

#endif
