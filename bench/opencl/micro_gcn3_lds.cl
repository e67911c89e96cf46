#include "micro_gcn3.h"

/* Sixteen accesses a round, none of which waits for another one; each lane at `stride` bytes from the next.
 * M0 gets the value that the compiler gives it, too. */
#define ACCESS(name, type, operands, ...)                                                                    \
    __kernel LARGE_GROUPS void micro_gcn3_lds_##name(uint rounds, uint stride, __global uint *out,           \
                                                     __global struct micro_time *times)                      \
    {                                                                                                        \
        __local uint words[4096];                                                                            \
        uint me = get_local_id(0), at = (uint)(uintptr_t)words + me % LANES * stride % 16384, one = 1;       \
        type value = (type)(1);                                                                              \
        uint64_t start = 0, end = 0;                                                                         \
        for (uint i = me; i < 4096; i += get_local_size(0))                                                  \
            words[i] = 0;                                                                                    \
        _Pragma("unroll 1") for (uint pass = 0; pass < 2; pass++)                                            \
        {                                                                                                    \
            barrier(CLK_LOCAL_MEM_FENCE);                                                                    \
            start = micro_clock();                                                                           \
            _Pragma("unroll 1") for (uint i = 0; i < rounds; i++)                                            \
                __asm volatile("s_mov_b32 m0, -1\n\t" REPEAT(16, operands) "\n\ts_waitcnt lgkmcnt(0)"        \
                               : "+v"(value)                                                                 \
                               : "v"(at), "v"(one)                                                           \
                               : "memory");                                                                  \
            end = micro_clock();                                                                             \
        }                                                                                                    \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                        \
        if (me < LANES)                                                                                      \
            out[me] = words[me * stride % 16384 / 4];                                                        \
        micro_note(times, start, end);                                                                       \
    }
ACCESS(load4, uint, "ds_read_b32 %0, %1")
ACCESS(load8, uint2, "ds_read_b64 %0, %1")
ACCESS(load16, uint4, "ds_read_b128 %0, %1")
ACCESS(store4, uint, "ds_write_b32 %1, %0")
ACCESS(store8, uint2, "ds_write_b64 %1, %0")
ACCESS(store16, uint4, "ds_write_b128 %1, %0")
ACCESS(add, uint, "ds_add_u32 %1, %2")
ACCESS(add_return, uint, "ds_add_rtn_u32 %0, %1, %2")
