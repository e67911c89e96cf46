/* heddle replay --sample: how long a program takes, from a part of its trace. */
#ifndef CLI_REPLAY_SAMPLE_H
#define CLI_REPLAY_SAMPLE_H

#include "driver/driver.h"
#include "itrace/reader.h"

/* percent: the error that is asked for. json: file, or NULL. Gives the exit status. */
int cmd_replay_sample(struct itrace_reader *reader, const struct driver_options *with, double percent,
                      const char *json);

#endif
