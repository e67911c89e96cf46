/* Records the instructions of launches, with or without time (exec/observer.h). */
#ifndef ITRACE_RECORDER_H
#define ITRACE_RECORDER_H

#include "exec/observer.h"
#include "itrace/itrace.h"
#include "itrace/writer.h"

struct itrace_recorder;

/* Kernels and launches go to the trace, blocks to the writer; both are the caller's, and stay until it is
 * freed. */
struct itrace_recorder *itrace_recorder_new(struct itrace *trace, struct itrace_writer *writer);
void itrace_recorder_free(struct itrace_recorder *recorder);

/* A launch that is about to run: its observer. The kernel has been prepared. `launch` is its place in the
 * trace's list, where its kernel and counts are filled in. */
struct observer *itrace_recorder_begin(struct itrace_recorder *recorder, const struct kernel *kernel,
                                       size_t launch);
/* It ran to its end (good), or failed. */
void itrace_recorder_end(struct itrace_recorder *recorder, struct observer *observer, bool good,
                         const struct launch_result *result);

/* Of a launch on several ranks: what this one has of it is gathered (observer->tell) for the observer of
 * another rank (observer->take), whose recorder has the trace; this one's has none (both NULL). */
struct observer *itrace_recorder_begin_afar(struct itrace_recorder *recorder, const struct kernel *kernel);
void itrace_recorder_end_afar(struct observer *observer);

/* Only for its facts: a launch that is not recorded. */
void itrace_recorder_skip(struct itrace_recorder *recorder, const struct kernel *kernel, size_t launch);

#endif
