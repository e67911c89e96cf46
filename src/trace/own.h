/* Traces of ours as sources. */
#ifndef TRACE_OWN_H
#define TRACE_OWN_H

#include "trace/source.h"

bool own_looks_so(const char *bytes, size_t count);

/* Whether this file, or standard input ("-") where it is a file, begins like one. */
bool own_is(const char *path);

struct source *own_open(const char *path, uint64_t skip, struct err *err);

#endif
