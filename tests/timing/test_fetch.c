/* Code: lines of 128 bytes, 8 instructions, from one of four places; fewer where a cache has 0 bytes. Where a
 * kernel's lines begin is not known here, so straight code is looked at by differences: 4 lines more take so
 * many cycles more. */
#include "timing.h"

enum { LINE = 8, LINES = 4 };

static uint32_t straight(struct bench *bench, bool once, unsigned lines)
{
    char *body = repeated("bar.warp.sync -1;", lines * LINE);
    uint32_t cycles = bench_cycles(bench, &(struct piece){.body = body, .inst = lines * LINE, .once = once});
    free(body);
    return cycles;
}

/* A line takes as long as its instructions take to issue, or as the next one takes to come. */
static void straight_code_streams(void **state)
{
    (void)state;
    static const struct {
        const char *caches, *parameter; /* code finds room in the cache whose parameter it is, not before */
        bool once;
    } rows[] = {{"", "memory", true},
                {"sm.l0_code=512B", "l1", false},
                {"sm.l0_code=512B sm.l1_code=512B", "l2", false},
                {"sm.l0_code=0 sm.l1_code=0", "l2", false},
                {"sm.l0_code=0", "l1", false},
                {"sm.l0_code=0 sm.l1_code=0 sm.l2_code=0", "memory", false}};
    static const uint32_t intervals[] = {1, 8, 9, 10, 26, 27};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t k = 0; k < sizeof intervals / sizeof *intervals; k++) {
            struct bench bench =
                bench_open("%s sm.%s_code_interval=%u", rows[i].caches, rows[i].parameter, intervals[k]);
            uint32_t each = intervals[k] > LINE ? intervals[k] : LINE;
            print_message("from %s, every %u cycles\n", rows[i].parameter, intervals[k]);
            assert_int_equal(straight(&bench, rows[i].once, 8 + LINES) - straight(&bench, rows[i].once, 8),
                             LINES * each);
            bench_close(&bench);
        }
}

static void the_nearest_cache_keeps_up(void **state)
{
    (void)state;
    struct bench bench =
        bench_open("sm.l1_code_interval=50 sm.l2_code_interval=60 sm.memory_code_interval=70");
    assert_int_equal(straight(&bench, false, 10), 10 * LINE + 1);
    bench_close(&bench);
}

/* Behind a branch a line is waited for: from the cycle in which the warp could go on. Fences for the block
 * stand for any code that is skipped. */
static void a_branch_waits_for_its_target(void **state)
{
    (void)state;
    static const struct {
        const char *caches, *parameter;
    } rows[] = {{"", "l1"},
                {"sm.l0_code=512B", "l1"},
                {"sm.l0_code=512B sm.l1_code=512B", "l2"},
                {"sm.l0_code=512B sm.l1_code=0", "l2"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (uint32_t latency = 20; latency <= 21; latency++) {
            struct bench bench =
                bench_open("%s sm.%s_code_latency=%u sm.control_latency=4 sm.branch_taken_cycles=4",
                           rows[i].caches, rows[i].parameter, latency);
            char *skipped = repeated("membar.cta;", 40), body[1000], *more = repeated("membar.cta;", 40);
            snprintf(body, sizeof body, "@%%p1 bra skip;\n%sskip:", skipped);
            struct piece piece = {.before = "setp.ne.u32 %p1, %arg, 0;",
                                  .body = body,
                                  .after = more, /* turns out of the small caches what was in them */
                                  .inst = 1 + 1 + 1 + 40,
                                  .arg = 1};
            assert_int_equal(bench_cycles(&bench, &piece), 1 + 4 + 4 + (i ? latency : 0));
            free(skipped);
            free(more);
            bench_close(&bench);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(straight_code_streams),
                                       cmocka_unit_test(the_nearest_cache_keeps_up),
                                       cmocka_unit_test(a_branch_waits_for_its_target)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
