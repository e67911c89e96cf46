/* What a kernel's time went into, in words: the two largest of the causes in causes.c, each with the place
 * where it shows most. */
#ifndef EXPLAIN_BOTTLENECK_H
#define EXPLAIN_BOTTLENECK_H

#include "base/text.h"
#include "exec/place.h"
#include "gpu/metrics.h"

/* An instruction of a kernel, and what warps did there. */
struct metric_place {
    const struct code_place *at;
    struct op_profile counts;
    uint32_t copies; /* others of the same line that are added up here */
};

/* Adds one line, without its end: "memory bandwidth: DRAM 78% of peak, most at saxpy.cu:8 (ld.global.f32)".
 */
void bottleneck_tell(const struct metric_source *source, const struct metric_place *places,
                     size_t place_count, struct text *text);

/* Adds up instructions with the same opcode of one line of the source, as unrolled loops have them, in place:
 * gives how many are left. */
size_t bottleneck_merge_places(struct metric_place *places, size_t count);

#endif
