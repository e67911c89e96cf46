/* PTX modules: heads, variables, initial values, functions as declared. */
#include "ptx_show.h"

static void the_head_says_version_and_target(void **state)
{
    (void)state;
    static const char text[] = ".version 8.3\n.target sm_90a, texmode_independent, debug\n.address_size 64\n";
    struct ptx_module *module = ptx_parsed_as_is(text, sizeof text - 1);
    assert_int_equal(module->version, 83);
    assert_int_equal(module->target, 90);
    assert_true(module->target_specific);
    assert_int_equal(module->address_bits, 64);
    assert_string_equal(module->name, "t.ptx");
    ptx_free(module);
}

static void targets_of_three_digits_are_read(void **state)
{
    (void)state;
    static const char text[] = ".version 9.0\n.target sm_100f\n";
    struct ptx_module *module = ptx_parsed_as_is(text, sizeof text - 1);
    assert_int_equal(module->target, 100);
    assert_true(module->target_specific);
    ptx_free(module);
}

static void the_text_need_not_end_in_zero_and_may_end_in_many(void **state)
{
    (void)state;
    static const char text[] = ".version 7.0\r\n.target sm_50\r\n.func f;\0\0\0";
    for (size_t zeros = 0; zeros <= 4; zeros++) {
        struct ptx_module *module = ptx_parsed_as_is(text, sizeof text - 4 + zeros);
        assert_int_equal(module->function_count, 1);
        ptx_free(module);
    }
    char *alone = malloc(sizeof text - 4); /* what stands behind it must not be read: asan would tell */
    memcpy(alone, text, sizeof text - 4);
    ptx_free(ptx_parsed_as_is(alone, sizeof text - 4));
    free(alone);
}

static void comments_and_preprocessor_lines_are_blanks(void **state)
{
    (void)state;
    struct ptx_module *module =
        ptx_parsed("// .global .u32 a;\n/* .global\n .u32 b; */ .global /**/ .u32 c;\n"
                   "#line 5 \"x\"\n@@DWARF .global .u32 d;\n");
    assert_int_equal(module->variable_count, 1);
    assert_string_equal(module->variables[0].name, "c");
    assert_int_equal(module->variables[0].line, 6);
    ptx_free(module);
}

static void a_name_may_be_very_long(void **state)
{
    (void)state;
    for (const char *digits = "019x"; *digits; digits++) {
        struct text text = {0};
        text_add(&text, ".global .u32 a");
        for (int i = 0; i < 200000; i++)
            text_add_bytes(&text, digits, 1);
        text_add(&text, "1;");
        struct ptx_module *module = ptx_parsed(text.at);
        assert_int_equal(strlen(module->variables[0].name), 200002);
        text_fini(&text);
        ptx_free(module);
    }
}

static void a_variable_has_space_type_size_and_alignment(void **state)
{
    (void)state;
    struct ptx_module *module = ptx_parsed(".visible .global .align 16 .b8 a[3][5];\n"
                                           ".extern .shared .align 8 .b8 b[];\n"
                                           ".weak .const .v4 .f32 c;\n"
                                           ".common .global .attribute(.managed) .u64 d, e[2*3];\n"
                                           ".global .attribute(.unified(0xAB, 1)) .texref t;\n");
    static const struct {
        const char *name;
        enum ptx_space space;
        enum ptx_type type;
        enum ptx_linkage linkage;
        uint32_t alignment;
        uint64_t bytes;
        bool managed;
    } rows[] = {
        {"a", PTX_GLOBAL, PTX_b8, PTX_VISIBLE, 16, 15, false},
        {"b", PTX_SHARED, PTX_b8, PTX_EXTERN, 8, 0, false},
        {"c", PTX_CONST, PTX_f32, PTX_WEAK, 16, 16, false},
        {"d", PTX_GLOBAL, PTX_u64, PTX_COMMON, 8, 8, true},
        {"e", PTX_GLOBAL, PTX_u64, PTX_COMMON, 8, 48, true},
        {"t", PTX_GLOBAL, PTX_texref, PTX_INTERNAL, 8, 8, false},
    };
    assert_int_equal(module->variable_count, sizeof rows / sizeof *rows);
    for (uint32_t i = 0; i < module->variable_count; i++) {
        const struct ptx_variable *variable = &module->variables[i];
        assert_string_equal(variable->name, rows[i].name);
        assert_int_equal(variable->space, rows[i].space);
        assert_int_equal(variable->type, rows[i].type);
        assert_int_equal(variable->linkage, rows[i].linkage);
        assert_int_equal(variable->alignment, rows[i].alignment);
        assert_int_equal(variable->bytes, rows[i].bytes);
        assert_int_equal(variable->managed, rows[i].managed);
    }
    ptx_free(module);
}

/* A variable declared so has these bytes. */
static void check_bytes(const char *declaration, const char *hex)
{
    struct ptx_module *module = ptx_parsed(declaration);
    const struct ptx_variable *variable = &module->variables[0];
    uint8_t bytes[64] = {0};
    struct text shown = {0};
    assert_true(variable->bytes <= sizeof bytes);
    for (size_t i = 0; i < variable->initial_count; i++) {
        const struct ptx_initial *initial = &variable->initials[i];
        assert_null(initial->symbol);
        assert_true(initial->offset + initial->bytes <= variable->bytes);
        memcpy(bytes + initial->offset, &initial->value, initial->bytes);
    }
    text_add(&shown, "%s", "");
    for (uint64_t i = 0; i < variable->bytes; i++)
        text_add(&shown, "%02x", bytes[i]);
    assert_string_equal(shown.at, hex);
    text_fini(&shown);
    ptx_free(module);
}

static void integers_are_written_in_many_ways(void **state)
{
    (void)state;
    check_bytes(".global .b8 a[8] = {1, 0x2f, 0X3, 017, 0b101, -1, 255U, 0};", "012f030f05ffff00");
    check_bytes(".global .u16 a = 65535;", "ffff");
    check_bytes(".global .s32 a = -2;", "feffffff");
    check_bytes(".global .u64 a = 18446744073709551615;", "ffffffffffffffff");
    check_bytes(".const .b128 a = 1;", "01000000000000000000000000000000");
}

static void floats_are_written_in_many_ways(void **state)
{
    (void)state;
    check_bytes(".global .f32 a[5] = {1.0, 0f40000000, -3, 0d4010000000000000, 5e-1};",
                "0000803f00000040000040c0000080400000003f");
    check_bytes(".global .f64 a[3] = {-0d3FF0000000000000, 0f40000000, .5};",
                "000000000000f0bf0000000000000040000000000000e03f");
    check_bytes(".global .b32 a = 0f3F800000;", "0000803f");
    check_bytes(".global .f64 a = (1.0 + 2) / 0f40000000 - 0.5 * 1.0;", "000000000000f03f");
    check_bytes(".global .b64 a = 1.0;", "000000000000f03f");
}

static void constants_are_computed_as_in_c(void **state)
{
    (void)state;
    static const struct {
        const char *expression;
        int64_t value;
    } rows[] = {
        {"2+3*4", 14},  {"(2+3)*4", 20},   {"-7/2", -3},      {"-7 % 2", -1},
        {"7-2-1", 4},   {"1<<4|1", 17},    {"-8>>1", -4},     {"(.u64)-1>>63", 1},
        {"~0", -1},     {"!5", 0},         {"!0", 1},         {"3<4", 1},
        {"-1<0U", 0},   {"4<=3", 0},       {"5==5&&2!=2", 0}, {"0||7", 1},
        {"6&3^1", 3},   {"1?2:3", 2},      {"0?2:0?3:4", 4},  {"1<<64", 0},
        {"-1>>70", -1}, {"WARP_SZ*2", 64}, {"- - 5", 5},      {"(.s64)0x8000000000000000/-1", INT64_MIN},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct text text = {0};
        text_add(&text, ".global .s64 a = %s;", rows[i].expression);
        struct ptx_module *module = ptx_parsed(text.at);
        const struct ptx_variable *variable = &module->variables[0];
        int64_t value = variable->initial_count ? (int64_t)variable->initials[0].value : 0;
        if (value != rows[i].value)
            fail_msg("%s is %lld, not %lld", rows[i].expression, (long long)value, (long long)rows[i].value);
        text_fini(&text);
        ptx_free(module);
    }
}

static void inner_braces_fill_inner_arrays(void **state)
{
    (void)state;
    check_bytes(".global .b8 a[2][3] = {{1}, {2, 3}};", "010000020300");
    check_bytes(".global .b8 a[2][3] = {1, 2, 3, 4};", "010203040000");
    check_bytes(".global .v2 .b16 a[2] = {{1, 2}, {3, 4}};", "0100020003000400");
}

static void an_array_without_size_has_that_of_its_values(void **state)
{
    (void)state;
    check_bytes(".global .b16 a[] = {1, 2, 3};", "010002000300");
    check_bytes(".global .b8 a[][2] = {{1}, {2}, {3, 4}};", "010002000304");
}

static void small_values_are_kept_together_and_zeros_left_out(void **state)
{
    (void)state;
    struct ptx_module *module =
        ptx_parsed(".global .b8 a[40] = {1,2,3,4,5,6,7,8, 0,0,0,0,0,0,0,0, 0,9,0,10};");
    const struct ptx_variable *variable = &module->variables[0];
    assert_int_equal(variable->initial_count, 2);
    assert_int_equal(variable->initials[0].bytes, 8);
    assert_int_equal(variable->initials[0].value, 0x0807060504030201);
    assert_int_equal(variable->initials[1].offset, 17);
    assert_int_equal(variable->initials[1].bytes, 3);
    assert_int_equal(variable->initials[1].value, 0x0a0009);
    ptx_free(module);
}

static void an_initial_value_may_be_an_address(void **state)
{
    (void)state;
    struct ptx_module *module =
        ptx_parsed(".global .u64 a[5] = {b, b+8, generic(b), generic(b)-4, 7};\n"
                   ".global .b8 c[3] = {0xFF(b), 0xFF00(b), 0xFF0000(generic(b)+2)};\n.global .u32 b;");
    static const struct ptx_initial wanted[] = {
        {.offset = 0, .bytes = 8},
        {.offset = 8, .bytes = 8, .value = 8},
        {.offset = 16, .bytes = 8, .generic = true},
        {.offset = 24, .bytes = 8, .value = (uint64_t)-4, .generic = true},
        {.offset = 32, .bytes = 8, .value = 7},
        {.offset = 0, .bytes = 1, .mask = 0xff},
        {.offset = 1, .bytes = 1, .mask = 0xff00},
        {.offset = 2, .bytes = 1, .mask = 0xff0000, .value = 2, .generic = true},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const struct ptx_initial *initial =
            i < 5 ? &module->variables[0].initials[i] : &module->variables[1].initials[i - 5];
        assert_int_equal(initial->offset, wanted[i].offset);
        assert_int_equal(initial->bytes, wanted[i].bytes);
        assert_int_equal(initial->value, wanted[i].value);
        assert_int_equal(initial->mask, wanted[i].mask);
        assert_int_equal(initial->generic, wanted[i].generic);
        if (i == 4)
            assert_null(initial->symbol);
        else
            assert_string_equal(initial->symbol, "b");
    }
    ptx_free(module);
}

static void a_declaration_and_a_definition_are_one(void **state)
{
    (void)state;
    struct ptx_module *module =
        ptx_parsed(".extern .global .u32 v;\n.visible .global .u32 v = 5;\n"
                   ".extern .global .u32 v;\n"
                   ".extern .func f(.param .b32 a);\n.visible .func f(.param .b32 a)\n"
                   "{ ret; }\n.func f(.param .b32 a);\n");
    assert_int_equal(module->variable_count, 1);
    assert_int_equal(module->variables[0].linkage, PTX_VISIBLE);
    assert_int_equal(module->variables[0].initial_count, 1);
    assert_int_equal(module->function_count, 1);
    assert_int_equal(module->functions[0].linkage, PTX_VISIBLE);
    assert_true(module->functions[0].has_body);
    ptx_free(module);
}

static void parameters_have_aligned_offsets(void **state)
{
    (void)state;
    struct ptx_module *module =
        ptx_parsed(".visible .entry k(.param .u8 a, .param .u64 .ptr .global .align 4 b, .param .u16 c,\n"
                   ".param .align 16 .b8 d[20], .param .f32 e) { ret; }");
    static const uint64_t offsets[] = {0, 8, 16, 32, 52}, bytes[] = {1, 8, 2, 20, 4};
    const struct ptx_function *kernel = ptx_kernel(module);
    assert_int_equal(kernel->param_count, 5);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(kernel->params[i].offset, offsets[i]);
        assert_int_equal(kernel->params[i].bytes, bytes[i]);
    }
    assert_int_equal(kernel->params[1].alignment, 8); /* .align is of what it points to */
    ptx_free(module);
}

static void directives_of_a_kernel_are_kept(void **state)
{
    (void)state;
    struct ptx_module *module =
        ptx_parsed(".entry k()\n.maxntid 256\n.reqntid 32, 4\n.minnctapersm 2\n.maxnreg 64\n.maxnctapersm 3\n"
                   ".reqnctapercluster 2, 1, 1\n.maxclusterrank 8\n.explicitcluster\n.blocksareclusters\n"
                   ".pragma \"nounroll\", \"x\";\n.abi_preserve 4\n{ ret; }");
    const struct ptx_function *kernel = ptx_kernel(module);
    static const uint32_t maxntid[] = {256, 1, 1}, reqntid[] = {32, 4, 1}, cluster[] = {2, 1, 1};
    assert_memory_equal(kernel->maxntid, maxntid, sizeof maxntid);
    assert_memory_equal(kernel->reqntid, reqntid, sizeof reqntid);
    assert_memory_equal(kernel->reqnctapercluster, cluster, sizeof cluster);
    assert_int_equal(kernel->minnctapersm, 2);
    assert_int_equal(kernel->maxnreg, 64);
    assert_int_equal(kernel->maxclusterrank, 8);
    assert_true(kernel->explicit_cluster && kernel->blocks_are_clusters && !kernel->is_noreturn);
    ptx_free(module);
}

static void functions_have_results_and_may_be_aliases(void **state)
{
    (void)state;
    struct ptx_module *module =
        ptx_parsed(".extern .func (.param .align 8 .b8 r[16]) f (.param .b64 a, .param .b8 b[]) .noreturn ;\n"
                   ".weak .func g;\n.alias g, f;\n");
    const struct ptx_function *f = &module->functions[0], *g = &module->functions[1];
    assert_int_equal(f->result_count, 1);
    assert_int_equal(f->results[0].bytes, 16);
    assert_int_equal(f->param_count, 2);
    assert_int_equal(f->params[1].bytes, 0);
    assert_true(f->is_noreturn && !f->has_body && !f->alias);
    assert_string_equal(g->alias, "f");
    assert_int_equal(g->linkage, PTX_WEAK);
    ptx_free(module);
}

static void initial_values_of_samplers_are_skipped(void **state)
{
    (void)state;
    struct ptx_module *module =
        ptx_parsed(".global .samplerref s = {addr_mode_0 = clamp_to_border, filter_mode = nearest};\n"
                   ".global .surfref t;");
    assert_int_equal(module->variable_count, 2);
    assert_int_equal(module->variables[0].initial_count, 0);
    ptx_free(module);
}

static void types_are_known_by_name(void **state)
{
    (void)state;
    assert_int_equal(ptx_type_of("f16x2", 5), PTX_f16x2);
    assert_int_equal(ptx_type_of("f16x2", 3), PTX_f16);
    assert_int_equal(ptx_type_of("f1", 2), PTX_NO_TYPE);
    assert_int_equal(ptx_type_of("", 0), PTX_NO_TYPE);
    assert_int_equal(ptx_type_of("u320", 4), PTX_NO_TYPE);
    for (int type = PTX_NO_TYPE + 1; type < PTX_TYPE_COUNT; type++) {
        const char *name = ptx_type_name((enum ptx_type)type);
        assert_int_equal(ptx_type_of(name, strlen(name)), type);
    }
    assert_int_equal(ptx_type_bytes(PTX_b128), 16);
    assert_true(ptx_type_is_float(PTX_bf16) && ptx_type_is_float(PTX_f64) && ptx_type_is_float(PTX_e4m3));
    assert_false(ptx_type_is_float(PTX_b16) || ptx_type_is_float(PTX_u32) || ptx_type_is_float(PTX_texref));
    assert_true(ptx_type_is_signed(PTX_s8) && ptx_type_is_signed(PTX_s16x2));
    assert_false(ptx_type_is_signed(PTX_samplerref) || ptx_type_is_signed(PTX_surfref));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_head_says_version_and_target),
        cmocka_unit_test(targets_of_three_digits_are_read),
        cmocka_unit_test(the_text_need_not_end_in_zero_and_may_end_in_many),
        cmocka_unit_test(comments_and_preprocessor_lines_are_blanks),
        cmocka_unit_test(a_name_may_be_very_long),
        cmocka_unit_test(a_variable_has_space_type_size_and_alignment),
        cmocka_unit_test(integers_are_written_in_many_ways),
        cmocka_unit_test(floats_are_written_in_many_ways),
        cmocka_unit_test(constants_are_computed_as_in_c),
        cmocka_unit_test(inner_braces_fill_inner_arrays),
        cmocka_unit_test(an_array_without_size_has_that_of_its_values),
        cmocka_unit_test(small_values_are_kept_together_and_zeros_left_out),
        cmocka_unit_test(an_initial_value_may_be_an_address),
        cmocka_unit_test(a_declaration_and_a_definition_are_one),
        cmocka_unit_test(parameters_have_aligned_offsets),
        cmocka_unit_test(directives_of_a_kernel_are_kept),
        cmocka_unit_test(functions_have_results_and_may_be_aliases),
        cmocka_unit_test(initial_values_of_samplers_are_skipped),
        cmocka_unit_test(types_are_known_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
