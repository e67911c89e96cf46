/* AMD: a SIMD issues instructions of several waves in one cycle, at most one to each kind of unit. */
#include "gcn3.h"

enum { BODY = 4 }; /* instructions of a wave between its clocks */

static uint32_t cycles_of_two_waves(const char *kernel, const char *settings)
{
    struct gcn3_bench bench = gcn3_open("%s", settings);
    uint32_t cycles = gcn3_times_of(&bench, kernel, 2, 0).cycles;
    gcn3_close(&bench);
    return cycles;
}

/* Both waves read the clock in the same cycle, for that has a queue, and then never wait: as if alone. */
static void different_units_issue_together(void **state)
{
    (void)state;
    assert_int_equal(cycles_of_two_waves("vector_scalar", "sm.turn_issues=2"), BODY + 1);
    assert_int_equal(cycles_of_two_waves("vector_scalar", "sm.turn_issues=5"), BODY + 1);
}

/* One instruction a cycle: the clocks count, too. From the first to the last. */
static void one_issue_a_cycle_is_shared(void **state)
{
    (void)state;
    assert_int_equal(cycles_of_two_waves("vector_scalar", "sm.turn_issues=1"), 2 * (BODY + 2) - 1);
    assert_int_equal(cycles_of_two_waves("vector_vector", "sm.turn_issues=1"), 2 * (BODY + 2) - 1);
}

/* A unit that takes an instruction in `interval` cycles takes those of both waves one after the other; the
 * end of the wave that was last is read a cycle later. */
static void one_unit_is_shared(void **state)
{
    (void)state;
    for (uint32_t interval = 1; interval <= 5; interval++) {
        char settings[200];
        uint32_t all = 1 + (2 * BODY - 1) * interval + 1, alone = 1 + (BODY - 1) * interval + 1;
        snprintf(settings, sizeof settings, "sm.vector_interval=%u", interval);
        assert_int_equal(cycles_of_two_waves("vector_vector", settings), all);
        assert_int_equal(cycles_of_two_waves("vector_scalar", settings), alone);
        snprintf(settings, sizeof settings, "sm.scalar_interval=%u sm.scalar_shared=%u", interval, interval);
        assert_int_equal(cycles_of_two_waves("scalar_scalar", settings), all);
    }
}

/* Two SIMDs have a vector unit each, and one scalar unit together. */
static void the_scalar_unit_is_the_cus(void **state)
{
    (void)state;
    static const char two[] =
        "gpu.subcores_per_sm=2 sm.vector_interval=4 sm.scalar_interval=4 sm.scalar_shared=";
    for (uint32_t shared = 4; shared <= 5; shared++) {
        char settings[200];
        snprintf(settings, sizeof settings, "%s%u", two, shared);
        assert_int_equal(cycles_of_two_waves("vector_vector", settings), 1 + (BODY - 1) * 4 + 1);
        assert_int_equal(cycles_of_two_waves("scalar_scalar", settings), 1 + (2 * BODY - 1) * shared + 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(different_units_issue_together), cmocka_unit_test(one_issue_a_cycle_is_shared),
        cmocka_unit_test(one_unit_is_shared), cmocka_unit_test(the_scalar_unit_is_the_cus)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
