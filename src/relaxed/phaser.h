/* A phaser: keeps the clocks of threads near each other. Each thread simulates epoch after epoch. It signals
 * that it has ended an epoch, and goes on; it may not begin an epoch that is farther `ahead` of one that a
 * thread has not ended. With 1, as in the paper, a fast thread has an epoch's work to do before it must wait.
 * With 0 it is a plain barrier: no thread begins an epoch before all have ended the one before.
 *
 *   for (epoch = first; there is work; epoch++) {
 *       relaxed_phaser_wait(&phaser, epoch);              // until it may begin
 *       ...
 *       relaxed_phaser_signal(&phaser, thread, epoch);    // it has ended
 *   }
 *   relaxed_phaser_leave(&phaser, thread);                // nobody waits for it any more
 */
#ifndef RELAXED_PHASER_H
#define RELAXED_PHASER_H

#include "base/gate.h"

/* Called when all threads have ended an epoch, before any begins one that this allows; one call at a time. */
typedef void relaxed_turn_fn(void *user, uint64_t epochs_over);

struct relaxed_phaser_place {
    _Alignas(CACHE_LINE) _Atomic uint64_t ended; /* epochs that the thread has ended; UINT64_MAX: it left */
};

struct relaxed_phaser {
    struct gate over; /* epochs that all have ended since the first (relaxed_phaser_start) */
    _Atomic uint32_t turning;
    uint64_t first; /* epoch */
    struct relaxed_phaser_place *places;
    unsigned threads;
    unsigned ahead; /* epochs that a thread may be ahead of the slowest */
    unsigned spins; /* before a thread that waits lends its core */
    relaxed_turn_fn *turn;
    void *user;
};

void relaxed_phaser_init(struct relaxed_phaser *phaser, unsigned threads, unsigned ahead, unsigned spins,
                         relaxed_turn_fn *turn, void *user);
void relaxed_phaser_fini(struct relaxed_phaser *phaser);

/* All threads are about to begin this epoch. No thread uses it now. */
void relaxed_phaser_start(struct relaxed_phaser *phaser, uint64_t epoch);

bool relaxed_phaser_must_wait(struct relaxed_phaser *phaser, uint64_t epoch);

/* False: it did not have to wait. */
bool relaxed_phaser_wait(struct relaxed_phaser *phaser, uint64_t epoch);
void relaxed_phaser_signal(struct relaxed_phaser *phaser, unsigned thread, uint64_t epoch);
void relaxed_phaser_leave(struct relaxed_phaser *phaser, unsigned thread);

#endif
