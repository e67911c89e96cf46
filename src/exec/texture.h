/* Textures and surfaces: the result of a fetch at given coordinates. Pure: accesses only the memory that a
 * texture describes. Pitch-linear memory is a 2D texture with its pitch; an array is one without padding.
 *
 *   struct texture_form form;
 *   if (texture_parse("tex.2d.v4.f32.f32", &form)) ...            once for an instruction
 *   if (!texture_fetch(texture, &(struct texture_request){.form = &form, .at = {x, y}}, out)) fault; */
#ifndef EXEC_TEXTURE_H
#define EXEC_TEXTURE_H

#include <stdbool.h>
#include <stdint.h>

enum { TEXTURE_LEVELS = 16 };

enum texture_kind {
    TEXTURE_BUFFER, /* linear memory, by integer coordinate */
    TEXTURE_1D,
    TEXTURE_2D,
    TEXTURE_3D,
    TEXTURE_1D_LAYERED,
    TEXTURE_2D_LAYERED,
    TEXTURE_CUBE,
    TEXTURE_CUBE_LAYERED,
};

enum texture_channel {
    CHANNEL_U8,
    CHANNEL_S8,
    CHANNEL_U16,
    CHANNEL_S16,
    CHANNEL_U32,
    CHANNEL_S32,
    CHANNEL_F16,
    CHANNEL_F32,
};

/* Numbered as in CUDA. */
enum texture_address { ADDRESS_WRAP, ADDRESS_CLAMP, ADDRESS_MIRROR, ADDRESS_BORDER };
enum texture_filter { FILTER_POINT, FILTER_LINEAR };

struct texture_level {
    unsigned char *memory;
    uint32_t width, height, depth; /* in texels; those that the kind does not have are 1 */
    uint64_t row_pitch;            /* bytes from a row to the next */
    uint64_t slice_pitch;          /* from a slice, layer or face to the next */
};

/* A texture or surface object. Of a surface only the kind, channels, layers and the first level count. */
struct texture {
    enum texture_kind kind;
    enum texture_channel channel;
    uint32_t channels; /* 1, 2 or 4 */
    uint32_t layers;   /* of layered kinds; a cube is 6, a layered cubemap 6 times its cubes */
    uint32_t level_count;
    struct texture_level levels[TEXTURE_LEVELS];
    enum texture_address address[3]; /* wrap and mirror need normalized coordinates, else they clamp */
    enum texture_filter filter;      /* linear only for results of type float */
    enum texture_filter level_filter;
    bool normalized;       /* coordinates are 0 to 1 */
    bool normalized_float; /* 8- and 16-bit integers are read as 0 to 1 or -1 to 1 */
    bool srgb;             /* of the first three channels, where 8-bit unsigned and read as a float */
    float border[4];
    float level_bias, level_min, level_max;
};

enum texture_op {
    TEXTURE_TEX,
    TEXTURE_TLD4,
    TEXTURE_SULD,
    TEXTURE_SUST,
    TEXTURE_SURED,
    TEXTURE_TXQ,
    TEXTURE_SUQ
};

enum texture_geometry {
    GEOMETRY_1D,
    GEOMETRY_2D,
    GEOMETRY_3D,
    GEOMETRY_A1D,
    GEOMETRY_A2D,
    GEOMETRY_CUBE,
    GEOMETRY_ACUBE,
};

enum texture_lod {
    LOD_NONE,
    LOD_BASE,
    LOD_LEVEL,
    LOD_GRADIENT
}; /* without: level 0, as kernels have no pixels */

/* Of a result or of a surface's element. */
enum texture_type {
    ELEMENT_U32,
    ELEMENT_S32,
    ELEMENT_F32,
    ELEMENT_F16X2,
    ELEMENT_B8,
    ELEMENT_B16,
    ELEMENT_B32,
    ELEMENT_B64,
    ELEMENT_U64,
    ELEMENT_S64,
};

enum surface_bounds { BOUNDS_TRAP, BOUNDS_CLAMP, BOUNDS_ZERO };
enum surface_reduction { REDUCE_ADD, REDUCE_MIN, REDUCE_MAX, REDUCE_AND, REDUCE_OR };

enum texture_query {
    QUERY_WIDTH,
    QUERY_HEIGHT,
    QUERY_DEPTH,
    QUERY_ARRAY_SIZE,
    QUERY_NORMALIZED_COORDS,
    QUERY_NUM_MIPMAP_LEVELS,
};

/* What an opcode says. Fields that an operation does not have are 0. */
struct texture_form {
    enum texture_op op;
    enum texture_geometry geometry;
    enum texture_lod lod;
    uint8_t elements; /* registers of the result or of the value stored: 1, 2 or 4 */
    enum texture_type type;
    bool integer_coordinates; /* .s32: unfiltered, in texels */
    uint8_t component;        /* of tld4: 0 to 3 */
    enum surface_bounds bounds;
    enum surface_reduction reduction;
    bool in_texels; /* sured.p: coordinates count texels, not bytes */
    enum texture_query query;
    bool query_level; /* txq.level: a level is given */
};

bool texture_parse(const char *opcode, struct texture_form *form); /* false: not known */

/* How many registers of the operand count as coordinates, the layer with them: 1 to 4. */
unsigned texture_coordinates(const struct texture_form *form);

/* Which texels a fetch needs, for models that keep time: at most 8 of each of two levels. */
enum { TEXTURE_TOUCHED_MOST = 16 };
struct texture_touched {
    uint32_t count, bytes; /* of texels; of one */
    const unsigned char *at[TEXTURE_TOUCHED_MOST];
};

/* A lane's request. The words are as in the operands' registers: at[] begins with the layer where there are
 * layers, then x, y, z (f32, or s32 when form->integer_coordinates). */
struct texture_request {
    const struct texture_form *form;
    uint32_t at[4];
    uint32_t level;     /* LOD_LEVEL: f32, or s32 with integer coordinates */
    float dx[3], dy[3]; /* LOD_GRADIENT */
    int32_t offset[3];  /* in texels; from the optional operand */
    /* Where texels come from: memory; or with `touched`, nowhere (they are only noted, and the result is of
     * no use); or with `texels`, from there, side by side in the order that they were noted in. */
    struct texture_touched *touched; /* or NULL */
    const unsigned char *texels;     /* or NULL */
};

/* out: the result's form->elements registers (all four are written). False: the texture is not of the kind
 * that the instruction wants. */
bool texture_fetch(const struct texture *texture, const struct texture_request *request, uint32_t out[4]);

/* txq and suq. The level counts only for txq.level. False: there is no such level. */
bool texture_query(const struct texture *texture, const struct texture_form *form, uint32_t level,
                   uint32_t *out);

/* Where a surface access goes, as at[] of a request: s32, x in bytes. */
enum surface_place {
    SURFACE_FAULT,   /* outside, with .trap; or not aligned; or a surface of another kind */
    SURFACE_NOTHING, /* outside, with .zero: loads give 0, stores and reductions do nothing */
    SURFACE_AT,
};
enum surface_place surface_find(const struct texture *surface, const struct texture_form *form,
                                const uint32_t at[4], unsigned char **place);

/* Bytes of an element: of a value of one register. */
uint32_t surface_element_bytes(const struct texture_form *form);

/* suld and sust: one value for each of form->elements registers. False: a fault. sured is surface_find and an
 * atomic operation of the caller's. */
bool surface_load(const struct texture *surface, const struct texture_form *form, const uint32_t at[4],
                  uint64_t values[4]);
bool surface_store(const struct texture *surface, const struct texture_form *form, const uint32_t at[4],
                   const uint64_t values[4]);

#endif
