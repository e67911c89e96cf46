/* Untimed launches one instruction at a time, for an observer. */
#ifndef EXEC_STEPWISE_H
#define EXEC_STEPWISE_H

#include "exec/exec.h"

/* As launch_run, of a launch with an observer. `serial` and `workspace` as of team_new. */
void stepwise_run(const struct launch *launch, uint64_t serial, uint64_t workspace,
                  struct launch_result *result);

#endif
