/* How often a unit begins an instruction that waits for no other: sm.NAME_interval for a sub-core's unit,
 * sm.NAME_shared where the sub-cores have one together, and sm.queue before units of variable latency. */
#include "units.h"

enum { N = 9 };

static uint32_t many(struct bench *bench, const struct unit *unit, unsigned warps)
{
    char *body = repeated(unit->one, N), *after = repeated(unit->use, N);
    uint32_t cycles = bench_cycles(
        bench,
        &(struct piece){.module = unit->module, .body = body, .after = after, .inst = 2 * N, .warps = warps});
    free(body);
    free(after);
    return cycles;
}

/* Reads of the clock are instructions of this unit, too. */
static bool reads_clocks(const struct unit *unit)
{
    return !strcmp(unit->name, "special");
}

/* The clock is read in cycle 0, and again behind `count` instructions, of which each issues `every` cycles
 * behind the one before. */
static uint32_t in_turn(const struct unit *unit, uint32_t count, uint32_t every)
{
    return reads_clocks(unit) ? (count + 1) * every : 1 + (count - 1) * every + 1;
}

/* The unit begins one in every interval. Without a queue, instructions issue when it begins with them. */
static void a_unit_begins_one_in_an_interval(void **state)
{
    (void)state;
    for (unsigned u = 0; u < UNITS; u++)
        for (uint32_t interval = 1; interval <= 6; interval += interval == 1 ? 4 : 1) {
            struct bench bench = bench_open("sm.%s_latency=11 sm.%s_interval=%u sm.%s_shared=0 sm.queue=0",
                                            units[u].name, units[u].name, interval, units[u].name);
            print_message("%s, every %u cycles\n", units[u].name, interval);
            assert_int_equal(many(&bench, &units[u], 1), in_turn(&units[u], N, interval));
            bench_close(&bench);
        }
}

/* With a queue of q, instruction k of a unit issues when the unit begins with k - q, or a cycle behind
 * k - 1. */
static void a_queue_takes_instructions_before_the_unit_does(void **state)
{
    (void)state;
    enum { INTERVAL = 7 };
    for (unsigned u = 0; u < UNITS; u++)
        for (uint32_t queue = 2; queue <= 3; queue++) {
            struct bench bench = bench_open("sm.%s_latency=11 sm.%s_interval=%u sm.%s_shared=0 sm.queue=%u",
                                            units[u].name, units[u].name, INTERVAL, units[u].name, queue);
            uint32_t first = reads_clocks(&units[u]) ? 0 : 1, room = units[u].queued ? queue : 0;
            uint32_t count = reads_clocks(&units[u]) ? N + 2 : N, issue = first;
            for (uint32_t k = 1; k < count; k++) {
                uint32_t begins = k > room ? first + (k - room) * INTERVAL : 0;
                issue = issue + 1 > begins ? issue + 1 : begins;
            }
            print_message("%s, a queue of %u\n", units[u].name, queue);
            assert_int_equal(many(&bench, &units[u], 1), reads_clocks(&units[u]) ? issue : issue + 1);
            bench_close(&bench);
        }
}

/* Four warps, one on each sub-core: of all their instructions one begins in `shared` cycles. Where a unit is
 * not shared, the four do not know of each other. */
static void sub_cores_share_a_unit(void **state)
{
    (void)state;
    for (unsigned u = 0; u < UNITS; u++)
        for (uint32_t shared = 0; shared <= 4; shared += shared ? 1 : 3) {
            struct bench bench = bench_open("sm.%s_latency=11 sm.%s_interval=2 sm.%s_shared=%u sm.queue=0",
                                            units[u].name, units[u].name, units[u].name, shared);
            uint32_t count =
                reads_clocks(&units[u]) ? 4 * (N + 2) - 2 : 4 * N; /* between first and last read */
            print_message("%s, shared every %u cycles\n", units[u].name, shared);
            assert_int_equal(many(&bench, &units[u], 4),
                             shared ? in_turn(&units[u], count, shared) : in_turn(&units[u], N, 2));
            bench_close(&bench);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_unit_begins_one_in_an_interval),
                                       cmocka_unit_test(a_queue_takes_instructions_before_the_unit_does),
                                       cmocka_unit_test(sub_cores_share_a_unit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
