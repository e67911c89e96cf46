#include "mem/message.h"

const struct memsys_kind_row memsys_kinds[MEM_KIND_COUNT] = {
#define X(id, ...) [MEM_##id] = {__VA_ARGS__},
    MEM_KINDS(X)
#undef X
};

const char *memsys_kind_name(uint8_t kind)
{
    return kind < MEM_KIND_COUNT ? memsys_kinds[kind].name : "?";
}
