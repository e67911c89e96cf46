/* What the PTX parser refuses, and in which words. */
#include "ptx_show.h"

static void an_error_names_line_token_and_what_was_expected(void **state)
{
    (void)state;
    check_refused(".entry k() {\n add.s32 %r1 5;\n}", "t.ptx:5: found '5', expected ',' or ';'");
    check_refused(".entry k()\n.unheard 5 {}",
                  "t.ptx:5: found '.unheard', expected '{', ';' or a directive of a function");
    check_refused(".bogus x;", "t.ptx:4: found '.bogus', expected a directive of a module");
    check_refused(".entry k() { .bogus x; }", "found '.bogus', expected a directive of a function's body");
    check_refused(".global .x32 a;", "found '.x32', expected a type such as .b32");
    check_refused(".entry k() { add.s32 ,; }", "found ',', expected an operand");
    check_refused(".entry k() { .reg .b32 a; mov.u32 a, ; }", "found ';', expected an operand");
    check_refused(".func f()", "found the end of the text, expected '{', ';'");
    check_refused(".entry k() { ret;", "found the end of the text, expected an instruction");
    check_refused("\x01", "found '?', expected PTX text");
    check_refused("/* x", "expected a comment that ends");
    check_refused(".pragma \"x", "expected a quote that ends the text");
}

static void a_text_that_is_no_ptx_is_refused_at_once(void **state)
{
    (void)state;
    check_refused_as_is("", 0, "t.ptx:1: found the end of the text, expected .version");
    check_refused_as_is("\0\0", 2, "found the end of the text");
    check_refused_as_is("\x7f"
                        "ELF",
                        4, "expected PTX text");
    check_refused_as_is("int main", 8, "found 'int', expected .version: PTX starts with it");
    check_refused_as_is(".version 9.0\n", 13, "t.ptx:2: found the end of the text, expected .target");
    check_refused_as_is(".version nine", 13, "expected a version such as 9.0");
    check_refused_as_is(".version 7.5 .target tesla", 26, "expected a target such as sm_90");
}

static void only_addresses_of_64_bits_are_known(void **state)
{
    (void)state;
    static const char text[] = ".version 6.0\n.target sm_50\n.address_size 32\n";
    check_refused_as_is(text, sizeof text - 1,
                        "t.ptx:3: found '32', expected 64: only addresses of 64 bits are supported");
}

static void a_newer_version_is_told_only_when_something_is_wrong(void **state)
{
    (void)state;
    static const char good[] = ".version 9.3\n.target sm_75\n.entry k() { brand.new; }";
    static const char bad[] = ".version 9.3\n.target sm_75\n.brand_new k;";
    ptx_free(ptx_parsed_as_is(good, sizeof good - 1));
    check_refused_as_is(
        bad, sizeof bad - 1,
        "t.ptx:3: found '.brand_new', expected a directive of a module, such as .visible, .entry or "
        ".global (the module is of PTX ISA 9.3; the newest known here is 9.0)");
}

static void names_must_be_declared(void **state)
{
    (void)state;
    static const char says[] = "expected a name that is declared (in function k)";
    check_refused(".entry k() {\n\nbra nowhere;\n}\n.func f;", "t.ptx:6: found 'nowhere'");
    check_refused(".entry k() { bra nowhere; }", says);
    check_refused(".entry k() { .reg .b32 %r<5>; mov.u32 %r4, %r5; }", "found '%r5'");
    check_refused(".entry k() { .reg .b32 %r<5>; mov.u32 %r04, 1; }", "found '%r04'");
    check_refused(".entry k() { .reg .b32 %r<5>; mov.u32 %r, 1; }", "found '%r'");
    check_refused(".entry k() { { .reg .b32 a; } mov.u32 a, 1; }", "found 'a'");
    check_refused(".entry k() { { L: } bra L; }", "found 'L'");
    check_refused(".entry k() { .reg .b64 d; mov.u64 d, v; .local .b8 v[4]; }", "found 'v'"); /* too late */
    check_refused(".entry k() { @p ret; }", "found 'p', expected a predicate that is declared");
}

static void names_are_declared_once(void **state)
{
    (void)state;
    static const char says[] = "expected a name that is not declared yet (line 4 has it)";
    check_refused(".global .u32 a;\n.global .u32 a;", "t.ptx:5: found 'a', ");
    check_refused(".global .u32 a;\n.global .u32 a;", says);
    check_refused(".global .u32 a;\n.func a;", says);
    check_refused(".func f() { ret; }\n.func f() { ret; }", says);
    check_refused(".entry k() { .reg .b32 a;\n.reg .b32 a; }", says);
    check_refused(".entry k() { .reg .b32 %r<5>;\n.reg .b32 %r<6>; }", says);
    check_refused(".entry k() { L:\nL: ret; }", says);
    check_refused(".global .u32 %laneid;", "found '%laneid', expected a name that no special register has");
    check_refused(".entry k() { .reg .b32 L;\nL: .branchtargets M; M: }", says);
}

static void parts_of_registers_must_exist(void **state)
{
    (void)state;
    check_refused(".entry k() { .reg .b32 a; op a.x; }", "expected a register with a part it has");
    check_refused(".entry k() { .reg .v2 .b32 a; op a.z; }", "expected a register with a part it has");
    check_refused(".entry k() { op %tid.q; }", "expected a special register with a part it has");
    check_refused(".entry k() { op %laneid.x; }", "expected a special register without parts");
    check_refused(".entry k() { op foo.x; }", "expected a register before the part .x");
}

static void numbers_must_be_whole_and_fit(void **state)
{
    (void)state;
    check_refused(".global .u64 a = 18446744073709551616;", "expected a number of 64 bits at most");
    check_refused(".global .u64 a = 0x;", "expected hexadecimal digits behind 0x");
    check_refused(".global .u64 a = 0b2;", "expected binary digits behind 0b");
    check_refused(".global .u64 a = 12ab;", "found '12ab', expected a number");
    check_refused(".global .u64 a = 089;", "found '089', expected a number");
    check_refused(".global .f32 a = 0f3F8;", "expected 8 hexadecimal digits behind 0f");
    check_refused(".global .f64 a = 0d3FF00000000000001;", "expected 16 hexadecimal digits behind 0d");
    check_refused(".global .u64 a = 1/0;", "expected no division by zero before this");
    check_refused(".global .f64 a = 1.5 % 1;", "expected integers before this");
    check_refused(".global .u32 a[1.5];", "expected an integer before this");
    check_refused(".global .u32 a = 1.5;", "expected an integer before this");
}

static void initial_values_must_fit_the_variable(void **state)
{
    (void)state;
    check_refused(".global .u32 a[2] = {1, 2, 3};", "found '3', expected '}': the variable has 8 bytes");
    check_refused(".global .b8 a[2][2] = {{1, 2, 3}};", "found '3', expected '}'");
    check_refused(".global .b8 a[2] = 1;", "found '1', expected '{'");
    check_refused(".global .b8 a = {{{1}}};", "expected a number");
    check_refused(".shared .u32 a = 1;", "only .global and .const variables have initial values");
    check_refused(".global .pred a;", "expected a variable with another type than .pred");
}

static void sizes_have_limits(void **state)
{
    (void)state;
    check_refused(".entry k() { .reg .b32 %r<4000000000>; }",
                  "found '4000000000', expected a number of registers, 16777216 at most");
    check_refused(".global .b8 a[1152921504606846976];",
                  "expected a variable of 1099511627776 bytes at most");
    check_refused(".global .b8 a[-1];", "expected a variable of 1099511627776 bytes at most");
    check_refused(".global .b8 a[0][1099511627777][4];",
                  "expected a variable of 1099511627776 bytes at most");
    check_refused(".global .b8 a[][4294967296][4294967296] = {1};", "bytes at most");
    check_refused(".global .b8 a[1][1][1][1][1][1][1][1];", "expected 7 dimensions at most");
    check_refused(".global .align 3 .b8 a;", "expected an alignment: a power of two, 65536 at most");
    check_refused(".global .align 131072 .b8 a;", "expected an alignment");
    check_refused(".file 4000000000 \"x\"", "expected the number of a file, 65536 at most");
    check_refused(".entry k() .maxntid 4294967296 {}", "expected a number, 4294967295 at most");
}

/* The text, then `count` times the second. */
static void check_deep(const char *start, const char *again, int count, const char *says)
{
    struct text text = {0};
    text_add(&text, "%s", start);
    for (int i = 0; i < count; i++)
        text_add(&text, "%s", again);
    check_refused(text.at, says);
    text_fini(&text);
}

static void nesting_has_limits(void **state)
{
    (void)state;
    check_deep(".entry k() ", "{", 100000, "expected no more than 200 scopes, one in the other");
    check_deep(".global .u32 a = ", "(", 100000, "expected less nesting (60 at most)");
    check_deep(".global .u32 a = ", "-", 100000, "expected less nesting");
    check_deep(".global .u32 a = 1", "?1", 100000, "expected less nesting");
    check_deep(".entry k() { op ", "{", 100000, "expected less nesting");
    check_deep(".entry k() { op ", "(", 100000, "expected less nesting");
    check_deep(".entry k() { op ", "[", 100000, "expected an operand");
    check_deep(".global .u32 a[] = ", "{", 100000, "expected a number");
}

/* Every start of a text is refused or taken, and none is read beyond its end. */
static void a_text_may_end_anywhere(void **state)
{
    (void)state;
    static const char text[] =
        ".version 9.0\n.target sm_75\n.file 1 \"a\"\n.global .b8 a[2] = {0xFF(b), generic(b)+0b1};\n"
        ".func (.param .b32 r) f(.param .b32 x) .noreturn;\n.entry k(.param .u64 .ptr .global .align 4 p)\n"
        ".maxntid 1,2\n{ .reg .b32 %r<4>; .loc 1 2 3, function_name L, inlined_at 1 2 3\n"
        "L: @!%p op.x::y %r1|%r2, [%rd+-4, {1.5, 0f3F800000}], %v.x; /* */ } // x\n";
    for (size_t bytes = 0; bytes < sizeof text; bytes++) {
        struct err err = {.text = ""};
        char *alone = malloc(bytes);
        memcpy(alone, text, bytes);
        struct ptx_module *module = ptx_parse("t.ptx", alone, bytes, &err);
        assert_true(module || strstr(err.text, "expected"));
        ptx_free(module);
        free(alone);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_error_names_line_token_and_what_was_expected),
        cmocka_unit_test(a_text_that_is_no_ptx_is_refused_at_once),
        cmocka_unit_test(only_addresses_of_64_bits_are_known),
        cmocka_unit_test(a_newer_version_is_told_only_when_something_is_wrong),
        cmocka_unit_test(names_must_be_declared),
        cmocka_unit_test(names_are_declared_once),
        cmocka_unit_test(parts_of_registers_must_exist),
        cmocka_unit_test(numbers_must_be_whole_and_fit),
        cmocka_unit_test(initial_values_must_fit_the_variable),
        cmocka_unit_test(sizes_have_limits),
        cmocka_unit_test(nesting_has_limits),
        cmocka_unit_test(a_text_may_end_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
