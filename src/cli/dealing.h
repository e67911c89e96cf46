/* Commands whose work is dealt out to ranks, as in `mpirun -n 4 heddle study ...`: rank 0 speaks for all. */
#ifndef CLI_DEALING_H
#define CLI_DEALING_H

#include "cli/cli.h"

struct ranks;

/* Joins the other ranks. True without a launcher, too, and with a single rank: *ranks is NULL then. */
bool dealing_join(struct ranks **ranks, struct err *err);

/* Tells what went wrong, and returns the exit status. Of what rank 0 knows it alone speaks: others' text is
 * empty then (deal_run, deal_agree). */
int dealing_complain(const struct ranks *ranks, int status, const struct err *err);

/* The end: all ranks call it, each with its exit status. */
int dealing_leave(struct ranks *ranks, int status);

/* Refuses to run as one of several ranks: `what` does not deal anything. False: it is alone. */
bool dealing_refused(const char *what, int *status);

/* A digest of this program: results that are kept are those of one build, another may give others. */
uint64_t dealing_build(void);

#endif
