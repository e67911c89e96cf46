/* --record of `heddle run` and of workloads: a trace of the instructions of kernels, which `heddle replay`
 * takes. */
#ifndef CLI_RECORD_H
#define CLI_RECORD_H

#include "cli/timing.h"
#include "base/text.h"

#define RECORD_OPTIONS                                                                                       \
    {"--record", "FOLDER", "record every instruction, for `heddle replay` (docs/replay.md)"},                \
    {                                                                                                        \
        "--record-limit", "BYTES", "stop recording before the trace has more than this, such as 10GiB"       \
    }

/* Takes an option if it is one of these; *mine tells. */
bool cmd_record_took(struct timing_request *request, const struct option_row *row, const char *value,
                     bool *mine, struct err *err);

/* Whether it goes together with the rest, and can be written. */
bool cmd_record_check(const struct timing_request *timing, struct err *err);

/* What the program's processes left in the folder of its run, in words; false: a trace is missing. */
bool cmd_record_tell(const char *folder, struct text *text, struct err *err);

#endif
