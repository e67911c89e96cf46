/* AMD: the LDS has 32 banks for 64 lanes. Each half of a wave takes as many passes as the bank with the most
 * words; wide accesses take as many banks together. */
#include "gcn3.h"

enum { LATENCY = 30 };

/* Of `passes`, so many are conflicts'. */
static void check(const char *kernel, uint32_t stride, uint32_t passes, uint32_t conflicts)
{
    for (uint32_t each = 1; each <= 2; each++) {
        struct gcn3_bench bench = gcn3_open("sm.shared_latency=%d sm.conflict_cycles=%u", LATENCY, each);
        uint32_t cycles = gcn3_cycles(&bench, kernel, stride), wanted = 1 + LATENCY + (passes - 1) * each + 1;
        if (cycles != wanted)
            fail_msg("%s, %u bytes apart: %u cycles, not %u", kernel, stride, cycles, wanted);
        size_t last = heddle_launch_count(bench.heddle) - 1;
        assert_int_equal((uint32_t)heddle_metric(bench.heddle, last, "SQ_LDS_BANK_CONFLICT"), conflicts);
        gcn3_close(&bench);
    }
}

/* Words of a bank are 128 bytes apart: of 32 lanes that are 2^n words apart, 2^n meet in a bank. */
static void words_of_a_bank_take_a_pass_each(void **state)
{
    (void)state;
    check("lds_32", 4, 2, 0);
    check("lds_32", 8, 2 * 2, 2 * 1);
    check("lds_32", 12, 2, 0);
    check("lds_32", 16, 2 * 4, 2 * 3);
    check("lds_32", 64, 2 * 16, 2 * 15);
    check("lds_32", 128, 2 * 32, 2 * 31);
    check("lds_32", 132, 2, 0);
}

static void lanes_of_one_word_share_a_pass(void **state)
{
    (void)state;
    check("lds_32", 0, 2, 0);
}

/* 64 lanes side by side: 512 and 1024 bytes, 128 in a pass. */
static void wide_accesses_take_more_passes(void **state)
{
    (void)state;
    check("lds_64", 8, 4, 0);
    check("lds_128", 16, 8, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(words_of_a_bank_take_a_pass_each),
                                       cmocka_unit_test(lanes_of_one_word_share_a_pass),
                                       cmocka_unit_test(wide_accesses_take_more_passes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
