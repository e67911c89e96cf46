/* Traces of instructions in `heddle trace`: where a folder stands for a file. */
#ifndef CLI_TRACE_ITRACE_H
#define CLI_TRACE_ITRACE_H

#include "base/err.h"
#include "itrace/cut.h"

/* A path that is a folder means a trace of instructions. */
bool cmd_trace_is_folder(const char *path);

bool cmd_trace_itrace_info(const char *folder, struct err *err);
/* lines: of instructions, at most; 0: all. */
bool cmd_trace_itrace_print(const char *folder, const struct itrace_part *part, uint64_t lines,
                            struct err *err);

/* --kernels and --blocks: "3-5", "7" or "3-". */
#define ITRACE_PART_OPTIONS                                                                                  \
    {"--kernels", "N-M", "of a trace of instructions: only these launches, such as 3-5, 7 or 3-"},           \
    {                                                                                                        \
        "--blocks", "N-M", "only these blocks of each launch"                                                \
    }
struct option_row;
bool cmd_trace_part_took(struct itrace_part *part, const struct option_row *row, const char *value,
                         bool *taken, struct err *err);

#endif
