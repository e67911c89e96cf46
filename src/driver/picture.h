/* The timeline of a run as a file (src/tracks): what the machine tells its listener, and beside it what the
 * host calls and what streams do. Nothing here without HEDDLE_TIMELINE. */
#ifndef DRIVER_PICTURE_H
#define DRIVER_PICTURE_H

#include "base/err.h"
#include "tracks/events.h"

#include <stdbool.h>
#include <stdint.h>

struct command;
struct picture;
struct driver;
struct task;

/* What the texts of the options mean. */
struct picture_plan {
    enum track_detail detail;
    struct tracks_window window;
};
struct picture_options;
bool picture_parse(struct picture_plan *plan, const struct picture_options *options, struct err *err);

/* Of a driver that has a timeline; makes driver->picture. Processes of one run: the second one draws into
 * FILE.2.END. */
bool picture_begin(struct driver *driver, struct err *err);

/* The file is complete, if it was not before. False: it could not be written. */
bool picture_finish(struct driver *driver, struct err *err);
void picture_free(struct driver *driver); /* no other thread is in the driver */

/* A task of a stream is over. With the commands' lock held. */
void picture_task(struct driver *driver, const struct command *command, const struct task *task);

/* This thread of the host makes a call; inside one, nothing. */
void picture_call_begins(const char *name);
void picture_call_ends(void);

/* It submits a command in the call. */
void picture_submits(uint64_t order);

#endif
