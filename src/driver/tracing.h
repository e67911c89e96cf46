/* Traces of kernels' accesses to global memory: one for each SM, over all launches. They appear under their
 * names when tracing_finish returns, and not before.
 *
 * Processes of one program share a run folder and are numbered in the order of their first access. The first
 * writes traces PREFIX.SM.htrace, the next ones PREFIX.pNUMBER.SM.htrace. Each leaves a file traces.NUMBER in
 * the run folder: "unfinished FOLDER" (where its traces are meanwhile), and when all is written "whole FIRST
 * LAST SMS ACCESSES BYTES PREFIX"; or "failed WHY", and then its folder is removed when it ends. */
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
