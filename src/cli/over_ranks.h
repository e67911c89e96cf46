/* The ranks that this process is one of (ranks/ranks.h), for commands that run over several. */
#ifndef CLI_OVER_RANKS_H
#define CLI_OVER_RANKS_H

#include "cli/cli.h"
#include "ranks/ranks.h"

/* Joins the others if a launcher has started several; NULL without an error where it has not. */
bool over_ranks_join(struct ranks **ranks, struct err *err);
struct ranks *over_ranks(void); /* that were joined; or NULL */

/* Of a command that simulates one machine: joins; *follows tells that this rank is not the leading one, and
 * has done its part when this returns, with the exit status in *status. */
bool over_ranks_simulate(bool timing, bool *follows, int *status, struct err *err);

/* Of `heddle run`: the program itself leads. The other ranks follow it; of the leading one, before the
 * program is started and after it has ended. `folder` is the run's. */
bool over_ranks_run(bool timing, bool *follows, int *status, struct err *err);
void over_ranks_before(void);
bool over_ranks_after(const char *folder, struct err *err);

/* Of a process that ends: all end together, or, where the status is not good, at once. Gives the status. */
int over_ranks_leave(int status);

/* `--ranks N`: starts this command N times, by mpirun, on this machine, and ends with its exit status.
 * Returns in those processes, and where N is 1. */
bool over_ranks_start(const char *ranks, struct err *err);

/* Of an error: the leading rank tells it. Another one waits for that, and tells its own if nothing came. */
void over_ranks_tell(struct text *line);

#endif
