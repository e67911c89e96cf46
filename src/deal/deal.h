/* Work that is dealt out to ranks, piece by piece: a rank that is free gets the next one. Rank 0 deals, works
 * as well, and gets all results. Without ranks (NULL) the same happens in one process.
 *
 * Only the thread that calls deal_run talks to other ranks, and it never waits for long: what it begins must
 * go on by itself, in a child process or in another thread. */
#ifndef DEAL_DEAL_H
#define DEAL_DEAL_H

#include "base/err.h"
#include "base/text.h"

#include <stdint.h>

struct ranks;

enum deal_state { DEAL_BUSY, DEAL_ENDED, DEAL_BROKEN };

/* Pieces and results are bytes. */
struct deal_work {
    unsigned places;              /* pieces at a time, of this rank */
    const _Atomic int *interrupt; /* when it is set, what is under way is stopped, and no more begins */

    /* Of rank 0. The next piece; false: there is none left. */
    bool (*next)(void *user, struct text *piece);
    /* Of rank 0: a result. */
    bool (*take)(void *user, const struct text *piece, const struct text *result, struct err *err);
    /* Of rank 0, or NULL: called again and again, to show how far it is. */
    void (*show)(void *user);

    /* Begins a piece in a free place. */
    bool (*begin)(void *user, unsigned place, const struct text *piece, struct err *err);
    /* Whether it has ended, with which result. BROKEN: all ranks end, with this error; but after `stop` it is
     * only gone. */
    enum deal_state (*look)(void *user, unsigned place, struct text *result, struct err *err);
    /* Asks it to end soon; called again until `look` says that it has. */
    void (*stop)(void *user, unsigned place);
};

/* All ranks call it. False: err says what went wrong on whichever rank; it is empty on other ranks than 0 if
 * rank 0 knows it. Interrupted, it is true with some results missing. */
bool deal_run(struct ranks *ranks, const struct deal_work *work, void *user, struct err *err);

/* All ranks call it before they begin, with how it went so far (`mine`, if not good), and a digest of what
 * they are about to do. True: it went well everywhere, and all are about to do the same. The error is as of
 * deal_run.
 */
bool deal_agree(struct ranks *ranks, bool good, const struct err *mine, uint64_t digest, struct err *err);

/* Cores for each rank of this machine; without ranks: all that this process may use. */
unsigned deal_cores(const struct ranks *ranks);

#endif
