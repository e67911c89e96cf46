/* The contents of the rows of PTX_TYPES and PTX_SPECIALS. */
#include "ptx/ptx.h"

#include <string.h>

static const struct type_row {
    const char *name;
    uint32_t bytes;
} rows[PTX_TYPE_COUNT] = {[PTX_NO_TYPE] = {"", 0},
#define T(name, bytes) [PTX_##name] = {#name, bytes},
                          PTX_TYPES(T)
#undef T
};

const char *const ptx_special_names[] = {
#define S(id, name) name,
    PTX_SPECIALS(S)
#undef S
};

uint32_t ptx_type_bytes(enum ptx_type type)
{
    return rows[type].bytes;
}

const char *ptx_type_name(enum ptx_type type)
{
    return rows[type].name;
}

enum ptx_type ptx_type_of(const char *name, size_t length)
{
    for (int type = PTX_NO_TYPE + 1; type < PTX_TYPE_COUNT; type++) {
        const char *known = rows[type].name;
        if (strncmp(known, name, length) == 0 && !known[length])
            return (enum ptx_type)type;
    }
    return PTX_NO_TYPE;
}

/* References to textures are named like types but are neither; the rest tells by its first letter. */
bool ptx_type_is_float(enum ptx_type type)
{
    char first = rows[type].name[0];
    return first == 'f' || first == 'e' || type == PTX_tf32 || type == PTX_bf16 || type == PTX_bf16x2;
}

bool ptx_type_is_signed(enum ptx_type type)
{
    return type == PTX_s8 || type == PTX_s16 || type == PTX_s32 || type == PTX_s64 || type == PTX_s16x2;
}
