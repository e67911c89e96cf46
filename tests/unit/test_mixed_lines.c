/* An NVIDIA GPU, with lines of 128 bytes, and an AMD GPU, with lines of 64, in one machine: copies between
 * them in time, over the fabric and by way of the host, at all offsets within lines. */
#include "driver_check.h"

enum { BYTES = 10000, MOST_OFFSET = 160 };

static const char description[] = "mixed_lines.ini";

static void start_mixed(struct under_test *t)
{
    FILE *file = fopen(description, "w");
    assert_non_null(file);
    fputs("[gpus.a]\nsystem = h200\n[gpus.b]\nsystem = r9nano\n", file);
    fclose(file);
    start_with(t, (struct driver_options){.system = "./mixed_lines.ini", .timing.on = true});
}

/* There and back, where both begin at other places in a line; what is beside them stays. */
static void copy_around(struct under_test *t, uint64_t from, uint64_t to)
{
    static unsigned char sent[BYTES], got[BYTES + 2];
    for (unsigned offset = 0; offset < MOST_OFFSET; offset += 13) {
        for (unsigned i = 0; i < BYTES; i++)
            sent[i] = (unsigned char)(i * 31 + offset);
        memset(got, 0xaa, sizeof got);
        CHECK(stream_copy_bytes(t->first, to + offset, address_of(got), sizeof got, true));
        CHECK(stream_copy_bytes(t->first, from, address_of(sent), BYTES, true));
        CHECK(stream_copy_bytes(t->first, to + offset + 1, from, BYTES, true));
        CHECK(stream_copy_bytes(t->first, address_of(got), to + offset, sizeof got, true));
        assert_memory_equal(got + 1, sent, BYTES);
        assert_int_equal(got[0], 0xaa);
        assert_int_equal(got[BYTES + 1], 0xaa);
    }
}

static void copies_between_them_are_exact(void **state)
{
    (void)state;
    struct under_test t;
    start_mixed(&t);
    struct device *a = driver_device(t.driver, 0), *b = driver_device(t.driver, 1);
    uint64_t at_a, at_b;
    CHECK(memory_alloc(a, BYTES + MOST_OFFSET + 2, &at_a));
    CHECK(memory_alloc(b, BYTES + MOST_OFFSET + 2, &at_b));
    copy_around(&t, at_a, at_b);
    copy_around(&t, at_b, at_a);
    CHECK(device_enable_peer(a, b));
    CHECK(device_enable_peer(b, a));
    copy_around(&t, at_a, at_b);
    copy_around(&t, at_b, at_a);
    stop(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(copies_between_them_are_exact)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
