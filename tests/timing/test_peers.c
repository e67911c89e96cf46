/* A load from another GPU's memory: over both crossbars and the fabric, there and back.
 *
 *     own memory:  SM -> crossbar -> slice -> crossbar -> SM
 *     a peer's:    SM -> crossbar -> gateway -> fabric -> gateway -> crossbar -> slice, and the same way back
 *
 * so it takes two crossings of a crossbar and two of the fabric longer. */
#include "timing.h"
#include "driver/driver.h"

#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        if (call)                                                                                            \
            fail_msg("%s: %s", #call, driver_detail());                                                      \
    } while (0)

/* out = cycles of a load of [at] that finds its line in the L2. */
static const char load[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                           ".visible .entry load(.param .u64 out, .param .u64 at)\n{\n"
                           ".reg .b32 %r<9>; .reg .b64 %rd<3>;\n"
                           "ld.param.u64 %rd1, [out];\n"
                           "ld.param.u64 %rd2, [at];\n"
                           "ld.volatile.global.u32 %r1, [%rd2];\n"
                           "st.volatile.global.u32 [%rd1], %r1;\n"
                           "membar.sys;\n"
                           "mov.u32 %r2, %clock;\n"
                           "ld.volatile.global.u32 %r3, [%rd2];\n"
                           "xor.b32 %r4, %r3, %r3;\n"
                           "membar.cta;\n"
                           "mov.u32 %r5, %clock;\n"
                           "sub.u32 %r6, %r5, %r2;\n"
                           "add.u32 %r7, %r6, %r4;\n"
                           "st.volatile.global.u32 [%rd1], %r7;\n"
                           "ret;\n}\n";

/* Cycles of a load by GPU 0 of memory of this GPU. */
static uint32_t load_of(struct driver *driver, struct function *function, unsigned owner)
{
    struct device *device = driver_device(driver, 0);
    struct stream *stream = device_default_stream(device);
    struct launch_config one = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    uint64_t out, at;
    uint32_t cycles;
    CHECK(memory_alloc(device, 4, &out));
    CHECK(memory_alloc(driver_device(driver, owner), 4, &at));
    for (int i = 0; i < 2; i++) /* the second finds its code near */
        CHECK(stream_launch(stream, function, &one, (void *[]){&out, &at}));
    CHECK(stream_copy_bytes(stream, (uintptr_t)&cycles, out, sizeof cycles, true));
    return cycles;
}

static uint32_t longer_from_a_peer(const char *latency)
{
    char text[4096], *rest = text;
    const char *settings[200];
    size_t count = 0;
    snprintf(text, sizeof text, "%s system.gpus=2 fabric.bandwidth=1000000GB/s fabric.latency=%s",
             plain_machine, latency);
    for (char *word; (word = strtok_r(rest, " ", &rest));)
        settings[count++] = word;
    settings[count] = NULL;
    struct driver_options options = {.settings = settings, .timing.on = true, .threads = 1};
    struct err err;
    struct module *module;
    struct function *function;
    struct driver *driver = driver_new(&options, &err);
    if (!driver)
        fail_msg("%s", err.text);
    CHECK(device_enable_peer(driver_device(driver, 0), driver_device(driver, 1)));
    CHECK(module_load(driver, "load.ptx", load, strlen(load), &module));
    CHECK(module_function(module, "load", &function));
    uint32_t own = load_of(driver, function, 0), peer = load_of(driver, function, 1);
    driver_free(driver);
    return peer - own;
}

static void a_load_from_a_peer_crosses_both_crossbars_and_the_fabric(void **state)
{
    (void)state;
    assert_int_equal(longer_from_a_peer("400ns"), 2 * NOC + 2 * 400);
    assert_int_equal(longer_from_a_peer("401ns"), 2 * NOC + 2 * 401);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_load_from_a_peer_crosses_both_crossbars_and_the_fabric)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
