#include "native.cuh"
#include "reducescatter.c"

#define COLLECTIVE_TYPES(T) T(I32, int) T(F32, float) T(F16, __half)
#include "collective.cuh"

COLLECTIVE_KERNEL(reducescatter, reducescatter)

WORKLOAD_MAIN(reducescatter, KERNEL(reducescatter))
