/* Texels in simulated time: they come through the caches, like everything that a kernel loads. */
#include "driver_check.h"
#include "exec/image.h"
#include "exec/texture.h"

/* A lane stores its number + `more` to its texel, waits until that is seen, and puts what a fetch of the
 * texel gives into out. The coordinate's register is written again before the texel can have come. */
static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                          ".visible .entry texels(.param .u64 texture, .param .u64 memory, .param .u64 out,\n"
                          "                       .param .u32 more)\n"
                          "{\n"
                          "    .reg .b32 %r<9>; .reg .b64 %rd<7>;\n"
                          "    ld.param.u64 %rd1, [texture];\n"
                          "    ld.param.u64 %rd2, [memory];\n"
                          "    ld.param.u64 %rd3, [out];\n"
                          "    ld.param.u32 %r6, [more];\n"
                          "    mov.u32 %r1, %tid.x;\n"
                          "    mul.wide.u32 %rd4, %r1, 4;\n"
                          "    add.s64 %rd5, %rd2, %rd4;\n"
                          "    add.s64 %rd6, %rd3, %rd4;\n"
                          "    add.u32 %r7, %r1, %r6;\n"
                          "    st.global.u32 [%rd5], %r7;\n"
                          "    membar.gl;\n"
                          "    tex.1d.v4.u32.s32 {%r2, %r3, %r4, %r5}, [%rd1, {%r1}];\n"
                          "    mov.u32 %r1, 77;\n"
                          "    st.global.u32 [%rd6], %r2;\n"
                          "    ret;\n"
                          "}\n";

enum { LANES = 32, TEXELS = 24 }; /* the last lanes are beyond the texture, where texels are 0 */

static void a_fetch_gives_what_was_written_before_it(void **state)
{
    (void)state;
    struct under_test t;
    struct module *module;
    struct function *function;
    uint64_t memory, out;
    uint32_t got[LANES];
    const char *const small[] = {"gpu.sm_count=4", NULL};
    start_with(&t, (struct driver_options){.settings = small, .timing.on = true});
    CHECK(module_load(t.driver, "test.ptx", ptx, strlen(ptx), &module));
    CHECK(module_function(module, "texels", &function));
    CHECK(memory_alloc(t.device, LANES * 4, &memory));
    CHECK(memory_alloc(t.device, LANES * 4, &out));
    const struct texture texture = {.kind = TEXTURE_BUFFER,
                                    .channel = CHANNEL_U32,
                                    .channels = 1,
                                    .layers = 1,
                                    .level_count = 1,
                                    .levels = {{(unsigned char *)(uintptr_t)memory, TEXELS, 1, 1, 0, 0}}};
    uint64_t handle = image_add_texture(device_image(t.device), &texture);
    struct launch_config one = {.grid = {1, 1, 1}, .block = {LANES, 1, 1}};
    for (uint32_t more = 100; more <= 200; more += 100) {
        CHECK(stream_launch(t.first, function, &one, (void *[]){&handle, &memory, &out, &more}));
        CHECK(stream_copy_bytes(t.first, address_of(got), out, sizeof got, true));
        for (uint32_t i = 0; i < LANES; i++)
            assert_int_equal(got[i], i < TEXELS ? i + more : 0);
    }
    image_remove_texture(device_image(t.device), handle);
    stop(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_fetch_gives_what_was_written_before_it)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
