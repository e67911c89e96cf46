#include "check.h"
#include "base/bits.h"
#include "exec/texture.h"

static struct texture_form parse(const char *opcode)
{
    struct texture_form form;
    if (!texture_parse(opcode, &form))
        fail_msg("%s is not known", opcode);
    return form;
}

/* 4 x 3 texels of two bytes, two layers; byte i of it is i. */
static unsigned char surface_bytes[2 * 3 * 8];

static struct texture of_surface(void)
{
    for (unsigned i = 0; i < sizeof surface_bytes; i++)
        surface_bytes[i] = (unsigned char)i;
    return (struct texture){
        .kind = TEXTURE_2D_LAYERED,
        .channel = CHANNEL_U16,
        .channels = 1,
        .layers = 2,
        .level_count = 1,
        .levels = {{surface_bytes, 4, 3, 1, 8, 24}},
    };
}

static void surfaces_by_bytes(void **state)
{
    (void)state;
    struct texture s = of_surface();
    uint64_t values[4];
    struct texture_form form = parse("suld.b.a2d.v2.b16.trap");
    assert_true(surface_load(&s, &form, (uint32_t[4]){1, 4, 2}, values)); /* layer 1, byte 4 of row 2 */
    assert_int_equal(values[0], 0x2d2c);
    assert_int_equal(values[1], 0x2f2e);
    form = parse("suld.b.a2d.b64.trap");
    assert_true(surface_load(&s, &form, (uint32_t[4]){0, 0, 1}, values));
    assert_int_equal(values[0], UINT64_C(0x0f0e0d0c0b0a0908));
    form = parse("sust.b.a2d.v4.b8.trap");
    assert_true(surface_store(&s, &form, (uint32_t[4]){0, 4, 1}, (uint64_t[4]){1, 2, 3, 0x104}));
    assert_memory_equal(surface_bytes + 12, "\1\2\3\4", 4);
    assert_int_equal(surface_bytes[16], 16);
}

static void surfaces_outside(void **state)
{
    (void)state;
    struct texture s = of_surface();
    struct texture_form trap = parse("suld.b.a2d.b16.trap"), zero = parse("suld.b.a2d.b16.zero"),
                        clamp = parse("suld.b.a2d.b16.clamp"), store = parse("sust.b.a2d.b16.zero");
    static const struct {
        int at[3];
        unsigned clamped;
    } rows[] = {
        {{0, -2, 0}, 0x0100}, {{0, 8, 0}, 0x0706}, {{0, 0, -1}, 0x0100},
        {{0, 0, 3}, 0x1110},  {{2, 0, 0}, 0x1918}, {{-1, 0, 0}, 0x1918},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint32_t at[4] = {(uint32_t)rows[i].at[0], (uint32_t)rows[i].at[1], (uint32_t)rows[i].at[2]};
        uint64_t values[4] = {9, 9, 9, 9};
        assert_false(surface_load(&s, &trap, at, values));
        assert_true(surface_load(&s, &zero, at, values));
        assert_int_equal(values[0], 0);
        assert_true(surface_load(&s, &clamp, at, values));
        assert_int_equal(values[0], rows[i].clamped);
        assert_true(surface_store(&s, &store, at, (uint64_t[4]){0xffff}));
    }
    for (unsigned i = 0; i < sizeof surface_bytes; i++)
        assert_int_equal(surface_bytes[i], i);
}

static void surfaces_that_fault(void **state)
{
    (void)state;
    struct texture s = of_surface();
    struct texture_form odd = parse("suld.b.a2d.b16.clamp"), flat = parse("suld.b.2d.b16.zero");
    unsigned char *place;
    assert_int_equal(surface_find(&s, &odd, (uint32_t[4]){0, 1, 0}, &place), SURFACE_FAULT); /* not aligned */
    assert_int_equal(surface_find(&s, &flat, (uint32_t[4]){0}, &place), SURFACE_FAULT); /* of another kind */
    assert_int_equal(surface_find(&s, &odd, (uint32_t[4]){0, 2, 1}, &place), SURFACE_AT);
    assert_ptr_equal(place, surface_bytes + 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(surfaces_by_bytes),
        cmocka_unit_test(surfaces_outside),
        cmocka_unit_test(surfaces_that_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
