/* Recorded kernels as kernels: a trace is one more instruction set behind the warp interface (isa/warp.h).
 * Instructions are not executed; they name their units, registers, lanes and addresses, and no data. */
#ifndef REPLAY_REPLAY_H
#define REPLAY_REPLAY_H

#include "exec/exec.h"
#include "itrace/reader.h"

extern const struct isa_ops replay_isa_32, replay_isa_64;

/* A launch of the trace as a kernel; each has its own, as its instructions are its own. It lives as long as
 * the reader, which it uses. */
struct kernel *replay_kernel_new(struct itrace_reader *reader, size_t launch);
void replay_kernel_free(struct kernel *kernel);

#endif
