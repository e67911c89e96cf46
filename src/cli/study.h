/* The parts of `heddle study`: studies that files describe, two of how parallel a model is, and GpuTejas'. */
#ifndef CLI_STUDY_H
#define CLI_STUDY_H

#include "base/text.h"
#include "cli/cli.h"

/* ---- events and threads (study_parallel.c) ---- */

extern const struct option_row cmd_study_parallel_options[];
bool cmd_study_parallel_is(const char *name);
int cmd_study_parallel(int count, char **words); /* its name first */
void cmd_study_parallel_each(void (*each)(void *user, const char *name, const char *help), void *user);

/* ---- gputejas (study_gputejas.c) ---- */

extern const struct option_row cmd_study_gputejas_options[];
int cmd_study_gputejas(int count, char **words); /* its name first */

/* ---- files (study_file.c) ---- */

extern const struct option_row cmd_study_file_options[];
int cmd_study_file(int count, char **words); /* its name or path first */

/* ---- files that come with Heddle (study_shipped.c) ---- */

/* The path of the study: of a file, or of one that is shipped. False: there is no such one. */
bool cmd_study_shipped_find(const char *name, struct text *path, struct err *err);

/* Calls `each` with the name and title of all, by name. */
void cmd_study_shipped_each(void (*each)(void *user, const char *name, const char *title), void *user);

#endif
