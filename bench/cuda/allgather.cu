#include "native.cuh"
#include "allgather.c"

#define COLLECTIVE_TYPES(T) T(I32, int) T(F32, float) T(F16, __half)
#include "collective.cuh"

COLLECTIVE_KERNEL(allgather, allgather)

WORKLOAD_MAIN(allgather, KERNEL(allgather))
