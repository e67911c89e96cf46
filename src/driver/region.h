/* The part of a program whose launches are timed or recorded (HEDDLE_REGION): between the calls that start
 * and stop a profiler, or inside a named range. The program's threads enter and leave it before they launch.
 */
#ifndef DRIVER_REGION_H
#define DRIVER_REGION_H

#include "base/err.h"

#include <stdbool.h>

/* "profiler" or "nvtx:PATTERN"; NULL: the whole program. The text is not kept. */
bool region_init(const char *text, struct err *err);

bool region_is_open(void); /* for a launch of this thread, now */

/* The calls of a profiler. */
void region_profile(bool on);

/* Whether a range of this name is the region; then the thread that enters it tells, and likewise when it
 * leaves. */
bool region_is_range(const char *name);
void region_enter(void), region_leave(void);
void region_enter_all(void), region_leave_all(void); /* of a range of the whole process */

/* At the end of the program: whether it never came into its region. */
bool region_was_missed(void);

#endif
