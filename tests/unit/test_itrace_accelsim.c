/* Parts of Accel-Sim's traces, in and out: opcodes, lines, registers. */
#include "check.h"
#include "exchange/accelsim_code.h"
#include "exchange/accelsim_memory.h"
#include "exchange/accelsim_registers.h"

/* A second row of the same name would not be found. */
static void each_opcode_has_one_row(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < sass_opcode_count; i++)
        assert_ptr_equal(sass_find(sass_opcodes[i].name, strlen(sass_opcodes[i].name)), &sass_opcodes[i]);
    assert_string_equal(sass_find("LDG.E.SYS", 9)->name, "LDG");
    assert_null(sass_find("LDGX", 4));
    assert_true(sass_has("LDG.E.128", 9, "128") && sass_has("LDG.E.128", 9, "E"));
    assert_false(sass_has("LDG.E.128", 9, "12") || sass_has("LDG.E.128", 9, "LDG"));
}

static struct accelsim_line line;
static uint64_t boxes[SASS_BOX_MOST];

static bool parse(const char *text, struct err *err)
{
    struct import import = {.input.name = (char *)(uintptr_t) "file", .line = 7};
    struct accelsim_form form = {0};
    const char *at = text, *end = text + strlen(text);
    line = (struct accelsim_line){.boxes = boxes};
    return !accelsim_line_begin(&import, &form, text, &at, end, &line, err) &&
           !accelsim_line_rest(&import, &form, text, at, end, &line, err);
}

static void a_line_is_read(void **state)
{
    (void)state;
    struct err err;
    assert_true(parse("0090 00000035 1 R2 LDG.E.SYS 2 R4 UR5 4 2 0x1000 16 -4 8 3", &err));
    assert_int_equal(line.pc, 0x90);
    assert_int_equal(line.mask, 0x35);
    assert_int_equal(line.to, 2);
    assert_int_equal(line.from[1], SASS_UNIFORM + 5);
    assert_int_equal(line.at[0], 0x1000);
    assert_int_equal(line.at[2], 0x1010);
    assert_int_equal(line.at[4], 0x100c);
    assert_int_equal(line.at[5], 0x1014);
    assert_int_equal(line.immediate_count, 1);
    assert_int_equal(line.immediates[0], 3);
    assert_true(parse("0000 000000f0 0 STG 2 R255 R4 4 1 0x1000 -4", &err));
    assert_int_equal(line.from[0], SASS_NO_REGISTER);
    assert_int_equal(line.at[7], 0x1000 - 12);
    assert_false(parse("0000 ffffffff 0 MOV 1 R256 0", &err));
    assert_string_equal(err.text,
                        "file:7: expected a register from R0 to R255, not '0000 ffffffff 0 MOV 1 R256 0'");
}

/* Registers of the row, as the trace names them. */
static void expect_registers(const char *text, const char *wanted)
{
    struct sass_kernel *kernel = mem_alloc(1, sizeof *kernel);
    struct import import = {.input.name = (char *)(uintptr_t) "file", .line = 7};
    struct sass_place none = {0}, found;
    struct err err;
    struct text told = {0};
    kernel->name = mem_text("k");
    assert_true(parse(text, &err) && sass_kernel_find(kernel, &import, &line, &none, &found, &err));
    const struct isa_timing *row = &found.layer->timing[found.number];
    for (uint32_t i = 0; i < (uint32_t)row->reads + row->writes; i++)
        text_add(&told, "%s%u",
                 i == row->reads ? " > "
                 : i             ? " "
                                 : "",
                 found.layer->registers[row->registers + i]);
    assert_string_equal(told.at ? told.at : "", wanted);
    text_fini(&told);
    sass_kernel_free(kernel);
}

/* A trace names the first register of each operand; the others follow from the opcode. */
static void operands_have_all_their_registers(void **state)
{
    (void)state;
    expect_registers("0000 ffffffff 1 R4 LDG.E.128.SYS 1 R2 16 1 0x0 16", "2 3 > 4 5 6 7");
    expect_registers("0000 ffffffff 0 STG.E.64 2 R2 R8 8 1 0x0 8", "2 3 8 9");
    expect_registers("0000 ffffffff 0 STS.64 2 R2 R8 8 1 0x0 8", "2 8 9");
    expect_registers("0000 ffffffff 1 R4 DFMA 3 R6 R8 R10 0", "6 7 8 9 10 11 > 4 5");
    expect_registers("0000 ffffffff 1 R4 IMAD.WIDE 2 R6 R255 0", "6 > 4 5");
    expect_registers("0000 ffffffff 1 R4 HMMA.16816.F32 3 R8 R12 R4 0", "8 9 10 11 12 13 4 5 6 7 > 4 5 6 7");
    expect_registers("0000 ffffffff 1 R4 FADD 2 R6 R7 0", "6 7 > 4");
}

static void memory_moves_by_regions(void **state)
{
    (void)state;
    struct regions regions = {0};
    uint64_t a, b, c;
    assert_true(regions_move(&regions, UINT64_C(0x7f8bdba00010), &a));
    assert_true(regions_move(&regions, UINT64_C(0x7f0000000000), &b));
    assert_true(regions_move(&regions, UINT64_C(0x7f8bdba00020), &c));
    assert_int_equal(a, ITRACE_DEVICE_AT + (UINT64_C(1) << REGION_SHIFT) + 0x3a00010);
    assert_int_equal(b, ITRACE_DEVICE_AT + (UINT64_C(2) << REGION_SHIFT));
    assert_int_equal(c, a + 16);
    mem_free(regions.at);
}

/* 0: writes r0 and r1 together; 1: no machine instruction, r2 from r1; 2: reads r2 and r3. */
static void registers_wait_for_what_they_are_made_of(void **state)
{
    (void)state;
    static const uint16_t list[] = {0, 1, 1, 2, 2, 3, 4};
    static const struct isa_timing rows[] = {{.registers = 0, .writes = 2, .steps = 1},
                                             {.registers = 2, .reads = 1, .writes = 1},
                                             {.registers = 4, .reads = 2, .writes = 1, .steps = 1}};
    static const struct isa_step steps[] = {{.unit = UNIT_LSU}};
    struct itrace_code code = {.code = {.timing = rows, .steps = steps, .registers = list, .count = 3},
                               .register_count = 7};
    struct itrace_kernel kernel = {.slots = 5, .codes = &code, .code_count = 1};
    struct accelsim_registers registers;
    struct accelsim_sources sources;
    accelsim_registers_init(&registers, &kernel);
    accelsim_registers_begin(&registers);
    int written = accelsim_destination(&registers, &kernel, 0, &rows[0], &sources);
    assert_true(written >= 0 && written != registers.number[0] && written != registers.number[1]);
    accelsim_sources(&registers, &code.code, &rows[1], &sources);
    assert_int_equal(accelsim_destination(&registers, &kernel, 0, &rows[1], &sources), -1);
    accelsim_sources(&registers, &code.code, &rows[2], &sources);
    assert_int_equal(sources.count, 1);
    assert_int_equal(sources.at[0], written);
    accelsim_registers_fini(&registers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_opcode_has_one_row),
        cmocka_unit_test(a_line_is_read),
        cmocka_unit_test(operands_have_all_their_registers),
        cmocka_unit_test(memory_moves_by_regions),
        cmocka_unit_test(registers_wait_for_what_they_are_made_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
