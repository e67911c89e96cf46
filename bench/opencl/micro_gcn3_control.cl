#include "micro_gcn3.h"

/* 16 of one instruction a round, or of a small group of them. */
#define STEPS(name, text)                                                                                    \
    __kernel LARGE_GROUPS void micro_gcn3_##name(uint rounds, uint ways, __global uint *out,                 \
                                                 __global struct micro_time *times)                          \
    {                                                                                                        \
        uint64_t start = 0, end = 0;                                                                         \
        _Pragma("unroll 1") for (uint pass = 0; pass < 2; pass++)                                            \
        {                                                                                                    \
            __asm volatile("s_barrier");                                                                     \
            start = micro_clock();                                                                           \
            _Pragma("unroll 1") for (uint i = 0; i < rounds; i++)                                            \
                __asm volatile(REPEAT(16, text)::: "scc", "memory");                                         \
            end = micro_clock();                                                                             \
        }                                                                                                    \
        out[get_global_id(0)] = rounds;                                                                      \
        micro_note(times, start, end);                                                                       \
    }
STEPS(barrier, "s_barrier")
STEPS(branch_taken, "s_branch 0")
STEPS(branch_not_taken, "s_cmp_eq_u32 0, 0\n\ts_cbranch_scc0 0")

/* Lanes take `ways` ways, one after the other. */
__kernel LARGE_GROUPS void micro_gcn3_diverge(uint rounds, uint ways, __global uint *out,
                                              __global struct micro_time *times)
{
    uint mine = get_local_id(0) % ways, sum = 0;
    uint64_t start = micro_clock();
    _Pragma("unroll 1") for (uint i = 0; i < rounds * 16; i++)
        _Pragma("unroll 1") for (uint way = 0; way < ways; way++)
            if (way == mine)
                __asm volatile("v_add_u32 %0, vcc, 1, %0" : "+v"(sum)::"vcc");
    uint64_t end = micro_clock();
    out[get_global_id(0)] = sum / 16;
    micro_note(times, start, end);
}
