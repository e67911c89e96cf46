/* Writes a trace of ours (trace/format.h says how it is laid out): the accesses of one core.
 *
 *   struct trace_writer *writer = trace_writer_new(path, err);
 *   trace_write(writer, accesses, count, err);       // any number of times
 *   trace_writer_close(writer, err);                 // what was not closed is no trace: readers refuse it
 */
#ifndef TRACE_WRITER_H
#define TRACE_WRITER_H

#include "base/err.h"
#include "trace/access.h"

#include <stddef.h>

struct trace_writer;

struct trace_writer *trace_writer_new(const char *path, struct err *err);

/* In order of instruction counts; others are refused. */
bool trace_write(struct trace_writer *writer, const struct trace_access *accesses, size_t count,
                 struct err *err);

/* Ends the trace and frees the writer, also when it fails; the file appears whole or not at all. */
bool trace_writer_close(struct trace_writer *writer, struct err *err);

/* Frees the writer and leaves no file. */
void trace_writer_abandon(struct trace_writer *writer);

#endif
