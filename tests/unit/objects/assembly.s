// A kernel without metadata
.text
.globl bare
.p2align 8
.type bare,@function
bare:
  s_endpgm
.size bare, .-bare
.rodata
.amdhsa_kernel bare
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_group_segment_fixed_size 512
  .amdhsa_next_free_vgpr 9
  .amdhsa_next_free_sgpr 20
.end_amdhsa_kernel
.globl table
.type table,@object
.data
table:
  .long 1, 2, 3
.size table, 12
