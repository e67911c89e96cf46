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

struct serve_options {
    const char *path; /* of the socket; the system's description is at PATH.ini, for programs that attach */
    const struct system *system;
    unsigned threads;
    uint32_t programs; /* time begins when so many are attached, and all ends when they have gone; 0: any
                          number may come and go, until an interruption */
    double patience_s; /* time passes without a program that makes no call for so long; 0: never */
    bool untimed;      /* kernels are only run (system/untimed.h) */
    const struct serve_window *window; /* or NULL */
    struct serve_live *live;           /* or NULL */
    const _Atomic int *interrupt;
    void (*tell)(void *user, const char *line); /* who comes and goes; or NULL */
    void *user;
};

struct serve_counts {
    uint64_t programs, kernels, copies;
    uint64_t time_ps;
};

/* Returns when all is over; false: err says why it could not be. */
bool serve_run(const struct serve_options *options, struct serve_counts *counts, struct err *err);

#endif
