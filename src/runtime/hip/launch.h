/* Launches, as the runtime's and the driver-like functions ask for them. */
#ifndef RUNTIME_HIP_LAUNCH_H
#define RUNTIME_HIP_LAUNCH_H

#include "runtime/hip/module.h"

struct hip_launch {
    struct hip_dim3 grid, block; /* grid in blocks */
    size_t shared_bytes;         /* dynamic LDS */
    hipStream_t stream;
    bool cooperative;
    hipEvent_t start, stop; /* recorded before and behind it; or NULL */
};

/* The arguments: one pointer for each, or a segment of bytes that a list of keys and values names. The
 * function may be NULL: no such kernel. */
int hip_start(struct hip_function *function, const struct hip_launch *launch, void **arguments, void **extra);

#endif
