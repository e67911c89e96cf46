/* Traces of Accel-Sim (https://accel-sim.github.io): kernelslist.g, which lists copies to the GPU and
 * kernels, and a file of text for each kernel. Versions 3 to 5 are read, version 5 is written.
 * docs/replay-exchange.md says what is lost on the way. */
#ifndef EXCHANGE_ACCELSIM_H
#define EXCHANGE_ACCELSIM_H

#include "itrace/cut.h"

#include <stdatomic.h>

/* Whether the file is one of these: by its name, or by how it begins. */
bool accelsim_is(const char *path);

/* A list, or a single kernel, becomes a trace of instructions. interrupt: stops when it is not 0. */
bool accelsim_import(const char *path, const char *folder, const _Atomic int *interrupt, struct err *err);

/* A part of a trace of instructions as a folder of Accel-Sim's. */
bool accelsim_export(const char *from, const struct itrace_part *part, const char *to, struct err *err);

#endif
