/* Passes through the banks of shared memory: one behaviour a test, patterns as CUDA's guide has them. */
#include "check.h"
#include "core/banks.h"

enum { BANKS = 32 };

/* Of all lanes, lane i at at(i), so many bytes each. */
static uint32_t passes(uint32_t (*at)(uint32_t lane), uint8_t bytes)
{
    struct request request = {.shared = UINT32_MAX, .shared_bytes = bytes, .of.width = 32};
    struct banks banks = {0};
    for (uint32_t i = 0; i < 32; i++)
        request.shared_at[i] = at(i);
    uint32_t first = bank_passes(&banks, BANKS, &request);
    assert_int_equal(bank_passes(&banks, BANKS, &request), first); /* as it is remembered */
    return first;
}

static uint32_t in_a_row(uint32_t lane)
{
    return 4 * lane;
}

static uint32_t one_word(uint32_t lane)
{
    return 64 + lane % 4;
}

static uint32_t two_apart(uint32_t lane)
{
    return 8 * lane;
}

static uint32_t one_bank(uint32_t lane)
{
    return 4 * BANKS * lane;
}

/* Eight words of one bank, each wanted by four lanes that do not lie side by side. */
static uint32_t eight_words(uint32_t lane)
{
    return 4 * BANKS * (lane % 8);
}

static uint32_t in_a_row_of_16_bytes(uint32_t lane)
{
    return 16 * lane;
}

static void lanes_side_by_side_or_at_one_word_take_one(void **state)
{
    (void)state;
    assert_int_equal(passes(in_a_row, 4), 1);
    assert_int_equal(passes(one_word, 1), 1);
}

static void different_words_of_a_bank_take_one_each(void **state)
{
    (void)state;
    assert_int_equal(passes(two_apart, 4), 2);
    assert_int_equal(passes(one_bank, 4), 32);
}

static void lanes_that_want_the_same_word_share_its_pass(void **state)
{
    (void)state;
    assert_int_equal(passes(eight_words, 4), 8);
}

static void wide_accesses_take_the_warp_in_parts(void **state)
{
    (void)state;
    assert_int_equal(passes(two_apart, 8), 2);
    assert_int_equal(passes(in_a_row_of_16_bytes, 16), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_side_by_side_or_at_one_word_take_one),
        cmocka_unit_test(different_words_of_a_bank_take_one_each),
        cmocka_unit_test(lanes_that_want_the_same_word_share_its_pass),
        cmocka_unit_test(wide_accesses_take_the_warp_in_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
