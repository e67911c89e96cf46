/* A ring between two threads, as it is between two processes: bytes come in order, whatever the sizes are. */
#include "check.h"
#include "base/rng.h"
#include "mailbox/mailbox.h"

#include <pthread.h>

enum { PARTS = 3000, LONGEST = 5000 };

static struct ring ring;

static bool forever(void *user)
{
    (void)user;
    return true;
}

static bool never(void *user)
{
    (void)user;
    return false;
}

static const struct ring_patience patient = {forever, NULL}, impatient = {never, NULL};

static void *write_all(void *user)
{
    struct rng rng;
    rng_init(&rng, 1, "sizes");
    unsigned char part[LONGEST], next = 0;
    (void)user;
    for (int i = 0; i < PARTS; i++) {
        size_t bytes = rng_below(&rng, LONGEST);
        for (size_t k = 0; k < bytes; k++)
            part[k] = next++;
        if (!ring_write(&ring, part, bytes, &patient))
            return NULL;
    }
    return &ring;
}

static void bytes_come_in_order(void **state)
{
    (void)state;
    struct rng sizes, rng;
    rng_init(&sizes, 1, "sizes");
    rng_init(&rng, 2, "reads");
    size_t left = 0;
    for (int i = 0; i < PARTS; i++)
        left += rng_below(&sizes, LONGEST);
    pthread_t writer;
    unsigned char part[LONGEST], next = 0;
    void *good;
    assert_int_equal(pthread_create(&writer, NULL, write_all, NULL), 0);
    for (size_t bytes; left; left -= bytes) {
        bytes = rng_below(&rng, LONGEST);
        bytes = bytes < left ? bytes : left;
        assert_true(ring_read(&ring, part, bytes, &patient));
        for (size_t k = 0; k < bytes; k++)
            assert_int_equal(part[k], next++);
    }
    pthread_join(writer, &good);
    assert_non_null(good);
    assert_true(ring_is_empty(&ring));
}

/* Nobody reads, or writes, and patience ends. */
static void a_side_that_is_alone_gives_up(void **state)
{
    (void)state;
    static unsigned char bytes[RING_BYTES + 1];
    assert_true(ring_write(&ring, bytes, RING_BYTES, &impatient));
    assert_false(ring_write(&ring, bytes, 1, &impatient));
    assert_true(ring_read(&ring, bytes, RING_BYTES, &impatient));
    assert_false(ring_read(&ring, bytes, 1, &impatient));
}

static void letters_come_whole(void **state)
{
    (void)state;
    struct archive body = archive_writer();
    struct text text = {0};
    enum letter_kind kind;
    uint64_t number = 12345;
    ARCHIVE_VALUE(&body, number);
    assert_true(letter_send(&ring, LETTER_PASS, &body, &impatient));
    assert_true(letter_receive(&ring, &kind, &text, &impatient));
    assert_int_equal(kind, LETTER_PASS);
    assert_int_equal(text.length, sizeof number);
    assert_memory_equal(text.at, &number, sizeof number);
    uint64_t strange[2] = {LETTER_KIND_COUNT, 0};
    assert_true(ring_write(&ring, strange, sizeof strange, &impatient));
    assert_false(letter_receive(&ring, &kind, &text, &impatient));
    text_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_come_in_order),
        cmocka_unit_test(a_side_that_is_alone_gives_up),
        cmocka_unit_test(letters_come_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
