; Kernels of the tests of AMD's units (gcn3.h). ./assemble makes gcn3.hsaco of this.
;
; Parameters: where results go, data, a number. Between `start` and `end` stands what is measured: in one line of code,
; and what it reads is in registers before. Registers: s8 the number, s9 the wave's number, s[12:15] the data as a
; buffer, v2 the lane. Results of a wave: both clocks, and lane 0's v8 and v9.
.amdgcn_target "amdgcn-amd-amdhsa--gfx803"
.text

.macro kernel name
    .globl \name
    .type \name,@function
    .p2align 8
\name:
    s_load_dwordx4 s[4:7], s[0:1], 0x0
    s_load_dword s8, s[0:1], 0x10
    v_lshrrev_b32 v1, 6, v0
    v_readfirstlane_b32 s9, v1
    v_and_b32 v2, 63, v0
    s_mov_b32 m0, -1
    s_waitcnt lgkmcnt(0)
    s_mov_b32 s12, s6
    s_mov_b32 s13, s7
    s_mov_b32 s14, -1
    s_mov_b32 s15, 0x27000
    v_mov_b32 v8, 0
    v_mov_b32 v9, 0
.endm

.macro start
    s_waitcnt vmcnt(0) lgkmcnt(0)
    s_sleep 8 ; what is on its way comes to rest
    .p2align 7
    s_barrier
    s_memtime s[16:17]
.endm

.macro end
    s_memtime s[18:19]
    s_waitcnt vmcnt(0) lgkmcnt(0)
    s_barrier ; others may not have ended
    v_mov_b32 v10, s16
    v_mov_b32 v11, s18
    v_mov_b32 v12, v8
    v_mov_b32 v13, v9
    s_lshl_b32 s9, s9, 4
    s_add_u32 s4, s4, s9
    s_addc_u32 s5, s5, 0
    v_mov_b32 v14, s4
    v_mov_b32 v15, s5
    s_mov_b64 exec, 1
    flat_store_dwordx4 v[14:15], v[10:13]
    s_endpgm
.endm

.macro described name
    .rodata
    .p2align 6
    .amdhsa_kernel \name
        .amdhsa_group_segment_fixed_size 65536
        .amdhsa_user_sgpr_kernarg_segment_ptr 1
        .amdhsa_kernarg_size 24
        .amdhsa_next_free_vgpr 32
        .amdhsa_next_free_sgpr 32
    .end_amdhsa_kernel
    .text
.endm


; ---- waits ----

; Of two loads, `hit` finds its line in L1.
.macro hit to
    buffer_load_dword \to, off, s[12:15], 0
.endm
.macro miss to
    buffer_load_dword \to, off, s[12:15], 0 offset:1024
.endm

.macro two_loads name, first, second, left
    kernel \name
    hit v3
    start
    \first v4
    \second v5
    s_waitcnt vmcnt(\left)
    end
    described \name
.endm
two_loads hit_miss_1, hit, miss, 1
two_loads hit_miss_0, hit, miss, 0
two_loads miss_hit_1, miss, hit, 1
two_loads miss_hit_0, miss, hit, 0

.macro two_lds_reads name, left
    kernel \name
    v_lshlrev_b32 v3, 2, v2
    start
    ds_read_b32 v4, v3
    ds_read_b32 v5, v3
    s_waitcnt lgkmcnt(\left)
    end
    described \name
.endm
two_lds_reads lds_lds_1, 1
two_lds_reads lds_lds_0, 0

.macro load_and_lds name, wait:vararg
    kernel \name
    v_lshlrev_b32 v3, 2, v2
    start
    miss v4
    ds_read_b32 v5, v3
    s_waitcnt \wait
    end
    described \name
.endm
load_and_lds miss_lds_lgkm, lgkmcnt(0)
load_and_lds miss_lds_vm, vmcnt(0)

.macro flat_load name, wait:vararg
    kernel \name
    v_mov_b32 v6, s6
    v_mov_b32 v7, s7
    start
    flat_load_dword v4, v[6:7]
    s_waitcnt \wait
    end
    described \name
.endm
flat_load flat_lgkm, lgkmcnt(0)
flat_load flat_vm, vmcnt(0)
flat_load flat_none, vmcnt(1) & lgkmcnt(1)

; ---- values that nobody waited for; they are there long since ----

kernel forgets_vm
    v_mov_b32 v4, 77
    v_mov_b32 v5, 78
    start
    hit v4
    hit v5
    s_sleep 127
    v_mov_b32 v8, v4
    s_waitcnt vmcnt(1)
    v_mov_b32 v9, v5
    end
described forgets_vm

kernel waits_vm
    v_mov_b32 v4, 77
    v_mov_b32 v5, 78
    start
    hit v4
    hit v5
    s_waitcnt vmcnt(1)
    v_mov_b32 v8, v4
    s_waitcnt vmcnt(0)
    v_mov_b32 v9, v5
    end
described waits_vm

kernel forgets_lgkm
    v_mov_b32 v3, 0
    v_mov_b32 v6, 5
    ds_write_b32 v3, v6
    v_mov_b32 v4, 77
    s_mov_b32 s20, 78
    start
    ds_read_b32 v4, v3
    s_load_dword s20, s[6:7], 0x0
    s_sleep 127
    v_mov_b32 v8, v4
    v_mov_b32 v9, s20
    end
described forgets_lgkm

kernel waits_lgkm
    v_mov_b32 v3, 0
    v_mov_b32 v6, 5
    ds_write_b32 v3, v6
    v_mov_b32 v4, 77
    s_mov_b32 s20, 78
    start
    ds_read_b32 v4, v3
    s_load_dword s20, s[6:7], 0x0
    s_waitcnt lgkmcnt(0)
    v_mov_b32 v8, v4
    v_mov_b32 v9, s20
    end
described waits_lgkm

; ---- issue to several units ----

.macro four_vector
    v_add_f32 v20, v2, v2
    v_add_f32 v21, v2, v2
    v_add_f32 v22, v2, v2
    v_add_f32 v23, v2, v2
.endm
.macro four_scalar
    s_and_b32 s20, s8, s8
    s_and_b32 s21, s8, s8
    s_and_b32 s22, s8, s8
    s_and_b32 s23, s8, s8
.endm

; Even waves do the first, odd ones the second.
.macro two_waves name, first, second
    kernel \name
    s_and_b32 s10, s9, 1
    s_cbranch_scc1 \name\()_odd
    start
    \first
    end
\name\()_odd:
    start
    \second
    end
    described \name
.endm
two_waves vector_vector, four_vector, four_vector
two_waves vector_scalar, four_vector, four_scalar
two_waves scalar_scalar, four_scalar, four_scalar

; ---- the LDS: lanes are so many bytes apart ----

.macro lds_read name, bits, to
    kernel \name
    v_mul_lo_u32 v3, v2, s8
    start
    ds_read_b\bits \to, v3
    s_waitcnt lgkmcnt(0)
    end
    described \name
.endm
lds_read lds_32, 32, v20
lds_read lds_64, 64, v[20:21]
lds_read lds_128, 128, v[20:23]

; ---- caches that CUs share: work-groups have results, one wave each ----

.macro group_kernel name
    kernel \name
    s_mov_b32 s9, s2
    s_cmp_eq_u32 s2, 0
.endm

; All read the same line, each work-group a taken branch later than the one before.
group_kernel scalar_read
    s_mov_b32 s10, s2
scalar_read_later:
    s_sub_u32 s10, s10, 1
    s_cbranch_scc0 scalar_read_later
    start
    s_load_dword s20, s[6:7], 0x0
    s_waitcnt lgkmcnt(0)
    end
described scalar_read

; Likewise for a line of code: all get to the one with the first clock together, and leave it one after the other.
group_kernel code_read
    s_mov_b32 s10, s2
    .p2align 6
code_read_later:
    s_sub_u32 s10, s10, 1
    s_cbranch_scc0 code_read_later
    s_memtime s[16:17]
    .p2align 6 ; twelve s_nop
    end
described code_read

; The first work-group reads its line again when others have read four more.
group_kernel scalar_room
    s_cbranch_scc0 scalar_room_others
    s_load_dword s20, s[6:7], 0x0
    s_waitcnt lgkmcnt(0)
    s_sleep 127
    start
    s_load_dword s20, s[6:7], 0x0
    s_waitcnt lgkmcnt(0)
    end
scalar_room_others:
    s_load_dword s20, s[6:7], 0x40
    s_load_dword s21, s[6:7], 0x80
    s_load_dword s22, s[6:7], 0xc0
    s_load_dword s23, s[6:7], 0x100
    start
    end
described scalar_room

; While the first work-group's line is on its way to the others, they write there, and have their cache forget. What is
; written is other than what was there.
group_kernel scalar_forget
    s_cbranch_scc0 scalar_forget_others
    start
    s_load_dword s20, s[6:7], 0x0
    s_waitcnt lgkmcnt(0)
    v_mov_b32 v8, s20
    end
scalar_forget_others:
    start
    s_sleep 4
    s_waitcnt lgkmcnt(0)
    v_mov_b32 v9, s16
    buffer_store_dword v9, off, s[12:15], 0
    s_waitcnt vmcnt(0)
    s_dcache_inv
    s_sleep 32
    s_load_dword s20, s[6:7], 0x0
    s_waitcnt lgkmcnt(0)
    v_mov_b32 v8, s20
    end
described scalar_forget

; What a wave stores, it reads.
group_kernel scalar_store
    start
    s_load_dword s20, s[6:7], 0x0
    s_waitcnt lgkmcnt(0)
    v_mov_b32 v9, s16
    s_store_dword s16, s[6:7], 0x0
    s_waitcnt lgkmcnt(0)
    s_load_dword s20, s[6:7], 0x0
    s_waitcnt lgkmcnt(0)
    v_mov_b32 v8, s20
    end
described scalar_store
