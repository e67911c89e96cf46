/* Rows of units that take each other's place: a product of 64 bits holds up one of 32 bits, a vote an
 * integer. Others do not know of each other. */
#include "units.h"

enum { N = 4, INTERVAL_A = 5, INTERVAL_B = 7 };

static const struct unit *unit_named(const char *name)
{
    for (unsigned u = 0; u < UNITS; u++)
        if (!strcmp(units[u].name, name))
            return &units[u];
    fail_msg("no unit %s", name);
    return NULL;
}

/* A text with # + by in place of #: results from there on. */
static char *renumbered(const char *text, unsigned n)
{
    char *all = repeated(text, n + 1), *line = all;
    for (unsigned i = 0; i < n; i++)
        line = strchr(line, '\n') + 1;
    char *one = strdup(line);
    free(all);
    return one;
}

/* n times: one of a, one of b; none waits for another's result. */
static uint32_t in_turns(struct bench *bench, const struct unit *a, const struct unit *b)
{
    char body[8192] = "", after[8192] = "";
    for (unsigned i = 0; i < 2 * N; i++) {
        const struct unit *unit = i % 2 ? b : a;
        char *one = renumbered(unit->one, i), *use = renumbered(unit->use, i);
        strcat(body, one);
        strcat(after, use);
        free(one);
        free(use);
    }
    return bench_cycles(bench, &(struct piece){.body = body, .after = after, .inst = 4 * N});
}

static uint32_t measured(const char *a, const char *b)
{
    struct bench bench =
        bench_open("sm.queue=0 sm.%s_interval=%u sm.%s_interval=%u sm.%s_shared=0 sm.%s_shared=0", a,
                   INTERVAL_A, b, INTERVAL_B, a, b);
    uint32_t cycles = in_turns(&bench, unit_named(a), unit_named(b));
    bench_close(&bench);
    return cycles;
}

/* Each waits for the interval of the one before: a, b, a, b. */
static void rows_of_one_unit_wait_for_each_other(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"imad", "wide"}, {"alu", "vote"},  {"sfu", "cvt"},
                                           {"sfu", "cvt64"}, {"cvt", "cvt64"}, {"tensor", "imma"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        print_message("%s and %s\n", pairs[i][0], pairs[i][1]);
        assert_string_equal(unit_named(pairs[i][0])->pipe, unit_named(pairs[i][1])->pipe);
        assert_int_equal(measured(pairs[i][0], pairs[i][1]), 1 + N * INTERVAL_A + (N - 1) * INTERVAL_B + 1);
    }
}

/* Issue is in order, so the slower unit, b, sets the pace: a behind b in the next cycle, b at its interval.
 */
static void units_of_their_own_do_not(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"alu", "imad"}, {"alu", "fma"},  {"imad", "fma"},
                                           {"fma", "half"}, {"fp64", "sfu"}, {"shuffle", "tensor"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        print_message("%s and %s\n", pairs[i][0], pairs[i][1]);
        /* a in cycle 1, b in cycle 2, and b again in every INTERVAL_B */
        assert_int_equal(measured(pairs[i][0], pairs[i][1]), 2 + (N - 1) * INTERVAL_B + 1);
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
