/* Chooses the version of the vector executors for this machine. */
#include "gcn3_run/alu.h"

extern gcn3_vector_fn *const gcn3_vector_fns_base[];
#ifdef ALU_X86_LEVELS
extern gcn3_vector_fn *const gcn3_vector_fns_v3[], *const gcn3_vector_fns_v4[];
#endif

gcn3_vector_fn *gcn3_vector_executor_at(int level, enum gcn3_op op)
{
#ifdef ALU_X86_LEVELS
    bool v3 =
        __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    bool v4 = v3 && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
              __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    if (level)
        return level == 1 && v3 ? gcn3_vector_fns_v3[op] : level == 2 && v4 ? gcn3_vector_fns_v4[op] : NULL;
#endif
    return level ? NULL : gcn3_vector_fns_base[op];
}

gcn3_vector_fn *gcn3_vector_executor(enum gcn3_op op)
{
    gcn3_vector_fn *fn = NULL;
    for (int level = GCN3_LEVELS - 1; level >= 0 && !fn; level--)
        fn = gcn3_vector_executor_at(level, op);
    return fn;
}
