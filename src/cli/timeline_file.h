/* What came of --timeline: a line for each process that drew. */
#ifndef CLI_TIMELINE_FILE_H
#define CLI_TIMELINE_FILE_H

#include "driver/driver.h"

/* The folder of the run has a note of each (driver/picture.h). False: one could not be written. */
bool cmd_timeline_tell(const char *folder, const struct picture_options *options, FILE *to, struct err *err);

#endif
