/* Launches by kernels: a child begins device_launch_cycles behind the call, while its parent runs; a tail
 * launch behind its parent's end; and the stream goes on when all have ended. */
#include "timing.h"
#include "driver/driver.h"

#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        if (call)                                                                                            \
            fail_msg("%s: %s", #call, driver_detail());                                                      \
    } while (0)

enum {
    LATENCY = 100,
    END = 1900,
    BLOCK_START = 40,
    LAUNCH_CYCLES = 600,
    DEVICE_LAUNCH = 5000,
    AFTER = 30000
};
enum { TAIL = 3, FIRE_AND_FORGET = 4 };

/* parent: launches the child into the stream, and goes on for `after` cycles. Writes the clock behind the
 * call, and at its end. child: writes the clock at its start, and what the parent wrote before the call.
 * next: likewise. */
static const char kernels[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".extern .func (.param .b64 a) __cudaCDP2GetParameterBufferV2(.param .b64 b, .param .align 4 .b8 c[12], "
    ".param .align 4 .b8 d[12], .param .b32 e);\n"
    ".extern .func (.param .b32 a) __cudaCDP2LaunchDeviceV2(.param .b64 b, .param .b64 c);\n"
    ".visible .entry child(.param .u64 out)\n{\n.reg .b32 %r<4>; .reg .b64 %rd1;\n"
    "mov.u32 %r1, %clock;\nld.param.u64 %rd1, [out];\nld.global.u32 %r2, [%rd1];\n"
    "st.global.u32 [%rd1+16], %r1;\nst.global.u32 [%rd1+20], %r2;\nret;\n}\n"
    ".visible .entry next(.param .u64 out)\n{\n.reg .b32 %r<4>; .reg .b64 %rd1;\n"
    "mov.u32 %r1, %clock;\nld.param.u64 %rd1, [out];\nst.global.u32 [%rd1+24], %r1;\nret;\n}\n"
    ".visible .entry parent(.param .u64 out, .param .u64 stream, .param .u32 after)\n{\n"
    ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p;\n"
    "ld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [stream];\nld.param.u32 %r4, [after];\n"
    "st.global.u32 [%rd1], 7;\nmov.u64 %rd3, child;\nmov.u32 %r1, 1;\nmov.u32 %r2, 0;\n"
    "{\n.param .b64 p0; .param .align 4 .b8 p1[12]; .param .align 4 .b8 p2[12]; .param .b32 p3; .param .b64 "
    "q;\n"
    "st.param.b64 [p0], %rd3;\nst.param.b32 [p1], %r1;\nst.param.b32 [p1+4], %r1;\nst.param.b32 [p1+8], "
    "%r1;\n"
    "st.param.b32 [p2], %r1;\nst.param.b32 [p2+4], %r1;\nst.param.b32 [p2+8], %r1;\nst.param.b32 [p3], %r2;\n"
    "call.uni (q), __cudaCDP2GetParameterBufferV2, (p0, p1, p2, p3);\nld.param.b64 %rd4, [q];\n}\n"
    "st.u64 [%rd4], %rd1;\n"
    "{\n.param .b64 p0; .param .b64 p1; .param .b32 q;\nst.param.b64 [p0], %rd4;\nst.param.b64 [p1], %rd2;\n"
    "call.uni (q), __cudaCDP2LaunchDeviceV2, (p0, p1);\nld.param.b32 %r5, [q];\n}\n"
    "mov.u32 %r1, %clock;\nA:\nmov.u32 %r2, %clock;\nsub.u32 %r3, %r2, %r1;\n"
    "setp.lt.u32 %p, %r3, %r4;\n@%p bra A;\n"
    "st.global.u32 [%rd1+4], %r1;\nst.global.u32 [%rd1+8], %r2;\nst.global.u32 [%rd1+12], %r5;\nret;\n}\n";

struct setting {
    uint32_t latency, end, block_start, launch, device_launch;
};

struct clocks {
    uint32_t seven, call, end, code; /* of the parent */
    uint32_t start, seen;            /* of the child */
    uint32_t next;                   /* start of the kernel that comes behind in the stream */
};

static struct setting setting_of(unsigned i)
{
    struct setting setting = {LATENCY, END, BLOCK_START, LAUNCH_CYCLES, DEVICE_LAUNCH};
    uint32_t *const all[] = {
        NULL, &setting.latency, &setting.end, &setting.block_start, &setting.launch, &setting.device_launch};
    if (i)
        (*all[i])++;
    return setting;
}
enum { SETTINGS = 6 };

static struct driver *open_machine(const struct setting *setting)
{
    char text[4096], *rest = text;
    const char *settings[200];
    size_t count = 0;
    snprintf(text, sizeof text,
             "%s dispatch.launch_cycles=%u dispatch.latency_cycles=%u dispatch.block_cycles=3 "
             "dispatch.end_cycles=%u dispatch.device_launch_cycles=%u sm.block_start_cycles=%u",
             plain_machine, setting->launch, setting->latency, setting->end, setting->device_launch,
             setting->block_start);
    for (char *word; (word = strtok_r(rest, " ", &rest));)
        settings[count++] = word;
    settings[count] = NULL;
    struct driver_options options = {.settings = settings, .timing.on = true, .threads = 1};
    struct err err;
    struct driver *driver = driver_new(&options, &err);
    if (!driver)
        fail_msg("%s", err.text);
    return driver;
}

/* Several times: the last finds its code near. */
static struct clocks run(const struct setting *setting, uint64_t to, uint32_t after)
{
    struct driver *driver = open_machine(setting);
    struct device *device = driver_device(driver, 0);
    struct module *module;
    struct function *parent, *next;
    struct stream *stream;
    struct launch_config one = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    uint64_t out;
    struct clocks clocks;
    CHECK(module_load(driver, "test.ptx", kernels, strlen(kernels), &module));
    CHECK(module_function(module, "parent", &parent));
    CHECK(module_function(module, "next", &next));
    CHECK(memory_alloc(device, 256, &out));
    CHECK(stream_new(device, STREAM_NON_BLOCKING, 0, &stream));
    for (int i = 0; i < SUBCORES; i++) {
        CHECK(stream_launch(stream, parent, &one, (void *[]){&out, &to, &after}));
        CHECK(stream_launch(stream, next, &one, (void *[]){&out}));
        CHECK(stream_synchronize(stream));
    }
    CHECK(stream_copy_bytes(stream, (uintptr_t)&clocks, out, sizeof clocks, true));
    driver_free(driver);
    assert_int_equal(clocks.code, 0);
    assert_int_equal(clocks.seen, 7);
    return clocks;
}

/* The call comes to where launches begin device_launch_cycles later; then it is a launch as any other. */
static void a_child_begins_while_its_parent_runs(void **state)
{
    (void)state;
    uint32_t base = 0;
    for (unsigned i = 0; i < SETTINGS; i++) {
        struct setting s = setting_of(i);
        struct clocks c = run(&s, FIRE_AND_FORGET, AFTER);
        uint32_t from_call = c.start - c.call;
        base = i ? base : from_call;
        assert_int_equal(from_call - base, s.latency - LATENCY + s.block_start - BLOCK_START + s.launch -
                                               LAUNCH_CYCLES + s.device_launch - DEVICE_LAUNCH);
        assert_in_range(from_call, DEVICE_LAUNCH + LAUNCH_CYCLES + LATENCY,
                        DEVICE_LAUNCH + LAUNCH_CYCLES + LATENCY + 200);
        assert_true(c.start < c.end);
    }
}

static void the_default_stream_of_a_block_does_not_wait_either(void **state)
{
    (void)state;
    struct setting s = setting_of(0);
    struct clocks apart = run(&s, FIRE_AND_FORGET, AFTER), stream = run(&s, 0, AFTER);
    assert_int_equal(stream.start - stream.call, apart.start - apart.call);
}

/* A tail launch begins when its parent has ended: its end is reported, and an order goes to the SM. */
static void a_tail_launch_begins_behind_the_end(void **state)
{
    (void)state;
    uint32_t base = 0;
    for (unsigned i = 0; i < SETTINGS; i++) {
        struct setting s = setting_of(i);
        struct clocks c = run(&s, TAIL, AFTER);
        uint32_t from_end = c.start - c.end;
        base = i ? base : from_end;
        assert_int_equal(from_end - base, 2 * (s.latency - LATENCY) + s.block_start - BLOCK_START + s.launch -
                                              LAUNCH_CYCLES + s.end - END);
    }
}

/* A short parent: what comes behind it in the stream waits for its child. */
static void the_stream_goes_on_when_the_child_has_ended(void **state)
{
    (void)state;
    struct setting s = setting_of(0);
    struct clocks c = run(&s, FIRE_AND_FORGET, 10);
    assert_true(c.start > c.end + END);
    assert_true(c.next > c.start + END + LAUNCH_CYCLES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_begins_while_its_parent_runs),
        cmocka_unit_test(the_default_stream_of_a_block_does_not_wait_either),
        cmocka_unit_test(a_tail_launch_begins_behind_the_end),
        cmocka_unit_test(the_stream_goes_on_when_the_child_has_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
