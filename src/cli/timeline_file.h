/* What came of --timeline: a line for each process that drew. */
#ifndef CLI_TIMELINE_FILE_H
#define CLI_TIMELINE_FILE_H

#include "base/text.h"
#include "driver/driver.h"
#include "tracks/picture.h"

/* What the machine of a run draws, where it is not in the program's process: cores, too. With simulated
 * cores, it draws all, and into the file itself; else programs draw their calls there, and it draws into
 * FILE.machine.END. The texts last as long as the plan. */
struct machine_picture {
    struct track_plan plan;
    struct text path, note;
};
bool cmd_timeline_plan(struct machine_picture *picture, const struct picture_options *options,
                       const char *folder, bool has_cores, struct err *err);
void cmd_timeline_forget(struct machine_picture *picture);

/* The folder of the run has a note of each (driver/picture.h). False: one could not be written. */
bool cmd_timeline_tell(const char *folder, const struct picture_options *options, bool machine_draws,
                       FILE *to, struct err *err);

#endif
