#include "gpu/spec.h"

#include <stdlib.h>

PARAM_GROUP(gpu_params, "gpu", "what every GPU of the system is", gpu_spec, GPU_PARAMS);

uint64_t gpu_spec_carveout(const struct gpu_spec *spec, uint64_t need)
{
    uint64_t chosen = spec->shared_per_sm;
    const char *text = spec->shared_carveouts;
    for (char *end; *text; text = end) {
        uint64_t size = strtoul(text, &end, 10) << 10;
        if (end == text)
            break;
        if (size >= need && size < chosen)
            chosen = size;
    }
    return chosen;
}
