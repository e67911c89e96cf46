#include "check.h"
#include "base/bits.h"
#include "exec/number.h"
#include "exec/texture.h"

/* --- opcodes -------------------------------------------------------------------------------------------- */

static struct texture_form parse(const char *opcode)
{
    struct texture_form form;
    if (!texture_parse(opcode, &form))
        fail_msg("%s is not known", opcode);
    return form;
}

static void fetches_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *opcode;
        enum texture_geometry geometry;
        enum texture_lod lod;
        enum texture_type type;
        bool integer_coordinates;
        unsigned elements, coordinates;
    } rows[] = {
        {"tex.1d.v4.f32.s32", GEOMETRY_1D, LOD_NONE, ELEMENT_F32, true, 4, 1},
        {"tex.2d.v4.u32.f32", GEOMETRY_2D, LOD_NONE, ELEMENT_U32, false, 4, 2},
        {"tex.3d.v4.s32.f32", GEOMETRY_3D, LOD_NONE, ELEMENT_S32, false, 4, 3},
        {"tex.a1d.v4.s32.f32", GEOMETRY_A1D, LOD_NONE, ELEMENT_S32, false, 4, 2},
        {"tex.a2d.v4.f32.f32", GEOMETRY_A2D, LOD_NONE, ELEMENT_F32, false, 4, 3},
        {"tex.cube.v4.f32.f32", GEOMETRY_CUBE, LOD_NONE, ELEMENT_F32, false, 4, 3},
        {"tex.acube.v4.f32.f32", GEOMETRY_ACUBE, LOD_NONE, ELEMENT_F32, false, 4, 4},
        {"tex.base.2d.v4.f32.f32", GEOMETRY_2D, LOD_BASE, ELEMENT_F32, false, 4, 2},
        {"tex.level.2d.v4.f32.f32", GEOMETRY_2D, LOD_LEVEL, ELEMENT_F32, false, 4, 2},
        {"tex.grad.2d.v4.f32.f32", GEOMETRY_2D, LOD_GRADIENT, ELEMENT_F32, false, 4, 2},
        {"tex.2d.v2.f16x2.f32", GEOMETRY_2D, LOD_NONE, ELEMENT_F16X2, false, 2, 2},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct texture_form form = parse(rows[i].opcode);
        assert_int_equal(form.op, TEXTURE_TEX);
        assert_int_equal(form.geometry, rows[i].geometry);
        assert_int_equal(form.lod, rows[i].lod);
        assert_int_equal(form.type, rows[i].type);
        assert_int_equal(form.integer_coordinates, rows[i].integer_coordinates);
        assert_int_equal(form.elements, rows[i].elements);
        assert_int_equal(texture_coordinates(&form), rows[i].coordinates);
    }
    assert_int_equal(parse("tld4.b.a2d.v4.f32.f32").component, 2);
}

static void surface_accesses_are_read(void **state)
{
    (void)state;
    struct texture_form form = parse("suld.b.2d.v4.b8.trap");
    assert_int_equal(form.op, TEXTURE_SULD);
    assert_int_equal(form.elements, 4);
    assert_int_equal(form.type, ELEMENT_B8);
    assert_int_equal(form.bounds, BOUNDS_TRAP);
    form = parse("sust.b.3d.cg.b64.clamp");
    assert_int_equal(form.op, TEXTURE_SUST);
    assert_int_equal(form.geometry, GEOMETRY_3D);
    assert_int_equal(form.elements, 1);
    assert_int_equal(form.type, ELEMENT_B64);
    assert_int_equal(form.bounds, BOUNDS_CLAMP);
    form = parse("sured.b.min.2d.s32.zero");
    assert_int_equal(form.op, TEXTURE_SURED);
    assert_int_equal(form.reduction, REDUCE_MIN);
    assert_int_equal(form.type, ELEMENT_S32);
    assert_int_equal(parse("txq.level.width.b32").query_level, true);
    assert_int_equal(parse("suq.array_size.b32").query, QUERY_ARRAY_SIZE);
}

static void wrong_opcodes_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "tex",
        "tex.2d.v4.f32",
        "tex.2d.f32.f32",
        "tex.2d.v2.f32.f32",
        "tex.2d.v4.f32.f32.more",
        "tex.2dms.v4.f32.s32",
        "tld4.2d.v4.f32.f32",
        "tld4.r.3d.v4.f32.f32",
        "suld.p.2d.v4.b8.trap",
        "suld.b.cube.b32.trap",
        "suld.b.2d.b32",
        "sust.b.2d.v3.b32.trap",
        "sust.b.2d.f32.trap",
        "sured.b.xor.2d.u32.trap",
        "txq.colour.b32",
        "texture.2d.v4.f32.f32",
    };
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        struct texture_form form;
        if (texture_parse(wrong[i], &form))
            fail_msg("%s was taken", wrong[i]);
    }
}

/* --- fetches -------------------------------------------------------------------------------------------- */

static const float line[4] = {1, 2, 4, 8};

static struct texture of_line(void)
{
    return (struct texture){
        .kind = TEXTURE_1D,
        .channel = CHANNEL_F32,
        .channels = 1,
        .layers = 1,
        .level_count = 1,
        .levels = {{(unsigned char *)(uintptr_t)line, 4, 1, 1, sizeof line, sizeof line}},
        .address = {ADDRESS_CLAMP, ADDRESS_CLAMP, ADDRESS_CLAMP},
        .level_max = 100,
    };
}

static void fetch_words(const struct texture *t, const char *opcode, const float *at, uint32_t out[4])
{
    struct texture_form form = parse(opcode);
    struct texture_request request = {.form = &form};
    memcpy(request.at, at, texture_coordinates(&form) * 4);
    if (!texture_fetch(t, &request, out))
        fail_msg("%s was refused", opcode);
}

static float fetch(const struct texture *t, const char *opcode, float x, float y, float z)
{
    uint32_t out[4];
    fetch_words(t, opcode, (float[4]){x, y, z}, out);
    return f32_bits(out[0]);
}

static float fetch_1d(const struct texture *t, float x)
{
    return fetch(t, "tex.1d.v4.f32.f32", x, 0, 0);
}

#define CHECK_FLOAT(found, expected) assert_int_equal(bits_f32(found), bits_f32(expected))

static void the_texel_that_holds_the_point(void **state)
{
    (void)state;
    struct texture t = of_line();
    CHECK_FLOAT(fetch_1d(&t, 0), 1);
    CHECK_FLOAT(fetch_1d(&t, 0.999f), 1);
    CHECK_FLOAT(fetch_1d(&t, 1), 2);
    CHECK_FLOAT(fetch_1d(&t, 3.5f), 8);
    t.normalized = true;
    CHECK_FLOAT(fetch_1d(&t, 0.25f), 2);
    CHECK_FLOAT(fetch_1d(&t, 0.2499f), 1);
}

static void each_address_mode_outside(void **state)
{
    (void)state;
    struct texture t = of_line();
    static const float at[] = {-1.25f, -0.25f, 4.25f, 5.25f, 1e30f, -1e30f};
    static const float expected[4][6] = {
        [ADDRESS_WRAP] = {4, 8, 1, 2, 1, 1}, /* huge ones are whole numbers of turns */
        [ADDRESS_CLAMP] = {1, 1, 8, 8, 8, 1},
        [ADDRESS_MIRROR] = {2, 1, 8, 4, 1, 1},
        [ADDRESS_BORDER] = {-5, -5, -5, -5, -5, -5},
    };
    t.normalized = true;
    t.border[0] = -5;
    for (int mode = ADDRESS_WRAP; mode <= ADDRESS_BORDER; mode++)
        for (unsigned i = 0; i < 6; i++) {
            t.address[0] = mode;
            float found = fetch_1d(&t, i < 4 ? at[i] / 4 : at[i]);
            if (found != expected[mode][i])
                fail_msg("mode %d at %g: %g and not %g", mode, at[i], found, expected[mode][i]);
        }
    t.normalized = false; /* only clamp and border are possible */
    t.address[0] = ADDRESS_WRAP;
    CHECK_FLOAT(fetch_1d(&t, 5), 8);
    t.address[0] = ADDRESS_MIRROR;
    CHECK_FLOAT(fetch_1d(&t, -3), 1);
}

static void linear_between_the_middles_of_texels(void **state)
{
    (void)state;
    struct texture t = of_line();
    t.filter = FILTER_LINEAR;
    CHECK_FLOAT(fetch_1d(&t, 0.5f), 1);
    CHECK_FLOAT(fetch_1d(&t, 1), 1.5f);
    CHECK_FLOAT(fetch_1d(&t, 2.75f), 5); /* a quarter between 4 and 8 */
    CHECK_FLOAT(fetch_1d(&t, 0), 1);
    CHECK_FLOAT(fetch_1d(&t, 9), 8);
    t.normalized = true;
    t.address[0] = ADDRESS_WRAP;
    CHECK_FLOAT(fetch_1d(&t, 0), 4.5f); /* between 8 and 1 */
    t.address[0] = ADDRESS_MIRROR;
    CHECK_FLOAT(fetch_1d(&t, 0), 1);
    t.address[0] = ADDRESS_BORDER;
    CHECK_FLOAT(fetch_1d(&t, 0), 0.5f);
}

static void weights_have_eight_bits(void **state)
{
    (void)state;
    struct texture t = of_line();
    t.filter = FILTER_LINEAR;
    CHECK_FLOAT(fetch_1d(&t, 0.5f + 1 / 256.0f), 1 + 1 / 256.0f);
    CHECK_FLOAT(fetch_1d(&t, 0.5f + 1.49f / 256), 1 + 1 / 256.0f);
    CHECK_FLOAT(fetch_1d(&t, 0.5f + 1.5f / 256), 1 + 2 / 256.0f);
    CHECK_FLOAT(fetch_1d(&t, 1.5f - 0.4f / 256), 2); /* rounded up to the next texel */
}

/* Of a 2 x 2 texture with one texel that is not 0, the result is that texel's weight. */
static void weights_of_two_axes_have_eight_bits_together(void **state)
{
    (void)state;
    float texels[4];
    struct texture t = of_line();
    t.kind = TEXTURE_2D;
    t.filter = FILTER_LINEAR;
    t.levels[0] = (struct texture_level){(unsigned char *)texels, 2, 2, 1, 8, 16};
    static const float weights[4] = {114, 67, 47,
                                     28}; /* of 75 and 95: 27.8 for the last, the others are the rest */
    for (unsigned i = 0; i < 4; i++) {
        memset(texels, 0, sizeof texels);
        texels[i] = 256;
        CHECK_FLOAT(fetch(&t, "tex.2d.v4.f32.f32", 0.5f + 95 / 256.0f, 0.5f + 75 / 256.0f, 0), weights[i]);
    }
}

static void three_axes(void **state)
{
    (void)state;
    float texels[2][2][2];
    struct texture t = of_line();
    for (unsigned i = 0; i < 8; i++)
        (&texels[0][0][0])[i] = (float)(1 << i);
    t.kind = TEXTURE_3D;
    t.levels[0] = (struct texture_level){(unsigned char *)texels, 2, 2, 2, 8, 16};
    CHECK_FLOAT(fetch(&t, "tex.3d.v4.f32.f32", 1.5f, 0.5f, 1.5f), 32);
    t.filter = FILTER_LINEAR;
    CHECK_FLOAT(fetch(&t, "tex.3d.v4.f32.f32", 1, 1, 1), 255 / 8.0f);
    CHECK_FLOAT(fetch(&t, "tex.3d.v4.f32.f32", 1.5f, 0.5f, 1), (2 + 32) / 2.0f);
}

static void layers_stay_within(void **state)
{
    (void)state;
    float texels[3][2] = {{1, 2}, {3, 4}, {5, 6}};
    struct texture t = of_line();
    t.kind = TEXTURE_1D_LAYERED;
    t.layers = 3;
    t.levels[0] = (struct texture_level){(unsigned char *)texels, 2, 1, 1, 8, 8};
    static const int layers[] = {0, 2, 3, -1};
    static const float expected[] = {2, 6, 6, 6};
    for (unsigned i = 0; i < 4; i++)
        CHECK_FLOAT(fetch(&t, "tex.a1d.v4.f32.f32", f32_bits((uint32_t)layers[i]), 1.5f, 0), expected[i]);
}

static void faces_of_a_cube(void **state)
{
    (void)state;
    float texels[6][2][2];
    struct texture t = of_line();
    for (unsigned i = 0; i < 24; i++)
        (&texels[0][0][0])[i] = (float)(i / 4 * 10 + i % 4); /* face, and which of its four texels */
    t.kind = TEXTURE_CUBE;
    t.layers = 6;
    t.normalized = true;
    t.levels[0] = (struct texture_level){(unsigned char *)texels, 2, 2, 1, 8, 16};
    static const float rows[][4] = {
        /* direction, texel: column 1 is right, row 2 below */
        {1, 0.5f, 0.5f, 0},   {1, -0.5f, -0.5f, 3}, {-1, 0.5f, 0.5f, 11}, {0.5f, 1, 0.5f, 23},
        {0.5f, -1, 0.5f, 31}, {-0.5f, 0.5f, 1, 40}, {0.5f, 0.5f, 1, 41},  {0.5f, -0.5f, -1, 52},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        CHECK_FLOAT(fetch(&t, "tex.cube.v4.f32.f32", rows[i][0], rows[i][1], rows[i][2]), rows[i][3]);
}

static void formats(void **state)
{
    (void)state;
    static const struct {
        enum texture_channel channel;
        bool normalized_float;
        uint8_t bytes[8];
        uint32_t expected[2];
    } rows[] = {
        {CHANNEL_U8, false, {200, 7}, {200, 7}},
        {CHANNEL_S8, false, {200, 7}, {(uint32_t)-56, 7}},
        {CHANNEL_U16, false, {0, 0x80, 1, 0}, {0x8000, 1}},
        {CHANNEL_S16, false, {0, 0x80, 1, 0}, {0xffff8000, 1}},
        {CHANNEL_S32, false, {1, 2, 3, 4, 5}, {0x04030201, 5}},
        {CHANNEL_U8, true, {255, 51}, {0x3f800000, 0x3e4ccccd}},
        {CHANNEL_S8, true, {0x80, 127}, {0xbf800000, 0x3f800000}},
        {CHANNEL_U16, true, {0xff, 0xff, 0, 0}, {0x3f800000, 0}},
        {CHANNEL_S16, true, {0, 0x80, 0xff, 0x7f}, {0xbf800000, 0x3f800000}},
        {CHANNEL_F16, false, {0, 0x3c, 0, 0xc0}, {0x3f800000, 0xc0000000}},
        {CHANNEL_F32, false, {0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0}, {0x3f800000, 0xc0000000}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct texture t = of_line();
        uint32_t out[4];
        t.channel = rows[i].channel;
        t.channels = 2;
        t.normalized_float = rows[i].normalized_float;
        t.levels[0] = (struct texture_level){(unsigned char *)(uintptr_t)rows[i].bytes, 1, 1, 1, 8, 8};
        fetch_words(&t, "tex.1d.v4.u32.f32", (float[4]){0}, out);
        assert_int_equal(out[0], rows[i].expected[0]);
        assert_int_equal(out[1], rows[i].expected[1]);
        assert_int_equal(out[2], 0);
        assert_int_equal(out[3], 0);
    }
}

static void integers_are_blended_as_16_bits(void **state)
{
    (void)state;
    uint8_t texels[2] = {68, 43};
    struct texture t = of_line();
    t.channel = CHANNEL_U8;
    t.normalized_float = true;
    t.filter = FILTER_LINEAR;
    t.levels[0] = (struct texture_level){texels, 2, 1, 1, 2, 2};
    CHECK_FLOAT(fetch_1d(&t, 1), 14264.0f / 65535); /* (68 + 43) * 257 / 2 = 14263.5 */
    t.normalized_float = false;                     /* integers are not filtered */
    uint32_t out[4];
    fetch_words(&t, "tex.1d.v4.u32.f32", (float[4]){1}, out);
    assert_int_equal(out[0], 43);
}

/* As an H200 gave them, in 1/32767; the weight of the second in 1/256. */
static void signed_bytes_are_widened_when_they_are_summed(void **state)
{
    (void)state;
    static const struct {
        int8_t texels[2];
        int weight, expected;
    } rows[] = {{{-124, -128}, 199, -32767}, {{-116, -121}, 141, -30640}, {{21, -128}, 158, -18309},
                {{46, 57}, 25, 12145},       {{-50, -3}, 252, -964},      {{-7, 37}, 19, -964}};
    struct texture t = of_line();
    t.channel = CHANNEL_S8;
    t.normalized_float = true;
    t.filter = FILTER_LINEAR;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        t.levels[0] = (struct texture_level){(unsigned char *)(uintptr_t)rows[i].texels, 2, 1, 1, 2, 2};
        CHECK_FLOAT(fetch_1d(&t, 0.5f + (float)rows[i].weight / 256), (float)rows[i].expected / 32767);
    }
}

static void halves_blend_to_halves(void **state)
{
    (void)state;
    uint16_t texels[2] = {0x3c00, 0x3c01}; /* neighbours */
    struct texture t = of_line();
    t.channel = CHANNEL_F16;
    t.filter = FILTER_LINEAR;
    t.levels[0] = (struct texture_level){(unsigned char *)texels, 2, 1, 1, 4, 4};
    CHECK_FLOAT(fetch_1d(&t, 1), f32_f16(0x3c01));
    CHECK_FLOAT(fetch_1d(&t, 0.98f), f32_f16(0x3c00));
}

static void packed_halves(void **state)
{
    (void)state;
    float texels[4] = {1, 2, 3, 4};
    struct texture t = of_line();
    uint32_t out[4];
    t.channels = 4;
    t.levels[0] = (struct texture_level){(unsigned char *)texels, 1, 1, 1, 16, 16};
    fetch_words(&t, "tex.1d.v2.f16x2.f32", (float[4]){0}, out);
    assert_int_equal(out[0], 0x40003c00);
    assert_int_equal(out[1], 0x44004200);
}

static void linear_memory_is_zero_outside(void **state)
{
    (void)state;
    struct texture t = of_line();
    static const int at[] = {0, 3, 4, -1, INT32_MAX};
    static const float expected[] = {1, 8, 0, 0, 0};
    t.kind = TEXTURE_BUFFER;
    for (unsigned i = 0; i < COUNT_OF(at); i++)
        CHECK_FLOAT(fetch(&t, "tex.1d.v4.f32.s32", f32_bits((uint32_t)at[i]), 0, 0), expected[i]);
}

static void four_texels_at_once(void **state)
{
    (void)state;
    float texels[2][2][2] = {{{1, 10}, {2, 20}}, {{3, 30}, {4, 40}}};
    struct texture t = of_line();
    uint32_t out[4];
    t.kind = TEXTURE_2D;
    t.channels = 2;
    t.levels[0] = (struct texture_level){(unsigned char *)texels, 2, 2, 1, 16, 32};
    fetch_words(&t, "tld4.g.2d.v4.f32.f32", (float[4]){1, 1}, out);
    static const float expected[4] = {30, 40, 20, 10};
    for (unsigned i = 0; i < 4; i++)
        CHECK_FLOAT(f32_bits(out[i]), expected[i]);
}

static float fetch_detail(const struct texture *t, const char *opcode, float level, float dx, float dy)
{
    struct texture_form form = parse(opcode);
    struct texture_request request = {.form = &form, .level = bits_f32(level), .dx = {dx}, .dy = {dy}};
    uint32_t out[4];
    assert_true(texture_fetch(t, &request, out));
    return f32_bits(out[0]);
}

static void levels_of_detail(void **state)
{
    (void)state;
    float texels[4 + 2 + 1] = {1, 1, 1, 1, 2, 2, 4};
    struct texture t = of_line();
    t.normalized = true;
    t.level_count = 3;
    for (unsigned i = 0; i < 3; i++)
        t.levels[i] = (struct texture_level){
            (unsigned char *)(texels + (i == 0 ? 0 : i == 1 ? 4 : 6)), 4 >> i, 1, 1, 16 >> i, 16 >> i};
    CHECK_FLOAT(fetch_1d(&t, 0), 1); /* without: the first */
    CHECK_FLOAT(fetch_detail(&t, "tex.level.1d.v4.f32.f32", 1.49f, 0, 0), 2);
    CHECK_FLOAT(fetch_detail(&t, "tex.level.1d.v4.f32.f32", 1.5f, 0, 0), 4);
    CHECK_FLOAT(fetch_detail(&t, "tex.level.1d.v4.f32.f32", 9, 0, 0), 4);
    CHECK_FLOAT(fetch_detail(&t, "tex.level.1d.v4.f32.f32", -9, 0, 0), 1);
    CHECK_FLOAT(fetch_detail(&t, "tex.grad.1d.v4.f32.f32", 0, 0.25f, 0.5f), 2); /* a step of two texels */
    CHECK_FLOAT(fetch_detail(&t, "tex.grad.1d.v4.f32.f32", 0, 0, 0), 1);
    t.level_filter = FILTER_LINEAR;
    CHECK_FLOAT(fetch_detail(&t, "tex.level.1d.v4.f32.f32", 1.25f, 0, 0), 2.5f);
    t.level_bias = 0.5f;
    CHECK_FLOAT(fetch_detail(&t, "tex.level.1d.v4.f32.f32", 0, 0, 0), 1.5f);
    t.level_min = 1;
    CHECK_FLOAT(fetch_detail(&t, "tex.level.1d.v4.f32.f32", 0, 0, 0), 2);
}

static void another_kind_is_refused(void **state)
{
    (void)state;
    struct texture t = of_line();
    struct texture_form form = parse("tex.2d.v4.f32.f32");
    uint32_t out[4];
    assert_false(texture_fetch(&t, &(struct texture_request){.form = &form}, out));
}

static void queries(void **state)
{
    (void)state;
    struct texture t = of_line();
    struct texture_form width = parse("txq.width.b32"), level = parse("txq.level.width.b32");
    uint32_t out;
    t.level_count = 2;
    t.levels[1].width = 2;
    assert_true(texture_query(&t, &width, 1, &out));
    assert_int_equal(out, 4);
    assert_true(texture_query(&t, &level, 1, &out));
    assert_int_equal(out, 2);
    assert_false(texture_query(&t, &level, 2, &out));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fetches_are_read),
        cmocka_unit_test(surface_accesses_are_read),
        cmocka_unit_test(wrong_opcodes_are_refused),
        cmocka_unit_test(the_texel_that_holds_the_point),
        cmocka_unit_test(each_address_mode_outside),
        cmocka_unit_test(linear_between_the_middles_of_texels),
        cmocka_unit_test(weights_have_eight_bits),
        cmocka_unit_test(weights_of_two_axes_have_eight_bits_together),
        cmocka_unit_test(three_axes),
        cmocka_unit_test(layers_stay_within),
        cmocka_unit_test(faces_of_a_cube),
        cmocka_unit_test(formats),
        cmocka_unit_test(integers_are_blended_as_16_bits),
        cmocka_unit_test(signed_bytes_are_widened_when_they_are_summed),
        cmocka_unit_test(halves_blend_to_halves),
        cmocka_unit_test(packed_halves),
        cmocka_unit_test(linear_memory_is_zero_outside),
        cmocka_unit_test(four_texels_at_once),
        cmocka_unit_test(levels_of_detail),
        cmocka_unit_test(another_kind_is_refused),
        cmocka_unit_test(queries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
