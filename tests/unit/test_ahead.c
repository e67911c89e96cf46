/* Kernels to which the order of blocks matters give on several threads what they give on one (exec/ahead.h).
 */
#include "check.h"
#include "base/mem.h"
#include "ptx_run/program.h"
#include "ptxas/ptxas.h"

enum { BLOCKS = 60, MOST_THREADS = 4, REPEATS = 5 };
static uint32_t memory[BLOCKS + 2];
static struct image *image;

static uint64_t place(void *context, const struct ptx_variable *variable, uint64_t bytes, uint64_t alignment)
{
    (void)context, (void)variable, (void)bytes, (void)alignment;
    fail_msg("the kernels have no variables");
    return 0;
}

/* Runs kernel k(.param .u64 p): r1 is the block, rd1 the memory; it begins with a loop that is worth a
 * thread. */
static struct launch_result go(const char *body, uint32_t resident, uint32_t threads)
{
    struct launch_result result;
    struct text text = {0};
    struct err err;
    text_add(&text,
             ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
             ".reg .pred %%p<4>; .reg .b32 %%r<20>; .reg .b64 %%rd<20>; .reg .f32 %%f<4>;\n"
             "ld.param.u64 %%rd1, [p]; mov.u32 %%r1, %%ctaid.x; mov.u32 %%r9, 0;\n"
             "W: add.u32 %%r9, %%r9, 1; setp.lt.u32 %%p3, %%r9, 1000; @%%p3 bra W;\n%s\nret;\n}\n",
             body);
    struct ptx_module *module = ptx_parse("test.ptx", text.at, text.length, &err);
    if (!module)
        fail_msg("%s", err.text);
    struct program *program = program_new(&module, 1, &ptxas, place, image, &err);
    if (!program)
        fail_msg("%s", err.text);
    uint64_t pointer = (uintptr_t)memory;
    struct launch launch = {.kernel = program_kernel(program, "k"),
                            .image = image,
                            .params = &pointer,
                            .grid = {BLOCKS, 1, 1},
                            .block = {1, 1, 1},
                            .threads = threads,
                            .resident_blocks = resident,
                            .sm_count = 1,
                            .stack_bytes = 1024};
    memset(memory, 0, sizeof memory);
    launch_run(&launch, &result);
    program_free(program);
    text_fini(&text);
    return result;
}

/* On one thread, then the same on several. */
static struct launch_result expect_same(const char *body, uint32_t resident)
{
    struct launch_result one = go(body, resident, 1);
    uint32_t expected[sizeof memory / sizeof *memory];
    memcpy(expected, memory, sizeof memory);
    for (uint32_t i = 0; i < REPEATS; i++)
        for (uint32_t threads = 2; threads <= MOST_THREADS; threads++) {
            struct launch_result several = go(body, resident, threads);
            assert_memory_equal(memory, expected, sizeof memory);
            assert_int_equal(several.fault.kind, one.fault.kind);
            assert_string_equal(several.fault.text, one.fault.text);
            if (one.fault.kind == FAULT_NONE)
                assert_int_equal(several.warp_instructions, one.warp_instructions);
        }
    return one;
}

static int set_up(void **state)
{
    (void)state;
    image = image_new();
    image_add(image, (struct range){(uintptr_t)memory, sizeof memory, "the test's memory", false});
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    image_free(image);
    return 0;
}

static void test_atomics_come_in_the_order_of_blocks(void **state)
{
    (void)state;
    expect_same("atom.global.add.u32 %r2, [%rd1], 1; mul.wide.u32 %rd2, %r2, 4; add.u64 %rd2, %rd2, %rd1;\n"
                "st.global.u32 [%rd2+4], %r1;",
                0);
    for (uint32_t i = 0; i < BLOCKS; i++)
        assert_int_equal(memory[i + 1], i);
}

static void test_sums_of_floats_are_rounded_alike(void **state)
{
    (void)state;
    expect_same("cvt.rn.f32.u32 %f1, %r1; mul.f32 %f1, %f1, 0f3DCCCCCD; red.global.add.f32 [%rd1], %f1;", 0);
    assert_int_not_equal(memory[0], 0);
}

/* What the last block finds in memory, others have written before their fence. */
static void test_the_last_block_sees_all(void **state)
{
    (void)state;
    expect_same("mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd2, %rd1; st.global.u32 [%rd2+8], 3; membar.gl;\n"
                "atom.global.add.u32 %r2, [%rd1], 1; setp.ne.u32 %p1, %r2, 59; @%p1 bra END;\n"
                "mov.u32 %r3, 0; mov.u32 %r4, 0;\n"
                "L: mul.wide.u32 %rd2, %r3, 4; add.u64 %rd2, %rd2, %rd1; ld.global.u32 %r5, [%rd2+8];\n"
                "add.u32 %r4, %r4, %r5; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 60; @%p1 bra L;\n"
                "st.global.u32 [%rd1+4], %r4;\nEND:",
                0);
    assert_int_equal(memory[1], 3 * BLOCKS);
}

/* Each block but the last waits for the next one: turns are those of one thread, and so are the counts. */
static void test_blocks_that_wait_for_later_ones(void **state)
{
    (void)state;
    expect_same(
        "mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd2, %rd1; setp.eq.u32 %p1, %r1, 59; @%p1 bra GO;\n"
        "L: ld.volatile.global.u32 %r2, [%rd2+8]; setp.eq.u32 %p1, %r2, 0; @%p1 bra L;\n"
        "GO: atom.global.add.u32 %r2, [%rd1], 1; add.u32 %r2, %r2, 1; st.volatile.global.u32 [%rd2+4], "
        "%r2;",
        BLOCKS);
    assert_int_equal(memory[0], BLOCKS);
    assert_int_equal(memory[BLOCKS], 1);
}

/* A few blocks do not meet others: they end ahead of their turn. */
static void test_blocks_that_never_meet(void **state)
{
    (void)state;
    expect_same("mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd2, %rd1; and.b32 %r2, %r1, 7;\n"
                "setp.ne.u32 %p1, %r2, 0; @%p1 st.global.u32 [%rd2+4], %r1; @%p1 bra END;\n"
                "atom.global.add.u32 %r3, [%rd1], 1; st.global.u32 [%rd2+4], %r3;\nEND:",
                0);
    assert_int_equal(memory[0], (BLOCKS + 7) / 8);
    assert_int_equal(memory[17], 2);
}

static void test_the_first_fault_is_told(void **state)
{
    (void)state;
    struct launch_result result =
        expect_same("setp.gt.u32 %p1, %r1, 20; @%p1 st.global.u32 [%rd1+4096], %r1;\n"
                    "atom.global.add.u32 %r2, [%rd1], 1; @%p1 st.global.u32 [%rd1+8], %r2;",
                    0);
    assert_non_null(strstr(result.fault.text, "block (21,0,0)"));
    assert_int_equal(memory[0], 21);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_atomics_come_in_the_order_of_blocks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_sums_of_floats_are_rounded_alike, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_last_block_sees_all, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_blocks_that_wait_for_later_ones, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_blocks_that_never_meet, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_first_fault_is_told, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
