/* Somebody looks at a run while it goes on, by a page (src/live): its state, and orders to pause and to go
 * on.
 *
 * The machine is looked at only while it stands still: between windows, by the thread that runs it, or while
 * no thread lets time pass. A run that nobody looks at tests one word in each window. Nothing here changes
 * what a run computes. */
#ifndef DRIVER_ONLOOKER_H
#define DRIVER_ONLOOKER_H

#include "base/err.h"

#include <stdbool.h>

struct driver;
struct machine_windows;
struct onlooker;

/* Before the driver has a timeline, and once it has one: then the server begins, and its URL is told. */
struct onlooker *onlooker_new(struct driver *driver);
const struct machine_windows *onlooker_windows(const struct onlooker *onlooker); /* NULL: of nobody */
bool onlooker_begin(struct driver *driver, struct err *err);

/* Nobody looks any more; a run that is paused goes on. onlooker_free: no other thread is in the driver. */
void onlooker_end(struct driver *driver);
void onlooker_free(struct driver *driver);

/* A line that the user was told; a kernel failed, or the machine gave up: where somebody looks, the run waits
 * until it is told to go on. */
void onlooker_note(struct driver *driver, const char *text);
void onlooker_hold(struct driver *driver, const char *why);

#endif
