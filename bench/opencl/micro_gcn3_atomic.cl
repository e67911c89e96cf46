#include "micro_gcn3.h"

/* `lane` and `wavefront` are the bytes from the place of one lane, or of one wavefront, to that of the next. */
#define PLACE (memory + (get_local_id(0) % LANES * lane + get_global_id(0) / LANES * wavefront) / 4)

__kernel LARGE_GROUPS void micro_gcn3_atomic_add(uint steps, uint lane, uint wavefront, __global uint *memory,
                                                 __global uint *out, __global struct micro_time *times)
{
    __global uint *place = PLACE;
    uint64_t start = micro_clock();
    _Pragma("unroll 1") for (uint i = 0; i < steps; i++)
        __asm volatile("flat_atomic_add %0, %1" ::"v"(place), "v"(1) : "memory");
    micro_note(times, start, micro_clock());
}

/* Each waits for the last one's result. */
__kernel LARGE_GROUPS void micro_gcn3_atomic_return(uint steps, uint lane, uint wavefront,
                                                    __global uint *memory, __global uint *out,
                                                    __global struct micro_time *times)
{
    __global uint *place = PLACE;
    uint sum = 0;
    uint64_t start = micro_clock();
    _Pragma("unroll 1") for (uint i = 0; i < steps; i++)
    {
        uint old;
        __asm volatile("flat_atomic_add %0, %1, %2 glc\n\ts_waitcnt vmcnt(0) lgkmcnt(0)"
                       : "=v"(old)
                       : "v"(place), "v"(1)
                       : "memory");
        sum += old;
    }
    out[get_global_id(0)] = sum;
    micro_note(times, start, micro_clock());
}
