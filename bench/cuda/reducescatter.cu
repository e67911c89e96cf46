#include "native.cuh"
#include "reducescatter.c"
#include "collective.cuh"

COLLECTIVE_KERNEL(reducescatter, i32, int)
COLLECTIVE_KERNEL(reducescatter, f32, float)
COLLECTIVE_KERNEL(reducescatter, f16, __half)

WORKLOAD_MAIN(reducescatter, KERNEL(reducescatter_i32) KERNEL(reducescatter_f32) KERNEL(reducescatter_f16))
