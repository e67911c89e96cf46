/* How many memory instructions may wait, and how many stores may be under way, before a warp is held up. */
#include "timing.h"

/* Loads that hit, of which the pipeline begins one in REQUEST cycles. Of a sub-core `queue` of them may have
 * issued and not begun: load k issues when load k - queue begins, or a cycle behind load k - 1. */
static void a_sub_core_has_a_queue_to_the_pipeline(void **state)
{
    (void)state;
    enum { N = 9, REQUEST = 10 };
    for (uint32_t queue = 1; queue <= 5; queue++) {
        struct bench bench = bench_open("sm.lsu_request_cycles=%u sm.lsu_queue=%u", REQUEST, queue);
        char *body = repeated("ld.global.u32 %r#, [%rd1];\nbar.warp.sync -1;", N);
        char *after = repeated("st.global.u32 [%out+20], %r#;", N);
        struct piece piece = {.before = "mad.wide.u32 %rd1, %self, 4, %data;\nld.global.u32 %r90, [%rd1];\n"
                                        "st.global.u32 [%out+24], %r90;",
                              .body = body,
                              .after = after,
                              .inst = 3 + 2 * N + N};
        uint32_t issue[N], begins[N];
        for (uint32_t k = 0; k < N; k++) { /* a barrier of the warp, which keeps the order, stands between */
            issue[k] = k ? issue[k - 1] + 2 : 1;
            if (k >= queue && begins[k - queue] > issue[k])
                issue[k] = begins[k - queue];
            begins[k] = k && begins[k - 1] + REQUEST > issue[k] ? begins[k - 1] + REQUEST : issue[k];
        }
        assert_int_equal(bench_cycles(&bench, &piece), issue[N - 1] + 2);
        free(body);
        free(after);
        bench_close(&bench);
    }
}

/* Three lines. A store is held up when more than `most` are not acknowledged; the first is so long after
 * cycle 1. */
static void stores_under_way_are_limited(void **state)
{
    (void)state;
    for (uint32_t most = 1; most <= 2; most++) {
        struct bench bench = bench_open("sm.stores=%u", most);
        struct piece piece = {.before = "mad.wide.u32 %rd1, %self, 4, %data;",
                              .body = "st.global.u32 [%rd1], %self;\nst.global.u32 [%rd1+128], %self;\n"
                                      "st.global.u32 [%rd1+256], %self;",
                              .inst = 1 + 3};
        uint32_t acknowledged = 1 + TO_NOC + NOC + 4 /* sectors */ + L2_HIT + NOC;
        assert_int_equal(bench_cycles(&bench, &piece), (most == 2 ? 3 : acknowledged) + 1);
        bench_close(&bench);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_sub_core_has_a_queue_to_the_pipeline),
                                       cmocka_unit_test(stores_under_way_are_limited)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
