/* Sampling: from coordinates to texels, and from texels to a colour. Places are kept in 256ths of a texel, as
 * the hardware's filter has 8 bits for a fraction. */
#include "gcn3_run/image.h"
#include "exec/number.h"

enum { FRACTION = 256 };

/* Along one axis: the nearer texel, or before the image begins the one that stands for it; -1: the border. */
static int64_t wrapped(int64_t place, int64_t size, enum gcn3_wrap wrap)
{
    int64_t twice = 2 * size;
    switch (wrap) {
    case GCN3_WRAP_REPEAT:
        return (place % size + size) % size;
    case GCN3_WRAP_MIRROR:
        place = (place % twice + twice) % twice;
        return place < size ? place : twice - 1 - place;
    case GCN3_WRAP_LAST:
        return place < 0 ? 0 : place < size ? place : size - 1;
    case GCN3_WRAP_MIRROR_ONCE_LAST:
    case GCN3_WRAP_MIRROR_ONCE_BORDER:
        place = place < 0 ? -1 - place : place;
        return place < size ? place : wrap == GCN3_WRAP_MIRROR_ONCE_LAST ? size - 1 : -1;
    default:
        return place >= 0 && place < size ? place : -1;
    }
}

/* In 256ths. What is no number is 0; what is far away stays where it can be counted. */
static int64_t fixed(float coordinate, uint32_t size, const struct gcn3_sampler *sampler)
{
    const double most = (double)(INT64_C(1) << 40);
    double place = (double)coordinate * (sampler->is_unnormalized ? 1.0 : (double)size) * FRACTION;
    return isnan(place) ? 0 : (int64_t)floor(fmin(fmax(place, -most), most) + 0.5);
}

static int64_t floor_texel(int64_t place)
{
    return place >= 0 ? place / FRACTION : -((FRACTION - 1 - place) / FRACTION);
}

static uint32_t layer_of(const struct gcn3_texture *texture, float layer)
{
    double last = texture->layers ? texture->layers - 1 : 0;
    return (uint32_t)fmin(fmax(rint((double)layer), 0), last);
}

void gcn3_sample_around(const struct gcn3_texture *texture, const struct gcn3_sampler *sampler,
                        const float place[GCN3_AXES], const int32_t offset[GCN3_AXES], float layer,
                        bool gathers, struct gcn3_around *around)
{
    bool is_linear = gathers || (sampler->is_linear && !gcn3_format_is_integer(texture->number));
    int64_t near[GCN3_AXES] = {0};
    *around = (struct gcn3_around){.corners = (uint8_t)(is_linear ? 1u << texture->axes : 1)};
    for (uint32_t axis = 0; axis < texture->axes; axis++) {
        int64_t at = fixed(place[axis], texture->size[axis], sampler) + offset[axis] * FRACTION -
                     (is_linear ? FRACTION / 2 : 0);
        near[axis] = floor_texel(at);
        around->further[axis] = (uint8_t)(is_linear ? at - near[axis] * FRACTION : 0);
    }
    for (uint32_t corner = 0; corner < around->corners; corner++) {
        uint32_t texel[GCN3_AXES] = {0};
        for (uint32_t axis = 0; axis < texture->axes; axis++)
            texel[axis] = (uint32_t)wrapped(near[axis] + (corner >> axis & 1), texture->size[axis],
                                            (enum gcn3_wrap)sampler->wrap[axis]);
        struct gcn3_around one;
        gcn3_texel_around(texture, texel, layer_of(texture, layer), &one);
        around->at[corner] = one.at[0];
        around->inside |= (uint8_t)(one.inside << corner);
    }
}

void gcn3_sample_border(const struct gcn3_sampler *sampler, struct gcn3_texture *texture)
{
    uint32_t one = gcn3_format_one(texture->number);
    for (uint32_t i = 0; i < GCN3_COMPONENTS; i++)
        texture->border[i] = sampler->border == GCN3_BORDER_WHITE ||
                                     (sampler->border == GCN3_BORDER_BLACK && i == GCN3_COMPONENTS - 1)
                                 ? one
                                 : 0;
}

/* ---- colours ---- */

static void read_corner(const struct gcn3_texture *texture, const struct gcn3_around *around, uint32_t corner,
                        unsigned char texels[GCN3_CORNERS][GCN3_ELEMENT_MOST],
                        uint32_t components[GCN3_COMPONENTS])
{
    if (around->inside >> corner & 1)
        gcn3_format_read(texture->data, texture->number, texels[corner], components);
    else
        memcpy(components, texture->border, sizeof texture->border);
}

void gcn3_sample_mix(const struct gcn3_texture *texture, const struct gcn3_around *around,
                     unsigned char texels[GCN3_CORNERS][GCN3_ELEMENT_MOST],
                     uint32_t components[GCN3_COMPONENTS])
{
    double sum[GCN3_COMPONENTS] = {0};
    read_corner(texture, around, 0, texels, components);
    if (around->corners == 1)
        return;
    for (uint32_t corner = 0; corner < around->corners; corner++) {
        uint32_t own[GCN3_COMPONENTS];
        double weight = 1;
        for (uint32_t axis = 0; axis < texture->axes; axis++) {
            uint32_t further = around->further[axis];
            weight *= (corner >> axis & 1 ? further : FRACTION - further) / (double)FRACTION;
        }
        read_corner(texture, around, corner, texels, own);
        for (uint32_t i = 0; i < GCN3_COMPONENTS && weight > 0; i++) /* 0 of an infinity is nothing, too */
            sum[i] += weight * (double)f32_bits(own[i]);
    }
    for (uint32_t i = 0; i < GCN3_COMPONENTS; i++)
        components[i] = bits_f32((float)sum[i]);
}

void gcn3_sample_gather(const struct gcn3_texture *texture, const struct gcn3_around *around,
                        unsigned char texels[GCN3_CORNERS][GCN3_ELEMENT_MOST], uint32_t which,
                        uint32_t components[GCN3_COMPONENTS])
{
    static const uint8_t order[GCN3_COMPONENTS] = {2, 3, 1, 0}; /* against the clock, from the lower left */
    for (uint32_t i = 0; i < GCN3_COMPONENTS; i++) {
        uint32_t own[GCN3_COMPONENTS], selected[GCN3_COMPONENTS];
        read_corner(texture, around, order[i], texels, own);
        gcn3_format_select(texture->select, texture->number, own, selected);
        components[i] = selected[which];
    }
}
