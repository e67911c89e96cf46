/* Samples over time: what each GPU did in each so many cycles (`--series CYCLES`). The engine's runs are cut
 * at the samples' times, which changes no result: so samples are exact, and the same for any number of
 * threads. */
#ifndef SYSTEM_SERIES_H
#define SYSTEM_SERIES_H

#include "gpu/stats.h"

struct local_machine;
struct series;

/* NULL: none are wanted. */
struct series *series_new(const struct local_machine *machine);
void series_free(struct series *series);

/* When the next sample is due; TIME_NEVER: there are none. */
uint64_t series_due(const struct series *series);

/* Samples that are due by now are taken, and told. */
void series_take(struct local_machine *machine);

/* A kernel of this GPU has ended, or was stopped: this is what it did. */
void series_add_ended(struct local_machine *machine, uint32_t gpu, const struct gpu_kernel_stats *stats);

/* The machine was made anew: its memory has counted nothing. */
void series_forget_memory(struct local_machine *machine);

#endif
