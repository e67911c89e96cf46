/* Frames: the bytes of lines away from home. */
#include "mem/frames.h"
#include "base/archive.h"
#include "base/text.h"
#include "check.h"

enum { BYTES = 128, LINES = 1000 };

static void fill(struct frames *frames, uint64_t first)
{
    for (uint64_t i = 0; i < LINES; i++)
        memset(frames_line(frames, first + i), (int)(first + i) & 0xff, BYTES);
}

static void holds(struct frames *frames, uint64_t first)
{
    for (uint64_t i = 0; i < LINES; i++)
        for (size_t k = 0; k < BYTES; k++)
            assert_int_equal(frames_line(frames, first + i)[k], (first + i) & 0xff);
}

static void a_line_begins_with_zeroes(void **state)
{
    (void)state;
    struct frames frames = {.line_bytes = BYTES};
    for (unsigned round = 0; round < 2; round++) {
        unsigned char *line = frames_line(&frames, 7 + round);
        for (size_t k = 0; k < BYTES; k++)
            assert_int_equal(line[k], 0);
        memset(line, 0xff, BYTES);
        frames_let_go(&frames, 7 + round);
    }
    frames_fini(&frames);
}

static void frames_are_used_again(void **state)
{
    (void)state;
    struct frames frames = {.line_bytes = BYTES};
    fill(&frames, 0);
    size_t blocks = frames.block_count;
    for (uint64_t first = LINES; first < 20 * LINES; first += LINES) {
        for (uint64_t i = 0; i < LINES; i++)
            frames_let_go(&frames, first - LINES + i);
        assert_int_equal(frames_in_use(&frames), 0);
        fill(&frames, first);
        holds(&frames, first);
        assert_int_equal(frames_in_use(&frames), LINES);
        assert_int_equal(frames.block_count, blocks);
    }
    frames_let_go(&frames, 12345678); /* that nobody had */
    assert_int_equal(frames_in_use(&frames), LINES);
    frames_fini(&frames);
}

static void a_line_is_let_go_once(void **state)
{
    (void)state;
    struct frames frames = {.line_bytes = BYTES};
    fill(&frames, 0);
    frames_let_go(&frames, 3);
    frames_let_go(&frames, 3);
    unsigned char *one = frames_line(&frames, LINES), *other = frames_line(&frames, LINES + 1);
    assert_ptr_not_equal(one, other);
    assert_int_equal(frames_in_use(&frames), LINES + 1);
    frames_fini(&frames);
}

static void a_checkpoint_has_all_of_it(void **state)
{
    (void)state;
    struct frames frames[2] = {{.line_bytes = BYTES}, {.line_bytes = BYTES}};
    fill(&frames[0], 0);
    for (uint64_t i = 0; i < LINES; i += 2)
        frames_let_go(&frames[0], i);
    fill(&frames[1], 5000); /* is forgotten */
    struct archive out = archive_writer();
    frames_archive(&frames[0], &out);
    struct archive in = archive_reader(out.text.at, out.text.length);
    frames_archive(&frames[1], &in);
    assert_true(archive_at_end(&in));
    assert_int_equal(frames_in_use(&frames[1]), LINES / 2);
    for (uint64_t i = 1; i < LINES; i += 2)
        assert_memory_equal(frames_line(&frames[1], i), frames_line(&frames[0], i), BYTES);
    fill(&frames[1], LINES);
    assert_int_equal(frames_line(&frames[1], 1)[5], 1);
    for (int i = 0; i < 2; i++)
        frames_fini(&frames[i]);
    text_fini(&out.text);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_begins_with_zeroes), cmocka_unit_test(frames_are_used_again),
        cmocka_unit_test(a_line_is_let_go_once), cmocka_unit_test(a_checkpoint_has_all_of_it)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
