/* AMD: the CUs of a group share caches of code and of scalar data. Each has a copy of them, and learns what
 * the others fetch: of code when it comes, of data so much later as a report to the dispatcher and an order
 * of it take. */
#include "gcn3.h"

enum {
    CONST = 7,
    HIT = CONST,
    /* to L2, which takes a cycle for each of two sectors, and back; and from there to the registers */
    COMES = TO_NOC + NOC + 2 + L2_HIT + NOC,
    MISS = COMES + FILL + CONST,
    WIRE = 10, /* of the dispatcher */
    CONTROL = 2,
    CODE_HIT = 0, /* it streams from the cache, as the line before it was there long ago */
    CODE_MISS = 100
};

static struct gcn3_bench open_groups(uint32_t group, const char *more)
{
    return gcn3_open("gpu.sm_count=4 dispatch.order=round_robin dispatch.latency_cycles=%u "
                     "sm.const_latency=%u sm.constant_cache=16KiB sm.l2_constants=0 sm.constants_kept=no "
                     "sm.code_line=64B sm.code_first=0 sm.l0_code=0 sm.l1_code=32KiB sm.l2_code=0 "
                     "sm.l1_code_latency=3 sm.l1_code_interval=3 sm.memory_code_latency=%u "
                     "sm.memory_code_interval=0 sm.fetch_group=%u %s",
                     WIRE, CONST, CODE_MISS, group, more);
}

/* One after the other, the second of which counts: code and data are near then. */
static struct gcn3_times second_launch(struct gcn3_bench *bench, const char *kernel, unsigned groups)
{
    gcn3_launch(bench, kernel, groups, 1, 0);
    return gcn3_launch(bench, kernel, groups, 1, 0);
}

/* From clock to clock, without the instructions. */
static uint32_t cycles_of(const struct gcn3_times *times, uint32_t group, uint32_t instructions)
{
    return times->waves[group].end - times->waves[group].start - instructions;
}

enum { READ = 2, NOPS = 13 }; /* a load and the wait for it; twelve, and the clock */

/* Work-groups read so many cycles after each other, each on a CU of its own: a branch takes as long, with its
 * latency and what stands before it. */
static struct gcn3_times times_apart(const char *kernel, bool is_first, uint32_t group, uint32_t apart)
{
    char more[100];
    snprintf(more, sizeof more, "sm.control_latency=%u sm.control_interval=1 sm.branch_taken_cycles=%u",
             CONTROL, apart - CONTROL - 1);
    struct gcn3_bench bench = open_groups(group, more);
    struct gcn3_times times =
        is_first ? gcn3_launch(&bench, kernel, 4, 1, 0) : second_launch(&bench, kernel, 4);
    gcn3_close(&bench);
    for (uint32_t i = 1; i < 4; i++)
        assert_int_equal(times.waves[i].start - times.waves[i - 1].start, apart);
    return times;
}

static void data_is_a_hit_when_siblings_know_of_it(void **state)
{
    (void)state;
    for (uint32_t late = 0; late <= 1; late++) {
        struct gcn3_times times = times_apart("scalar_read", false, 2, COMES + 2 * WIRE - 1 + late);
        assert_int_equal(cycles_of(&times, 0, READ), MISS);
        assert_int_equal(cycles_of(&times, 1, READ), late ? HIT : MISS);
    }
}

/* Which is looked for in the cycle before it is needed. */
static void code_is_a_hit_when_it_has_come_to_a_sibling(void **state)
{
    (void)state;
    for (uint32_t late = 0; late <= 1; late++) {
        struct gcn3_times times = times_apart("code_read", true, 2, CODE_MISS + late);
        assert_int_equal(cycles_of(&times, 0, NOPS), CODE_MISS);
        assert_int_equal(cycles_of(&times, 1, NOPS), late ? CODE_HIT : CODE_MISS);
    }
}

/* Of four CUs: each for itself, in two groups, in three and one, and in one. */
static void others_learn_nothing(void **state)
{
    (void)state;
    for (uint32_t group = 1; group <= 4; group++) {
        struct gcn3_times data = times_apart("scalar_read", false, group, 1000);
        struct gcn3_times code = times_apart("code_read", true, group, 1000);
        for (uint32_t i = 0; i < 4; i++) {
            assert_int_equal(cycles_of(&data, i, READ), i % group ? HIT : MISS);
            assert_int_equal(cycles_of(&code, i, NOPS), i % group ? CODE_HIT : CODE_MISS);
        }
    }
}

/* Four lines: those of one CU drive out that of the other. */
static void lines_of_siblings_take_room(void **state)
{
    (void)state;
    for (uint32_t group = 1; group <= 2; group++) {
        struct gcn3_bench bench = open_groups(group, "sm.constant_cache=256B");
        struct gcn3_times times = second_launch(&bench, "scalar_room", 2);
        assert_int_equal(cycles_of(&times, 0, READ), group == 1 ? HIT : MISS);
        gcn3_close(&bench);
    }
}

/* The message takes 1000 cycles. Before it comes, the sibling writes there and forgets; what the message
 * brings was read before that. */
static void old_messages_are_dropped(void **state)
{
    (void)state;
    struct gcn3_bench bench = open_groups(2, "dispatch.latency_cycles=500 sm.sleep_cycles=0");
    struct gcn3_times times = second_launch(&bench, "scalar_forget", 2);
    assert_int_not_equal(times.waves[0].first, times.waves[1].second);
    assert_int_equal(times.waves[1].first, times.waves[1].second);
    gcn3_close(&bench);
}

/* A wave's own stores to scalar data, too: it has read the line before. */
static void a_wave_reads_what_it_stored(void **state)
{
    (void)state;
    for (uint32_t group = 1; group <= 2; group++) {
        struct gcn3_bench bench = open_groups(group, "");
        struct gcn3_times times = second_launch(&bench, "scalar_store", 1);
        assert_int_equal(times.waves[0].first, times.waves[0].second);
        gcn3_close(&bench);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(data_is_a_hit_when_siblings_know_of_it),
                                       cmocka_unit_test(code_is_a_hit_when_it_has_come_to_a_sibling),
                                       cmocka_unit_test(others_learn_nothing),
                                       cmocka_unit_test(lines_of_siblings_take_room),
                                       cmocka_unit_test(old_messages_are_dropped),
                                       cmocka_unit_test(a_wave_reads_what_it_stored)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
