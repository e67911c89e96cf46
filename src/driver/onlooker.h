/* Somebody looks at a run of this driver by a page (live/look/look.h), which shows its streams, too. */
#ifndef DRIVER_ONLOOKER_H
#define DRIVER_ONLOOKER_H

#include "live/look/look.h"

struct driver;

/* Before the driver has a timeline, and once it has one: then the server begins, and its URL is told. */
struct look *onlooker_new(struct driver *driver);
bool onlooker_begin(struct driver *driver, struct err *err);

#endif
