#include "native.cuh"
#include "broadcast.c"
#include "collective.cuh"

COLLECTIVE_KERNEL(broadcast, i32, int)
COLLECTIVE_KERNEL(broadcast, f32, float)
COLLECTIVE_KERNEL(broadcast, f16, __half)

WORKLOAD_MAIN(broadcast, KERNEL(broadcast_i32) KERNEL(broadcast_f32) KERNEL(broadcast_f16))
