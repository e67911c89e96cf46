/* A launch whose accesses are watched: block b is on SM b % sm_count, as many at a time as fit, and warps of
 * an SM take turns, an instruction each; memory answers at once. On one thread of the host, so that programs
 * with races have the same traces in each run, too. */
#ifndef EXEC_TURNS_H
#define EXEC_TURNS_H

#include "exec/exec.h"

/* What came of it is added to the result. */
void turns_run(const struct launch *launch, uint64_t serial, uint64_t workspace,
               struct launch_result *result);

#endif
