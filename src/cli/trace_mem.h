/* --trace-mem of `heddle run` and of workloads: traces of what kernels want of global memory. */
#ifndef CLI_TRACE_MEM_H
#define CLI_TRACE_MEM_H

#include "cli/timing.h"
#include "base/text.h"

#define TRACE_MEM_OPTION                                                                                     \
    {                                                                                                        \
        "--trace-mem", "PREFIX", "write a trace of each SM's accesses to global memory (docs/recording.md)"  \
    }

/* Whether it goes together with the rest, and can be written. */
bool cmd_trace_mem_check(const char *prefix, const struct timing_request *timing, struct err *err);

/* What the program's processes left in the folder of its run, in words; false: traces are missing. */
bool cmd_trace_mem_tell(const char *folder, struct text *text, struct err *err);

#endif
