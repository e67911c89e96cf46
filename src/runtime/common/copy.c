#include "runtime/common/common.h"

struct copy_side common_memory(const void *pointer, size_t pitch)
{
    return (struct copy_side){.address = (uint64_t)(uintptr_t)pointer, .pitch = pitch};
}

struct copy common_bytes(void *to, const void *from, size_t bytes)
{
    return (struct copy){.from = common_memory(from, 0),
                         .to = common_memory(to, 0),
                         .width_bytes = bytes,
                         .height = 1,
                         .depth = 1};
}

enum result common_in_symbol(const struct symbol *symbol, size_t bytes, size_t offset, uint64_t *address)
{
    if (offset > symbol->bytes || bytes > symbol->bytes - offset)
        return RESULT_INVALID_VALUE;
    *address = symbol->address + offset;
    return RESULT_SUCCESS;
}
