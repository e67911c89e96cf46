/* Statistics of a kernel as text, for the line that a process leaves of each launch, and back. Numbers of one
 * kind are a list, in the order of their rows: both sides are of one build. */
#ifndef GPU_METRICS_LINE_H
#define GPU_METRICS_LINE_H

#include "base/text.h"
#include "gpu/stats.h"

/* Members of a JSON object, each with a comma before it. The profile is not among them. */
void metrics_line_add(struct text *line, const struct kernel_stats *stats);

/* False: the line has none. */
bool metrics_line_read(const char *line, struct kernel_stats *stats);

#endif
