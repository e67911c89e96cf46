/* Rows of units that take each other's place: a product of 64 bits holds up one of 32 bits, a vote an
 * integer. Others do not know of each other. */
#include "units.h"

static const struct unit *unit_named(const char *name)
{
    for (unsigned u = 0; u < UNITS; u++)
        if (!strcmp(units[u].name, name))
            return &units[u];
    fail_msg("no unit %s", name);
    return NULL;
}

/* One instruction of each, of the same interval: which of them is first does not matter. */
static uint32_t measured(const char *a, const char *b, uint32_t interval)
{
    const struct unit *units_of[] = {unit_named(a), unit_named(b)};
    struct bench bench =
        bench_open("sm.queue=0 sm.%s_interval=%u sm.%s_interval=%u sm.%s_shared=0 sm.%s_shared=0", a,
                   interval, b, interval, a, b);
    char body[1000] = "", after[1000] = "";
    for (unsigned i = 0; i < 2; i++) { /* results 0 and 1 */
        char *one = repeated(units_of[i]->one, i + 1), *use = repeated(units_of[i]->use, i + 1);
        strcat(body, i ? strchr(one, '\n') + 1 : one);
        strcat(after, i ? strchr(use, '\n') + 1 : use);
        free(one);
        free(use);
    }
    uint32_t cycles = bench_cycles(&bench, &(struct piece){.body = body, .after = after, .inst = 4});
    bench_close(&bench);
    return cycles;
}

static void rows_of_one_unit_wait_for_each_other(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"imad", "wide"}, {"alu", "vote"},  {"sfu", "cvt"},
                                           {"sfu", "cvt64"}, {"cvt", "cvt64"}, {"mma", "mma_half"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (uint32_t interval = 6; interval <= 7; interval++) {
            print_message("%s and %s\n", pairs[i][0], pairs[i][1]);
            assert_string_equal(unit_named(pairs[i][0])->pipe, unit_named(pairs[i][1])->pipe);
            assert_int_equal(measured(pairs[i][0], pairs[i][1], interval), 1 + interval + 1);
        }
}

static void units_of_their_own_do_not(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"alu", "imad"},  {"alu", "fma"},  {"imad", "fma"},
                                           {"fma", "half"},  {"fp64", "sfu"}, {"shuffle", "mma"},
                                           {"cvt", "match"}, {"wide", "fma"}, {"vote", "uniform"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        print_message("%s and %s\n", pairs[i][0], pairs[i][1]);
        assert_int_equal(measured(pairs[i][0], pairs[i][1], 7), 1 + 1 + 1);
    }
}

/* Behind an integer product of 64 bits its sub-core issues nothing for a while, of other warps neither. */
static void nothing_issues_behind_a_wide_product(void **state)
{
    (void)state;
    for (uint32_t wait = 4; wait <= 5; wait++) {
        struct bench bench = bench_open("sm.wide_issue_cycles=%u sm.wide_interval=1 sm.fma_interval=1", wait);
        struct piece piece = {.body = "mul.hi.u32 %r0, %self, %self;\nfma.rn.f32 %f0, %f90, %f90, %f90;",
                              .after = "st.global.u32 [%out+20], %r0;\nst.global.f32 [%out+24], %f0;",
                              .inst = 4};
        assert_int_equal(bench_cycles(&bench, &piece), 1 + wait + 1);
        bench_close(&bench);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_of_one_unit_wait_for_each_other),
                                       cmocka_unit_test(units_of_their_own_do_not),
                                       cmocka_unit_test(nothing_issues_behind_a_wide_product)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
