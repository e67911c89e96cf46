/* What ptxas makes of PTX, as far as time is concerned: the steps that instructions become. */
#include "check.h"
#include "base/mem.h"
#include "ptxas/ptxas.h"
#include "ptxas/opcodes.h"

enum { HEAD = 4 }; /* instructions before the body */

/* A kernel with such a body; its registers are %r, %l (64 bits), %f, %d and %p; %x and %y differ by lane, %l0
 * is an address, and %l9 a parameter. */
static struct ptx_module *parse(const char *body)
{
    struct text text = {0};
    struct err err;
    text_add(
        &text,
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u32 n)\n{\n"
        ".reg .pred %%p<9>; .reg .b32 %%r<30>, %%x, %%y; .reg .b64 %%l<30>; .reg .f32 %%f<30>; .reg .f64 "
        "%%d<9>;\n"
        ".shared .align 4 .b8 s[1024];\n"
        "ld.param.u64 %%l9, [a]; ld.global.u64 %%l0, [%%l9]; mov.u32 %%x, %%tid.x; mov.u32 %%y, %%laneid;\n"
        "%s\nret;\n}\n",
        body);
    struct ptx_module *module = ptx_parse("test.ptx", text.at, text.length, &err);
    if (!module)
        fail_msg("%s", err.text);
    text_fini(&text);
    return module;
}

static char letter_of(struct isa_step step)
{
    static const char letters[UNIT_COUNT] = {
#define U(P, S, id, name, place, result, busy, does, pipe, letter, ...) letter,
        ISA_UNITS(U, , )
#undef U
    };
    return step.unit < UNIT_COUNT ? letters[step.unit] : '?';
}

/* The steps of each instruction of the body: letters of units, in lower case
 * when they are chained, with the signs of opcodes.c, and - for none. */
static void expect(const char *expected, const char *body)
{
    struct ptx_module *module = parse(body);
    const struct ptx_function *f = &module->functions[0];
    struct flow flow;
    struct ptx_machine_code machine;
    struct text got = {0};
    flow_init(&flow, f);
    ptxas_assemble(&machine, f, &flow, NULL);
    for (uint32_t i = HEAD; i + 1 < f->inst_count; i++) {
        text_add(&got, "%s%s", i > HEAD ? " " : "", machine.first[i] == machine.first[i + 1] ? "-" : "");
        for (uint32_t s = machine.first[i]; s < machine.first[i + 1]; s++) {
            char letter = letter_of(machine.steps[s]);
            uint8_t flags = machine.steps[s].flags;
            text_add(&got, "%s%c",
                     flags & STEP_BESIDE    ? "/"
                     : flags & STEP_MERGED  ? "!"
                     : flags & STEP_GUARDED ? "?"
                     : flags & STEP_JOINS   ? "+"
                                            : "",
                     flags & STEP_CHAINED ? letter + 'a' - 'A' : letter);
        }
    }
    if (strcmp(got.at ? got.at : "", expected) != 0)
        fail_msg("%s\nbecame %s, not %s", body, got.at, expected);
    text_fini(&got);
    ptx_machine_code_fini(&machine);
    flow_fini(&flow);
    ptx_free(module);
}

static void names_cost_nothing(void **state)
{
    (void)state;
    expect("- L", "cvta.to.global.u64 %l1, %l0; st.global.u32 [%l1], %x;");
    expect("- I L", "mov.u32 %r1, %x; add.s32 %r2, %r1, %y; st.global.u32 [%l0], %r2;");
    expect("- I L", "mov.u32 %r1, 5; add.s32 %r2, %r1, %x; st.global.u32 [%l0], %r2;");
    expect("I L", "mov.u32 %r1, 5; st.global.u32 [%l0], %r1;"); /* what is stored must be in a register */
}

static void one_lane_does_what_all_want_of_one_address(void **state)
{
    (void)state;
    expect("Kca/RVua!L", "red.global.add.u32 [%l9], %x;");
    expect("Kca/RVua!L", "atom.global.max.s32 %r1, [%l9], %x;"); /* nobody reads %r1 */
    expect("Kv/RuaC!L", "red.global.add.u32 [%l9+8], 1;");
    expect("Kv/RuaCi!L Ca!L", "red.global.add.u32 [%l9], 5; red.global.xor.b32 [%l9+4], %x;");
    expect("V/RcaC!L/R/A/C/W/A L", "atom.global.add.u32 %r1, [%l9], 1; st.global.u32 [%l0], %r1;");
    expect("V/RcaC!L/R/A/C/W/A L", "atom.shared.add.u32 %r1, [s], 1; st.global.u32 [%l0], %r1;");
}

static void each_lane_does_what_is_its_own(void **state)
{
    (void)state;
    expect("L", "red.global.add.u32 [%l0], %x;"); /* what memory gives may differ */
    expect("A Kq L", "shl.b32 %r1, %x, 2; mad.wide.u32 %l1, %r1, 4, %l9; red.global.add.u32 [%l1], 1;");
    expect("Kl", "red.global.add.f32 [%l9], %f1;");
    expect("Kl", "red.global.add.u64 [%l9], 1;");
    expect("Kl", "red.global.inc.u32 [%l9], 7;");
    expect("Kl", "red.release.gpu.global.add.u32 [%l9], 1;");
    expect("L", "red.shared.add.u32 [s], 1;"); /* counts lanes by itself */
    expect("L L", "atom.global.add.u32 %r1, [%l9], %x; st.global.u32 [%l0], %r1;");
    expect("L L", "atom.global.max.u32 %r1, [%l9], 1; st.global.u32 [%l0], %r1;");
}

static void what_nobody_needs_is_left_out(void **state)
{
    (void)state;
    expect("- -", "add.s32 %r1, %x, 1; mul.lo.s32 %r2, %r1, %r1;");
    expect("-", "ld.global.u32 %r1, [%l0];");
    expect("L", "ld.volatile.global.u32 %r1, [%l0];");
}

static void addresses_are_folded(void **state)
{
    (void)state;
    expect("- Q L L", "mul.wide.u32 %l1, %x, 4; add.s64 %l2, %l0, %l1; ld.global.u32 %r1, [%l2]; "
                      "st.global.u32 [%l0], %r1;");
    expect("- L L", "add.s64 %l1, %l0, 16; ld.global.u32 %r1, [%l1]; st.global.u32 [%l0], %r1;");
    expect("- A/A L L",
           "shl.b64 %l1, %l0, 2; add.s64 %l2, %l0, %l1; ld.global.u32 %r1, [%l2]; st.global.u32 [%l0], %r1;");
}

static void three_operands_are_one_instruction(void **state)
{
    (void)state;
    expect("- A L", "add.s32 %r1, %x, %y; add.s32 %r2, %r1, 7; st.global.u32 [%l0], %r2;");
    expect("- I L", "shl.b32 %r1, %x, 3; add.s32 %r2, %r1, %y; st.global.u32 [%l0], %r2;");
    expect("- I L", "mul.lo.s32 %r1, %x, %y; add.s32 %r2, %r1, 7; st.global.u32 [%l0], %r2;");
    expect("- A L", "and.b32 %r1, %x, 15; xor.b32 %r2, %r1, %y; st.global.u32 [%l0], %r2;");
    expect("I A L", "add.s32 %r1, %x, %y; xor.b32 %r2, %r1, %x; st.global.u32 [%l0], %r2;");
    expect("- F L", "neg.f32 %f1, %f2; add.f32 %f3, %f1, %f4; st.global.f32 [%l0], %f3;");
}

static void a_word_that_is_turned_around_is_one(void **state)
{
    (void)state;
    expect("- - A L",
           "shl.b32 %r1, %x, 5; shr.u32 %r2, %x, 27; or.b32 %r3, %r1, %r2; st.global.u32 [%l0], %r3;");
    expect("I A A L",
           "shl.b32 %r1, %x, 5; shr.u32 %r2, %x, 26; or.b32 %r3, %r1, %r2; st.global.u32 [%l0], %r3;");
    expect("- - - - A - L",
           "cvt.u64.u32 %l1, %x; shl.b64 %l2, %l1, 7; and.b64 %l3, %l1, 4261412864; shr.u64 %l4, %l3, 25;"
           "or.b64 %l5, %l2, %l4; cvt.u32.u64 %r1, %l5; st.global.u32 [%l0], %r1;");
}

static void upper_halves_that_nobody_needs_are_left_out(void **state)
{
    (void)state;
    expect("- A/I - L",
           "cvt.u64.u32 %l1, %x; add.s64 %l2, %l1, %l0; cvt.u32.u64 %r1, %l2; st.global.u32 [%l2], %r1;");
    expect("- I - L",
           "cvt.u64.u32 %l1, %x; add.s64 %l2, %l1, %l0; cvt.u32.u64 %r1, %l2; st.global.u32 [%l0], %r1;");
    expect("AA AA L", "and.b64 %l1, %l9, %l0; shr.u64 %l2, %l1, 5; st.global.u64 [%l0], %l2;");
}

static void what_two_units_can_do_is_spread(void **state)
{
    (void)state;
    expect("I A L I L",
           "add.s32 %r1, %x, 1; add.s32 %r2, %y, 2; st.global.u32 [%l0], %r1; add.s32 %r3, %x, %y;\n"
           "st.global.v2.u32 [%l0+8], {%r2, %r3};");
}

static void wide_and_rare_ones_take_several(void **state)
{
    (void)state;
    expect("L A/I L", "ld.global.u64 %l1, [%l0]; add.s64 %l2, %l1, %l1; st.global.u64 [%l0], %l2;");
    expect("Afsf L", "sqrt.approx.f32 %f1, %f2; st.global.f32 [%l0], %f1;");
    expect("S L", "rcp.approx.ftz.f32 %f1, %f2; st.global.f32 [%l0], %f1;");
}

static void products_of_64_bits_have_a_unit(void **state)
{
    (void)state;
    expect("Q L", "mul.hi.u32 %r1, %x, %y; st.global.u32 [%l0], %r1;");
    expect("L IQI+A L", "ld.global.u64 %l1, [%l0]; mul.lo.s64 %l2, %l1, %l1; st.global.u64 [%l0], %l2;");
}

static void a_choice_can_be_a_minimum(void **state)
{
    (void)state;
    expect("- A L", "setp.lt.s32 %p1, %x, %y; selp.b32 %r1, %x, %y, %p1; st.global.u32 [%l0], %r1;");
    expect("A A L", /* of others than were compared */
           "setp.lt.s32 %p1, %x, %y; selp.b32 %r1, %x, 7, %p1; st.global.u32 [%l0], %r1;");
}

static void reciprocals_are_known_the_second_time(void **state)
{
    (void)state;
    expect("C/Asic/Iiqqi/Aia?ia?ia Qiia?ia?ia L",
           "rem.u32 %r1, %x, %y; rem.u32 %r2, %r1, %y; st.global.u32 [%l0], %r2;");
}

static void long_sums_are_done_two_at_a_time(void **state)
{
    (void)state;
    expect("L - A/A L", "ld.global.u64 %l1, [%l0]; add.s64 %l2, %l1, %l3; add.s64 %l4, %l2, %l5;\n"
                        "st.global.u64 [%l0], %l4;");
}

static void one_number_fits_into_an_instruction(void **state)
{
    (void)state;
    expect("Ai I L", "mad.lo.s32 %r1, %x, 37, 17; mad.lo.s32 %r2, %r1, 37, 17; st.global.u32 [%l0], %r2;");
}

static void blocks_stand_behind_what_goes_to_them(void **state)
{
    (void)state;
    expect("L A B - L B L", "ld.global.u32 %r9, [%l9]; setp.gt.u32 %p1, %r9, 5; @%p1 bra M;\nbra.uni N;\n"
                            "M: st.global.u32 [%l0], %r9; bra.uni E;\nN: st.global.u32 [%l0+4], %r9;\nE:");
}

static void threads_that_part_meet_again(void **state)
{
    (void)state;
    const char *branch = "setp.gt.u32 %%p1, %s, 5; @%%p1 bra M;\n"
                         "st.global.u32 [%%l0+4], %%x; bar.warp.sync 255;\nM: st.global.u32 [%%l0], %%x;";
    char body[400];
    snprintf(body, sizeof body, branch, "%x");
    expect("A BB L U BL", body);
    snprintf(body, sizeof body, branch, "%r9"); /* the same for all */
    expect("A B L U L", body);
}

static void parameters_are_loaded_where_they_are_used(void **state)
{
    (void)state;
    expect("Kl L", "st.global.u32 [%l9], %x; st.global.u32 [%l9+4], %x;"); /* what loads %l0 is left out */
    expect("A BB Kl U BKl",
           "setp.gt.u32 %p1, %x, 5; @%p1 bra M;\nst.global.u32 [%l9], %x; bar.warp.sync 255;\n"
           "M: st.global.u32 [%l9+4], %x;");
}

static void absorbed_products_are_free(void **state)
{
    (void)state;
    struct ptx_module *module =
        parse("mul.f32 %f1, %f2, %f3; add.f32 %f4, %f1, %f5; st.global.f32 [%l0], %f4;");
    const struct ptx_function *f = &module->functions[0];
    struct ptx_taken *taken = mem_alloc(f->inst_count + 1, sizeof *taken);
    struct flow flow;
    struct ptx_machine_code machine;
    taken[HEAD + 1].product = HEAD + 1;
    flow_init(&flow, f);
    ptxas_assemble(&machine, f, &flow, taken);
    assert_int_equal(machine.first[HEAD + 1], machine.first[HEAD]);
    ptx_machine_code_fini(&machine);
    flow_fini(&flow);
    mem_free(taken);
    ptx_free(module);
}

static void registers_are_those_that_hold_values(void **state)
{
    (void)state;
    struct ptx_module *few = parse("st.global.u32 [%l0], %x;");
    struct text body = {0};
    for (int i = 0; i < 20; i++)
        text_add(&body, "ld.global.f32 %%f%d, [%%l0+%d]; ", i, 4 * i);
    for (int i = 0; i < 20; i++)
        text_add(&body, "st.global.f32 [%%l0+%d], %%f%d; ", 4 * i, 19 - i);
    struct ptx_module *many = parse(body.at);
    struct ptx_machine_code machine[2];
    struct flow flow;
    for (int i = 0; i < 2; i++) {
        const struct ptx_function *f = &(i ? many : few)->functions[0];
        flow_init(&flow, f);
        ptxas_assemble(&machine[i], f, &flow, NULL);
        flow_fini(&flow);
    }
    assert_in_range(machine[0].registers, 6, 12);
    assert_in_range(machine[1].registers, 24, 32);
    ptx_machine_code_fini(&machine[0]);
    ptx_machine_code_fini(&machine[1]);
    text_fini(&body);
    ptx_free(few);
    ptx_free(many);
}

/* Arithmetic that no row is for would take one cycle and hold all others in their places. */
static void all_arithmetic_has_a_row(void **state)
{
    (void)state;
    static const char *const texts[] = {
#define ROW(id, texts, ...) texts,
#include "ptx/alu.def"
#undef ROW
    };
    struct opcodes opcodes = {0};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *rest = mem_text(texts[i]), *next = rest;
        for (char *one; (one = strsep(&next, "|"));) {
            uint32_t number = opcodes_find(&opcodes, one);
            if (opcodes.at[number].effect != EFFECT_NONE)
                fail_msg("%s has no row in opcodes.c", one);
        }
        mem_free(rest);
        opcodes_fini(&opcodes); /* its keys are gone */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_arithmetic_has_a_row),
        cmocka_unit_test(names_cost_nothing),
        cmocka_unit_test(one_lane_does_what_all_want_of_one_address),
        cmocka_unit_test(each_lane_does_what_is_its_own),
        cmocka_unit_test(what_nobody_needs_is_left_out),
        cmocka_unit_test(addresses_are_folded),
        cmocka_unit_test(three_operands_are_one_instruction),
        cmocka_unit_test(a_word_that_is_turned_around_is_one),
        cmocka_unit_test(upper_halves_that_nobody_needs_are_left_out),
        cmocka_unit_test(what_two_units_can_do_is_spread),
        cmocka_unit_test(wide_and_rare_ones_take_several),
        cmocka_unit_test(products_of_64_bits_have_a_unit),
        cmocka_unit_test(a_choice_can_be_a_minimum),
        cmocka_unit_test(reciprocals_are_known_the_second_time),
        cmocka_unit_test(long_sums_are_done_two_at_a_time),
        cmocka_unit_test(one_number_fits_into_an_instruction),
        cmocka_unit_test(blocks_stand_behind_what_goes_to_them),
        cmocka_unit_test(threads_that_part_meet_again),
        cmocka_unit_test(parameters_are_loaded_where_they_are_used),
        cmocka_unit_test(absorbed_products_are_free),
        cmocka_unit_test(registers_are_those_that_hold_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
