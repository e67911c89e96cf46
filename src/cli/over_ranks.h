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

/* The options `--ranks N` and `--hosts FILE`. When all are known, over_ranks_begin starts this command N
 * times, by mpirun, on this machine or on those of the file, and ends with its exit status. It returns in
 * those processes, and where one is enough. */
#define HOSTS_OPTION                                                                                         \
    {                                                                                                        \
        "--hosts", "FILE", "with --ranks: on the machines that FILE names (docs/mpi.md)"                     \
    }
bool over_ranks_took(const struct option_row *row, const char *value, bool *mine, struct err *err);
bool over_ranks_are_asked(void); /* for by --ranks */
bool over_ranks_begin(struct err *err);

/* At the beginning, with the words of the command: a rank that --ranks has started tells who it is. */
void over_ranks_introduce(int count, char **words);

/* Of an error: the leading rank tells it. Another one waits for that, and tells its own if nothing came. */
void over_ranks_tell(struct text *line);

#endif
