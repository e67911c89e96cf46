/* MOESI_hsc after gem5-gpu's paper: MOESI in the CPUs' caches, a GPU L2 that is coherent with them, and GPU
 * L1s that are valid or invalid, written through, and stale until a synchronization. (The authors' own tables
 * were never released; the directory is that of `moesi`.) */
#include "cache/protocol/rows.h"
#include "cache/protocol/kinds.h"

#define KINDS(X) MOESI_KINDS(X) GPU_KINDS(X)
PROTOCOL_KINDS(KINDS)
#define MOESI_MORE_BUSY(state)
#define MOESI_MORE_HOME_ROWS
#include "cache/protocol/gpu_l1.def"
#include "cache/protocol/moesi.def"

const struct protocol protocol_moesi_hsc = {
    .name = "moesi_hsc",
    .help = "CPUs and a GPU: directory, GPU L1s written through",
    .kinds = kinds,
    .kind_count = KIND_COUNT,
    .tables = {[COH_CACHE] = &cache, [COH_HOME] = &home, [COH_L1] = &l1},
    .below = {k_Read, k_Write, k_ReadData, k_WriteAck},
};
