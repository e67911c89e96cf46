/* The relaxed simulator: with one thread its results are the same each time; with several it does the same
 * work, also where threads share an SM. */
#include "check.h"
#include "base/mem.h"
#include "driver/driver.h"
#include "relaxed/runs/runs.h"
#include "workloads/run.h"

static struct folder folder;
static struct itrace_reader *reader;
static struct system tesla;

/* A small program with barriers, shared memory and several launches. */
static int record(void **state)
{
    struct err err;
    uint64_t values[WORKLOAD_OPTIONS_MOST];
    struct workload_result result;
    const struct workload *workload = workload_find("lud");
    (void)state;
    folder_make(&folder);
    char trace[160];
    snprintf(trace, sizeof trace, "%s", folder_file(&folder, "trace"));
    workload_options_of(workload, "tiles=5", values);
    struct driver_options options = {.system = "tesla", .threads = 1, .record = {.folder = trace}};
    if (!workload_run_driven(workload, values, &options, NULL, NULL, &result, &err) ||
        !(reader = itrace_reader_new(trace, &err)) || !system_load(&tesla, "tesla", NULL, &err)) {
        print_error("%s\n", err.text);
        return -1;
    }
    return 0;
}

static int forget(void **state)
{
    char command[200];
    (void)state;
    itrace_reader_free(reader);
    system_fini(&tesla);
    snprintf(command, sizeof command, "rm -rf %s", folder.path);
    return system(command);
}

static void run(struct relaxed_runs *runs, struct relaxed_options options, unsigned repeats)
{
    struct err err;
    struct relaxed_how how = {
        .system_name = "tesla", .system = &tesla, .options = options, .repeats = repeats};
    if (!relaxed_runs_make(runs, reader, folder.path, &how, &err))
        fail_msg("%s", err.text);
}

static void one_thread_gives_the_same_each_time(void **state)
{
    struct relaxed_runs runs;
    (void)state;
    run(&runs, (struct relaxed_options){.threads = 1, .epoch = 1000}, 3);
    assert_true(runs.sums[0].cycles > 10000);
    for (int i = 1; i < 3; i++) {
        assert_int_equal(runs.sums[i].cycles, runs.sums[0].cycles);
        assert_memory_equal(&runs.sums[i].counts, &runs.sums[0].counts, sizeof runs.sums[0].counts);
    }
    for (size_t i = 0; i < runs.launch_count; i++)
        assert_int_equal(runs.launches[i].least, runs.launches[i].most);
    relaxed_runs_fini(&runs);
}

static void check_work(unsigned threads, bool no_phasers)
{
    struct relaxed_runs one, more;
    run(&one, (struct relaxed_options){.threads = 1, .epoch = 500}, 1);
    run(&more, (struct relaxed_options){.threads = threads, .epoch = 500, .no_phasers = no_phasers}, 1);
    const struct relaxed_counts *a = &one.sums[0].counts, *b = &more.sums[0].counts;
    assert_int_equal(a->warp_instructions, b->warp_instructions);
    assert_int_equal(a->instructions, b->instructions);
    assert_int_equal(a->blocks, b->blocks);
    assert_int_equal(a->warps, b->warps);
    assert_int_equal(a->shared_passes, b->shared_passes);
    assert_int_equal(b->ports.past, 0);
    assert_true(b->ports.late > 0 && b->ports.late < b->ports.shared);
    assert_true(more.sums[0].cycles > 10000);
    relaxed_runs_fini(&one);
    relaxed_runs_fini(&more);
}

static void more_threads_do_the_same_work(void **state)
{
    (void)state;
    check_work(2, false);
    check_work(3, true);
    check_work(16, false);
}

static void threads_share_an_sm(void **state)
{
    (void)state;
    check_work(21, false); /* of 16 SMs: five have two parts */
}

/* Algorithm 1: as many blocks as an SM holds go to it, then to the next one; all are simulated. */
static void blocks_in_turn_are_the_same_blocks(void **state)
{
    struct relaxed_runs runs, turn;
    (void)state;
    run(&runs, (struct relaxed_options){.threads = 1, .epoch = 1000}, 1);
    run(&turn, (struct relaxed_options){.threads = 1, .epoch = 1000, .blocks = RELAXED_IN_TURN}, 1);
    assert_int_equal(runs.sums[0].counts.blocks, turn.sums[0].counts.blocks);
    assert_int_equal(runs.sums[0].counts.instructions, turn.sums[0].counts.instructions);
    relaxed_runs_fini(&runs);
    relaxed_runs_fini(&turn);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_thread_gives_the_same_each_time),
        cmocka_unit_test(more_threads_do_the_same_work),
        cmocka_unit_test(threads_share_an_sm),
        cmocka_unit_test(blocks_in_turn_are_the_same_blocks),
    };
    return cmocka_run_group_tests(tests, record, forget);
}
