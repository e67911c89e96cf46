/* Texture fetches: from coordinates to texels, and from texels and weights to a value. The rounding of
 * coordinates and weights was determined on an H200. */
#include "exec/texel.h"

#include "base/err.h"
#include "exec/number.h"

#include <math.h>
#include <string.h>

enum { ONE = 256 }; /* weights have 8 bits behind the point */

/* --- places -------------------------------------------------------------------------------------------- */

/* Texels along an axis, at -1 the border: the nearest, or the two that a weight lies between. */
struct axis {
    int64_t at[2];
    int weight; /* of the second */
};

static int64_t address(enum texture_address mode, int64_t i, int64_t size)
{
    int64_t turn;
    switch (mode) {
    case ADDRESS_WRAP:
        return ((i % size) + size) % size;
    case ADDRESS_MIRROR:
        turn = ((i % (2 * size)) + 2 * size) % (2 * size);
        return turn < size ? turn : 2 * size - 1 - turn;
    case ADDRESS_BORDER:
        return i >= 0 && i < size ? i : -1;
    default:
        return i < 0 ? 0 : i < size ? i : size - 1;
    }
}

/* Far outside all is alike, and NaN counts as 0. */
static double within(double x)
{
    return x > -0x1p40 ? x < 0x1p40 ? x : 0x1p40 : x == x ? -0x1p40 : 0;
}

static void find_axis(const struct texture *t, unsigned axis, int64_t size, double x, bool linear, int offset,
                      struct axis *out)
{
    enum texture_address mode = t->address[axis];
    if (!t->normalized && (mode == ADDRESS_WRAP || mode == ADDRESS_MIRROR))
        mode = ADDRESS_CLAMP;
    x = within(t->normalized ? floor(x * 0x1p21) * 0x1p-21 * (double)size : x);
    int64_t fixed = linear ? (int64_t)floor(x * ONE + 0.5) - ONE / 2 : (int64_t)floor(x) * ONE;
    int64_t first = (fixed >> 8) + offset;
    out->at[0] = address(mode, first, size);
    out->at[1] = address(mode, first + 1, size);
    bool clamped = mode == ADDRESS_CLAMP && out->at[0] == out->at[1]; /* to the middle of a texel */
    out->weight = clamped ? 0 : (int)(fixed & (ONE - 1));
}

/* --- a level ------------------------------------------------------------------------------------------- */

/* What a fetch wants of a level: which slice (layer or face; of 3D the third axis says it) and where. */
struct spot {
    unsigned dimensions;
    uint64_t slice;
    double at[3];
    int offset[3];
    struct texture_touched *touched;
    const unsigned char **texels; /* the next one */
};

static void take_texel(const struct texture *t, const struct spot *spot, const unsigned char *at,
                       uint32_t raw[4])
{
    struct texture_touched *touched = spot->touched;
    if (touched) {
        REQUIRE(touched->count < TEXTURE_TOUCHED_MOST);
        touched->bytes = texel_bytes(t);
        touched->at[touched->count++] = at;
        memset(raw, 0, 4 * sizeof *raw);
    } else if (*spot->texels) {
        texel_read(t, *spot->texels, raw);
        *spot->texels += texel_bytes(t);
    } else {
        texel_read(t, at, raw);
    }
}

static void texel_at(const struct texture *t, const struct texture_level *level, const struct spot *spot,
                     int64_t x, int64_t y, int64_t z, uint32_t raw[4])
{
    uint64_t slice = spot->dimensions == 3 ? (uint64_t)z : spot->slice;
    uint64_t offset =
        slice * level->slice_pitch + (uint64_t)y * level->row_pitch + (uint64_t)x * texel_bytes(t);
    if (x < 0 || y < 0 || z < 0) {
        texel_border(t, raw);
        return;
    }
    take_texel(t, spot, level->memory + offset, raw);
}

static void find_axes(const struct texture *t, const struct texture_level *level, const struct spot *spot,
                      bool linear, struct axis axes[3])
{
    const uint32_t sizes[3] = {level->width, level->height, level->depth};
    memset(axes, 0, 3 * sizeof *axes);
    for (unsigned i = 0; i < spot->dimensions || i < 2; i++) /* 1D is 2D, at y = 0 */
        find_axis(t, i, sizes[i], spot->at[i], linear, spot->offset[i], &axes[i]);
}

static int share(int weight, int of) /* rounded; a half upwards */
{
    return (weight * of + ONE / 2) / ONE;
}

/* Adds a level's texels to a sum with this weight in all. It is shared out by z first, then x, then y,
 * rounded every time so that two shares make the whole; where both are equally near, that of the greater x
 * and y is rounded up, or that of the two lesser. */
static void add_level(const struct texture *t, const struct texture_level *level, const struct spot *spot,
                      int weight, double sum[4])
{
    struct axis axes[3];
    find_axes(t, level, spot, t->filter == FILTER_LINEAR, axes);
    int far = share(weight, axes[2].weight);
    for (unsigned corner = 0; corner < 8; corner++) {
        unsigned z = corner >> 2, x = corner >> 1 & 1, y = corner & 1;
        int plane = z ? far : weight - far, right = share(plane, axes[0].weight);
        int column = x ? right : plane - right;
        int low = x ? column - share(column, axes[1].weight) : share(column, ONE - axes[1].weight);
        int part = y ? column - low : low;
        uint32_t raw[4];
        if (!part)
            continue;
        texel_at(t, level, spot, axes[0].at[x], axes[1].at[y], axes[2].at[z], raw);
        for (unsigned c = 0; c < 4; c++)
            sum[c] += texel_number(t, c, raw[c]) * part;
    }
}

static void fetch_nearest(const struct texture *t, const struct texture_level *level, const struct spot *spot,
                          uint32_t out[4])
{
    struct axis axes[3];
    uint32_t raw[4];
    find_axes(t, level, spot, false, axes);
    texel_at(t, level, spot, axes[0].at[0], axes[1].at[0], axes[2].at[0], raw);
    for (unsigned c = 0; c < 4; c++)
        out[c] = texel_result(t, c, raw[c]);
}

/* tld4: a component of the four texels that linear filtering would take, from the lower left, against the
 * clock. */
static void gather(const struct texture *t, const struct spot *spot, unsigned component, uint32_t out[4])
{
    static const uint8_t corners[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    struct axis axes[3];
    find_axes(t, &t->levels[0], spot, true, axes);
    for (unsigned i = 0; i < 4; i++) {
        uint32_t raw[4];
        texel_at(t, &t->levels[0], spot, axes[0].at[corners[i][0]], axes[1].at[corners[i][1]], 0, raw);
        out[i] = texel_result(t, component, raw[component]);
    }
}

/* By integer coordinates; 0 outside, whatever the address modes are. */
static void fetch_texel(const struct texture *t, uint32_t number, const struct spot *spot, uint32_t out[4])
{
    const struct texture_level *level = &t->levels[number < t->level_count ? number : t->level_count - 1];
    const uint32_t sizes[3] = {level->width, level->height, level->depth};
    int64_t at[3] = {0};
    for (unsigned i = 0; i < spot->dimensions; i++) {
        at[i] = (int64_t)spot->at[i] + spot->offset[i];
        if (at[i] < 0 || at[i] >= sizes[i]) {
            memset(out, 0, 4 * sizeof *out);
            return;
        }
    }
    texel_at(t, level, spot, at[0], at[1], at[2], out);
    for (unsigned c = 0; c < 4; c++)
        out[c] = texel_result(t, c, out[c]);
}

/* --- levels of detail ---------------------------------------------------------------------------------- */

/* log2 of the longer of the two steps, in texels of the first level. A GPU takes the long axis of the ellipse
 * that they span instead, with few bits: near to this when one is much longer or they are at right angles. */
static float level_of_gradients(const struct texture *t, const struct texture_request *r, unsigned dimensions)
{
    const uint32_t sizes[3] = {t->levels[0].width, t->levels[0].height, t->levels[0].depth};
    double x = 0, y = 0;
    for (unsigned i = 0; i < dimensions; i++) {
        double scale = t->normalized ? sizes[i] : 1;
        x += r->dx[i] * scale * r->dx[i] * scale;
        y += r->dy[i] * scale * r->dy[i] * scale;
    }
    return (float)(log2(x > y ? x : y) / 2);
}

static void fetch_lod(const struct texture *t, float lod, const struct spot *spot, uint32_t out[4])
{
    float last = (float)(t->level_count - 1);
    lod += t->level_bias;
    lod = lod > t->level_min ? lod : t->level_min;
    lod = lod < t->level_max ? lod : t->level_max;
    lod = lod > 0 ? lod < last ? lod : last : 0;
    bool levels = t->level_filter == FILTER_LINEAR;
    unsigned level = (unsigned)(levels ? lod : lod + 0.5f);
    int next = levels ? (int)((lod - (float)level) * ONE) : 0; /* the weight of the level behind */
    if (!texel_gives_floats(t) || (t->filter == FILTER_POINT && !next)) {
        fetch_nearest(t, &t->levels[level], spot, out);
        return;
    }
    double sum[4] = {0};
    add_level(t, &t->levels[level], spot, ONE - next, sum);
    if (next)
        add_level(t, &t->levels[level + 1], spot, next, sum);
    for (unsigned c = 0; c < 4; c++)
        out[c] = c < t->channels ? texel_filtered(t, c, sum[c] / ONE) : 0;
}

/* --- a request ----------------------------------------------------------------------------------------- */

/* The face of a cube that a direction meets, and where on it, from 0 to 1. */
static unsigned cube_face(const double v[3], double at[2])
{
    double x = fabs(v[0]), y = fabs(v[1]), z = fabs(v[2]), m, s, t;
    unsigned face;
    if (z >= x && z >= y) {
        face = v[2] < 0 ? 5 : 4;
        m = z, s = v[2] < 0 ? -v[0] : v[0], t = -v[1];
    } else if (y >= x) {
        face = v[1] < 0 ? 3 : 2;
        m = y, s = v[0], t = v[1] < 0 ? -v[2] : v[2];
    } else {
        face = v[0] < 0 ? 1 : 0;
        m = x, s = v[0] < 0 ? v[2] : -v[2], t = -v[1];
    }
    m = m > 0 ? m : 1; /* no direction at all meets the middle of a face */
    at[0] = (s / m + 1) / 2;
    at[1] = (t / m + 1) / 2;
    return face;
}

static const struct {
    uint8_t kinds; /* that may be fetched so: bits of enum texture_kind */
    uint8_t dimensions;
    bool layered, cube;
} geometries[] = {
    [GEOMETRY_1D] = {1 << TEXTURE_BUFFER | 1 << TEXTURE_1D, 1, false, false},
    [GEOMETRY_2D] = {1 << TEXTURE_2D, 2, false, false},
    [GEOMETRY_3D] = {1 << TEXTURE_3D, 3, false, false},
    [GEOMETRY_A1D] = {1 << TEXTURE_1D_LAYERED, 1, true, false},
    [GEOMETRY_A2D] = {1 << TEXTURE_2D_LAYERED | 1 << TEXTURE_CUBE | 1 << TEXTURE_CUBE_LAYERED, 2, true,
                      false},
    [GEOMETRY_CUBE] = {1 << TEXTURE_CUBE, 3, false, true},
    [GEOMETRY_ACUBE] = {1 << TEXTURE_CUBE_LAYERED, 3, true, true},
};

unsigned texture_coordinates(const struct texture_form *form)
{
    return geometries[form->geometry].dimensions + geometries[form->geometry].layered;
}

/* Linear memory is not filtered, and beyond it is 0. */
static void fetch_buffer(const struct texture *t, const struct texture_request *r, const struct spot *spot,
                         uint32_t out[4])
{
    int64_t x = r->form->integer_coordinates ? (int32_t)r->at[0] : (int64_t)floor(within(f32_bits(r->at[0])));
    x += r->offset[0];
    memset(out, 0, 4 * sizeof *out);
    if (x >= 0 && x < t->levels[0].width)
        take_texel(t, spot, t->levels[0].memory + (uint64_t)x * texel_bytes(t), out);
    for (unsigned c = 0; c < 4; c++)
        out[c] = texel_result(t, c, out[c]);
}

static struct spot find_spot(const struct texture *t, const struct texture_request *r)
{
    const struct texture_form *form = r->form;
    bool layered = geometries[form->geometry].layered, cube = geometries[form->geometry].cube;
    struct spot spot = {.dimensions = geometries[form->geometry].dimensions, .touched = r->touched};
    for (unsigned i = 0; i < spot.dimensions; i++) {
        uint32_t word = r->at[layered + i];
        spot.at[i] = form->integer_coordinates ? (int32_t)word : ftz(f32_bits(word));
        spot.offset[i] = r->offset[i];
    }
    uint64_t slices = cube ? t->layers / 6 : t->layers;
    if (layered)
        spot.slice = r->at[0] < slices ? r->at[0] : slices - 1; /* a negative layer counts as the last */
    if (cube) {
        double direction[3];
        memcpy(direction, spot.at, sizeof direction);
        spot.dimensions = 2;
        spot.slice = spot.slice * 6 + cube_face(direction, spot.at);
    }
    return spot;
}

bool texture_fetch(const struct texture *t, const struct texture_request *r, uint32_t out[4])
{
    const struct texture_form *form = r->form;
    if (!(geometries[form->geometry].kinds >> t->kind & 1))
        return false;
    const unsigned char *texels = r->texels;
    struct spot spot = find_spot(t, r);
    spot.texels = &texels;
    if (t->kind == TEXTURE_BUFFER)
        fetch_buffer(t, r, &spot, out);
    else if (form->op == TEXTURE_TLD4)
        gather(t, &spot, form->component, out);
    else if (form->integer_coordinates)
        fetch_texel(t, form->lod == LOD_LEVEL ? r->level : 0, &spot, out);
    else if (form->lod == LOD_GRADIENT)
        fetch_lod(t, level_of_gradients(t, r, spot.dimensions), &spot, out);
    else
        fetch_lod(t, form->lod == LOD_LEVEL ? f32_bits(r->level) : 0, &spot, out);
    if (form->type == ELEMENT_F16X2)
        for (unsigned i = 0; i < 2; i++)
            out[i] = f16_f32(f32_bits(out[2 * i])) | (uint32_t)f16_f32(f32_bits(out[2 * i + 1])) << 16;
    return true;
}
