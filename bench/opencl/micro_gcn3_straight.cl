#include "micro_gcn3.h"

/* Straight code of many like steps, of which a launch takes the last ones only: it jumps into it. So the
 * number of steps is an argument, and the code is as if it had been written out for it. Numbers of bytes
 * are those of the instructions, which the host side and these two know. */
#define JUMP(skip)                                                                                           \
    "s_getpc_b64 s[20:21]\n\t"                                                                               \
    "s_add_u32 s20, s20, " skip "\n\t" /* 12 more than steps: to the end of these */                         \
    "s_addc_u32 s21, s21, 0\n\t"                                                                             \
    "s_setpc_b64 s[20:21]\n\t"
#define READ_AND_MOVE                                                                                        \
    "flat_load_dword %0, v[32:33]\n\t"                                                                       \
    "v_add_u32 v32, vcc, v32, %2\n\t"                                                                        \
    "v_addc_u32 v33, vcc, v33, 0, vcc\n\t"                                                                   \
    "s_nop 0\n\t"                                                                                            \
    "s_waitcnt vmcnt(0) lgkmcnt(0)"

/* 4 bytes a step, of 16384. */
__kernel void micro_gcn3_straight_alu(uint skip, float b, __global float *out)
{
    float a = get_local_id(0);
    __asm volatile(JUMP("%2") REPEAT(16384, "v_add_f32 %0, %0, %1") : "+v"(a) : "v"(b), "s"(skip + 12)
                   : "s20", "s21", "scc");
    out[get_local_id(0)] = a;
}

/* Nothing but additions: no argument is read, and there is no result. A kernel for each number of them, as it begins with the first
 * line of its code. */
#define BARE(count)                                                                                          \
    __kernel void micro_gcn3_straight_bare_##count(uint unused)                                              \
    {                                                                                                        \
        __asm volatile(REPEAT(count, "v_add_f32 v3, v2, v1")::: "v1", "v2", "v3");                           \
    }
BARE(0) BARE(4) BARE(8) BARE(12) BARE(16) BARE(20) BARE(24) BARE(28) BARE(32) BARE(36) BARE(40)
BARE(44) BARE(48) BARE(52) BARE(56) BARE(60) BARE(64) BARE(68) BARE(72) BARE(76) BARE(80) BARE(84)
BARE(88) BARE(92) BARE(96) BARE(100) BARE(104) BARE(108) BARE(112) BARE(116) BARE(120) BARE(124) BARE(128)

/* 12 bytes a step, of 4096: reads of one place, which is stride bytes further for the next lane. */
__kernel void micro_gcn3_straight_same(uint skip, uint stride, __global const uint *from, __global uint *out)
{
    uint value = 0;
    __global const uint *at = from + get_local_id(0) * (stride / 4);
    __asm volatile(JUMP("%2") REPEAT(4096, "flat_load_dword %0, %1\n\ts_waitcnt vmcnt(0) lgkmcnt(0)")
                   : "+v"(value) : "v"(at), "s"(skip + 12)
                   : "s20", "s21", "scc", "memory");
    out[get_local_id(0)] = value;
}

/* 28 bytes a step: the last of 4096 reads, stride bytes apart, then the last of 1024 from the beginning again. */
__kernel void micro_gcn3_straight_move(uint skip, uint skip_again, uint stride, __global const uint *from,
                                       __global uint *out)
{
    uint value = 0, low = (uint)(ulong)from, high = (uint)((ulong)from >> 32);
    __asm volatile("v_mov_b32 v32, %3\n\tv_mov_b32 v33, %4\n\t" JUMP("%1") REPEAT(4096, READ_AND_MOVE)
                   : "+v"(value) : "s"(skip + 12), "v"(stride), "s"(low), "s"(high)
                   : "s20", "s21", "scc", "vcc", "v32", "v33", "memory");
    __asm volatile("v_mov_b32 v32, %3\n\tv_mov_b32 v33, %4\n\t" JUMP("%1") REPEAT(1024, READ_AND_MOVE)
                   : "+v"(value) : "s"(skip_again + 12), "v"(stride), "s"(low), "s"(high)
                   : "s20", "s21", "scc", "vcc", "v32", "v33", "memory");
    out[get_local_id(0)] = value;
}
