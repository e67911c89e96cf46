/* The inputs from which the metrics of a launch are computed, on a system. */
#ifndef DRIVER_FACTS_H
#define DRIVER_FACTS_H

#include "gpu/metrics.h"
#include "system/system.h"

/* Fills what each limit of an SM would allow (the facts' by_...), and refers to the rest, which must stay.
 * timing: NULL when the launch was not timed. */
struct metric_source facts_source(struct launch_facts *facts, const struct system *system,
                                  const struct gpu_kernel_stats *timing);

#endif
