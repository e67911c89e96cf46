/* What a kernel's time went into, in words: as NVIDIA's profiler reasons. First what is used to its limits
 * (its "speed of light"), then what leaves the GPU idle, and else what warps wait for, and where. */
#ifndef GPU_BOTTLENECK_H
#define GPU_BOTTLENECK_H

#include "base/text.h"
#include "exec/place.h"
#include "gpu/metrics.h"

/* An instruction of a kernel, and what warps did there. */
struct metric_place {
    const struct code_place *at;
    struct op_profile counts;
};

/* Adds one line, without its end: "memory bandwidth: DRAM 78% of peak". */
void bottleneck_tell(const struct metric_source *source, const struct metric_place *places,
                     size_t place_count, struct text *text);

#endif
