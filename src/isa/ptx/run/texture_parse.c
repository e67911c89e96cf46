/* Texture and surface instructions: parses the text of an opcode. */
#include "exec/texture.h"

#include "base/bits.h"

#include <string.h>

/* A word of an opcode, and the value it stands for in the field of its kind. */
struct word {
    const char *text;
    int value;
};

static const struct word ops[] = {
    {"tex", TEXTURE_TEX},     {"tld4", TEXTURE_TLD4}, {"suld", TEXTURE_SULD}, {"sust", TEXTURE_SUST},
    {"sured", TEXTURE_SURED}, {"txq", TEXTURE_TXQ},   {"suq", TEXTURE_SUQ},
};
static const struct word geometries[] = {
    {"1d", GEOMETRY_1D},   {"2d", GEOMETRY_2D},     {"3d", GEOMETRY_3D},       {"a1d", GEOMETRY_A1D},
    {"a2d", GEOMETRY_A2D}, {"cube", GEOMETRY_CUBE}, {"acube", GEOMETRY_ACUBE},
};
static const struct word lods[] = {{"base", LOD_BASE}, {"level", LOD_LEVEL}, {"grad", LOD_GRADIENT}};
static const struct word vectors[] = {{"v2", 2}, {"v4", 4}};
static const struct word components[] = {{"r", 0}, {"g", 1}, {"b", 2}, {"a", 3}};
static const struct word types[] = {
    {"u32", ELEMENT_U32}, {"s32", ELEMENT_S32}, {"f32", ELEMENT_F32}, {"f16x2", ELEMENT_F16X2},
    {"b8", ELEMENT_B8},   {"b16", ELEMENT_B16}, {"b32", ELEMENT_B32}, {"b64", ELEMENT_B64},
    {"u64", ELEMENT_U64}, {"s64", ELEMENT_S64},
};
static const struct word caching[] = {{"ca", 0}, {"cg", 0}, {"cs", 0}, {"cv", 0}, {"wb", 0}, {"wt", 0}};
static const struct word bounds[] = {{"trap", BOUNDS_TRAP}, {"clamp", BOUNDS_CLAMP}, {"zero", BOUNDS_ZERO}};
static const struct word reductions[] = {
    {"add", REDUCE_ADD}, {"min", REDUCE_MIN}, {"max", REDUCE_MAX}, {"and", REDUCE_AND}, {"or", REDUCE_OR},
};
static const struct word queries[] = {
    {"width", QUERY_WIDTH},           {"height", QUERY_HEIGHT},
    {"depth", QUERY_DEPTH},           {"normalized_coords", QUERY_NORMALIZED_COORDS},
    {"array_size", QUERY_ARRAY_SIZE}, {"num_mipmap_levels", QUERY_NUM_MIPMAP_LEVELS},
};

/* Takes the next word of the text when it is one of these. */
static bool take(const char **text, const struct word *words, size_t count, int *value)
{
    size_t length = strcspn(*text, ".");
    for (size_t i = 0; i < count; i++)
        if (strlen(words[i].text) == length && !strncmp(*text, words[i].text, length)) {
            *text += length + ((*text)[length] == '.');
            *value = words[i].value;
            return true;
        }
    return false;
}

/* Into a field, whatever its type is; and a word that has to be there. */
#define TAKE(words, field) (take(&text, words, COUNT_OF(words), &value) && ((field) = value, true))
#define TAKE_WORD(name)    take(&text, &(const struct word){name, 0}, 1, &value)

/* tex{.lod}.geometry.v4.type.coordinates and tld4.component.geometry.v4.type.f32 */
static bool parse_fetch(const char *text, struct texture_form *form)
{
    int value;
    bool gather = form->op == TEXTURE_TLD4;
    if (gather && !TAKE(components, form->component))
        return false;
    if (!gather)
        (void)TAKE(lods, form->lod);
    if (!TAKE(geometries, form->geometry) || !TAKE(vectors, form->elements) || !TAKE(types, form->type))
        return false;
    if (form->type > ELEMENT_F16X2 || form->elements != (form->type == ELEMENT_F16X2 ? 2 : 4))
        return false;
    form->integer_coordinates = TAKE_WORD("s32");
    bool planar =
        form->geometry != GEOMETRY_1D && form->geometry != GEOMETRY_3D && form->geometry != GEOMETRY_A1D;
    if (gather && (form->integer_coordinates || !planar))
        return false;
    return (form->integer_coordinates || TAKE_WORD("f32")) && !*text;
}

/* suld.b.geometry{.caching}{.v2}.type.bounds, sust alike, sured.b.reduction.geometry.type.bounds, and sured.p
 * of b32 and b64, whose sign is the surface's */
static bool parse_surface(const char *text, struct texture_form *form)
{
    int value;
    bool reduces = form->op == TEXTURE_SURED;
    form->elements = 1;
    form->integer_coordinates = true;
    form->in_texels = reduces && TAKE_WORD("p");
    if ((!form->in_texels && !TAKE_WORD("b")) || (reduces && !TAKE(reductions, form->reduction)) ||
        !TAKE(geometries, form->geometry))
        return false;
    if (form->geometry > GEOMETRY_A2D)
        return false;
    if (!reduces) {
        (void)take(&text, caching, COUNT_OF(caching), &value);
        (void)TAKE(vectors, form->elements);
    }
    if (!TAKE(types, form->type) || form->type == ELEMENT_F32 || form->type == ELEMENT_F16X2)
        return false;
    if (!reduces && (form->type < ELEMENT_B8 || form->type > ELEMENT_B64))
        return false;
    if (reduces && (form->type == ELEMENT_B8 || form->type == ELEMENT_B16))
        return false;
    if (form->in_texels && form->type != ELEMENT_B32 && form->type != ELEMENT_B64)
        return false;
    return TAKE(bounds, form->bounds) && !*text;
}

/* txq{.level}.what.b32 and suq.what.b32 */
static bool parse_query(const char *text, struct texture_form *form)
{
    int value;
    form->type = ELEMENT_B32;
    form->elements = 1;
    form->query_level = form->op == TEXTURE_TXQ && TAKE_WORD("level");
    return TAKE(queries, form->query) && TAKE_WORD("b32") && !*text;
}

bool texture_parse(const char *opcode, struct texture_form *form)
{
    const char *text = opcode;
    int value;
    *form = (struct texture_form){0};
    if (!TAKE(ops, form->op))
        return false;
    switch (form->op) {
    case TEXTURE_TEX:
    case TEXTURE_TLD4:
        return parse_fetch(text, form);
    case TEXTURE_TXQ:
    case TEXTURE_SUQ:
        return parse_query(text, form);
    default:
        return parse_surface(text, form);
    }
}
