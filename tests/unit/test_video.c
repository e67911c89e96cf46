/* Video instructions; results are an H200's (tests/oracle has many more). */
#include "check.h"
#include "ptx/ptx.h"
#include "ptx_run/video.h"

static struct video_form parse(const char *opcode)
{
    struct video_form form;
    if (!video_parse(opcode, &form))
        fail_msg("%s is not known", opcode);
    return form;
}

static void check(const struct video_form *form, uint32_t a, uint32_t b, uint32_t c, uint32_t expected)
{
    assert_int_equal(video_compute(form, a, b, c), expected);
}

static void opcodes(void **state)
{
    (void)state;
    static const char *const wrong[] = {"vadd",
                                        "vadd.u32.u32",
                                        "vadd3.u32.u32.u32",
                                        "vavrg.u32.u32.u32",
                                        "vshl2.u32.u32.u32.clamp",
                                        "vshl.u32.u32.s32.clamp",
                                        "vshl.u32.u32.u32",
                                        "vadd.u32.u32.u32.add.sat",
                                        "vadd4.u32.u32.u32.min",
                                        "vset.u32.u32.u32.lt",
                                        "vset.u32.s32.lo",
                                        "vmad.u32.u32.u32.shr8",
                                        "vote.any.pred"};
    struct video_form form = parse("vmad.s32.u32.s32.po.sat.shr15");
    assert_true(form.plus_one && form.saturates && form.shift == 15 && !form.signed_a && form.signed_b);
    form = parse("vset4.u32.s32.ge.add");
    assert_true(form.lanes == 4 && form.compare == VIDEO_GE && form.second == VIDEO_AND_ADD);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(video_parse(wrong[i], &form));
}

static void one_value(void **state)
{
    (void)state;
    struct video_form form = parse("vadd.u32.u32.u32.sat");
    check(&form, 0x10000002, 0xff67672c, 0, 0x0f67672e); /* wraps all the same */
    form = parse("vabsdiff.u32.u32.u32.min");
    check(&form, 0x0000ffff, 0xffffffec, 0xffffffeb, 0xfffeffed);
    form = parse("vmin.u32.s32.s32.max"); /* below 0 is more than any */
    check(&form, 0x00020001, 0xffffffc9, 0xffffffea, 0xffffffc9);
    form = parse("vshl.u32.u32.u32.sat.clamp.add");
    check(&form, 0x4921a6bd, 0x4921a6be, 0x80000001, 0x80000000);
}

static void a_part_of_a_register(void **state)
{
    (void)state;
    struct video_form form = parse("vabsdiff.u32.s32.u32");
    form.second = VIDEO_MERGE;
    form.part_d = PTX_PART_HALF + 1; /* takes the upper half */
    check(&form, 0x68d3b699, 0xe6fbd5e8, 0x04000001, 0x7e280001);
    form = parse("vadd.s32.s32.u32.sat");
    form.second = VIDEO_MERGE;
    form.part_d = 2;
    form.part_a = 3;
    form.part_b = 0;
    check(&form, 0x894a3abf, 0x00000001, 0x00040000, 0x007f0000); /* -118 becomes 127 */
}

static void several_lanes(void **state)
{
    (void)state;
    struct video_form form = parse("vabsdiff4.u32.u32.u32.add");
    check(&form, 0xff000001, 0x00000002, 10, 10 + 255 + 1);
    form = parse("vadd2.s32.s32.s32.sat");
    check(&form, 0x7fff8000, 0x0001ffff, 0, 0x7fff8000);
    form = parse("vavrg4.u32.u32.u32");
    form.mask = 5; /* others are the last operand's */
    check(&form, 0x01020304, 0x03040506, 0xaabbccdd, 0xaa03cc05);
    form = parse("vset2.u32.u32.lt");
    form.select_a[0] = 3; /* the upper half of b */
    check(&form, 0x00010002, 0x00050003, 0, 0x00010000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opcodes),
        cmocka_unit_test(one_value),
        cmocka_unit_test(a_part_of_a_register),
        cmocka_unit_test(several_lanes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
