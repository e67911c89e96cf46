/* Replays a trace of instructions (src/itrace) in simulated time: the host's calls are made again, in order,
 * and kernels do what they did. */
#ifndef DRIVER_REPLAYING_H
#define DRIVER_REPLAYING_H

#include "base/choice.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct driver;
struct itrace_reader;

struct replaying_options {
    const struct choice *kernels; /* only these are replayed; NULL: all */
    const uint64_t *blocks; /* by launch of the trace: only so many of its first blocks, 0: none; NULL: all */
};

/* Whether the launch is replayed. */
struct itrace;
struct itrace_launch;
bool replaying_takes(const struct replaying_options *options, const struct itrace *trace,
                     const struct itrace_launch *launch);

/* Blocks of a launch that the system's GPU holds at a time; 0: none fits. */
uint64_t replaying_resident(struct driver *driver, struct itrace_reader *reader, size_t launch);

/* Whether the trace can be replayed on this driver's system. */
bool replaying_fits(struct driver *driver, struct itrace_reader *reader, struct err *err);

/* To the end of the trace. False: it could not be, or a launch failed; err says why. */
bool replaying_run(struct driver *driver, struct itrace_reader *reader,
                   const struct replaying_options *options, struct err *err);

/* What it made; the driver runs nothing any more. */
void replaying_fini(struct driver *driver);

#endif
