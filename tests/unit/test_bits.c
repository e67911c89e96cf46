#include "check.h"
#include "base/bits.h"

static void the_smaller_and_the_larger(void **state)
{
    (void)state;
    assert_int_equal(min_u64(3, UINT64_MAX), 3);
    assert_int_equal(max_u64(3, UINT64_MAX), UINT64_MAX);
}

static void a_sum_stops_at_the_largest_number(void **state)
{
    (void)state;
    assert_int_equal(add_saturating(2, 3), 5);
    assert_int_equal(add_saturating(UINT64_MAX - 1, 1), UINT64_MAX);
    assert_int_equal(add_saturating(UINT64_MAX, 1), UINT64_MAX);
}

static void bits_that_leave_come_back_on_the_right(void **state)
{
    (void)state;
    assert_int_equal(rotate_left(UINT64_C(0x8000000000000001), 1), 3);
}

static void a_digest_depends_on_the_order(void **state)
{
    (void)state;
    assert_int_not_equal(digest_word(digest_word(0, 1), 2), digest_word(digest_word(0, 2), 1));
}

static void a_digest_sees_every_byte(void **state)
{
    (void)state;
    unsigned char bytes[21] = {0};
    uint64_t before = digest_bytes(1, bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = 1;
        assert_int_not_equal(digest_bytes(1, bytes, sizeof bytes), before);
        bytes[i] = 0;
    }
}

static void a_digest_sees_the_length(void **state)
{
    (void)state;
    static const unsigned char zeros[8];
    for (size_t count = 0; count < 8; count++)
        assert_int_not_equal(digest_bytes(1, zeros, count), digest_bytes(1, zeros, count + 1));
}

/* Results are compared over versions and machines: when this changes, all known checksums do. */
static void digests_stay_what_they_are(void **state)
{
    (void)state;
    assert_int_equal(digest_word(1, 2), UINT64_C(0x8fbbee87e0000000));
    assert_int_equal(digest_bytes(0, "heddle weaves", 13), UINT64_C(0x4a1be0ebe15f4502));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_smaller_and_the_larger),
        cmocka_unit_test(a_sum_stops_at_the_largest_number),
        cmocka_unit_test(bits_that_leave_come_back_on_the_right),
        cmocka_unit_test(a_digest_depends_on_the_order),
        cmocka_unit_test(a_digest_sees_every_byte),
        cmocka_unit_test(a_digest_sees_the_length),
        cmocka_unit_test(digests_stay_what_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
