/* --check: what the driver knows beside launches (src/checks): allocations, copies of the host, and the end
 * of the program. Nothing here without HEDDLE_CHECK.
 *
 * At the end each process that used a GPU leaves a file check.NUMBER in the run folder: a line for each
 * finding (checks/findings.h). */
#ifndef DRIVER_CHECKING_H
#define DRIVER_CHECKING_H

#include "base/err.h"

#include <stdint.h>

struct allocation;
struct checking;
struct driver;
struct launch;
struct launch_result;
struct observer;

/* False: the checks do not go together with other options; err says why. */
bool checking_new(struct driver *driver, struct err *err);

/* What is left is told, and summed up; nothing is checked any more. */
void checking_finish(struct driver *driver);

/* One launch at a time: from when its turn has come until it has ended. `all`: not only its memory. */
struct observer *checking_begin(struct driver *driver, const struct launch *launch, uint64_t number,
                                bool all);
void checking_end(struct driver *driver, struct observer *observer, const struct launch_result *result);

/* With the memory's lock held: one came, or goes; its device ends, and it was not freed before. */
void checking_came(struct driver *driver, const struct allocation *allocation);
void checking_goes(struct driver *driver, const struct allocation *allocation);
void checking_leaks(struct driver *driver, const struct allocation *allocation);
/* A free of what is no allocation. */
void checking_bad_free(struct driver *driver, uint64_t address);

/* Bytes that the host, or a copy, reads and writes; `is_host`: they go to, or come from, the host. */
void checking_copied(struct driver *driver, uint64_t to, uint64_t from, uint64_t bytes, bool to_host,
                     bool from_host);
void checking_filled(struct driver *driver, uint64_t to, uint64_t bytes);

#endif
