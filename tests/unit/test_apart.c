/* What is known of managed memory over ranks: what is newer, who wrote what, and what GPUs know. */
#include "check.h"
#include "mem/apart.h"

static void what_was_given_out_is_newer(void **state)
{
    (void)state;
    struct apart *apart = apart_new();
    assert_false(apart_is_old(apart, 4096, 0));
    apart->turn = 7;
    apart_give(apart, 4096);
    assert_true(apart_is_old(apart, 4096, 6));
    assert_true(apart_is_old(apart, 4096 + APART_BYTES - 1, 0)); /* as messages of one process are */
    assert_false(apart_is_old(apart, 4096, 7));
    assert_false(apart_is_old(apart, 4096 + APART_BYTES, 6));
    apart->turn = 9;
    apart_give(apart, 4096);
    assert_true(apart_is_old(apart, 4096, 8));
    apart_forget_given(apart);
    assert_false(apart_is_old(apart, 4096, 8));
    apart_free(apart);
}

static void requests_carry_turns(void **state)
{
    (void)state;
    static const uint32_t turns[] = {1, 255, 256, 65535, 65536, 65537, 1000000};
    struct apart *apart = apart_new();
    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++)
        for (uint32_t ago = 0; ago <= turns[i] && ago < 65536; ago += 1 + ago / 2) {
            struct memsys_request request = {.line = 128};
            apart->turn = turns[i];
            apart_mark(&request, turns[i] - ago);
            assert_int_equal(apart_turn(apart, &request), turns[i] - ago);
        }
    apart_free(apart);
}

static void news_are_bytes(void **state)
{
    (void)state;
    struct news news = {0};
    assert_int_equal(news_of(&news, 128), 0);
    news_add(&news, 128 + MEM_SECTOR, 0x0f);
    news_add(&news, 128 + MEM_SECTOR, 0xf000);
    for (uint64_t block = 0; block < 100; block++)
        news_add(&news, block * 4096, UINT32_MAX);
    assert_int_equal(news_of(&news, 128 + MEM_SECTOR), 0xf00f);
    assert_int_equal(news_of(&news, 128), 0);
    assert_int_equal(news_of(&news, 99 * 4096), UINT32_MAX);
    news_fini(&news);
    assert_int_equal(news_of(&news, 99 * 4096), 0);
}

static void a_block_is_known_by_its_sum(void **state)
{
    (void)state;
    struct apart *apart = apart_new();
    unsigned char block[APART_BYTES] = {0};
    assert_int_equal(*apart_known(apart, 70000), 0);
    *apart_known(apart, 70000) = apart_sum(block);
    assert_int_not_equal(apart_sum(block), 0);
    assert_int_equal(*apart_known(apart, 70000 / APART_BYTES * APART_BYTES), apart_sum(block));
    assert_int_equal(*apart_known(apart, 70000 + APART_BYTES), 0);
    for (int i = 0; i < APART_BYTES; i++) {
        uint64_t before = apart_sum(block);
        block[i]++;
        assert_int_not_equal(apart_sum(block), before);
    }
    apart_free(apart);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_given_out_is_newer),
        cmocka_unit_test(requests_carry_turns),
        cmocka_unit_test(news_are_bytes),
        cmocka_unit_test(a_block_is_known_by_its_sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
