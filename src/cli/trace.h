/* The subcommands of `heddle trace`. A new one is a file trace_NAME.c with a struct command, and a place in
 * the table of cmd_trace.c. */
#ifndef CLI_TRACE_H
#define CLI_TRACE_H

#include "cli/cli.h"

extern const struct command trace_info_command, trace_record_command;

#endif
