/* Translation of addresses: what goes past L1 needs its page among the SM's entries, else the GPU's are
 * asked, which walk through the tables for pages that they do not have. */
#include "timing.h"

/* As in test_l1.c. */
enum { MISS = TO_NOC + NOC + 1 + L2_HIT + NOC + FILL, LINE = 2 };

#define PAGES "tlb.page=4KiB tlb.l2_page=4KiB tlb.l1_ways=64 tlb.l2_ways=64 "
#define LOAD  "ld.global.u32 %r4, [%data];\nshr.u32 %r5, %r4, 1;"
#define USE   "st.global.u32 [%out+20], %r5;\n"

/* Behind the end, the kernel stores to another page than that of %data: an SM with one entry has forgotten
 * that one when the kernel comes again, and a GPU with one entry has, too. */
struct entries {
    uint32_t sm, gpu, asks, walk;
};

static uint32_t measured(const struct entries *e, const char *before, const char *body, const char *after,
                         unsigned inst)
{
    struct bench bench = bench_open(PAGES "tlb.l1_entries=%u tlb.l2_entries=%u tlb.l2_cycles=%u "
                                          "tlb.walk_cycles=%u tlb.walkers=8",
                                    e->sm, e->gpu, e->asks, e->walk);
    struct piece piece = {.before = before, .body = body, .after = after, .inst = inst};
    uint32_t cycles = bench_cycles(&bench, &piece);
    bench_close(&bench);
    return cycles;
}

static void a_page_that_the_sm_knows_costs_nothing(void **state)
{
    (void)state;
    assert_int_equal(measured(&(struct entries){64, 64, 80, 500}, "", LOAD, USE, 3), 1 + MISS + 1);
    /* its one entry is that of another line of the page */
    assert_int_equal(measured(&(struct entries){1, 64, 80, 500}, "ld.global.u32 %r1, [%data+256];", LOAD,
                              USE "st.global.u32 [%out+24], %r1;", 1 + 3 + 1),
                     1 + MISS + 1);
}

static void a_page_that_it_does_not_is_asked_for(void **state)
{
    (void)state;
    for (uint32_t asks = 80; asks <= 84; asks += 2)
        assert_int_equal(measured(&(struct entries){1, 64, asks, 500}, "", LOAD, USE, 3),
                         1 + MISS + asks + 1);
}

static void a_page_that_nobody_knows_is_walked_for(void **state)
{
    (void)state;
    for (uint32_t walk = 500; walk <= 501; walk++)
        assert_int_equal(measured(&(struct entries){1, 1, 80, walk}, "", LOAD, USE, 3),
                         1 + MISS + 80 + walk + 1);
}

/* Levels that a description leaves out: without entries of SMs every load asks; without the GPU's, all that
 * SMs do not have is walked for; without both, translation takes no time. */
static void each_level_can_be_left_out(void **state)
{
    (void)state;
    assert_int_equal(measured(&(struct entries){0, 64, 80, 500}, "", LOAD, USE, 3), 1 + MISS + 80 + 1);
    assert_int_equal(measured(&(struct entries){1, 0, 80, 500}, "", LOAD, USE, 3), 1 + MISS + 80 + 500 + 1);
    assert_int_equal(measured(&(struct entries){64, 0, 80, 500}, "", LOAD, USE, 3), 1 + MISS + 1);
    assert_int_equal(measured(&(struct entries){0, 0, 80, 500}, "", LOAD, USE, 3), 1 + MISS + 1);
}

/* A hit of an L1 with virtual tags needs no page. */
static uint32_t hit_of_l1(const char *tags)
{
    static const char first[] = "ld.global.u32 %r1, [%data];\nbar.warp.sync -1;\n"
                                "ld.global.u32 %r2, [%data+4096];";
    struct bench bench = bench_open(PAGES "tlb.l1_entries=1 tlb.l2_entries=1 tlb.l2_cycles=80 "
                                          "tlb.walk_cycles=500 %s",
                                    tags);
    struct piece piece = {.before = first,
                          .body = LOAD,
                          .after = USE "st.global.u32 [%out+24], %r1;\nst.global.u32 [%out+28], %r2;",
                          .inst = 3 + 3 + 2};
    uint32_t cycles = bench_cycles(&bench, &piece);
    bench_close(&bench);
    return cycles;
}

static void a_hit_of_l1_is_not_translated(void **state)
{
    (void)state;
    assert_int_equal(hit_of_l1("sm.l1_tags=virtual"), 1 + L1 + 1);
}

/* With physical tags the page comes first, then L1; and for a miss the way from there. */
static void physical_tags_are_translated_first(void **state)
{
    (void)state;
    assert_int_equal(hit_of_l1("sm.l1_tags=physical"), 1 + 80 + 500 + L1 + 1);
    for (uint32_t walk = 500; walk <= 501; walk++) {
        struct bench bench = bench_open(PAGES "tlb.l1_entries=1 tlb.l2_entries=1 tlb.l2_cycles=80 "
                                              "tlb.walk_cycles=%u sm.l1_tags=physical",
                                        walk);
        struct piece piece = {.body = LOAD, .after = USE, .inst = 3};
        assert_int_equal(bench_cycles(&bench, &piece), 1 + 80 + walk + MISS + 1);
        bench_close(&bench);
    }
}

/* Even lanes go to %data, odd ones %arg bytes behind: two lines, the second looked up l1_line_cycles later.
 */
static uint32_t two_lines(const char *settings, uint32_t apart)
{
    struct bench bench = bench_open(PAGES "tlb.l1_entries=1 tlb.l2_entries=1 tlb.l2_cycles=80 "
                                          "tlb.walk_cycles=500 %s",
                                    settings);
    struct piece piece = {.before = "and.b32 %r1, %self, 1;\nmul.lo.u32 %r2, %r1, %arg;\n"
                                    "mad.wide.u32 %rd1, %r2, 1, %data;",
                          .body = "ld.global.u32 %r4, [%rd1];\nshr.u32 %r5, %r4, 1;",
                          .after = USE,
                          .inst = 3 + 3,
                          .arg = apart};
    uint32_t cycles = bench_cycles(&bench, &piece);
    bench_close(&bench);
    return cycles;
}

/* Both leave when their page is known, in the same cycle; the slice takes one after the other. */
static void lines_of_a_page_wait_for_it_together(void **state)
{
    (void)state;
    assert_int_equal(two_lines("tlb.walkers=1", 128), 1 + MISS + 80 + 500 + 1 + 1);
}

static void walks_wait_for_a_walker(void **state)
{
    (void)state;
    assert_int_equal(two_lines("tlb.walkers=2", 4096), 1 + LINE + MISS + 80 + 500 + 1);
    assert_int_equal(two_lines("tlb.walkers=1", 4096), 1 + MISS + 80 + 2 * 500 + 1);
}

/* One entry of the GPU's is for two pages of the SM's: one walk finds both. */
static void large_pages_are_walked_for_once(void **state)
{
    (void)state;
    assert_int_equal(two_lines("tlb.walkers=1 tlb.l2_page=8KiB", 4096), 1 + MISS + 80 + 500 + 1 + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_that_the_sm_knows_costs_nothing),
        cmocka_unit_test(a_page_that_it_does_not_is_asked_for),
        cmocka_unit_test(a_page_that_nobody_knows_is_walked_for),
        cmocka_unit_test(each_level_can_be_left_out),
        cmocka_unit_test(a_hit_of_l1_is_not_translated),
        cmocka_unit_test(physical_tags_are_translated_first),
        cmocka_unit_test(lines_of_a_page_wait_for_it_together),
        cmocka_unit_test(walks_wait_for_a_walker),
        cmocka_unit_test(large_pages_are_walked_for_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
