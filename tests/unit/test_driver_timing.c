/* Commands of streams in simulated time: what overlaps, who sees what, and that it is the same every time. No
 * test knows how many cycles anything takes. */
#include "driver_check.h"
#include "driver/timeline.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

/* out[block] += rounds, after as many rounds of a loop; once(out): out[0] = 1; endless: until out[0] is not
 * 0; copied(out): out[0] += 1, by way of an asynchronous copy that a barrier is told of; nap(out, ns): out[0]
 * = cycles of a sleep of so many ns, which only thread 5 asks for, and the others for none; together(out):
 * odd threads add 3 to out[0] and put what was there into out[8 + thread], all add their numbers to out[1]
 * and find the greatest in out[2]. */
static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                          ".visible .entry spin(.param .u64 out, .param .u32 rounds)\n"
                          "{\n"
                          "    .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p<2>;\n"
                          "    ld.param.u64 %rd1, [out];\n"
                          "    ld.param.u32 %r1, [rounds];\n"
                          "    mov.u32 %r2, %ctaid.x;\n"
                          "    mul.wide.u32 %rd2, %r2, 4;\n"
                          "    add.s64 %rd3, %rd1, %rd2;\n"
                          "    ld.global.u32 %r3, [%rd3];\n"
                          "    mov.u32 %r4, 0;\n"
                          "again:\n"
                          "    add.u32 %r3, %r3, 1;\n"
                          "    xor.b32 %r3, %r3, %r4;\n"
                          "    xor.b32 %r3, %r3, %r4;\n"
                          "    add.u32 %r4, %r4, 1;\n"
                          "    setp.lt.u32 %p1, %r4, %r1;\n"
                          "    @%p1 bra again;\n"
                          "    st.global.u32 [%rd3], %r3;\n"
                          "    ret;\n"
                          "}\n"
                          ".visible .entry endless(.param .u64 out)\n"
                          "{\n"
                          "    .reg .b32 %r<3>; .reg .b64 %rd<2>; .reg .pred %p<2>;\n"
                          "    ld.param.u64 %rd1, [out];\n"
                          "again:\n"
                          "    ld.volatile.global.u32 %r1, [%rd1];\n"
                          "    setp.eq.u32 %p1, %r1, 0;\n"
                          "    @%p1 bra again;\n"
                          "    ret;\n"
                          "}\n"
                          ".visible .entry copied(.param .u64 out)\n"
                          "{\n"
                          "    .shared .align 8 .b64 arrivals; .shared .align 4 .b32 word;\n"
                          "    .reg .b32 %r<3>; .reg .b64 %rd<2>; .reg .pred %p<2>;\n"
                          "    ld.param.u64 %rd1, [out];\n"
                          "    mbarrier.init.shared.b64 [arrivals], 1;\n"
                          "    cp.async.ca.shared.global [word], [%rd1], 4;\n"
                          "    cp.async.mbarrier.arrive.noinc.shared.b64 [arrivals];\n"
                          "again:\n"
                          "    mbarrier.test_wait.parity.shared.b64 %p1, [arrivals], 0;\n"
                          "    @!%p1 bra again;\n"
                          "    ld.shared.u32 %r1, [word];\n"
                          "    add.u32 %r2, %r1, 1;\n"
                          "    st.global.u32 [%rd1], %r2;\n"
                          "    ret;\n"
                          "}\n"
                          ".visible .entry nap(.param .u64 out, .param .u32 ns)\n"
                          "{\n"
                          "    .reg .b32 %r<5>; .reg .b64 %rd<5>; .reg .pred %p<2>;\n"
                          "    ld.param.u64 %rd1, [out];\n"
                          "    ld.param.u32 %r1, [ns];\n"
                          "    mov.u32 %r2, %tid.x;\n"
                          "    setp.eq.u32 %p1, %r2, 5;\n"
                          "    selp.u32 %r3, %r1, 0, %p1;\n"
                          "    mov.u64 %rd2, %clock64;\n"
                          "    nanosleep.u32 %r3;\n"
                          "    mov.u64 %rd3, %clock64;\n"
                          "    sub.s64 %rd4, %rd3, %rd2;\n"
                          "    cvt.u32.u64 %r4, %rd4;\n"
                          "    st.global.u32 [%rd1], %r4;\n"
                          "    ret;\n"
                          "}\n"
                          ".visible .entry together(.param .u64 out)\n"
                          "{\n"
                          "    .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<2>;\n"
                          "    ld.param.u64 %rd1, [out];\n"
                          "    mov.u32 %r1, %tid.x;\n"
                          "    red.global.add.u32 [%rd1+4], %r1;\n"
                          "    red.global.max.u32 [%rd1+8], %r1;\n"
                          "    and.b32 %r2, %r1, 1;\n"
                          "    setp.eq.u32 %p1, %r2, 0;\n"
                          "    @%p1 bra done;\n"
                          "    atom.global.add.u32 %r3, [%rd1], 3;\n"
                          "    mul.wide.u32 %rd2, %r1, 4;\n"
                          "    add.s64 %rd3, %rd1, %rd2;\n"
                          "    st.global.u32 [%rd3+32], %r3;\n"
                          "done:\n"
                          "    ret;\n"
                          "}\n";

static const char *const small[] = {"gpu.sm_count=4", "system.gpus=2", NULL}; /* quick to simulate */

struct timed_test {
    struct under_test t;
    struct function *spin, *endless, *copied, *nap, *together;
};

static void start_timed_with(struct timed_test *test, struct driver_options options)
{
    struct module *module;
    options.settings = small;
    options.timing.on = true;
    options.keep_launches = true;
    start_with(&test->t, options);
    CHECK(module_load(test->t.driver, "test.ptx", ptx, strlen(ptx), &module));
    CHECK(module_function(module, "spin", &test->spin));
    CHECK(module_function(module, "endless", &test->endless));
    CHECK(module_function(module, "copied", &test->copied));
    CHECK(module_function(module, "nap", &test->nap));
    CHECK(module_function(module, "together", &test->together));
}

static void start_timed(struct timed_test *test)
{
    start_timed_with(test, (struct driver_options){0});
}

static int spin_on(struct timed_test *test, struct stream *stream, uint64_t out, uint32_t rounds)
{
    struct launch_config one = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    return stream_launch(stream, test->spin, &one, (void *[]){&out, &rounds});
}

static uint64_t new_memory(struct timed_test *test, uint64_t bytes)
{
    uint64_t at;
    CHECK(memory_alloc(test->t.device, bytes, &at));
    return at;
}

static uint32_t read_back(struct timed_test *test, uint64_t from)
{
    uint32_t value = 0;
    CHECK(stream_copy_bytes(test->t.first, address_of(&value), from, sizeof value, true));
    return value;
}

/* ---- time ---- */

/* What a program that uses all kinds of commands sees of time, in microseconds. */
static float mixed_program(unsigned threads, uint64_t *end_ps)
{
    struct timed_test test;
    struct stream_event *before, *after;
    struct stream *stream;
    float milliseconds = 0;
    uint32_t mine[64] = {7};
    start_timed_with(&test, (struct driver_options){.threads = threads});
    CHECK(stream_new(test.t.device, 0, 0, &stream));
    CHECK(event_new(test.t.device, 0, &before));
    CHECK(event_new(test.t.device, 0, &after));
    uint64_t a = new_memory(&test, 1 << 16), b = new_memory(&test, 1 << 16);
    CHECK(stream_copy_bytes(test.t.first, a, address_of(mine), sizeof mine, true));
    CHECK(event_record(before, stream));
    CHECK(spin_on(&test, stream, a, 300));
    CHECK(spin_on(&test, test.t.first, b, 200));
    CHECK(stream_copy_bytes(stream, b + 4, a, 1024, false));
    CHECK(event_record(after, stream));
    CHECK(event_synchronize(after));
    CHECK(event_elapsed(before, after, &milliseconds));
    assert_int_equal(read_back(&test, a), 307);
    assert_int_equal(read_back(&test, b), 200);
    assert_int_equal(read_back(&test, b + 4), 307);
    *end_ps = driver_time_ps(test.t.driver);
    stop(&test.t);
    return milliseconds * 1000;
}

static void time_is_the_same_in_every_run(void **state)
{
    (void)state;
    uint64_t first_end, end;
    float first = mixed_program(1, &first_end);
    assert_true(first > 0 && first < 1000);
    for (unsigned threads = 1; threads <= 2; threads++) {
        assert_true(mixed_program(threads, &end) == first);
        assert_int_equal(end, first_end);
    }
}

static void calls_take_time_that_the_system_says(void **state)
{
    (void)state;
    struct timed_test test;
    start_timed(&test);
    uint64_t out = new_memory(&test, 4), before = driver_time_ps(test.t.driver);
    for (int i = 0; i < 3; i++)
        assert_int_equal(stream_query(test.t.first), RESULT_SUCCESS);
    assert_int_equal(driver_time_ps(test.t.driver) - before,
                     3 * driver_system(test.t.driver)->spec.call_time);
    CHECK(spin_on(&test, test.t.first, out, 1));
    assert_true(driver_time_ps(test.t.driver) - before >= driver_system(test.t.driver)->spec.launch_time);
    stop(&test.t);
}

/* Time from the first of two launches to the end of both, in one stream or in two. */
static uint64_t time_two(bool apart)
{
    struct timed_test test;
    struct stream *a, *b;
    start_timed(&test);
    CHECK(stream_new(test.t.device, 0, 0, &a));
    CHECK(stream_new(test.t.device, 0, 0, &b));
    uint64_t x = new_memory(&test, 4), y = new_memory(&test, 4), before = driver_time_ps(test.t.driver);
    CHECK(spin_on(&test, a, x, 5000));
    CHECK(spin_on(&test, apart ? b : a, y, 5000));
    CHECK(device_synchronize(test.t.device));
    uint64_t took = driver_time_ps(test.t.driver) - before;
    assert_int_equal(read_back(&test, x), 5000);
    assert_int_equal(read_back(&test, y), 5000);
    stop(&test.t);
    return took;
}

static void kernels_of_two_streams_overlap(void **state)
{
    (void)state;
    uint64_t one_stream = time_two(false), two_streams = time_two(true);
    assert_true(two_streams * 3 < one_stream * 2);
}

static void copies_overlap_with_kernels(void **state)
{
    (void)state;
    uint64_t took[2];
    for (int apart = 0; apart < 2; apart++) {
        struct timed_test test;
        struct stream *a, *b;
        void *pinned;
        start_timed(&test);
        CHECK(stream_new(test.t.device, 0, 0, &a));
        CHECK(stream_new(test.t.device, 0, 0, &b));
        CHECK(memory_host_alloc(test.t.driver, 1 << 20, 0, &pinned));
        uint64_t x = new_memory(&test, 4), y = new_memory(&test, 1 << 20);
        uint64_t before = driver_time_ps(test.t.driver);
        CHECK(spin_on(&test, a, x, 3000));
        CHECK(stream_copy_bytes(apart ? b : a, y, address_of(pinned), 1 << 20, false));
        CHECK(device_synchronize(test.t.device));
        took[apart] = driver_time_ps(test.t.driver) - before;
        stop(&test.t);
    }
    assert_true(took[1] < took[0]);
}

/* Streams whose kernels end at many different moments. */
static uint64_t time_uneven(unsigned threads)
{
    struct timed_test test;
    struct stream *streams[3];
    uint64_t outs[3];
    start_timed_with(&test, (struct driver_options){.threads = threads});
    for (int i = 0; i < 3; i++) {
        CHECK(stream_new(test.t.device, STREAM_NON_BLOCKING, 0, &streams[i]));
        outs[i] = new_memory(&test, 4);
    }
    for (uint32_t round = 0; round < 8; round++) {
        for (uint32_t i = 0; i < 3; i++)
            CHECK(spin_on(&test, streams[i], outs[i], 100 + 370 * ((round + i) % 3)));
    }
    CHECK(device_synchronize(test.t.device));
    uint64_t took = driver_time_ps(test.t.driver);
    uint32_t sum = 0;
    for (int i = 0; i < 3; i++)
        sum += read_back(&test, outs[i]);
    assert_int_equal(sum, 8 * (3 * 100 + 370 * 3));
    stop(&test.t);
    return took;
}

static void streams_end_one_after_another(void **state)
{
    (void)state;
    assert_int_equal(time_uneven(1), time_uneven(2));
}

/* ---- order ---- */

static void events_order_streams(void **state)
{
    (void)state;
    struct timed_test test;
    struct stream *a, *b;
    struct stream_event *event;
    start_timed(&test);
    CHECK(stream_new(test.t.device, STREAM_NON_BLOCKING, 0, &a));
    CHECK(stream_new(test.t.device, STREAM_NON_BLOCKING, 0, &b));
    CHECK(event_new(test.t.device, EVENT_NO_TIMING, &event));
    uint64_t x = new_memory(&test, 4), y = new_memory(&test, 4);
    CHECK(spin_on(&test, a, x, 2000));
    CHECK(event_record(event, a));
    CHECK(stream_wait_event(b, event));
    CHECK(stream_copy_bytes(b, y, x, 4, false)); /* sees what the kernel wrote */
    CHECK(spin_on(&test, b, y, 5));
    CHECK(stream_synchronize(b));
    assert_int_equal(read_back(&test, y), 2005);
    stop(&test.t);
}

static void who_asks_gets_there(void **state)
{
    (void)state;
    struct timed_test test;
    struct stream_event *event;
    unsigned asked = 0;
    start_timed(&test);
    CHECK(event_new(test.t.device, 0, &event));
    uint64_t out = new_memory(&test, 4);
    CHECK(spin_on(&test, test.t.first, out, 1000));
    CHECK(event_record(event, test.t.first));
    assert_int_equal(event_query(event), RESULT_NOT_READY);
    while (event_query(event) == RESULT_NOT_READY)
        asked++;
    assert_true(asked > 1 && asked < 100000);
    CHECK(spin_on(&test, test.t.first, out, 1000));
    while (stream_query(test.t.first) == RESULT_NOT_READY)
        asked++;
    assert_int_equal(read_back(&test, out), 2000);
    stop(&test.t);
}

struct gate {
    _Atomic bool open, reached;
};

static void hold(void *user, enum result result)
{
    struct gate *gate = user;
    (void)result;
    gate->reached = true;
    while (!gate->open)
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

static void note_time(void *user, enum result result)
{
    (void)result;
    *(_Atomic bool *)user = true;
}

static void functions_of_the_host_may_wait_for_it(void **state)
{
    (void)state;
    struct timed_test test;
    struct gate gate = {0};
    _Atomic bool after = false;
    start_timed(&test);
    CHECK(stream_host(test.t.first, note_time, &after, false));
    CHECK(device_synchronize(test.t.device));
    assert_true(after);
    after = false;
    CHECK(stream_host(test.t.first, hold, &gate, false));
    CHECK(stream_host(test.t.first, note_time, &after, false));
    assert_int_equal(stream_query(test.t.first), RESULT_NOT_READY);
    assert_true(gate.reached && !after);
    gate.open = true;
    CHECK(stream_synchronize(test.t.first));
    assert_true(after);
    stop(&test.t);
}

static void values_of_memory_are_waited_for(void **state)
{
    (void)state;
    struct timed_test test;
    struct stream *a, *b;
    start_timed(&test);
    CHECK(stream_new(test.t.device, 0, 0, &a));
    CHECK(stream_new(test.t.device, 0, 0, &b));
    uint64_t flag = new_memory(&test, 4), out = new_memory(&test, 4);
    CHECK(stream_wait_value(a, flag, 1, 4, STREAM_GEQ));
    CHECK(spin_on(&test, a, out, 10));
    assert_int_equal(stream_query(a), RESULT_NOT_READY);
    CHECK(spin_on(&test, b, flag, 1)); /* a kernel sets it */
    CHECK(stream_synchronize(a));
    assert_int_equal(read_back(&test, out), 10);
    stop(&test.t);
}

/* ---- memory ---- */

static void memory_of_the_host_is_seen_both_ways(void **state)
{
    (void)state;
    struct timed_test test;
    void *pinned;
    start_timed(&test);
    CHECK(memory_host_alloc(test.t.driver, 64, 0, &pinned));
    _Atomic uint32_t *value = pinned;
    for (uint32_t i = 1; i < 4; i++) {
        CHECK(spin_on(&test, test.t.first, address_of(pinned), 10));
        CHECK(device_synchronize(test.t.device));
        assert_int_equal(*value, 100 * (i - 1) + 10);
        *value = 100 * i;
    }
    stop(&test.t);
}

static void memory_that_was_freed_leaves_nothing(void **state)
{
    (void)state;
    struct timed_test test;
    start_timed(&test);
    for (int i = 0; i < 3000; i++) { /* until addresses come again */
        uint64_t out = new_memory(&test, 1 << 20);
        if (i % 500 == 0) {
            CHECK(spin_on(&test, test.t.first, out, 3));
            assert_int_equal(read_back(&test, out), 3);
        }
        CHECK(memory_free(test.t.driver, out));
    }
    stop(&test.t);
}

static void devices_see_what_the_others_wrote(void **state)
{
    (void)state;
    struct timed_test test;
    struct device *other;
    start_timed(&test); /* its settings have two devices, too */
    other = driver_device(test.t.driver, 1);
    assert_non_null(other);
    CHECK(device_enable_peer(other, test.t.device));
    uint64_t out = new_memory(&test, 4);
    for (uint32_t i = 0; i < 3; i++) { /* in turns, on the first one's memory */
        CHECK(spin_on(&test, test.t.first, out, 1));
        CHECK(device_synchronize(test.t.device));
        CHECK(spin_on(&test, device_default_stream(other), out, 10));
        CHECK(device_synchronize(other));
        assert_int_equal(read_back(&test, out), 11 * (i + 1));
    }
    stop(&test.t);
}

/* ---- options ---- */

static void only_some_launches_are_timed(void **state)
{
    (void)state;
    struct timed_test test;
    struct launch_record record;
    start_timed_with(&test, (struct driver_options){.kernels = "1-2"});
    uint64_t out = new_memory(&test, 4);
    for (int i = 0; i < 4; i++)
        CHECK(spin_on(&test, test.t.first, out, 10));
    assert_int_equal(read_back(&test, out), 40); /* each sees what the one before wrote */
    for (size_t i = 0; i < 4; i++) {
        assert_true(driver_launch(test.t.driver, i, &record));
        assert_int_equal(record.timing != NULL, i == 1 || i == 2);
        assert_true(record.warp_instructions > 0);
    }
    stop(&test.t);
}

static void a_launch_has_statistics(void **state)
{
    (void)state;
    struct timed_test test;
    struct launch_record record;
    start_timed_with(&test, (struct driver_options){.timing = {.profile = true}});
    uint64_t out = new_memory(&test, 64);
    struct launch_config grid = {.grid = {8, 1, 1}, .block = {64, 1, 1}};
    uint32_t rounds = 100;
    CHECK(stream_launch(test.t.first, test.spin, &grid, (void *[]){&out, &rounds}));
    CHECK(device_synchronize(test.t.device));
    assert_true(driver_launch(test.t.driver, 0, &record));
    const struct gpu_kernel_stats *stats = record.timing;
    assert_non_null(stats);
    assert_true(stats->cycles > 100 && stats->end_ps > stats->start_ps);
    assert_int_equal(stats->sm.blocks, 8);
    assert_int_equal(stats->sm.warps, 16);
    assert_int_equal(stats->sm_count, 4);
    assert_true(stats->sm.instructions > 16 * 100);
    assert_true(stats->profile_count > 0);
    stop(&test.t);
}

static void a_kernel_that_takes_too_long_fails(void **state)
{
    (void)state;
    struct timed_test test;
    start_timed_with(&test, (struct driver_options){.timing = {.max_cycles = 20000}});
    uint64_t out = new_memory(&test, 4);
    struct launch_config one = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    CHECK(stream_launch(test.t.first, test.endless, &one, (void *[]){&out}));
    assert_int_equal(device_synchronize(test.t.device), RESULT_LAUNCH_TIMEOUT);
    assert_int_equal(test.t.report_count, 1);
    assert_non_null(strstr(test.t.reports.at, "kernel endless: more than 20000 cycles"));
    assert_int_equal(spin_on(&test, test.t.first, out, 1), RESULT_LAUNCH_TIMEOUT);
    stop(&test.t);
}

static void a_sleep_is_as_long_as_asked_for(void **state)
{
    (void)state;
    static const uint32_t asked[] = {0, 20, 1000, 300000, 5000000}, slept[] = {0, 20, 1000, 300000, 1000000};
    struct timed_test test;
    start_timed(&test);
    uint64_t out = new_memory(&test, 4), hertz = device_spec(test.t.device)->clock;
    struct launch_config one = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        uint32_t ns = asked[i];
        CHECK(stream_launch(test.t.first, test.nap, &one, (void *[]){&out, &ns}));
        uint64_t cycles = slept[i] * hertz / 1000000000;
        assert_in_range(read_back(&test, out), cycles + 20, cycles + 100);
    }
    stop(&test.t);
}

static void a_fault_ends_what_runs_beside_it(void **state)
{
    (void)state;
    struct timed_test test;
    struct stream *stream;
    struct launch_config many = {.grid = {20, 1, 1}, .block = {64, 1, 1}};
    start_timed(&test);
    for (int i = 0; i < 3; i++) { /* each time the device can be used again */
        uint64_t out = new_memory(&test, 4), nowhere = 16;
        CHECK(stream_new(test.t.device, STREAM_NON_BLOCKING, 0, &stream));
        CHECK(stream_launch(stream, test.endless, &many, (void *[]){&out}));
        CHECK(spin_on(&test, test.t.first, nowhere, 1));
        assert_int_equal(device_synchronize(test.t.device), RESULT_ILLEGAL_ADDRESS);
        assert_non_null(strstr(test.t.reports.at, "kernel endless: stopped"));
        CHECK(device_reset(test.t.device));
        out = new_memory(&test, 4);
        CHECK(spin_on(&test, test.t.first, out, 5));
        assert_int_equal(read_back(&test, out), 5);
    }
    stop(&test.t);
}

/* What the second device does takes as long with faults on the first one as without, and the first one can be
 * used again when it is done. */
static void a_fault_stops_its_own_device_alone(void **state)
{
    (void)state;
    uint64_t alone = 0;
    for (unsigned threads = 1; threads <= 4; threads++) {
        struct timed_test test;
        start_timed_with(&test, (struct driver_options){.threads = threads});
        struct device *other = driver_device(test.t.driver, 1);
        struct launch_config many = {.grid = {20, 1, 1}, .block = {64, 1, 1}};
        uint64_t out = new_memory(&test, 4), far, nowhere = 16;
        uint32_t value = 0;
        CHECK(memory_alloc(other, 4, &far));
        CHECK(spin_on(&test, device_default_stream(other), far, 20000));
        if (threads > 1) { /* with loads of many blocks under way */
            struct stream *stream;
            CHECK(stream_new(test.t.device, STREAM_NON_BLOCKING, 0, &stream));
            CHECK(stream_launch(stream, test.endless, &many, (void *[]){&out}));
            CHECK(spin_on(&test, test.t.first, nowhere, 1));
            assert_int_equal(device_synchronize(test.t.device), RESULT_ILLEGAL_ADDRESS);
            assert_non_null(strstr(test.t.reports.at, "kernel endless: stopped"));
            CHECK(device_reset(test.t.device));
            out = new_memory(&test, 4);
            CHECK(spin_on(&test, test.t.first, out, 5));
            assert_int_equal(read_back(&test, out), 5);
        }
        CHECK(device_synchronize(other));
        CHECK(stream_copy_bytes(device_default_stream(other), address_of(&value), far, sizeof value, true));
        assert_int_equal(value, 20000);
        struct launch_record record;
        assert_true(driver_launch(test.t.driver, 0, &record));
        if (threads == 1)
            alone = record.timing->cycles;
        assert_int_equal(record.timing->cycles, alone);
        stop(&test.t);
    }
}

static void copies_arrive_when_they_are_done(void **state)
{
    (void)state;
    struct timed_test test;
    start_timed(&test);
    uint64_t out = new_memory(&test, 4);
    struct launch_config one = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    CHECK(spin_on(&test, test.t.first, out, 7));
    CHECK(stream_launch(test.t.first, test.copied, &one, (void *[]){&out}));
    assert_int_equal(read_back(&test, out), 8);
    stop(&test.t);
}

/* Memory sees three operations of a warp, of one lane each. */
static void one_lane_asks_for_all_and_each_gets_its_own(void **state)
{
    (void)state;
    struct timed_test test;
    struct launch_record record;
    start_timed(&test);
    uint64_t out = new_memory(&test, 256);
    struct launch_config one = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    CHECK(stream_launch(test.t.first, test.together, &one, (void *[]){&out}));
    assert_int_equal(read_back(&test, out), 16 * 3);
    assert_int_equal(read_back(&test, out + 4), 31 * 32 / 2);
    assert_int_equal(read_back(&test, out + 8), 31);
    for (uint32_t i = 1; i < 32; i += 2)
        assert_int_equal(read_back(&test, out + 32 + 4 * i), i / 2 * 3);
    assert_true(driver_launch(test.t.driver, 0, &record));
    assert_int_equal(record.timing->mem.l2_atomics, 3);
    stop(&test.t);
}

static _Atomic int stop_now;

static void *stop_soon(void *user)
{
    (void)user;
    nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    stop_now = 2;
    return NULL;
}

static void what_is_known_is_kept_when_interrupted(void **state)
{
    (void)state;
    struct timed_test test;
    struct launch_record record;
    pthread_t thread;
    stop_now = 0;
    start_timed_with(&test, (struct driver_options){.interrupt = &stop_now});
    uint64_t out = new_memory(&test, 4);
    struct launch_config one = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    CHECK(spin_on(&test, test.t.first, out, 1));
    CHECK(stream_launch(test.t.first, test.endless, &one, (void *[]){&out}));
    pthread_create(&thread, NULL, stop_soon, NULL);
    uint64_t other = new_memory(&test, 4);
    CHECK(stream_launch(test.t.first, test.endless, &one, (void *[]){&other}));
    device_synchronize(test.t.device);
    pthread_join(thread, NULL);
    assert_true(driver_launch(test.t.driver, 0, &record) && !record.interrupted);
    assert_true(driver_launch(test.t.driver, driver_launch_count(test.t.driver) - 1, &record));
    assert_true(record.interrupted && record.timing);
    stop(&test.t);
}

/* ---- a host that is silent ---- */

/* Kernels run on without a program that makes no call for long, but not while a call of it works. */
static void time_stands_still_while_code_is_loaded(void **state)
{
    (void)state;
    struct timed_test test;
    start_timed_with(&test, (struct driver_options){.timing.watch_host = true});
    struct driver *driver = test.t.driver;
    uint64_t out = new_memory(&test, 4096);
    CHECK(spin_on(&test, test.t.first, out, 1 << 20)); /* some milliseconds */
    timeline_begin_work(driver);
    uint64_t before = driver_time(driver);
    nanosleep(&(struct timespec){.tv_sec = 2, .tv_nsec = 600000000}, NULL);
    assert_int_equal(driver_time(driver), before);
    timeline_end_work(driver);
    for (int i = 0; i < 300 && driver_time(driver) == before; i++)
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    assert_true(driver_time(driver) > before);
    stop(&test.t);
}

/* ---- threads of the host ---- */

struct user {
    struct timed_test *test;
    uint64_t out;
    uint32_t sum;
};

static void *use(void *user)
{
    struct user *own = user;
    struct stream *stream;
    if (stream_new(own->test->t.device, STREAM_NON_BLOCKING, 0, &stream))
        return NULL;
    for (int i = 0; i < 20; i++) {
        spin_on(own->test, stream, own->out, 50);
        if (i % 3 == 0)
            stream_synchronize(stream);
        while (i % 5 == 0 && stream_query(stream) == RESULT_NOT_READY)
            ;
    }
    stream_copy_bytes(stream, address_of(&own->sum), own->out, 4, false);
    return NULL;
}

static void several_threads_use_one_machine(void **state)
{
    (void)state;
    struct timed_test test;
    struct user users[3];
    pthread_t threads[3];
    start_timed(&test);
    for (int i = 0; i < 3; i++) {
        users[i] = (struct user){.test = &test, .out = new_memory(&test, 4)};
        pthread_create(&threads[i], NULL, use, &users[i]);
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(users[i].sum, 1000);
    }
    stop(&test.t);
}

/* A kernel that another one, of another thread, must end. */
static void *release(void *user)
{
    struct user *own = user;
    struct stream *stream;
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    if (!stream_new(own->test->t.device, STREAM_NON_BLOCKING, 0, &stream))
        spin_on(own->test, stream, own->out, 1);
    return NULL;
}

static void a_thread_is_heard_while_another_waits(void **state)
{
    (void)state;
    struct timed_test test;
    pthread_t thread;
    start_timed(&test);
    uint64_t out = new_memory(&test, 4);
    struct user user = {.test = &test, .out = out};
    struct launch_config one = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    CHECK(stream_launch(test.t.first, test.endless, &one, (void *[]){&out}));
    pthread_create(&thread, NULL, release, &user);
    CHECK(stream_synchronize(test.t.first));
    pthread_join(thread, NULL);
    stop(&test.t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_is_the_same_in_every_run),
        cmocka_unit_test(calls_take_time_that_the_system_says),
        cmocka_unit_test(kernels_of_two_streams_overlap),
        cmocka_unit_test(copies_overlap_with_kernels),
        cmocka_unit_test(streams_end_one_after_another),
        cmocka_unit_test(events_order_streams),
        cmocka_unit_test(who_asks_gets_there),
        cmocka_unit_test(functions_of_the_host_may_wait_for_it),
        cmocka_unit_test(values_of_memory_are_waited_for),
        cmocka_unit_test(memory_of_the_host_is_seen_both_ways),
        cmocka_unit_test(memory_that_was_freed_leaves_nothing),
        cmocka_unit_test(devices_see_what_the_others_wrote),
        cmocka_unit_test(only_some_launches_are_timed),
        cmocka_unit_test(a_launch_has_statistics),
        cmocka_unit_test(a_kernel_that_takes_too_long_fails),
        cmocka_unit_test(a_sleep_is_as_long_as_asked_for),
        cmocka_unit_test(a_fault_ends_what_runs_beside_it),
        cmocka_unit_test(a_fault_stops_its_own_device_alone),
        cmocka_unit_test(copies_arrive_when_they_are_done),
        cmocka_unit_test(one_lane_asks_for_all_and_each_gets_its_own),
        cmocka_unit_test(what_is_known_is_kept_when_interrupted),
        cmocka_unit_test(time_stands_still_while_code_is_loaded),
        cmocka_unit_test(several_threads_use_one_machine),
        cmocka_unit_test(a_thread_is_heard_while_another_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
