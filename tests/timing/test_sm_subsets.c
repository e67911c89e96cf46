/* A stream with some of the SMs: its kernels run there alone. */
#include "timing.h"
#include "driver/driver.h"

#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        if (call)                                                                                            \
            fail_msg("%s: %s", #call, driver_detail());                                                      \
    } while (0)

enum { BLOCKS = 8, SMS = 4 };

/* Writes the SM of each block. */
static const char kernel[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                             ".visible .entry where(.param .u64 out)\n{\n.reg .b32 %r<4>; .reg .b64 %rd<4>;\n"
                             "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %ctaid.x;\nmul.wide.u32 %rd2, %r1, 4;\n"
                             "add.u64 %rd3, %rd1, %rd2;\nmov.u32 %r2, %smid;\nst.global.u32 [%rd3], %r2;\n"
                             "ret;\n}\n";

/* How many of the blocks ran on each SM, of a stream with `count` SMs from `first` on. */
static void where(uint32_t first, uint32_t count, uint32_t blocks_on[SMS])
{
    char text[4096], *rest = text;
    const char *settings[200];
    size_t setting_count = 0;
    snprintf(text, sizeof text, "%s gpu.sm_count=%d dispatch.order=round_robin", plain_machine, SMS);
    for (char *word; (word = strtok_r(rest, " ", &rest));)
        settings[setting_count++] = word;
    settings[setting_count] = NULL;
    struct driver_options options = {.settings = settings, .timing.on = true, .threads = 1};
    struct err err;
    struct module *module;
    struct function *function;
    struct stream *stream;
    struct launch_config config = {.grid = {BLOCKS, 1, 1}, .block = {32, 1, 1}};
    struct driver *driver = driver_new(&options, &err);
    uint32_t words[BLOCKS];
    uint64_t out;
    if (!driver)
        fail_msg("%s", err.text);
    CHECK(module_load(driver, "where.ptx", kernel, strlen(kernel), &module));
    CHECK(module_function(module, "where", &function));
    CHECK(memory_alloc(driver_device(driver, 0), sizeof words, &out));
    CHECK(stream_new(driver_device(driver, 0), STREAM_NON_BLOCKING, 0, &stream));
    stream_limit(stream, first, count);
    CHECK(stream_launch(stream, function, &config, (void *[]){&out}));
    CHECK(stream_copy_bytes(stream, (uintptr_t)words, out, sizeof words, true));
    driver_free(driver);
    memset(blocks_on, 0, SMS * sizeof *blocks_on);
    for (int i = 0; i < BLOCKS; i++)
        blocks_on[words[i]]++;
}

static void blocks_run_on_the_sms_of_the_stream(void **state)
{
    (void)state;
    uint32_t on[SMS];
    where(1, 2, on);
    assert_int_equal(on[0] + on[3], 0);
    assert_int_equal(on[1], BLOCKS / 2);
    assert_int_equal(on[2], BLOCKS / 2);
    where(3, 1, on);
    assert_int_equal(on[3], BLOCKS);
}

static void without_a_limit_they_run_on_all(void **state)
{
    (void)state;
    uint32_t on[SMS];
    where(0, 0, on);
    for (int i = 0; i < SMS; i++)
        assert_int_equal(on[i], BLOCKS / SMS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(blocks_run_on_the_sms_of_the_stream),
                                       cmocka_unit_test(without_a_limit_they_run_on_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
