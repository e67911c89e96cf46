#include "mem/message.h"

const struct mem_kind_row mem_kinds[MEM_KIND_COUNT] = {
#define X(id, ...) [MEM_##id] = {__VA_ARGS__},
    MEM_KINDS(X)
#undef X
};
