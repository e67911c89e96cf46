/* MOESI by broadcast: no list of sharers at home. */
#include "cache/protocol/rows.h"
#include "cache/protocol/kinds.h"

PROTOCOL_KINDS(HAMMER_KINDS)
#include "cache/protocol/hammer.def"

const struct protocol protocol_moesi_hammer = {
    .name = "moesi_hammer",
    .help = "broadcast: the home asks every cache",
    .kinds = kinds,
    .kind_count = KIND_COUNT,
    .tables = {[COH_CACHE] = &cache, [COH_HOME] = &home},
};
