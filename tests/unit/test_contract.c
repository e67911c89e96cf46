/* Which products become part of a sum, as ptxas 13.0 does it for sm_90. The factors are such that the
 * product, rounded, is just c: a difference that is not 0 was rounded once. */
#include "check.h"
#include "base/mem.h"
#include "ptx_run/program.h"
#include "ptxas/ptxas.h"

static uint32_t memory[8];

static uint64_t no_place(void *context, const struct ptx_variable *variable, uint64_t bytes,
                         uint64_t alignment)
{
    (void)context, (void)variable, (void)bytes, (void)alignment;
    return 0;
}

static void run(const char *target, const char *body)
{
    static struct launch_result result;
    struct image *image = image_new();
    image_add(image, (struct range){(uintptr_t)memory, sizeof memory, "the test's memory", false});
    struct text text = {0};
    struct err err;
    text_add(
        &text,
        ".version 8.0\n.target %s\n.address_size 64\n.visible .entry k(.param .u64 out, .param .f32 p)\n{\n"
        ".reg .pred %%p<9>; .reg .b32 %%r<9>; .reg .b64 %%o; .reg .f32 %%a, %%b, %%c, %%m<9>, %%d<9>;\n"
        "ld.param.u64 %%o, [out]; mov.u32 %%r1, %%tid.x; setp.eq.u32 %%p1, %%r1, 0; not.pred %%p2, %%p1;\n"
        "ld.global.f32 %%a, [%%o]; ld.global.f32 %%b, [%%o+4]; ld.global.f32 %%c, [%%o+8];\n"
        "mov.f32 %%d0, 0f00000000; mov.f32 %%d1, 0f00000000;\n%s\n"
        "st.global.f32 [%%o], %%d0; st.global.f32 [%%o+4], %%d1;\nret;\n}\n",
        target, body);
    struct ptx_module *module = ptx_parse("test.ptx", text.at, text.length, &err);
    if (!module)
        fail_msg("%s", err.text);
    struct program *program = program_new(&module, 1, &ptxas, no_place, NULL, &err);
    if (!program)
        fail_msg("%s", err.text);
    memory[0] = memory[1] = 0x3f800800; /* 1 + 2^-12; its square is half a place more than c */
    memory[2] = 0x3f801000;
    struct {
        uint64_t out;
        uint32_t p;
    } params = {(uintptr_t)memory, 0x3f800800};
    struct launch launch = {.kernel = program_kernel(program, "k"),
                            .image = image,
                            .params = &params,
                            .grid = {1, 1, 1},
                            .block = {1, 1, 1},
                            .threads = 1,
                            .sm_count = 1,
                            .stack_bytes = 1024};
    launch_run(&launch, &result);
    if (result.fault.kind != FAULT_NONE)
        fail_msg("%s: %s", body, result.fault.text);
    program_free(program);
    text_fini(&text);
    image_free(image);
}

/* The signs of d0 and d1: + or - where a product was not rounded, 0 where it was. */
static void expect(const char *signs, const char *body)
{
    run("sm_90", body);
    for (int i = 0; signs[i]; i++) {
        char got = !memory[i] ? '0' : memory[i] >> 31 ? '-' : '+';
        if (got != signs[i] || (got != '0' && (memory[i] << 1 >> 24) > 0x7f - 10))
            fail_msg("%s: d%d is %#x, should be %c", body, i, memory[i], signs[i]);
    }
}

#define MUL0 "mul.f32 %m0, %a, %b;\n"
#define MUL1 "mul.f32 %m1, %b, %a;\n"
#define LEFT "sub.f32 %d0, %m0, %c;\n"

static void sums_and_differences_are_rounded_once(void **state)
{
    (void)state;
    expect("+", MUL0 LEFT);
    expect("-", MUL0 "sub.f32 %d0, %c, %m0;");
    expect("+", MUL0 "neg.f32 %m2, %c; add.f32 %d0, %m0, %m2;");
    expect("-", "neg.f32 %m2, %a; mul.f32 %m0, %m2, %b; add.f32 %d0, %c, %m0;");
    expect("+", MUL0 "sub.sat.f32 %d0, %m0, %c;");
    expect("+", "mul.ftz.f32 %m0, %a, %b; sub.ftz.f32 %d0, %m0, %c;");
    expect("+", MUL0 "@%p1 sub.f32 %d0, %m0, %c;");
    expect("0", MUL0 "@%p2 sub.f32 %d0, %m0, %c;");
    expect("++", MUL0 LEFT "sub.f32 %d1, %m0, %c;");
}

static void a_rounding_or_another_kind_keeps_them_apart(void **state)
{
    (void)state;
    expect("0", "mul.rn.f32 %m0, %a, %b;" LEFT);
    expect("0", MUL0 "sub.rn.f32 %d0, %m0, %c;");
    expect("0", "mul.ftz.f32 %m0, %a, %b;" LEFT);
    expect("0", MUL0 "sub.ftz.f32 %d0, %m0, %c;");
    expect("0", "mov.f32 %m0, %c; @%p1 mul.f32 %m0, %a, %b;" LEFT);
    expect("0", "mul.sat.f32 %m0, %a, %b; sub.f32 %d0, %m0, 0f3F800000;");
}

static void a_product_that_others_read_stays(void **state)
{
    (void)state;
    expect("0", MUL0 LEFT "st.global.f32 [%o+16], %m0;");
    expect("0", MUL0 LEFT "fma.rn.f32 %m1, %a, %b, %m0; st.global.f32 [%o+16], %m1;");
    expect("0", MUL0 LEFT "add.f32 %d1, %m0, %m0;");
    expect("0", MUL0 LEFT "@%p2 mov.f32 %m0, %c; sub.rn.f32 %d1, %m0, %c;");
    expect("0", MUL0 "mov.f32 %a, %c;" LEFT); /* ptxas would, in another register */
}

static void of_two_products_one_is_taken(void **state)
{
    (void)state;
    expect("+", MUL0 MUL1 "sub.f32 %d0, %m0, %m1;");
    expect("+", MUL1 MUL0 "sub.f32 %d0, %m0, %m1;");
    expect("-", MUL0 MUL1 "sub.f32 %d0, %m0, %m1; st.global.f32 [%o+16], %m0;");
    /* the one that fewer sums read, the others then need it whole */
    expect("-0", MUL0 MUL1 "sub.f32 %d0, %m0, %m1; sub.f32 %d1, %m0, %c;");
    expect("-0", MUL0 MUL1 "sub.f32 %d1, %m0, %c; sub.f32 %d0, %m0, %m1;");
    expect("+-", MUL0 MUL1 "sub.f32 %d0, %m0, %m1; sub.f32 %d1, %m1, %m0;");
}

static void straight_code_ends_at_branches(void **state)
{
    (void)state;
    expect("+", MUL0 "L: bar.sync 0;" LEFT); /* nothing goes to L */
    expect("0", MUL0 "@%p2 bra L; bar.sync 0; L:" LEFT);
    expect("0", MUL0 "rcp.rn.f32 %m2, %a;" LEFT);
    expect("+", MUL0 "rcp.approx.f32 %m2, %a;" LEFT);
    expect("0", MUL0 "membar.gl;" LEFT);
    expect("0", MUL0 "@%p2 st.global.f32 [%o+16], %a;" LEFT);
    expect("0", MUL0 LEFT "@%p2 bra L; sub.f32 %d1, %m0, %c; L:");
}

static void a_constant_factor_goes_anywhere(void **state)
{
    (void)state;
    expect("+", "mul.f32 %m0, %a, 0f3F800800; @%p2 bra L; bar.sync 0; L:" LEFT);
    expect("+", "ld.param.f32 %m2, [p]; mul.f32 %m0, %m2, %a; @%p2 bra L; bar.sync 0; L:" LEFT);
    expect("0", "mul.f32 %m0, %a, 0f3F800800; @%p2 bra L; bar.sync 0; L:" LEFT "st.global.f32 [%o+16], %m0;");
    /* in a loop the factor lives as long as the product would have */
    expect("+", "mov.f32 %m4, %a; mul.f32 %m0, %m4, 0f3F800800; mov.u32 %r2, 0;\n"
                "L:" LEFT "mov.f32 %m5, %c; st.global.f32 [%o+16], %m5;\n"
                "add.u32 %r2, %r2, 1; setp.lt.u32 %p3, %r2, 3; @%p3 bra L;");
    expect("0", "mov.u32 %r2, 0;\nL: mul.f32 %m0, %a, 0f3F800800;\n" /* a factor that changes */
                "add.u32 %r2, %r2, 1; setp.lt.u32 %p3, %r2, 3; @%p3 bra N; bra E;\n"
                "N: mov.f32 %a, %b; bra L;\nE:" LEFT);
}

static void factors_keep_their_places(void **state)
{
    (void)state;
    expect("+", MUL0 "mov.f32 %m1, 0f40000000; mov.f32 %m2, 0f40400000; add.rn.f32 %m3, %m1, %m2;\n"
                     "st.global.f32 [%o+16], %m3;" LEFT);
}

static void other_types_are_as_f32(void **state)
{
    (void)state;
    expect("+-", ".reg .f64 %x<9>; mov.f64 %x0, 0d3FF0000002000000; mov.f64 %x1, 0d3FF0000004000000;\n"
                 "mul.f64 %x2, %x0, %x0; sub.f64 %x3, %x2, %x1; sub.f64 %x4, %x1, %x2;\n"
                 "cvt.rn.f32.f64 %d0, %x3; cvt.rn.f32.f64 %d1, %x4;");
    expect("+-", ".reg .b16 %h<9>; mov.b16 %h0, 0x3c10; mov.b16 %h1, 0x3c20;\n"
                 "mul.f16 %h2, %h0, %h0; sub.f16 %h3, %h2, %h1; sub.f16 %h4, %h1, %h2;\n"
                 "cvt.f32.f16 %d0, %h3; cvt.f32.f16 %d1, %h4;");
    expect("+-",
           ".reg .b16 %h<9>; mov.b32 %r2, 0x3c103c10; mov.b32 %r3, 0x3c203c20;\n"
           "mul.f16x2 %r4, %r2, %r2; sub.f16x2 %r5, %r4, %r3; sub.f16x2 %r6, %r3, %r4;\n"
           "mov.b32 {%h0, %h1}, %r5; mov.b32 {%h2, %h3}, %r6; cvt.f32.f16 %d0, %h1; cvt.f32.f16 %d1, %h2;");
    expect("+-", ".reg .b16 %h<9>; mov.b16 %h0, 0x3f84; mov.b16 %h1, 0x3f88;\n"
                 "mul.bf16 %h2, %h0, %h0; sub.bf16 %h3, %h2, %h1; sub.bf16 %h4, %h1, %h2;\n"
                 "cvt.f32.bf16 %d0, %h3; cvt.f32.bf16 %d1, %h4;");
}

static void code_for_debuggers_is_left_as_it_is(void **state)
{
    (void)state;
    run("sm_90, debug", MUL0 LEFT);
    assert_int_equal(memory[0], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_and_differences_are_rounded_once),
                                       cmocka_unit_test(a_rounding_or_another_kind_keeps_them_apart),
                                       cmocka_unit_test(a_product_that_others_read_stays),
                                       cmocka_unit_test(of_two_products_one_is_taken),
                                       cmocka_unit_test(straight_code_ends_at_branches),
                                       cmocka_unit_test(a_constant_factor_goes_anywhere),
                                       cmocka_unit_test(factors_keep_their_places),
                                       cmocka_unit_test(other_types_are_as_f32),
                                       cmocka_unit_test(code_for_debuggers_is_left_as_it_is)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
