/* Memory of 64 lanes (toy_isa.h): local memory, loads of many registers, accesses that cross sectors and
 * lines.
 */
#include "toy_run.h"

#include <sys/mman.h>
#include <unistd.h>

enum { ARENA = 1 << 20, WORDS = 8192, SECTOR_WORDS = 8 };

struct arrays {
    uint32_t in[WORDS], out[WORDS], at[TOY_LANES], to[TOY_LANES], upper[TOY_LANES];
};

static struct arrays *arrays;
static struct image *image;
static uint64_t params[5];
enum { IN, OUT, AT, TO, UPPER };

#define SMALL_L1 "sm.l1_apart=yes sm.l1=1KiB sm.l1_ways=8 sm.l1_policy=lru gpu.shared_carveouts=228 "

/* One warp. */
static struct toy_ran run(const struct toy_inst *insts, uint32_t count, const struct machine_options *options,
                          const char *settings)
{
    struct toy_kernel *kernel = toy_make(insts, count, sizeof params, 0);
    struct launch launch = {.kernel = &kernel->base,
                            .image = image,
                            .params = params,
                            .grid = {1, 1, 1},
                            .block = {TOY_LANES, 1, 1},
                            .threads = 1,
                            .sm_count = 2,
                            .stack_bytes = 1024};
    struct toy_ran ran = {0};
    memset(arrays->out, 0, sizeof arrays->out);
    if (options) {
        ran = toy_in_time(&launch, options, (uintptr_t)arrays, ARENA, settings);
    } else {
        struct launch_result result;
        assert_true(launch_run(&launch, &result));
    }
    toy_drop(kernel);
    return ran;
}

static const struct machine_options one_thread = {.threads = 1};

/* A word of 64 lanes is 256 bytes: two lines, or eight sectors. */
static void a_local_word_takes_two_lines(void **state)
{
    (void)state;
    static const struct toy_inst all[] = {{.op = TOY_THREAD, .d = 0},
                                          {.op = TOY_SET, .d = 1, .number = 3},
                                          {.op = TOY_SAVE, .a = 1, .b = 0},
                                          {.op = TOY_FETCH, .d = 2, .a = 1},
                                          {.op = TOY_STORE, .a = 0, .b = 2, .number = OUT},
                                          {.op = TOY_EXIT}};
    struct sm_counters counters = run(all, COUNT_OF(all), &one_thread, "").counters;
    assert_int_equal(counters.l1_local_sectors, 8 + 8);
    assert_int_equal(counters.l1_local_hits, 8);
    for (uint32_t i = 0; i < TOY_LANES; i++)
        assert_int_equal(arrays->out[i], i);
    /* the upper 32 lanes alone: the second line */
    static const struct toy_inst half[] = {{.op = TOY_THREAD, .d = 0},
                                           {.op = TOY_LOAD, .d = 3, .a = 0, .number = UPPER},
                                           {.op = TOY_SET, .d = 1},
                                           {.op = TOY_IF, .a = 3},
                                           {.op = TOY_SAVE, .a = 1, .b = 0},
                                           {.op = TOY_END},
                                           {.op = TOY_FETCH, .d = 2, .a = 1},
                                           {.op = TOY_STORE, .a = 0, .b = 2, .number = OUT},
                                           {.op = TOY_EXIT}};
    counters = run(half, COUNT_OF(half), &one_thread, "").counters;
    assert_int_equal(counters.l1_local_sectors, 4 + 8);
    assert_int_equal(counters.l1_local_hits, 4);
}

/* An L1 of eight lines holds four words. Of sixteen, twelve leave: 24 lines of four sectors. */
static void local_lines_of_64_lanes_are_written_back(void **state)
{
    (void)state;
    enum { SAVES = 16 };
    struct toy_inst insts[2 * SAVES + 5] = {{.op = TOY_THREAD, .d = 0}};
    uint32_t count = 1;
    for (uint32_t i = 0; i < SAVES; i++) {
        insts[count++] = (struct toy_inst){.op = TOY_SET, .d = 1, .number = i};
        insts[count++] = (struct toy_inst){.op = TOY_SAVE, .a = 1, .b = 0};
    }
    insts[count++] = (struct toy_inst){.op = TOY_EXIT};
    struct sm_counters counters = run(insts, count, &one_thread, SMALL_L1).counters;
    assert_int_equal(counters.l1_local_sectors, SAVES * 8);
    assert_int_equal(counters.l1_local_written_back, (2 * SAVES - 8) * 4);
    /* the first words come back from L2 */
    insts[count - 1] = (struct toy_inst){.op = TOY_SET, .d = 1, .number = 0};
    insts[count++] = (struct toy_inst){.op = TOY_FETCH, .d = 2, .a = 1};
    insts[count++] = (struct toy_inst){.op = TOY_STORE, .a = 0, .b = 2, .number = OUT};
    insts[count++] = (struct toy_inst){.op = TOY_EXIT};
    counters = run(insts, count, &one_thread, SMALL_L1).counters;
    assert_int_equal(counters.l1_local_hits, 0);
    for (uint32_t i = 0; i < TOY_LANES; i++)
        assert_int_equal(arrays->out[i], i);
}

/* Each lane loads TOY_MANY words from word at[i] of in on, and stores them from word to[i] of out on. */
static const struct toy_inst moves[] = {{.op = TOY_THREAD, .d = 0},
                                        {.op = TOY_LOAD, .d = 1, .a = 0, .number = AT},
                                        {.op = TOY_LOAD, .d = 2, .a = 0, .number = TO},
                                        {.op = TOY_LOADS, .d = 4, .a = 1, .number = IN},
                                        {.op = TOY_STORES, .a = 2, .b = 4, .number = OUT},
                                        {.op = TOY_EXIT}};
static const struct toy_inst constants[] = {{.op = TOY_THREAD, .d = 0},
                                            {.op = TOY_LOAD, .d = 1, .a = 0, .number = AT},
                                            {.op = TOY_LOAD, .d = 2, .a = 0, .number = TO},
                                            {.op = TOY_FIXED, .d = 4, .a = 1, .number = IN},
                                            {.op = TOY_STORES, .a = 2, .b = 4, .number = OUT},
                                            {.op = TOY_EXIT}};

static void scatter(uint32_t step, uint32_t from)
{
    for (uint32_t i = 0; i < TOY_LANES; i++) {
        arrays->at[i] = from + i * step;
        arrays->to[i] = from / 2 + i * (TOY_MANY + step % 5);
    }
}

static void check_moved(void)
{
    static uint32_t wanted[WORDS];
    memset(wanted, 0, sizeof wanted);
    for (uint32_t i = 0; i < TOY_LANES; i++)
        memcpy(wanted + arrays->to[i], arrays->in + arrays->at[i], 4 * TOY_MANY);
    assert_memory_equal(arrays->out, wanted, sizeof wanted);
}

/* The 48 bytes of a lane begin at any word: they touch two or three sectors, of one line or of two. More
 * registers wait for them than a load of PTX has. */
static void accesses_may_cross_lines(void **state)
{
    (void)state;
    static const uint32_t steps[] = {0, 1, 3, 8, TOY_MANY, 29, 33};
    for (size_t k = 0; k < COUNT_OF(steps); k++)
        for (uint32_t from = 0; from < 40; from += 13) {
            scatter(steps[k], from);
            run(moves, COUNT_OF(moves), NULL, "");
            check_moved();
            run(moves, COUNT_OF(moves), &one_thread, "");
            check_moved();
            run(constants, COUNT_OF(constants), &one_thread, "");
            check_moved();
        }
}

/* Words 28 to 39 of every line but the first: the last sector of one line and the first of the next, for
 * each of 64 lanes in lines of their own. No line is asked for twice. */
static void sectors_of_both_lines_are_asked_for(void **state)
{
    (void)state;
    static const struct toy_inst loads[] = {{.op = TOY_THREAD, .d = 0},
                                            {.op = TOY_LOAD, .d = 1, .a = 0, .number = AT},
                                            {.op = TOY_LOADS, .d = 4, .a = 1, .number = IN},
                                            {.op = TOY_STORE, .a = 0, .b = 15, .number = OUT},
                                            {.op = TOY_EXIT}};
    uint64_t plain = TOY_LANES / SECTOR_WORDS; /* sectors of the addresses */
    scatter(64, 28);
    struct sm_counters counters = run(loads, COUNT_OF(loads), &one_thread, "").counters;
    assert_int_equal(counters.l1_load_sectors, plain + 2 * TOY_LANES);
    scatter(32, 28); /* a line has the end of one lane's, and the beginning of the next one's */
    counters = run(loads, COUNT_OF(loads), &one_thread, "").counters;
    assert_int_equal(counters.l1_load_sectors, plain + 2 * TOY_LANES);
    assert_int_equal(counters.l1_wavefronts, 2 + TOY_LANES + 1);
    for (uint32_t i = 0; i < TOY_LANES; i++)
        assert_int_equal(arrays->out[i], arrays->in[arrays->at[i] + TOY_MANY - 1]);
    scatter(0, 0); /* one sector and a half */
    counters = run(loads, COUNT_OF(loads), &one_thread, "").counters;
    assert_int_equal(counters.l1_load_sectors, plain + 2);
}

/* Checkpoints at many points: bytes of some lines are on the stage, others under way. */
static void crossing_accesses_go_on_from_a_checkpoint(void **state)
{
    (void)state;
    char path[64];
    snprintf(path, sizeof path, "toy-memory-%d.checkpoint", (int)getpid());
    scatter(29, 5);
    struct toy_ran straight = run(moves, COUNT_OF(moves), &one_thread, "");
    for (uint64_t part = 1; part < 16; part++) {
        struct machine_options options = one_thread;
        options.checkpoint = (struct checkpoint_options){
            .write = path, .at_cycles = straight.cycles * part / 16, .stop = true};
        run(moves, COUNT_OF(moves), &options, "");
        options.checkpoint = (struct checkpoint_options){.resume = path};
        assert_true(straight.digest == run(moves, COUNT_OF(moves), &options, "").digest);
        check_moved();
        unlink(path);
    }
}

static int set_up(void **state)
{
    (void)state;
    arrays = mmap(NULL, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    image = image_new();
    image_add(image, (struct range){(uintptr_t)arrays, ARENA, "the test's memory", false});
    const void *const at[] = {arrays->in, arrays->out, arrays->at, arrays->to, arrays->upper};
    for (uint32_t i = 0; i < COUNT_OF(at); i++)
        params[i] = (uintptr_t)at[i];
    for (uint32_t i = 0; i < WORDS; i++)
        arrays->in[i] = i * 2654435761u ^ 5;
    for (uint32_t i = TOY_LANES / 2; i < TOY_LANES; i++)
        arrays->upper[i] = 1;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    image_free(image);
    munmap(arrays, ARENA);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_local_word_takes_two_lines),
        cmocka_unit_test(local_lines_of_64_lanes_are_written_back),
        cmocka_unit_test(accesses_may_cross_lines),
        cmocka_unit_test(sectors_of_both_lines_are_asked_for),
        cmocka_unit_test(crossing_accesses_go_on_from_a_checkpoint),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
