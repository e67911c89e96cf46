#include "gpu/spec.h"

PARAM_GROUP(gpu_params, "gpu", "what every GPU of the system is", gpu_spec, GPU_PARAMS);
