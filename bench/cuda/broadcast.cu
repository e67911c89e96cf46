#include "native.cuh"
#include "broadcast.c"

#define COLLECTIVE_TYPES(T) T(I32, int) T(F32, float) T(F16, __half)
#include "collective.cuh"

COLLECTIVE_KERNEL(broadcast, broadcast)

WORKLOAD_MAIN(broadcast, KERNEL(broadcast))
