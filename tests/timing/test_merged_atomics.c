/* Atomics of a warp on an address that is the same for all lanes by how it is computed: one lane does them
 * for all. */
#include "timing.h"

/* To L2 and back; L2 does one lane's operation in atomic_same_cycles, and atomic_cycles follow. */
enum { SAME = 2, ATOMIC = 3, TO_L2 = TO_NOC + NOC + SAME + ATOMIC + NOC, WAY = TO_L2 + FILL };

struct costs {
    uint32_t vote, cvt, alu, shuffle, imad;
};

static struct bench open_costs(const struct costs *c, const char *settings)
{
    return bench_open("l2.atomic_cycles=3 l2.atomic_same_cycles=2 sm.vote_latency=%u sm.cvt_latency=%u "
                      "sm.alu_latency=%u sm.shuffle_latency=%u sm.imad_latency=%u %s",
                      c->vote, c->cvt, c->alu, c->shuffle, c->imad, settings);
}

static const struct costs rows[] = {{4, 17, 4, 24, 4}, {5, 17, 4, 24, 4}, {4, 18, 4, 24, 4},
                                    {4, 17, 5, 24, 4}, {4, 17, 4, 25, 4}, {4, 17, 4, 24, 5}};
enum { ROWS = sizeof rows / sizeof *rows };

#define USE "st.global.u32 [%out+20], %r4;"

/* Who does it is found by a vote, a conversion of its mask and a comparison; its result goes to all lanes by
 * a shuffle, and each adds what those before it did. Eleven machine instructions in all. */
static void a_sum_of_ones_with_results(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        const struct costs *c = &rows[i];
        struct bench bench = open_costs(c, "");
        struct piece piece = {.before = "ld.global.u32 %r2, [%data];", /* the address is in a register then */
                              .body = "atom.global.add.u32 %r3, [%data], 1;\nshr.u32 %r4, %r3, 1;",
                              .after = USE "st.global.u32 [%out+24], %r2;",
                              .inst = 1 + 11 + 3};
        assert_int_equal(bench_cycles(&bench, &piece),
                         1 + (c->vote + c->cvt + c->alu) + WAY + (c->shuffle + c->alu) + 1);
        bench_close(&bench);
    }
}

/* A second one in the same block knows who does it: three machine instructions. */
static void the_next_one_needs_no_vote(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        const struct costs *c = &rows[i];
        struct bench bench = open_costs(c, "");
        struct piece piece = {.before = "atom.global.add.u32 %r2, [%data], 1;",
                              .body = "atom.global.add.u32 %r3, [%data], 1;\nshr.u32 %r4, %r3, 1;",
                              .after = USE "st.global.u32 [%out+24], %r2;",
                              .inst = 11 + 3 + 3};
        assert_int_equal(bench_cycles(&bench, &piece), 1 + WAY + (c->shuffle + c->alu) + 1);
        bench_close(&bench);
    }
}

/* Memory sees one operation of one lane, not 32. */
static void memory_sees_one_lane(void **state)
{
    (void)state;
    for (uint32_t same = 2; same <= 3; same++) {
        char setting[100];
        snprintf(setting, sizeof setting, "l2.atomic_same_cycles=%u", same);
        struct bench bench = open_costs(&rows[0], setting);
        struct piece piece = {.before = "atom.global.add.u32 %r2, [%data], 1;",
                              .body = "atom.global.add.u32 %r3, [%data], 1;\nshr.u32 %r4, %r3, 1;",
                              .after = USE "st.global.u32 [%out+24], %r2;",
                              .inst = 11 + 3 + 3};
        assert_int_equal(bench_cycles(&bench, &piece), 1 + WAY + (same - SAME) + (24 + 4) + 1);
        bench_close(&bench);
    }
}

/* One lane of a reduction is under way, so that two of them fit where sm.reductions is 1: those under way may
 * be as many before the next. The third waits for the first one's acknowledgement. */
static void reductions_count_as_one_lane(void **state)
{
    (void)state;
    struct bench bench = open_costs(&rows[0], "sm.reductions=1");
    static const char three[] = "red.global.add.u32 [%data], 1;\nred.global.add.u32 [%data], 1;\n"
                                "red.global.add.u32 [%data], 1;";
    struct piece piece = {.before = "red.global.add.u32 [%data], 1;", .body = three, .inst = 6 + 3};
    assert_int_equal(bench_cycles(&bench, &piece), 1 + TO_L2 + 1);
    bench_close(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sum_of_ones_with_results), cmocka_unit_test(the_next_one_needs_no_vote),
        cmocka_unit_test(memory_sees_one_lane), cmocka_unit_test(reductions_count_as_one_lane)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
