/* Host calls: what kernels of HIP ask the host for, such as printf. A kernel's code (ockl of AMD's device
 * libraries) takes a packet from a stack in a buffer, fills it, puts it on another stack, rings a doorbell
 * and waits for the answer. Each wave has a buffer of its own with one packet, in the window of parameters; a
 * call is answered when its doorbell rings. */
#ifndef GCN3_RUN_HOSTCALL_H
#define GCN3_RUN_HOSTCALL_H

#include "gcn3_run/wave.h"

/* The bytes at this address of the wave's buffer; NULL when they are not in it. */
unsigned char *gcn3_hostcall_place(struct gcn3_wave *w, uint64_t at, uint32_t bytes);
/* After a write there: answers the call, if it rang the doorbell. */
void gcn3_hostcall_written(struct gcn3_wave *w, const struct gcn3_lowered *op, uint64_t at);

/* What a failed assertion had to say, or NULL: a trap follows it. */
const char *gcn3_hostcall_said(const struct gcn3_wave *w);

void gcn3_hostcall_free(struct gcn3_wave *w);
void gcn3_hostcall_archive(struct gcn3_wave *w, struct archive *archive);

#endif
