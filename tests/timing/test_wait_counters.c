/* AMD: s_waitcnt waits until no more than so many operations of a counter are under way; they count as done
 * in the order they began in. */
#include "gcn3.h"

enum { MISS = TO_NOC + NOC + 1 + L2_HIT + NOC + FILL }; /* as in test_l1.c: of one sector */

struct waits {
    const char *kernel;
    uint32_t cycles;
};

static void check(struct gcn3_bench *bench, const struct waits *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t cycles = gcn3_cycles(bench, rows[i].kernel, 0);
        if (cycles != rows[i].cycles)
            fail_msg("%s takes %u cycles, not %u", rows[i].kernel, cycles, rows[i].cycles);
    }
}

/* The first load issues a cycle behind the start, the second one cycle later; the wait issues in the cycle in
 * which what it waits for is there, and the end a cycle later. A hit behind a miss counts when the miss does.
 */
static void vmcnt_counts_loads_in_order(void **state)
{
    (void)state;
    for (uint32_t hit = 40; hit <= 41; hit++)
        for (uint32_t more = 0; more <= 1; more++) {
            struct gcn3_bench bench = gcn3_open("sm.l1_latency=%u sm.l1_fill_cycles=%u", hit, FILL + more);
            const struct waits rows[] = {{"hit_miss_1", 1 + hit + 1},
                                         {"hit_miss_0", 2 + MISS + more + 1},
                                         {"miss_hit_1", 1 + MISS + more + 1},
                                         {"miss_hit_0", 1 + MISS + more + 1}};
            check(&bench, rows, sizeof rows / sizeof *rows);
            gcn3_close(&bench);
        }
}

/* 64 lanes of 32 banks: two passes of a cycle each. The second read begins when the first has left the
 * pipeline: it was issued a cycle behind it, and waits for one more. */
static void lgkmcnt_counts_the_lds_in_order(void **state)
{
    (void)state;
    for (uint32_t latency = 30; latency <= 31; latency++) {
        struct gcn3_bench bench = gcn3_open("sm.shared_latency=%u sm.conflict_cycles=1", latency);
        const struct waits rows[] = {{"lds_lds_1", 1 + latency + 1 + 1}, {"lds_lds_0", 3 + latency + 1 + 1}};
        check(&bench, rows, sizeof rows / sizeof *rows);
        gcn3_close(&bench);
    }
}

/* The LDS is not waited for with vmcnt, nor are loads by buffers with lgkmcnt. */
static void counters_are_apart(void **state)
{
    (void)state;
    for (uint32_t latency = 30; latency <= 31; latency++) {
        struct gcn3_bench bench = gcn3_open("sm.shared_latency=%u sm.conflict_cycles=1", latency);
        const struct waits rows[] = {{"miss_lds_lgkm", 2 + latency + 1 + 1}, {"miss_lds_vm", 1 + MISS + 1}};
        check(&bench, rows, sizeof rows / sizeof *rows);
        gcn3_close(&bench);
    }
    /* 300 cycles are longer than the miss: vmcnt does not see them */
    struct gcn3_bench bench = gcn3_open("sm.shared_latency=300");
    assert_int_equal(gcn3_cycles(&bench, "miss_lds_vm", 0), 1 + MISS + 1);
    gcn3_close(&bench);
}

/* A flat load may be of either memory, so both count it. A wait that allows one does not wait. */
static void flat_loads_count_for_both(void **state)
{
    (void)state;
    for (uint32_t more = 0; more <= 1; more++) {
        struct gcn3_bench bench = gcn3_open("sm.l1_fill_cycles=%u", FILL + more);
        const struct waits rows[] = {
            {"flat_lgkm", 1 + MISS + more + 1}, {"flat_vm", 1 + MISS + more + 1}, {"flat_none", 1 + 1 + 1}};
        check(&bench, rows, sizeof rows / sizeof *rows);
        gcn3_close(&bench);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vmcnt_counts_loads_in_order), cmocka_unit_test(lgkmcnt_counts_the_lds_in_order),
        cmocka_unit_test(counters_are_apart), cmocka_unit_test(flat_loads_count_for_both)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
