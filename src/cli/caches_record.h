/* Traces for `heddle caches --evaluate`: programs of bench/threads, recorded in QEMU. */
#ifndef CLI_CACHES_RECORD_H
#define CLI_CACHES_RECORD_H

#include "cachesim/evaluate/evaluate.h"

bool cmd_caches_record(const struct trace_wish *wish, struct err *err);

#endif
