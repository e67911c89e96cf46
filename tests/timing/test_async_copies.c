/* cp.async: copies to shared memory that nobody waits for but who asks to; in groups. */
#include "timing.h"

#define AREA ".shared .align 16 .b8 area[4096];"
/* Both addresses are in registers before the start: %r7 is 0, which nobody knows. */
#define BEFORE                                                                                               \
    "mov.u32 %r8, area;\nshr.u32 %r7, %self, 5;\nmad.lo.u32 %r9, %r7, 4, %r8;\n"                             \
    "mad.wide.u32 %rd9, %r7, 4, %data;\n"
#define KEEP   "st.global.u32 [%out+28], %r9;\nst.global.u64 [%out+24], %rd9;\n"
#define COPY   "cp.async.ca.shared.global [%r9], [%rd9], 4;\n"
#define OTHER  "cp.async.ca.shared.global [%r9+128], [%rd9+128], 4;\n"
#define COMMIT "cp.async.commit_group;\n"

/* A copy is a pass through shared memory in the memory pipeline (two of 16 bytes: a half warp each), and
 * behind it a miss of L1 as in test_l1.c, until the answer is at the SM: it is not written to registers, so
 * no sm.l1_fill_cycles follow. The pipeline takes a cycle for each of both, as lines' tags cost none here. */
enum { PASS = 1, ANSWER = TO_NOC + NOC + 1 + L2_HIT + NOC, MISS = ANSWER + FILL, COPIED = PASS + ANSWER };

static uint32_t measured(const char *settings, const char *before, const char *body, const char *after,
                         unsigned inst, bool cold)
{
    char all_before[1000], all_after[1000];
    struct bench bench = bench_open("sm.l1_tag_cycles=0 %s", settings);
    snprintf(all_before, sizeof all_before, "%s%s", BEFORE, before);
    snprintf(all_after, sizeof all_after, "%s%s", after, KEEP);
    struct piece piece = {.module = AREA,
                          .before = all_before,
                          .body = body,
                          .after = all_after,
                          .inst = 6 + inst + 2, /* an address of shared memory takes three */
                          .cold = cold};
    uint32_t cycles = bench_cycles(&bench, &piece);
    bench_close(&bench);
    return cycles;
}

static void nobody_waits_for_a_copy(void **state)
{
    (void)state;
    assert_int_equal(measured("", "", COPY, "cp.async.wait_all;\n", 2, false), 1 + 1);
    assert_int_equal(measured("", "", COPY COMMIT, "cp.async.wait_all;\n", 3, false), 2 + 1);
}

static void who_waits_for_all_goes_on_when_it_is_there(void **state)
{
    (void)state;
    static const struct {
        const char *setting;
        uint32_t more;
    } rows[] = {{"", 0},
                {"noc.latency_cycles=51", 2},
                {"l2.hit_cycles=21", 1},
                {"sm.l1_to_noc_cycles=21", 1},
                {"sm.lsu_request_cycles=2", 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(measured(rows[i].setting, "", COPY "cp.async.wait_all;", "", 2, false),
                         1 + COPIED + rows[i].more + 1);
    assert_int_equal(measured("", "", COPY "cp.async.wait_all;", "", 2, true), 1 + COPIED + DRAM + 1);
}

/* The copy that was asked for before the start has come; nothing is left. */
static void what_has_come_is_not_waited_for(void **state)
{
    (void)state;
    assert_int_equal(measured("", COPY, "cp.async.wait_all;", "", 2, false), 1 + 1);
    assert_int_equal(measured("", COPY COMMIT, "cp.async.wait_group 0;", "", 3, false), 1 + 1);
}

/* Groups, each a copy and its commit: copies issue in cycles 1, 3 and 5. wait_group n waits for all groups
 * but the last n. */
static void groups_may_be_left(void **state)
{
    (void)state;
    static const char groups[] = COPY COMMIT OTHER COMMIT
        "cp.async.ca.shared.global [%r9+256], [%rd9+256], 4;\n" COMMIT "cp.async.wait_group ";
    for (uint32_t left = 0; left <= 3; left++) {
        char body[1000];
        snprintf(body, sizeof body, "%s%u;", groups, left);
        uint32_t last = 1 + 2 * (2 - left); /* of those that are waited for: when it was issued */
        assert_int_equal(measured("", "", body, "cp.async.wait_all;\n", 8, false),
                         (left < 3 ? last + COPIED : 7) + 1);
    }
}

/* What was not committed is in no group: wait_group 0 does not wait for it, wait_all does. */
static void copies_without_a_group(void **state)
{
    (void)state;
    assert_int_equal(
        measured("", "", COPY COMMIT OTHER "cp.async.wait_group 0;", "cp.async.wait_all;\n", 5, false),
        1 + COPIED + 1);
    assert_int_equal(measured("", "", COPY COMMIT OTHER "cp.async.wait_all;", "", 4, false), 3 + COPIED + 1);
}

/* .ca leaves the line in L1, where a load finds it; .cg does not. */
static void bytes_go_through_l1_or_around_it(void **state)
{
    (void)state;
    static const char load[] = "ld.global.u32 %r4, [%rd9];\nshr.u32 %r5, %r4, 1;";
    static const char use[] = "st.global.u32 [%out+20], %r5;\n";
    assert_int_equal(measured("", "cp.async.ca.shared.global [%r9], [%rd9], 16;\ncp.async.wait_all;", load,
                              use, 2 + 3, false),
                     1 + L1 + 1);
    assert_int_equal(measured("", "cp.async.cg.shared.global [%r9], [%rd9], 16;\ncp.async.wait_all;", load,
                              use, 2 + 3, false),
                     1 + MISS + 1);
    /* and it does not look there */
    assert_int_equal(measured("", "ld.global.u32 %r5, [%rd9];\n",
                              "cp.async.cg.shared.global [%r9], [%rd9], 16;\ncp.async.wait_all;", use, 1 + 3,
                              false),
                     1 + 2 * PASS + ANSWER + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nobody_waits_for_a_copy),
                                       cmocka_unit_test(who_waits_for_all_goes_on_when_it_is_there),
                                       cmocka_unit_test(what_has_come_is_not_waited_for),
                                       cmocka_unit_test(groups_may_be_left),
                                       cmocka_unit_test(copies_without_a_group),
                                       cmocka_unit_test(bytes_go_through_l1_or_around_it)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
