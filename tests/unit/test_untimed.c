/* A machine without time: copies, fills and their order. Kernels on it are tried by tests/cli/boot.sh. */
#include "check.h"
#include "system/untimed.h"

static struct task_side side(const void *at, uint64_t pitch)
{
    return (struct task_side){.at = (uintptr_t)at, .pitch = pitch, .slice = 0};
}

static void test_copies_rows_in_order(void **state)
{
    char from[16] = "abcdefghijklmno", middle[16] = "", to[16] = "";
    struct err err;
    struct machine *machine = machine_untimed_new(&(struct machine_options){.threads = 1});
    struct task first = {.to = side(middle, 4), .from = side(from, 8), .width = 3, .height = 2, .depth = 1};
    struct task second = {.to = side(to, 4), .from = side(middle, 4), .width = 4, .height = 2, .depth = 1};
    (void)state;
    machine_begin(machine, &first);
    machine_begin(machine, &second);
    assert_int_equal(second.state, TASK_RUNNING);
    assert_true(machine_run(machine, &err));
    assert_int_equal(first.state, TASK_DONE);
    assert_int_equal(second.state, TASK_RUNNING);
    assert_true(machine_run(machine, &err));
    assert_int_equal(second.state, TASK_DONE);
    assert_memory_equal(to, "abc\0ijk\0", 8);
    assert_true(first.end_ps <= second.start_ps && second.start_ps < second.end_ps);
    machine_free(machine);
}

static void test_fills_aligned_words(void **state)
{
    _Alignas(4) unsigned char to[12] = {0};
    struct err err;
    struct machine *machine = machine_untimed_new(&(struct machine_options){.threads = 1});
    struct task fill = {
        .to = side(to + 2, 0), .width = 7, .height = 1, .depth = 1, .is_fill = true, .fill_word = 0x04030201};
    (void)state;
    machine_begin(machine, &fill);
    assert_true(machine_run(machine, &err));
    assert_memory_equal(to, "\0\0\3\4\1\2\3\4\1\0\0\0", 12);
    machine_free(machine);
}

static void test_time_passes_when_asked(void **state)
{
    struct err err;
    struct machine *machine = machine_untimed_new(&(struct machine_options){.threads = 1});
    (void)state;
    assert_false(machine_run(machine, &err));
    assert_true(machine_pass(machine, 5000, &err));
    assert_int_equal(machine_time(machine), 5000);
    machine_free(machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copies_rows_in_order),
        cmocka_unit_test(test_fills_aligned_words),
        cmocka_unit_test(test_time_passes_when_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
