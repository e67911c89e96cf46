/* heddle bench NAME, where NAME is a workload. */
#ifndef CLI_WORKLOAD_H
#define CLI_WORKLOAD_H

#include "base/text.h"

bool workload_is(const char *name);
int workload_command(int count, char **words); /* its name first */
void workload_nearest(struct nearest *nearest);
void workload_list(void);
void workload_complete(const char *behind);

#endif
