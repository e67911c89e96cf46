/* What takes most of the time is compiled for several processors; this takes the best that the one at hand
 * can run. */
#ifndef CACHESIM_CPU_LEVEL_H
#define CACHESIM_CPU_LEVEL_H

#ifdef CACHESIM_X86_LEVELS
#define LEVEL_BEST(function)                                                                                 \
    (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") ? function##_v3 : function##_v1)
#else
#define LEVEL_BEST(function) (function##_v1)
#endif

#endif
