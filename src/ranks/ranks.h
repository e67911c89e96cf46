/* Ranks: the processes of one simulation, on one machine or on many. A launcher (mpirun, srun) starts all of
 * them with the same command line; each learns from its environment that it is one of several.
 *
 * Who works together calls the same functions in the same order on all ranks. A rank that dies, or does not
 * answer, makes calls fail with a line that says so: that one, and all after it.
 *
 * One thread at a time calls these functions. */
#ifndef RANKS_RANKS_H
#define RANKS_RANKS_H

#include "base/err.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

enum { RANKS_MOST = 256, RANKS_ANY = UINT32_MAX };

/* What the launcher's environment says, before anything is started: {1, 0} without a launcher. */
struct ranks_job {
    uint32_t count, number;
};
struct ranks_job ranks_job(void);

/* In a child process, before it becomes another program: that one is no rank, even if it is heddle. */
void ranks_forget_job(void);

/* Joins the others, once in a process. HEDDLE_RANKS_PATIENCE says how long a rank may take to answer,
 * HEDDLE_RANKS_DELAY how long one takes at least. Fails where there is no MPI, and where ranks are of
 * different builds.
 */
struct ranks;
struct ranks *ranks_start(struct err *err);
void ranks_end(struct ranks *ranks); /* all call it, or are ended when one does not; NULL: nothing */

/* The library that is loaded then: that which the environment variable HEDDLE_TRANSPORT names, or else that
 * beside this code. */
void ranks_add_transport(struct text *path);

/* Ends all ranks at once, also those that answer no more. */
void ranks_kill(struct ranks *ranks, int status);

uint32_t ranks_count(const struct ranks *ranks);
uint32_t ranks_number(const struct ranks *ranks); /* this one's: 0 leads */
const char *ranks_host(const struct ranks *ranks, uint32_t number);
uint32_t ranks_first_of_host(const struct ranks *ranks, uint32_t number); /* that it is on, too */

/* ---- letters: any bytes, to one rank, which may be busy meanwhile ---- */

bool ranks_send(struct ranks *ranks, uint32_t to, const void *bytes, size_t count, struct err *err);

/* The next letter from this rank, or from RANKS_ANY; `who` (or NULL) says from which. Waits for `seconds` at
 * most (0: it looks once; below 0: for ever): false with an empty err->text when none has come by then. */
bool ranks_receive(struct ranks *ranks, uint32_t from, double seconds, struct text *bytes, uint32_t *who,
                   struct err *err);

/* The next letter from this rank, which is due: fails when it has not come for HEDDLE_RANKS_PATIENCE. */
bool ranks_await(struct ranks *ranks, uint32_t from, struct text *bytes, struct err *err);

/* What `from` has in `bytes`, all have then. */
bool ranks_broadcast(struct ranks *ranks, uint32_t from, struct text *bytes, struct err *err);

/* All ranks give bytes of any number; `all[i]` becomes what rank i gave, on rank 0 (on all with `everyone`).
 */
bool ranks_gather(struct ranks *ranks, const struct text *mine, struct text *all, bool everyone,
                  struct err *err);

/* ---- rounds: each rank has bytes for each other one, and gets those of each ---- */

/* `out[i]` goes to rank i; `in[i]` becomes what came from it. This rank's own are not touched. In two parts,
 * with other work between them: what goes out must stay as it is until the round has ended. */
bool ranks_begin_round(struct ranks *ranks, const struct text *out, struct err *err);
bool ranks_end_round(struct ranks *ranks, struct text *in, struct err *err);
bool ranks_round(struct ranks *ranks, const struct text *out, struct text *in, struct err *err);

/* To be called now and then in between, so that long messages come along. */
void ranks_push_on(struct ranks *ranks);

/* All give bytes of any number and get those of all: all[i] becomes what rank i gave. By one round. */
bool ranks_share(struct ranks *ranks, const struct text *mine, struct text *all, struct err *err);

/* Numbers of all ranks, added up or the largest; on all. Of one rank (or NULL) they stay as they are. Where a
 * rank was lost they stay, too, and the next call that can fail does. */
void ranks_add(struct ranks *ranks, uint64_t *numbers, size_t count);
void ranks_most(struct ranks *ranks, uint64_t *numbers, size_t count);

#endif
