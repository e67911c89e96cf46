/* Fetches from a texture: the unit's intervals, and texels' way through L1 and L2. A texture is an object of
 * the driver, so this does not use bench_open. */
#include "timing.h"
#include "driver/driver.h"
#include "exec/image.h"
#include "exec/texture.h"

#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        if (call)                                                                                            \
            fail_msg("%s: %s", #call, driver_detail());                                                      \
    } while (0)

enum { TEXELS = 4096, MISS = TO_NOC + NOC + 1 + L2_HIT + NOC + FILL /* as in test_l1.c */ };

/* out = cycles of the body, of one warp; %rd2 is the texture, %r0 is 0. */
static const char kernel[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                             ".visible .entry fetch(.param .u64 out, .param .u64 texture)\n{\n"
                             ".reg .b32 %%r<100>; .reg .b64 %%rd<9>;\n"
                             "ld.param.u64 %%rd1, [out];\nld.param.u64 %%rd2, [texture];\n"
                             "mov.u32 %%r1, %%tid.x;\nshr.u32 %%r0, %%r1, 5;\n%s\n"
                             "nanosleep.u32 0;\nbar.sync 0;\nmov.u32 %%r2, %%clock;\n"
                             "%s\nmov.u32 %%r3, %%clock;\nbar.sync 0;\n%s\n"
                             "sub.u32 %%r4, %%r3, %%r2;\nst.global.u32 [%%rd1], %%r4;\n"
                             "st.global.u32 [%%rd1+4], %%r0;\nst.global.u64 [%%rd1+8], %%rd2;\nret;\n}\n";

static uint32_t run(struct driver *driver, const char *text)
{
    struct device *device = driver_device(driver, 0);
    struct stream *stream = device_default_stream(device);
    struct launch_config one = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    struct module *module;
    struct function *function;
    uint64_t out, texels;
    uint32_t cycles;
    CHECK(memory_alloc(device, 64, &out));
    CHECK(memory_alloc(device, TEXELS * 4, &texels));
    struct texture texture = {.kind = TEXTURE_BUFFER,
                              .channel = CHANNEL_U32,
                              .channels = 1,
                              .level_count = 1,
                              .levels = {{.memory = (unsigned char *)(uintptr_t)texels,
                                          .width = TEXELS,
                                          .height = 1,
                                          .depth = 1,
                                          .row_pitch = TEXELS * 4}}};
    uint64_t handle = image_add_texture(device_image(device), &texture);
    CHECK(module_load(driver, "fetch.ptx", text, strlen(text), &module));
    CHECK(module_function(module, "fetch", &function));
    for (int i = 0; i < SUBCORES + 1; i++) /* the last finds its code near, and its texels in L2 */
        CHECK(stream_launch(stream, function, &one, (void *[]){&out, &handle}));
    CHECK(stream_copy_bytes(stream, (uintptr_t)&cycles, out, sizeof cycles, true));
    return cycles;
}

static uint32_t measured(const char *more, const char *before, const char *body, const char *after)
{
    char settings_text[4096], text[8192], *rest = settings_text;
    const char *settings[200];
    size_t count = 0;
    snprintf(settings_text, sizeof settings_text, "%s %s", plain_machine, more);
    for (char *word; (word = strtok_r(rest, " ", &rest));)
        settings[count++] = word;
    settings[count] = NULL;
    struct driver_options options = {.settings = settings, .timing.on = true, .threads = 1};
    struct err err;
    struct driver *driver = driver_new(&options, &err);
    if (!driver)
        fail_msg("%s", err.text);
    snprintf(text, sizeof text, kernel, before, body, after);
    uint32_t cycles = run(driver, text);
    driver_free(driver);
    return cycles;
}

#define FETCH(n) "tex.1d.v4.u32.s32 {%r1" n ", %r2" n ", %r3" n ", %r4" n "}, [%rd2, {%r0}];\n"
#define USE(n)   "st.global.v4.u32 [%rd1+16], {%r1" n ", %r2" n ", %r3" n ", %r4" n "};\n"

/* Texels that L1 does not have go the way of a load. */
static void a_fetch_that_misses_takes_as_long_as_a_load(void **state)
{
    (void)state;
    static const struct {
        const char *setting;
        uint32_t more;
    } rows[] = {{"", 0}, {"noc.latency_cycles=51", 2}, {"l2.hit_cycles=21", 1}, {"sm.l1_fill_cycles=21", 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(measured(rows[i].setting, "", FETCH("0") "shr.u32 %r5, %r10, 1;",
                                  USE("0") "st.global.u32 [%rd1+32], %r5;"),
                         1 + MISS + rows[i].more + 1);
}

/* One fetch after the other, whose results nobody waits for: the third begins two intervals later, those of
 * the sub-core or those of the SM. */
static void fetches_begin_intervals_apart(void **state)
{
    (void)state;
    static const struct {
        uint32_t interval, shared;
    } rows[] = {{4, 2}, {5, 2}, {9, 2}, {4, 5}, {4, 6}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char settings[100];
        uint32_t apart = rows[i].interval > rows[i].shared ? rows[i].interval : rows[i].shared;
        snprintf(settings, sizeof settings, "sm.tex_interval=%u sm.tex_shared=%u", rows[i].interval,
                 rows[i].shared);
        assert_int_equal(measured(settings, FETCH("9"), FETCH("0") FETCH("1") FETCH("2"),
                                  USE("0") USE("1") USE("2") USE("9")),
                         1 + 2 * apart + 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_fetch_that_misses_takes_as_long_as_a_load),
                                       cmocka_unit_test(fetches_begin_intervals_apart)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
