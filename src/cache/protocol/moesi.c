/* MOESI with a directory: an owner gives its dirty line to readers without a write-back. */
#include "cache/protocol/rows.h"
#include "cache/protocol/kinds.h"

PROTOCOL_KINDS(MOESI_KINDS)
#define MOESI_MORE_BUSY(state)
#define MOESI_MORE_HOME_ROWS
#include "cache/protocol/moesi.def"

const struct protocol protocol_moesi = {
    .name = "moesi",
    .help = "directory; owners pass on dirty lines",
    .kinds = kinds,
    .kind_count = KIND_COUNT,
    .tables = {[COH_CACHE] = &cache, [COH_HOME] = &home},
};
