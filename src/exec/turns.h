/* A launch whose accesses are observed: block b runs on SM b % sm_count, with as many resident blocks as fit.
 * Warps of an SM take turns, one instruction each; memory replies at once. It uses one host thread, so that
 * even programs with races give the same traces in each run. */
#ifndef EXEC_TURNS_H
#define EXEC_TURNS_H

#include "exec/exec.h"

/* What came of it is added to the result. */
void turns_run(const struct launch *launch, uint64_t serial, uint64_t workspace,
               struct launch_result *result);

#endif
