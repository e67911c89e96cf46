/* --check of `heddle run` and of workloads: what is wrong with their kernels (docs/check.md). */
#ifndef CLI_CHECK_H
#define CLI_CHECK_H

#include "cli/timing.h"

#define CHECK_OPTIONS                                                                                        \
    {"--check", "LIST",                                                                                      \
     "find mistakes: memory, race, init, sync or all, such as race,init (docs/check.md)"},                   \
    {                                                                                                        \
        "--check-show", "N", "findings that are shown in full (20)"                                          \
    }

enum { EXIT_FOUND = 3 }; /* a check found something, and the program itself ended well */

struct check_request {
    const char *checks; /* or NULL */
    const char *show;
    uint64_t show_count;
};

/* From the environment; before options are taken, which win over it. */
bool cmd_check_from_environment(struct check_request *request, struct err *err);

/* Takes an option if it is one of these; *mine tells. */
bool cmd_check_took(struct check_request *request, const struct option_row *row, const char *value,
                    bool *mine, struct err *err);

/* Whether it goes together with the rest. */
bool cmd_check_goes(const struct check_request *request, const struct timing_request *timing,
                    const char *trace_mem, struct err *err);

/* Of what the processes of a run left in its folder: how many findings, and these as JSON. */
uint64_t cmd_check_count(const char *folder);
struct json_writer;
void cmd_check_write(const char *folder, struct json_writer *json);

#endif
