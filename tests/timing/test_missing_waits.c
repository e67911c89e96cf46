/* AMD: a program that does not wait for a load reads the old value, even when memory has answered long ago.
 */
#include "gcn3.h"

enum { OLD_FIRST = 77, OLD_SECOND = 78, IN_LDS = 5, IN_MEMORY = 4711 };

static void expect(const char *kernel, uint32_t first, uint32_t second)
{
    struct gcn3_bench bench = gcn3_open("sm.l1_latency=%d", L1);
    uint32_t word = IN_MEMORY;
    assert_int_equal(heddle_upload(bench.heddle, bench.data, &word, sizeof word), 0);
    struct gcn3_times times = gcn3_times_of(&bench, kernel, 1, 0);
    if (times.waves[0].first != first || times.waves[0].second != second)
        fail_msg("%s: %u and %u, not %u and %u", kernel, times.waves[0].first, times.waves[0].second, first,
                 second);
    gcn3_close(&bench);
}

/* Two loads: the first is read without a wait, the second behind a wait for the first alone. */
static void a_register_keeps_its_value_until_vmcnt_says_so(void **state)
{
    (void)state;
    expect("forgets_vm", OLD_FIRST, OLD_SECOND);
    expect("waits_vm", IN_MEMORY, IN_MEMORY);
}

static void a_register_keeps_its_value_until_lgkmcnt_says_so(void **state)
{
    (void)state;
    expect("forgets_lgkm", OLD_FIRST, OLD_SECOND);
    expect("waits_lgkm", IN_LDS, IN_MEMORY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_register_keeps_its_value_until_vmcnt_says_so),
                                       cmocka_unit_test(a_register_keeps_its_value_until_lgkmcnt_says_so)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
