/* Image resources (T#) and samplers (S#), by the tables of the manual's chapter 8. */
#include "gcn3_run/image.h"
#include "base/bits.h"

/* What each type of image has; those that are not here are cubes and images of samples. */
enum { FIRST_TYPE = 8 };
static const struct shape {
    uint8_t axes;
    bool layers;
} shapes[] = {{1, false}, {2, false}, {3, false}, {0, false}, {1, true}, {2, true}};

/* How texels lie one behind another: the tiling index of gfx8, the swizzle mode of gfx9. */
enum { LINEAR_TILING = 8, LINEAR_SWIZZLE = 0 };

static uint32_t bits_of(uint32_t word, uint32_t at, uint32_t count)
{
    return word >> at & (UINT32_MAX >> (32 - count));
}

/* A short resource does not say it: rows begin at multiples of 64 bytes, and of 8 texels. */
static uint32_t usual_pitch(const struct gcn3_texture *texture)
{
    uint32_t unit = (uint32_t)max_u64(8, 64 / texture->texel_bytes);
    return (texture->size[0] + unit - 1) / unit * unit;
}

static void take_sizes(const uint32_t *words, const struct shape *shape, bool is_gfx9, bool is_short,
                       struct gcn3_texture *texture)
{
    uint32_t depth = is_short ? 1 : bits_of(words[4], 0, 13) + 1;
    texture->axes = shape->axes;
    texture->size[0] = bits_of(words[2], 0, 14) + 1;
    texture->size[1] = shape->axes > 1 ? bits_of(words[2], 14, 14) + 1 : 1;
    texture->size[2] = shape->axes > 2 ? depth : 1;
    texture->levels = bits_of(words[3], 16, 4) - bits_of(words[3], 12, 4) + 1;
    texture->pitch = is_short ? usual_pitch(texture) : bits_of(words[4], 13, is_gfx9 ? 16 : 14) + 1;
    if (!shape->layers || is_short)
        return;
    uint32_t last = is_gfx9 ? depth - 1 : bits_of(words[5], 13, 13);
    texture->first_layer = bits_of(words[5], 0, 13);
    texture->layers = last >= texture->first_layer ? last - texture->first_layer + 1 : 1;
}

const char *gcn3_texture_take(const uint32_t *words, enum gcn3_target target, bool is_short,
                              struct gcn3_texture *texture)
{
    bool is_gfx9 = target != GCN3_GFX803;
    uint32_t type = words[3] >> 28;
    *texture = (struct gcn3_texture){.base = (words[0] | (uint64_t)(words[1] & 0xff) << 32) << 8,
                                     .data = bits_of(words[1], 20, 6),
                                     .number = bits_of(words[1], 26, 4),
                                     .select = bits_of(words[3], 0, 12)};
    texture->texel_bytes = gcn3_format_bytes(texture->data);
    if (type < FIRST_TYPE || type - FIRST_TYPE >= COUNT_OF(shapes) || !shapes[type - FIRST_TYPE].axes)
        return "the resource is no image of 1, 2 or 3 dimensions";
    if (!texture->texel_bytes || !gcn3_format_is_number(texture->number))
        return "such formats of texels are not executed";
    if (bits_of(words[3], 20, 5) != (is_gfx9 ? LINEAR_SWIZZLE : LINEAR_TILING))
        return "tiled images are not executed";
    take_sizes(words, &shapes[type - FIRST_TYPE], is_gfx9, is_short, texture);
    if (texture->levels != 1 || bits_of(words[3], 12, 4))
        return "mipmaps are not executed";
    return texture->pitch < texture->size[0] ? "its rows are shorter than its width" : NULL;
}

const char *gcn3_sampler_take(const uint32_t words[4], struct gcn3_sampler *sampler)
{
    *sampler = (struct gcn3_sampler){.is_linear = bits_of(words[2], 20, 1),
                                     .is_unnormalized = bits_of(words[0], 15, 1),
                                     .border = words[3] >> 30};
    for (uint32_t axis = 0; axis < GCN3_AXES; axis++) {
        sampler->wrap[axis] = (uint8_t)bits_of(words[0], 3 * axis, 3);
        if (sampler->wrap[axis] > GCN3_WRAP_MIRROR_ONCE_LAST && sampler->wrap[axis] < GCN3_WRAP_BORDER)
            return "half borders are not executed";
    }
    if (bits_of(words[0], 29, 2))
        return "filters of minima and maxima are not executed";
    return sampler->border == GCN3_BORDER_POINTER ? "tables of border colours are not executed" : NULL;
}

void gcn3_texel_around(const struct gcn3_texture *texture, const uint32_t place[GCN3_AXES], uint32_t layer,
                       struct gcn3_around *around)
{
    const uint32_t *size = texture->size;
    bool inside = layer < max_u64(texture->layers, 1);
    for (uint32_t axis = 0; axis < GCN3_AXES; axis++)
        inside &= place[axis] < size[axis];
    uint64_t slice = (uint64_t)place[2] + texture->first_layer + layer;
    uint64_t row = slice * size[1] + place[1];
    *around = (struct gcn3_around){.inside = inside, .corners = 1};
    around->at[0] = texture->base + (row * texture->pitch + place[0]) * texture->texel_bytes;
}
