/* The subcommands of `heddle trace`. A new one is a file trace_NAME.c with a struct cmd, and a place in
 * the table of cmd_trace.c. */
#ifndef CLI_TRACE_H
#define CLI_TRACE_H

#include "cli/cli.h"

#include <stdint.h>

extern const struct cmd cmd_trace_info, cmd_trace_convert, cmd_trace_print, cmd_trace_generate,
    cmd_trace_record, cmd_trace_cut;

/* A number of accesses behind an option; `least` is 0 or 1. */
bool cmd_trace_count_parse(const char *option, const char *text, uint64_t least, uint64_t *count,
                           struct err *err);

/* The kinds of generators and their options, as rows of help. */
void generators_print(void);

enum { TRACE_AT_ONCE = 1 << 16 }; /* accesses that commands read at once */

#endif
