/* Recording, heddle's side: what a plugin hands over comes to be in traces, in order and whole, and a set of
 * traces takes the place of an earlier one. */
#include "base/mem.h"
#include "record/collect.h"
#include "record/emulator.h"
#include "trace/place.h"
#include "trace/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static char folder[] = "/tmp/test_record.XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return !mkdtemp(folder) || chdir(folder);
}

static int remove_folder(void **state)
{
    (void)state;
    return chdir("/") || rmdir(folder);
}

/* ---- accesses that are one ---- */

static void accesses_of_one_instruction_that_touch_are_one(void **state)
{
    (void)state;
    struct trace_access accesses[] = {
        trace_access(100, 1, 8, false), trace_access(108, 1, 8, false), /* one of 16 bytes */
        trace_access(116, 1, 8, true),                                  /* writes */
        trace_access(124, 2, 8, true),                                  /* another instruction */
        trace_access(133, 2, 8, true),                                  /* does not touch */
    };
    assert_int_equal(record_merge(accesses, 0, 5), 4);
    assert_int_equal(accesses[0].address, 100);
    assert_int_equal(trace_bytes(accesses[0]), 16);
    assert_int_equal(trace_instruction(accesses[0]), 1);
    assert_true(trace_writes(accesses[1]) && accesses[3].address == 133);
    assert_int_equal(record_merge(accesses, 4, 4), 4);
}

static void no_access_grows_beyond_a_line(void **state)
{
    (void)state;
    struct trace_access accesses[9];
    for (uint32_t i = 0; i < 9; i++)
        accesses[i] = trace_access(8 * i, 7, 8, true);
    assert_int_equal(record_merge(accesses, 0, 9), 2);
    assert_int_equal(trace_bytes(accesses[0]), RECORD_MERGED_MOST);
    assert_int_equal(trace_bytes(accesses[1]), 8);
}

/* ---- collecting ---- */

static bool failed;

static void on_failure(void *user)
{
    (void)user;
    failed = true;
}

static void on_progress(void *user, uint64_t count)
{
    (void)user, (void)count;
}

static const struct collect_ops ops = {on_failure, on_progress};

/* What a plugin does: fills a buffer, when it may, and hands it over when it is full. */
static void fill(struct record_shared *shared, uint32_t number, uint64_t first, uint32_t count)
{
    struct record_lane *lane = &shared->lanes[number];
    uint32_t at = lane->at, before;
    while ((before = lane->full[at]))
        record_sleep(&lane->full[at], before);
    for (uint32_t i = 0; i < count; i++)
        shared->buffers[number][at][i] = trace_access(1000 * (first + i), first + i, 4, i % 4 == 0);
}

static void hand_over(struct record_shared *shared, uint32_t number, uint64_t first, uint32_t count)
{
    struct record_lane *lane = &shared->lanes[number];
    uint32_t at = lane->at;
    fill(shared, number, first, count);
    lane->full[at] = count;
    lane->at = at ^ 1;
    shared->posted[number % shared->collectors]++;
    record_wake(&shared->posted[number % shared->collectors]);
}

static void expect_trace(const char *path, uint64_t accesses)
{
    struct err err;
    struct trace_file *file = trace_file_open(path, &err);
    struct trace_access *block = mem_alloc(TRACE_BLOCK_ACCESSES, sizeof *block);
    uint64_t seen = 0;
    assert_non_null(file);
    assert_int_equal(trace_file_accesses(file), accesses);
    for (uint64_t i = 0; i < trace_file_blocks(file); i++) {
        assert_true(trace_block_read(file, i, block, &err));
        for (uint32_t k = 0; k < trace_file_block(file, i)->count; k++, seen++)
            assert_true(block[k].address == 1000 * seen && trace_instruction(block[k]) == seen);
    }
    mem_free(block);
    trace_file_close(file);
}

static struct record_lane *begin_lane(struct record_shared *shared, uint32_t number, uint32_t thread)
{
    struct record_lane *lane = &shared->lanes[number];
    memset(lane, 0, offsetof(struct record_lane, full));
    lane->thread = thread;
    lane->state = LANE_LIVE;
    if (shared->lanes_used <= number)
        shared->lanes_used = number + 1;
    return lane;
}

static void what_is_handed_over_is_written(void **state)
{
    enum { LANES = 5, BUFFERS = 9, LAST = 80 };
    (void)state;
    struct err err;
    int file;
    struct record_shared *shared = record_shared_new(&file, &err);
    assert_non_null(shared);
    struct collect *collect = collect_new(shared, ".", &ops, NULL);
    for (uint32_t i = 0; i < LANES; i++)
        begin_lane(shared, i, 10 + i);
    for (uint64_t k = 0; k < BUFFERS; k++)
        for (uint32_t i = 0; i < LANES; i++)
            hand_over(shared, i, k * RECORD_BUFFER, RECORD_BUFFER);

    shared->lanes[1].state = LANE_ENDED; /* and its lane becomes another thread's */
    shared->posted[1 % shared->collectors]++;
    record_wake(&shared->posted[1 % shared->collectors]);
    while (shared->lanes[1].state != LANE_FREE)
        usleep(1000);
    begin_lane(shared, 1, 20);
    hand_over(shared, 1, 0, 5);

    struct record_lane *cut = &shared->lanes[2]; /* what is in a buffer when the program is killed */
    fill(shared, 2, BUFFERS * RECORD_BUFFER, LAST);
    cut->count = LAST;
    cut->clock = (uint64_t)(BUFFERS * RECORD_BUFFER + LAST) << RECORD_CLOCK_SHIFT;
    assert_true(collect_finish(collect, &err));

    size_t count;
    const struct record_thread *threads = collect_threads(collect, &count);
    assert_int_equal(count, LANES + 1);
    for (size_t i = 0; i < count; i++) {
        char path[32];
        uint64_t expected = i == 5 ? 5 : i == 2 ? BUFFERS * RECORD_BUFFER + LAST : BUFFERS * RECORD_BUFFER;
        assert_int_equal(threads[i].number, i == 5 ? 20 : 10 + i);
        assert_int_equal(threads[i].accesses, expected);
        assert_int_equal(threads[i].writes, i == 5 ? 2 : expected / 4);
        snprintf(path, sizeof path, "%u.htrace", threads[i].number);
        expect_trace(path, expected);
        unlink(path);
    }
    assert_int_equal(threads[2].instructions, BUFFERS * RECORD_BUFFER + LAST);
    collect_free(collect);
    record_shared_free(shared, file);
}

static void what_cannot_be_written_is_told(void **state)
{
    (void)state;
    struct err err;
    int file;
    struct record_shared *shared = record_shared_new(&file, &err);
    struct collect *collect = collect_new(shared, "no/such/folder", &ops, NULL);
    begin_lane(shared, 0, 0);
    failed = false;
    for (uint64_t k = 0; k < 5; k++) /* nobody waits for ever */
        hand_over(shared, 0, k * RECORD_BUFFER, RECORD_BUFFER);
    assert_false(collect_finish(collect, &err));
    assert_true(failed);
    assert_non_null(strstr(err.text, "no/such/folder/0.htrace"));
    collect_free(collect);
    record_shared_free(shared, file);
}

/* ---- places ---- */

static void touch(const char *path)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
}

static void a_set_takes_the_place_of_an_earlier_one(void **state)
{
    (void)state;
    struct err err;
    char path[200];
    static const char *const others[] = {"set.htrace", "set.1.htrace.old", "set.x.htrace", "other.1.htrace"};
    for (size_t i = 0; i < 4; i++)
        touch(others[i]);
    touch("set.7.htrace");
    struct output_place *place = output_new("set", &err);
    assert_non_null(place);
    snprintf(path, sizeof path, "%s/0.htrace", output_folder(place));
    touch(path);
    snprintf(path, sizeof path, "%s/12.htrace", output_folder(place));
    touch(path);
    assert_int_equal(access("set.7.htrace", F_OK), 0); /* until all are there */
    assert_true(output_commit(place, &err));
    assert_int_not_equal(access("set.7.htrace", F_OK), 0);
    snprintf(path, sizeof path, "%s", output_folder(place));
    output_free(place);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(unlink("set.0.htrace") | unlink("set.12.htrace"), 0);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(unlink(others[i]), 0);
}

static void what_is_not_committed_is_gone(void **state)
{
    (void)state;
    struct err err;
    char path[200];
    struct output_place *place = output_new("./set", &err);
    snprintf(path, sizeof path, "%s/0.htrace", output_folder(place));
    touch(path);
    output_free(place);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_null(output_new("./", &err));
    assert_null(output_new("no/such/set", &err));
}

static void programs_have_emulators(void **state)
{
    (void)state;
    struct err err;
    const char *name = emulator_of("trace record", "/proc/self/exe", &err);
    assert_true(name && !strncmp(name, "qemu-", 5));
    assert_null(emulator_of("trace record", "/dev/null", &err));
    assert_null(emulator_of("trace record", "none", &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accesses_of_one_instruction_that_touch_are_one),
        cmocka_unit_test(no_access_grows_beyond_a_line),
        cmocka_unit_test(what_is_handed_over_is_written),
        cmocka_unit_test(what_cannot_be_written_is_told),
        cmocka_unit_test(a_set_takes_the_place_of_an_earlier_one),
        cmocka_unit_test(what_is_not_committed_is_gone),
        cmocka_unit_test(programs_have_emulators),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
