/* Chooses the version of the executors for this machine. */
#include "ptx_run/alu.h"
#include "base/err.h"

extern alu_fn *const alu_fns_base[], *const alu_fns_rare[];
#ifdef ALU_X86_LEVELS
extern alu_fn *const alu_fns_v3[], *const alu_fns_v4[];
#endif

/* What the levels are compiled for (a processor with these has the lesser features too). */
bool alu_has_level(int level)
{
#ifdef ALU_X86_LEVELS
    bool v3 =
        __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    bool v4 = v3 && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
              __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return level == 0 || (level == 1 && v3) || (level == 2 && v4);
#else
    return level == 0;
#endif
}

alu_fn *alu_executor_at(int level, int row)
{
    REQUIRE(row >= 0 && row < alu_row_count);
    if (!alu_has_level(level))
        return 0;
#ifdef ALU_X86_LEVELS
    if (level)
        return level == 1 ? alu_fns_v3[row] : alu_fns_v4[row];
#endif
    return alu_fns_base[row] ? alu_fns_base[row] : alu_fns_rare[row];
}

alu_fn *alu_executor(int row)
{
    alu_fn *fn = 0;
    for (int level = ALU_LEVELS - 1; !fn; level--)
        fn = alu_executor_at(level, row);
    return fn;
}
