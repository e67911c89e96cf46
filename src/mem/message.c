#include "mem/message.h"

const struct memsys_kind_row memsys_kinds[MEM_KIND_COUNT] = {
#define X(id, ...) [MEM_##id] = {__VA_ARGS__},
    MEM_KINDS(X)
#undef X
};
