#include "micro_gcn3.h"

__kernel LARGE_GROUPS void micro_gcn3_empty(uint unused)
{
}

/* With all work-item and work-group numbers in registers. */
__kernel LARGE_GROUPS void micro_gcn3_empty_numbers(uint unused)
{
    __asm volatile("" ::"v"((uint)get_local_id(0)), "v"((uint)get_local_id(1)), "v"((uint)get_local_id(2)),
                   "s"((uint)get_group_id(0)), "s"((uint)get_group_id(1)), "s"((uint)get_group_id(2)));
}

/* With 64 vector registers, so that a SIMD has room for 4 wavefronts. */
__kernel LARGE_GROUPS void micro_gcn3_empty_registers(uint unused)
{
    __asm volatile("" ::: "v63");
}

/* With half of the LDS, so that a compute unit has room for 2 work-groups. */
__kernel LARGE_GROUPS void micro_gcn3_empty_lds(uint unused)
{
    __local uint words[8192];
    __asm volatile("" ::"v"(&words[unused]));
}
