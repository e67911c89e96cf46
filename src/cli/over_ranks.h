/* The ranks that this process is one of (ranks/ranks.h), for commands that run over several. */
#ifndef CLI_OVER_RANKS_H
#define CLI_OVER_RANKS_H

#include "cli/cli.h"
#include "ranks/ranks.h"

/* Joins the others if a launcher has started several; NULL without an error where it has not. */
bool over_ranks_join(struct ranks **ranks, struct err *err);
struct ranks *over_ranks(void); /* that were joined; or NULL */

/* Of a process that ends: all end together, or, where the status is not good, at once. Gives the status. */
int over_ranks_leave(int status);

/* `--ranks N`: starts this command N times, by mpirun, on this machine. Returns only where that fails. */
bool over_ranks_start(const char *ranks, struct err *err);

/* Of an error: the leading rank tells it. Another one waits for that, and tells its own if nothing came. */
void over_ranks_tell(struct text *line);

#endif
