/* Copies cut into pieces and messages. */
#include "check.h"
#include "base/clock.h"
#include "mem/copy.h"

#include <string.h>

enum { MEMORY = 4096 };

/* Goes through an order, moving the bytes as messages say; gives how many there were. */
static size_t go(const struct copy_order *order, const unsigned char *from, unsigned char *to, uint32_t line)
{
    struct copy_list list = {0};
    struct copy_course course = copy_course(order, line, 0);
    copy_list_set(&list, order);
    while (!copy_is_sent(&course)) {
        struct copy_piece piece = copy_next(&course, &list);
        struct copy_message message;
        uint16_t size = copy_write_message(&message, &piece, line, 7, from + piece.from);
        uint32_t sector = 0;
        assert_int_equal(piece.from / line, (piece.from + piece.bytes - 1) / line);
        assert_int_equal(message.request.line, piece.to / line * line);
        assert_int_equal(message.request.id, 7);
        assert_int_equal(message.request.policy, MEM_AROUND);
        for (uint32_t left = message.request.sectors; left; left &= left - 1, sector++) {
            const struct memsys_write *write = &message.writes[sector];
            for (uint32_t i = 0; i < MEM_SECTOR; i++)
                if (write->mask >> i & 1)
                    to[message.request.line + (uint32_t)__builtin_ctz(left) * MEM_SECTOR + i] =
                        write->data[i];
        }
        assert_int_equal(size, sizeof message.request + sector * sizeof(struct memsys_write));
    }
    copy_list_fini(&list);
    return course.pieces;
}

static void rows_arrive_wherever_they_lie_in_lines(void **state)
{
    (void)state;
    static unsigned char from[MEMORY], to[MEMORY], expected[MEMORY];
    for (uint32_t i = 0; i < MEMORY; i++)
        from[i] = (unsigned char)(i * 7 + i / 256 + 1);
    for (uint32_t shift = 0; shift < 2 * MEM_LINE_MOST; shift += 37) {
        struct copy_part parts[] = {
            {.to = 5, .from = shift, .bytes = 300, .rows = 3, .to_pitch = 512, .from_pitch = 333},
            {.to = 2000 + shift, .from = 2048, .bytes = 1, .rows = 1}};
        memset(to, 0, sizeof to);
        memset(expected, 0, sizeof expected);
        for (uint32_t y = 0; y < 3; y++)
            memcpy(expected + 5 + y * 512, from + shift + y * 333, 300);
        expected[2000 + shift] = from[2048];
        go(&(struct copy_order){.parts = parts, .count = 2, .bytes_per_s = 1}, from, to,
           shift % 2 ? 64 : 128);
        assert_memory_equal(to, expected, MEMORY);
    }
}

static void lines_that_lie_alike_are_one_piece_each(void **state)
{
    (void)state;
    static unsigned char from[MEMORY], to[MEMORY];
    struct copy_part alike = {.to = 128 + 100, .from = 1024 + 100, .bytes = 28 + 5 * 128 + 1, .rows = 1};
    struct copy_order order = {.parts = &alike, .count = 1, .bytes_per_s = 1};
    assert_int_equal(go(&order, from, to, 128), 7);
    alike.from++;
    assert_int_equal(go(&order, from, to, 128), 13); /* two for each line, but the last */
}

static void pieces_keep_their_pace(void **state)
{
    (void)state;
    struct copy_part part = {.bytes = 10 * MEM_LINE_MOST, .rows = 1};
    struct copy_order order = {.parts = &part, .count = 1, .bytes_per_s = 64 * PS_PER_SECOND / 1000};
    struct copy_list list = {0};
    struct copy_course course = copy_course(&order, MEM_LINE_MOST, 5000);
    copy_list_set(&list, &order);
    assert_int_equal(copy_due(&course, 0), 5000);
    copy_next(&course, &list);
    assert_int_equal(copy_due(&course, 5000), 7000);
    assert_int_equal(copy_due(&course, 7000), 7000);
    copy_next(&course, &list);
    assert_int_equal(copy_due(&course, 9001), 9001); /* late: nothing is made up */
    copy_next(&course, &list);
    assert_int_equal(copy_due(&course, 9001), 11001);
    copy_list_fini(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_arrive_wherever_they_lie_in_lines),
                                       cmocka_unit_test(lines_that_lie_alike_are_one_piece_each),
                                       cmocka_unit_test(pieces_keep_their_pace)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
