/* VI_hammer, as gem5-gpu has it: CPU caches and the GPU's L2 are caches of MOESI by broadcast; the GPU's L1s
 * are valid or invalid and written through. */
#include "cache/protocol/rows.h"
#include "cache/protocol/kinds.h"

#define KINDS(X) HAMMER_KINDS(X) GPU_KINDS(X)
PROTOCOL_KINDS(KINDS)
#include "cache/protocol/gpu_l1.def"
#include "cache/protocol/hammer.def"

const struct protocol protocol_vi_hammer = {
    .name = "vi_hammer",
    .help = "CPUs and a GPU: broadcast, GPU L1s written through",
    .kinds = kinds,
    .kind_count = KIND_COUNT,
    .tables = {[COH_CACHE] = &cache, [COH_HOME] = &home, [COH_L1] = &l1},
    .below = {k_Read, k_Write, k_ReadData, k_WriteAck},
};
