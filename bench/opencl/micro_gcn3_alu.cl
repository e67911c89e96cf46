#include "micro_gcn3.h"

/* Two passes of everything, the first to fill the instruction cache. */
#define KERNEL(name, letter, type, first, text)                                                              \
    __kernel LARGE_GROUPS void micro_gcn3_##name(uint rounds, type b, __global type *out,                    \
                                                 __global struct micro_time *times)                          \
    {                                                                                                        \
        type a = first;                                                                                      \
        uint64_t start = 0, end = 0;                                                                         \
        _Pragma("unroll 1") for (uint pass = 0; pass < 2; pass++)                                            \
        {                                                                                                    \
            barrier(CLK_LOCAL_MEM_FENCE);                                                                    \
            start = micro_clock();                                                                           \
            _Pragma("unroll 1") for (uint i = 0; i < rounds; i++)                                            \
                __asm volatile(REPEAT(64, text) : "+" #letter(a) : #letter(b) : "vcc", "scc", "v32");        \
            end = micro_clock();                                                                             \
        }                                                                                                    \
        out[get_local_id(0)] = a;                                                                            \
        micro_note(times, start, end);                                                                       \
    }
#define FIRST_v(type)                                b + (type)(get_local_id(0) % LANES)
#define FIRST_s(type)                                b
#define EXACT(name, letter, type, start, text, value) KERNEL(name, letter, type, FIRST_##letter(type), text)
#define LOOSE(name, letter, type, start, text)        KERNEL(name, letter, type, FIRST_##letter(type), text)
#include "micro_gcn3_alu.def"
