/* Surfaces: memory addressed by coordinates, the first in bytes, without formats or filters; and queries of
 * textures and surfaces. */
#include "exec/texel.h"

#include <string.h>

static const uint8_t type_bytes[] = {
    [ELEMENT_U32] = 4, [ELEMENT_S32] = 4, [ELEMENT_B8] = 1,  [ELEMENT_B16] = 2,
    [ELEMENT_B32] = 4, [ELEMENT_B64] = 8, [ELEMENT_U64] = 8, [ELEMENT_S64] = 8,
};

/* Faces of cubemaps are layers. */
static const struct {
    uint8_t kinds; /* that may be accessed so: bits of enum texture_kind */
    uint8_t dimensions;
    bool layered;
} geometries[] = {
    [GEOMETRY_1D] = {1 << TEXTURE_1D, 1, false},
    [GEOMETRY_2D] = {1 << TEXTURE_2D, 2, false},
    [GEOMETRY_3D] = {1 << TEXTURE_3D, 3, false},
    [GEOMETRY_A1D] = {1 << TEXTURE_1D_LAYERED, 1, true},
    [GEOMETRY_A2D] = {1 << TEXTURE_2D_LAYERED | 1 << TEXTURE_CUBE | 1 << TEXTURE_CUBE_LAYERED, 2, true},
};

uint32_t surface_element_bytes(const struct texture_form *form)
{
    return type_bytes[form->type];
}

enum surface_place surface_find(const struct texture *surface, const struct texture_form *form,
                                const uint32_t at[4], unsigned char **place)
{
    const struct texture_level *level = &surface->levels[0];
    int64_t bytes = type_bytes[form->type] * form->elements, layered = geometries[form->geometry].layered;
    int64_t limits[3] = {level->width * (int64_t)texel_bytes(surface) - bytes, level->height - 1,
                         level->depth - 1};
    int64_t to[3] = {0};
    if (!(geometries[form->geometry].kinds >> surface->kind & 1))
        return SURFACE_FAULT;
    for (unsigned i = 0; i < geometries[form->geometry].dimensions; i++)
        to[i] = (int32_t)at[layered + i];
    if (layered) {
        to[2] = at[0]; /* unsigned */
        limits[2] = (int64_t)surface->layers - 1;
    }
    if (to[0] % bytes)
        return SURFACE_FAULT;
    for (unsigned i = 0; i < 3; i++) {
        if (to[i] >= 0 && to[i] <= limits[i])
            continue;
        if (form->bounds != BOUNDS_CLAMP || limits[i] < 0)
            return form->bounds == BOUNDS_ZERO ? SURFACE_NOTHING : SURFACE_FAULT;
        to[i] = to[i] < 0 ? 0 : limits[i];
    }
    *place =
        level->memory + (uint64_t)to[2] * level->slice_pitch + (uint64_t)to[1] * level->row_pitch + to[0];
    return SURFACE_AT;
}

bool surface_load(const struct texture *surface, const struct texture_form *form, const uint32_t at[4],
                  uint64_t values[4])
{
    unsigned char *place;
    unsigned bytes = type_bytes[form->type];
    enum surface_place found = surface_find(surface, form, at, &place);
    memset(values, 0, 4 * sizeof *values);
    for (unsigned i = 0; i < form->elements && found == SURFACE_AT; i++)
        memcpy(&values[i], place + i * bytes, bytes);
    return found != SURFACE_FAULT;
}

bool surface_store(const struct texture *surface, const struct texture_form *form, const uint32_t at[4],
                   const uint64_t values[4])
{
    unsigned char *place;
    unsigned bytes = type_bytes[form->type];
    enum surface_place found = surface_find(surface, form, at, &place);
    for (unsigned i = 0; i < form->elements && found == SURFACE_AT; i++)
        memcpy(place + i * bytes, &values[i], bytes);
    return found != SURFACE_FAULT;
}

bool texture_query(const struct texture *texture, const struct texture_form *form, uint32_t level,
                   uint32_t *out)
{
    level = form->query_level ? level : 0;
    if (level >= texture->level_count)
        return false;
    switch (form->query) {
    case QUERY_WIDTH:
        *out = texture->levels[level].width;
        break;
    case QUERY_HEIGHT:
        *out = texture->levels[level].height;
        break;
    case QUERY_DEPTH:
        *out = texture->levels[level].depth;
        break;
    case QUERY_ARRAY_SIZE:
        *out = texture->layers;
        break;
    case QUERY_NORMALIZED_COORDS:
        *out = texture->normalized;
        break;
    case QUERY_NUM_MIPMAP_LEVELS:
        *out = texture->level_count;
        break;
    }
    return true;
}
