/* Traces of what kernels want of global memory: one of each SM, of all launches. They are in their place when
 * tracing_finish returns, and not before.
 *
 * Processes of one program, which have a run folder in common, are numbered as they come to their first
 * access: the first has traces PREFIX.SM.htrace, the next ones PREFIX.pNUMBER.SM.htrace. Each leaves a file
 * traces.NUMBER in that folder: "unfinished FOLDER" (where its traces are meanwhile), and when all is written
 * "whole FIRST LAST SMS ACCESSES BYTES PREFIX"; or "failed WHY", and its folder is gone when it ends. */
#ifndef DRIVER_TRACING_H
#define DRIVER_TRACING_H

#include "base/err.h"

#include <stdint.h>

struct tracing;
struct watch;

struct tracing *tracing_new(const char *prefix, const char *run_dir, unsigned devices,
                            uint32_t sms_of_a_device);

/* SMs of all devices are numbered on. */
struct watch *tracing_watch(struct tracing *tracing, unsigned device);

/* Launches that run without time, one after the other. */
void tracing_lock(struct tracing *tracing);
void tracing_unlock(struct tracing *tracing);

/* No kernel runs any more. False: there are no traces, and err says why. */
bool tracing_finish(struct tracing *tracing, struct err *err);
void tracing_free(struct tracing *tracing);

#endif
