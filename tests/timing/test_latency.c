/* The latency of each unit: cycles from an instruction to one that needs its result. */
#include "units.h"

/* n instructions, each with the result of the one before. The first issues a cycle behind the clock, each
 * further one a latency later, and the clock is read again a cycle behind the last. */
static uint32_t chain(struct bench *bench, const struct unit *unit, unsigned n)
{
    char *body = repeated(unit->chain, n), *after = repeated(unit->use, 10);
    const char *last = strrchr(after, '\n') - strlen(unit->use); /* of result 9 */
    uint32_t cycles = bench_cycles(bench, &(struct piece){.module = unit->module,
                                                          .before = unit->before,
                                                          .body = body,
                                                          .after = last,
                                                          .inst = unit->before_inst + n + 1});
    free(body);
    free(after);
    return cycles;
}

/* The unit's instruction, and a shift that reads its result. */
static uint32_t pair(struct bench *bench, const struct unit *unit)
{
    char *one = repeated(unit->one, 1), body[400];
    snprintf(body, sizeof body, "%s shr.u32 %%r9, %%r0, 1;", one);
    uint32_t cycles = bench_cycles(bench, &(struct piece){.module = unit->module,
                                                          .before = unit->before,
                                                          .body = body,
                                                          .after = "st.global.u32 [%out+20], %r9;",
                                                          .inst = unit->before_inst + 3});
    free(one);
    return cycles;
}

static void each_waits_for_the_one_before(void **state)
{
    (void)state;
    for (unsigned u = 0; u < UNITS; u++)
        for (uint32_t latency = 11; latency <= 12; latency++) {
            struct bench bench = bench_open("sm.%s_latency=%u sm.%s_interval=1 sm.%s_shared=0", units[u].name,
                                            latency, units[u].name, units[u].name);
            print_message("%s, %u cycles\n", units[u].name, latency);
            if (units[u].chain) {
                assert_int_equal(chain(&bench, &units[u], 1), 1 + 1);
                assert_int_equal(chain(&bench, &units[u], 2), 1 + latency + 1);
                assert_int_equal(chain(&bench, &units[u], 7), 1 + 6 * latency + 1);
            } else { /* at the integer unit nothing is added on the way from these units */
                assert_int_equal(pair(&bench, &units[u]), 1 + latency + 1);
            }
            bench_close(&bench);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_waits_for_the_one_before)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
