#include "native.cuh"
#include "allreduce.c"
#include "collective.cuh"

COLLECTIVE_KERNEL(allreduce, i32, int)
COLLECTIVE_KERNEL(allreduce, f32, float)
COLLECTIVE_KERNEL(allreduce, f16, __half)

WORKLOAD_MAIN(allreduce, KERNEL(allreduce_i32) KERNEL(allreduce_f32) KERNEL(allreduce_f16))
