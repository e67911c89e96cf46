/* The loop that deals out pieces, in one process: what is begun, taken and stopped. (Several ranks:
 * tests/cli/ranks_*.sh.)
 */
#include "check.h"
#include "deal/deal.h"

#include <string.h>

enum { PIECES = 10, PLACES = 3, LOOKS = 4 /* that a piece takes */ };

struct work {
    uint8_t next, taken[PIECES];
    unsigned begun, most_at_once, at_once, stopped;
    struct {
        uint8_t number;
        unsigned looks;
        bool is_stopped;
    } places[PLACES];
    int breaks, take_fails, interrupts; /* at this piece; -1: at none */
    _Atomic int interrupt;
};

static bool next(void *user, struct text *piece)
{
    struct work *w = user;
    if (w->next == PIECES)
        return false;
    text_add_bytes(piece, (const char *)&w->next, 1);
    w->next++;
    return true;
}

static bool begin(void *user, unsigned place, const struct text *piece, struct err *err)
{
    struct work *w = user;
    (void)err;
    w->places[place].number = (uint8_t)piece->at[0];
    w->places[place].looks = 0;
    w->places[place].is_stopped = false;
    w->begun++;
    if (++w->at_once > w->most_at_once)
        w->most_at_once = w->at_once;
    return true;
}

static enum deal_state look(void *user, unsigned place, struct text *result, struct err *err)
{
    struct work *w = user;
    if (w->places[place].is_stopped) {
        w->at_once--;
        return DEAL_BROKEN;
    }
    if (++w->places[place].looks < LOOKS)
        return DEAL_BUSY;
    w->at_once--;
    if (w->places[place].number == w->breaks) {
        err_set(err, "piece %d broke", w->breaks);
        return DEAL_BROKEN;
    }
    text_add(result, "result %d", w->places[place].number);
    return DEAL_ENDED;
}

static void stop(void *user, unsigned place)
{
    struct work *w = user;
    w->stopped += !w->places[place].is_stopped;
    w->places[place].is_stopped = true;
}

static bool take(void *user, const struct text *piece, const struct text *result, struct err *err)
{
    struct work *w = user;
    char expected[16];
    snprintf(expected, sizeof expected, "result %d", piece->at[0]);
    assert_string_equal(result->at, expected);
    w->taken[(uint8_t)piece->at[0]]++;
    if (piece->at[0] == w->interrupts)
        w->interrupt = 2;
    return piece->at[0] != w->take_fails || err_set(err, "no room for %d", piece->at[0]);
}

static bool deal(struct work *w, unsigned places, struct err *err)
{
    const struct deal_work work = {.places = places,
                                   .interrupt = &w->interrupt,
                                   .next = next,
                                   .take = take,
                                   .begin = begin,
                                   .look = look,
                                   .stop = stop};
    return deal_run(NULL, &work, w, err);
}

static struct work work(void)
{
    return (struct work){.breaks = -1, .take_fails = -1, .interrupts = -1};
}

static unsigned taken(const struct work *w)
{
    unsigned count = 0;
    for (int i = 0; i < PIECES; i++)
        count += w->taken[i];
    return count;
}

static void each_piece_is_taken_once(void **state)
{
    (void)state;
    for (unsigned places = 1; places <= PLACES; places++) {
        struct work w = work();
        struct err err;
        assert_true(deal(&w, places, &err));
        for (int i = 0; i < PIECES; i++)
            assert_int_equal(w.taken[i], 1);
        assert_int_equal(w.most_at_once, places);
        assert_int_equal(w.stopped, 0);
    }
}

static void a_broken_piece_ends_all(void **state)
{
    (void)state;
    struct work w = work();
    struct err err;
    w.breaks = 4;
    assert_false(deal(&w, PLACES, &err));
    assert_string_equal(err.text, "piece 4 broke");
    assert_int_equal(w.at_once, 0);
    assert_true(w.begun < PIECES);
    assert_int_equal(w.taken[4], 0);
}

static void a_result_that_is_not_taken_ends_all(void **state)
{
    (void)state;
    struct work w = work();
    struct err err;
    w.take_fails = 0;
    assert_false(deal(&w, PLACES, &err));
    assert_string_equal(err.text, "no room for 0");
    assert_int_equal(w.at_once, 0);
    assert_int_equal(taken(&w), 1);
    assert_true(w.stopped > 0);
}

static void interrupted_it_begins_no_more(void **state)
{
    (void)state;
    struct work w = work();
    struct err err;
    w.interrupts = 2;
    assert_true(deal(&w, 1, &err));
    assert_int_equal(taken(&w), 3);
    assert_int_equal(w.begun, 3);
    w = work();
    w.interrupt = 2;
    assert_true(deal(&w, 1, &err));
    assert_int_equal(w.begun, 0);
}

static void one_process_agrees_with_itself(void **state)
{
    (void)state;
    struct err mine, err;
    err_set(&mine, "no file");
    assert_true(deal_agree(NULL, true, &mine, 5, &err));
    assert_false(deal_agree(NULL, false, &mine, 5, &err));
    assert_string_equal(err.text, "no file");
    assert_true(deal_cores(NULL) >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_piece_is_taken_once),
        cmocka_unit_test(a_broken_piece_ends_all),
        cmocka_unit_test(a_result_that_is_not_taken_ends_all),
        cmocka_unit_test(interrupted_it_begins_no_more),
        cmocka_unit_test(one_process_agrees_with_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
