#include "micro_gcn3.h"

/* ring[i] is the index of the place after i. The first loop warms the caches. One work-item; that its first
 * index is its number, which is 0, makes the loads those of vectors. */
#define CHASE(at, next)                                                                                      \
    do {                                                                                                     \
        _Pragma("unroll 1") for (uint i = 0; i < before; i++) at = next;                                     \
        uint64_t start = micro_clock();                                                                      \
        _Pragma("unroll 1") for (uint i = 0; i < steps; i++) at = next;                                      \
        *end = at; /* the wait for the last load is in the time */                                           \
        micro_note(time, start, micro_clock());                                                              \
    } while (0)

__kernel void micro_gcn3_chase_vector(uint words, uint before, uint steps, __global const uint *ring,
                                      __global uint *end, __global struct micro_time *time)
{
    uint at = get_local_id(0);
    CHASE(at, ring[at]);
}

static uint scalar_load(__global const uint *ring, uint at)
{
    __asm volatile("s_lshl_b32 %0, %0, 2\n\ts_load_dword %0, %1, %0\n\ts_waitcnt lgkmcnt(0)"
                   : "+s"(at)
                   : "s"(ring)
                   : "scc");
    return at;
}

__kernel void micro_gcn3_chase_scalar(uint words, uint before, uint steps, __global const uint *ring,
                                      __global uint *end, __global struct micro_time *time)
{
    uint at = 0;
    CHASE(at, scalar_load(ring, at));
}

__kernel void micro_gcn3_chase_lds(uint words, uint before, uint steps, __global const uint *ring,
                                   __global uint *end, __global struct micro_time *time)
{
    __local uint local_ring[8192];
    uint at = get_local_id(0);
    for (uint i = 0; i < words; i++)
        local_ring[i] = ring[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    CHASE(at, local_ring[at]);
}
