/* A machine without time: kernels and copies are done at once, one after another, in the order they were
 * begun. What they compute is the same as on a machine that keeps time (machine.h); each takes one
 * nanosecond, so that times of the program still have an order. */
#ifndef SYSTEM_UNTIMED_H
#define SYSTEM_UNTIMED_H

#include "system/machine.h"

/* Of the options, threads and interrupt count. Memory is where its virtual addresses say, in this process. */
struct machine *machine_untimed_new(const struct machine_options *options);

#endif
