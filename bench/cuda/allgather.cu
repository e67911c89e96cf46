#include "native.cuh"
#include "allgather.c"
#include "collective.cuh"

COLLECTIVE_KERNEL(allgather, i32, int)
COLLECTIVE_KERNEL(allgather, f32, float)
COLLECTIVE_KERNEL(allgather, f16, __half)

WORKLOAD_MAIN(allgather, KERNEL(allgather_i32) KERNEL(allgather_f32) KERNEL(allgather_f16))
