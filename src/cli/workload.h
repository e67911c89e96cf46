/* heddle bench NAME, where NAME is a workload. */
#ifndef CLI_WORKLOAD_H
#define CLI_WORKLOAD_H

#include "base/err.h"
#include "base/text.h"

bool cmd_workload_is(const char *name);
int cmd_workload(int count, char **words); /* its name first */

/* Whether cmd_workload would take these words; adds all that the result depends on. */
bool cmd_workload_check(int count, char **words, struct text *identity, struct err *err);
void cmd_workload_nearest(struct nearest *nearest);
void cmd_workload_list(void);
void cmd_workload_complete(const char *behind);

#endif
