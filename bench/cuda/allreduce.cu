#include "native.cuh"
#include "allreduce.c"

#define COLLECTIVE_TYPES(T) T(I32, int) T(F32, float) T(F16, __half)
#include "collective.cuh"

COLLECTIVE_KERNEL(allreduce, allreduce)

WORKLOAD_MAIN(allreduce, KERNEL(allreduce))
