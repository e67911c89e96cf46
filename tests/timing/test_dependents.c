/* Programmatic dependent launch: a second kernel begins when all blocks of the first have triggered or ended,
 * and griddepcontrol.wait waits for the end of the first. */
#include "timing.h"
#include "driver/driver.h"

#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        if (call)                                                                                            \
            fail_msg("%s: %s", #call, driver_detail());                                                      \
    } while (0)

enum { LATENCY = 100, BLOCK_END = 60, END = 1900, BLOCK_START = 40, LAUNCH_CYCLES = 600, BEFORE = 20000 };

/* first: triggers (or not: quiet) when `before` cycles have passed, ends `after` cycles later. Writes the
 * clock of both. second: reads a word that the first writes last, before and behind griddepcontrol.wait;
 * writes the clock at its start and behind the wait, and the word as it saw it behind the wait. late: the
 * same without a wait. */
#define FIRST(name, trigger)                                                                                 \
    ".visible .entry " name "(.param .u64 out, .param .u32 before, .param .u32 after)\n{\n"                  \
    ".reg .b32 %r<9>; .reg .b64 %rd1; .reg .pred %p;\n"                                                      \
    "ld.param.u64 %rd1, [out];\nld.param.u32 %r6, [before];\nld.param.u32 %r7, [after];\n"                   \
    "mov.u32 %r1, %clock;\nA:\nmov.u32 %r2, %clock;\nsub.u32 %r3, %r2, %r1;\n"                               \
    "setp.lt.u32 %p, %r3, %r6;\n@%p bra A;\n"                                                                \
    "mov.u32 %r1, %clock;\n" trigger "B:\nmov.u32 %r2, %clock;\nsub.u32 %r3, %r2, %r1;\n"                    \
    "setp.lt.u32 %p, %r3, %r7;\n@%p bra B;\n"                                                                \
    "st.global.u32 [%rd1], %r1;\nst.global.u32 [%rd1+4], %r2;\nst.global.u32 [%rd1+8], 7;\nret;\n}\n"
#define SECOND(name, wait)                                                                                   \
    ".visible .entry " name "(.param .u64 out, .param .u64 of_first)\n{\n"                                   \
    ".reg .b32 %r<9>; .reg .b64 %rd<3>;\n"                                                                   \
    "mov.u32 %r1, %clock;\nld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [of_first];\n"                      \
    "ld.global.u32 %r3, [%rd2+8];\nst.global.u32 [%rd1+12], %r3;\n" wait                                     \
    "mov.u32 %r2, %clock;\nld.global.u32 %r4, [%rd2+8];\n"                                                   \
    "st.global.u32 [%rd1], %r1;\nst.global.u32 [%rd1+4], %r2;\nst.global.u32 [%rd1+8], %r4;\nret;\n}\n"

static const char kernels[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n" FIRST("first", "griddepcontrol.launch_dependents;\n")
        FIRST("quiet", "") SECOND("second", "griddepcontrol.wait;\n") SECOND("late", "");

struct setting {
    uint32_t latency, block_end, end, block_start;
};

struct clocks {
    uint32_t trigger, end;    /* of the first kernel; end: of its loop */
    uint32_t start, released; /* of the second one */
    uint32_t seen;            /* of what the first one wrote */
};

struct machine {
    struct driver *driver;
    struct module *module;
    struct stream *stream;
    uint64_t out;
};

static struct machine open_machine(const struct setting *setting)
{
    static const struct setting usual = {LATENCY, BLOCK_END, END, BLOCK_START};
    char text[4096], *rest = text;
    const char *settings[200];
    size_t count = 0;
    setting = setting ? setting : &usual;
    snprintf(text, sizeof text,
             "%s dispatch.launch_cycles=%u dispatch.latency_cycles=%u dispatch.block_cycles=3 "
             "dispatch.end_cycles=%u sm.block_end_cycles=%u sm.block_start_cycles=%u",
             plain_machine, LAUNCH_CYCLES, setting->latency, setting->end, setting->block_end,
             setting->block_start);
    for (char *word; (word = strtok_r(rest, " ", &rest));)
        settings[count++] = word;
    settings[count] = NULL;
    struct driver_options options = {.settings = settings, .timing.on = true, .threads = 1};
    struct err err;
    struct machine machine = {.driver = driver_new(&options, &err)};
    if (!machine.driver)
        fail_msg("%s", err.text);
    struct device *device = driver_device(machine.driver, 0);
    CHECK(module_load(machine.driver, "test.ptx", kernels, strlen(kernels), &machine.module));
    CHECK(memory_alloc(device, 256, &machine.out));
    CHECK(stream_new(device, STREAM_NON_BLOCKING, 0, &machine.stream));
    return machine;
}

static void launch_first(struct machine *machine, const char *name, uint32_t before, uint32_t after)
{
    struct function *function;
    struct launch_config one = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    CHECK(module_function(machine->module, name, &function));
    CHECK(stream_launch(machine->stream, function, &one, (void *[]){&machine->out, &before, &after}));
}

static void launch_second(struct machine *machine, struct stream *stream, const char *name, bool programmatic)
{
    struct function *function;
    struct launch_config one = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .programmatic = programmatic};
    uint64_t out = machine->out + 128;
    CHECK(module_function(machine->module, name, &function));
    CHECK(stream_launch(stream, function, &one, (void *[]){&out, &machine->out}));
}

static void clear(struct machine *machine)
{
    const struct fill fill = {
        .to = {.address = machine->out}, .element_bytes = 1, .width = 256, .height = 1, .depth = 1};
    CHECK(stream_fill(machine->stream, &fill, false));
    CHECK(stream_synchronize(machine->stream));
}

static struct clocks read_clocks(struct machine *machine)
{
    uint32_t words[64];
    CHECK(device_synchronize(driver_device(machine->driver, 0)));
    CHECK(stream_copy_bytes(machine->stream, (uintptr_t)words, machine->out, sizeof words, true));
    return (struct clocks){words[0], words[1], words[32], words[33], words[34]};
}

/* One after the other in a stream, several times: the last finds its code near. */
static struct clocks run(const struct setting *setting, const char *first, const char *second,
                         uint32_t before, uint32_t after, bool programmatic)
{
    struct machine machine = open_machine(setting);
    for (int i = 0; i < SUBCORES; i++) {
        clear(&machine);
        launch_first(&machine, first, before, after);
        launch_second(&machine, machine.stream, second, programmatic);
        CHECK(stream_synchronize(machine.stream));
    }
    struct clocks clocks = read_clocks(&machine);
    driver_free(machine.driver);
    return clocks;
}

static struct setting setting_of(unsigned i)
{
    struct setting setting = {LATENCY, BLOCK_END, END, BLOCK_START};
    uint32_t *const all[] = {NULL, &setting.latency, &setting.block_end, &setting.end, &setting.block_start};
    if (i)
        (*all[i])++;
    return setting;
}
enum { SETTINGS = 5 };

/* The trigger goes to the dispatcher, and an order to the SM. The first kernel goes on for long. */
static void the_second_starts_at_the_trigger(void **state)
{
    (void)state;
    uint32_t base = 0;
    for (unsigned i = 0; i < SETTINGS; i++) {
        struct setting s = setting_of(i);
        struct clocks c = run(&s, "first", "second", BEFORE, 9000, true);
        uint32_t from_trigger = c.start - c.trigger;
        base = i ? base : from_trigger;
        assert_int_equal(from_trigger - base, 2 * (s.latency - LATENCY) + s.block_start - BLOCK_START);
        assert_in_range(from_trigger, 2 * s.latency + s.block_start, 2 * s.latency + s.block_start + 60);
    }
}

/* The end of the last block is reported and noted; end_cycles later the kernel has ended, and an order goes
 * to the SM. What the first wrote is seen then, though the second had read the line before. */
static void the_wait_is_for_the_end_of_the_first(void **state)
{
    (void)state;
    uint32_t base = 0;
    for (unsigned i = 0; i < SETTINGS; i++) {
        struct setting s = setting_of(i);
        struct clocks c = run(&s, "first", "second", BEFORE, 9000, true);
        uint32_t from_end = c.released - c.end;
        base = i ? base : from_end;
        assert_int_equal(from_end - base, 2 * (s.latency - LATENCY) + s.block_end - BLOCK_END + s.end - END);
        assert_int_equal(c.seen, 7);
    }
}

/* A block that ends has triggered. */
static void without_a_trigger_the_second_starts_at_the_end_of_the_blocks(void **state)
{
    (void)state;
    uint32_t base = 0;
    for (unsigned i = 0; i < SETTINGS; i++) {
        struct setting s = setting_of(i);
        struct clocks c = run(&s, "quiet", "second", BEFORE, 100, true);
        uint32_t from_end = c.start - c.end;
        base = i ? base : from_end;
        assert_int_equal(from_end - base,
                         2 * (s.latency - LATENCY) + s.block_end - BLOCK_END + s.block_start - BLOCK_START);
        assert_int_equal(c.seen, 7);
    }
}

/* Without the attribute it begins when the first has ended: end_cycles and launch_cycles come before its
 * start. */
static void without_the_attribute_the_trigger_means_nothing(void **state)
{
    (void)state;
    uint32_t base = 0;
    for (unsigned i = 0; i < SETTINGS; i++) {
        struct setting s = setting_of(i);
        struct clocks c = run(&s, "first", "second", BEFORE, 100, false);
        uint32_t from_end = c.start - c.end;
        base = i ? base : from_end;
        assert_int_equal(from_end - base, 2 * (s.latency - LATENCY) + s.block_end - BLOCK_END + s.end - END +
                                              s.block_start - BLOCK_START);
        assert_true(from_end > LAUNCH_CYCLES + s.end);
    }
}

/* A second kernel that does not wait is not done before the first, though its block ends before. */
static void the_second_ends_after_the_first(void **state)
{
    (void)state;
    struct clocks c = run(NULL, "first", "late", BEFORE, 9000, true);
    assert_int_equal(c.seen, 0);
    assert_true(c.end > c.released);
}

/* In another stream that waits for an event: of the trigger, of the start of blocks, of these apart from the
 * end. */
static struct clocks run_event(enum launch_wait how)
{
    struct machine machine = open_machine(NULL);
    struct device *device = driver_device(machine.driver, 0);
    struct stream *other;
    struct stream_event *event;
    CHECK(stream_new(device, STREAM_NON_BLOCKING, 0, &other));
    CHECK(event_new(device, EVENT_NO_TIMING, &event));
    for (int i = 0; i < SUBCORES; i++) {
        clear(&machine);
        launch_first(&machine, "first", BEFORE, 9000);
        CHECK(event_record_launch(event, machine.stream, how));
        CHECK(stream_wait_event(other, event));
        launch_second(&machine, other, "second", false);
        CHECK(device_synchronize(device));
    }
    struct clocks clocks = read_clocks(&machine);
    driver_free(machine.driver);
    return clocks;
}

static void events_of_a_launch_order_kernels_of_other_streams(void **state)
{
    (void)state;
    struct clocks stream = run(NULL, "first", "second", BEFORE, 9000, true);
    struct clocks trigger = run_event(WAIT_FOR_TRIGGER), start = run_event(WAIT_FOR_START);
    struct clocks apart = run_event(WAIT_FOR_START_APART), end = run_event(WAIT_FOR_END);
    assert_int_equal(trigger.start - trigger.trigger, stream.start - stream.trigger);
    assert_int_equal(trigger.released - trigger.end, stream.released - stream.end);
    assert_true(start.start < start.trigger);
    assert_int_equal(start.released - start.end, stream.released - stream.end);
    assert_true(apart.released < apart.trigger);
    assert_int_equal(apart.seen, 0);
    assert_true(end.start > end.end + END);
    assert_int_equal(end.seen, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_second_starts_at_the_trigger),
        cmocka_unit_test(the_wait_is_for_the_end_of_the_first),
        cmocka_unit_test(without_a_trigger_the_second_starts_at_the_end_of_the_blocks),
        cmocka_unit_test(without_the_attribute_the_trigger_means_nothing),
        cmocka_unit_test(the_second_ends_after_the_first),
        cmocka_unit_test(events_of_a_launch_order_kernels_of_other_streams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
