/* Memory with two virtual addresses, in simulated time: what L1 and TLBs know it by. */
#include "driver_check.h"

/* Loads by both addresses, with the time that each takes; then a store by the second, and what the first one
 * reads before a fence and after it. A store of each value stands for waiting until it has come. */
static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                          ".visible .entry both(.param .u64 a, .param .u64 b, .param .u64 out)\n"
                          "{\n"
                          "    .reg .b32 %r<12>; .reg .b64 %rd<4>;\n"
                          "    ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [out];\n"
                          "    ld.global.u32 %r1, [%rd1];\n"
                          "    st.global.u32 [%rd3], %r1;\n"
                          "    mov.u32 %r5, %clock;\n"
                          "    ld.global.u32 %r2, [%rd2];\n"
                          "    st.global.u32 [%rd3+4], %r2;\n"
                          "    mov.u32 %r6, %clock;\n"
                          "    ld.global.u32 %r3, [%rd2+256];\n"
                          "    st.global.u32 [%rd3+8], %r3;\n"
                          "    mov.u32 %r7, %clock;\n"
                          "    mov.u32 %r4, 7;\n"
                          "    st.global.u32 [%rd2], %r4;\n"
                          "    ld.global.u32 %r8, [%rd1];\n"
                          "    st.global.u32 [%rd3+12], %r8;\n"
                          "    membar.gl;\n"
                          "    ld.global.u32 %r9, [%rd1];\n"
                          "    st.global.u32 [%rd3+16], %r9;\n"
                          "    sub.u32 %r10, %r6, %r5;\n"
                          "    st.global.u32 [%rd3+20], %r10;\n"
                          "    sub.u32 %r11, %r7, %r6;\n"
                          "    st.global.u32 [%rd3+24], %r11;\n"
                          "    ret;\n"
                          "}\n";

enum { UNIT = 2 << 20, WALK = 5000 };

struct seen {
    uint32_t loaded[3], before_fence, after_fence, first_takes, second_takes;
};

static struct seen run(const char *tags)
{
    struct under_test t;
    struct module *module;
    struct function *both;
    uint64_t at, handle, out;
    struct seen seen;
    const char *settings[] = {
        "gpu.sm_count=1", "tlb.l1_entries=16", "tlb.l2_entries=64", "tlb.walk_cycles=5000", tags, NULL};
    start_with(&t, (struct driver_options){.settings = settings, .timing.on = true});
    CHECK(module_load(t.driver, "test.ptx", ptx, strlen(ptx), &module));
    CHECK(module_function(module, "both", &both));
    CHECK(mapping_reserve(t.driver, 2 * UNIT, 0, &at));
    CHECK(mapping_physical_new(t.device, UNIT, false, &handle));
    uint64_t a = at, b = at + UNIT;
    CHECK(mapping_add(t.driver, a, UNIT, handle));
    CHECK(mapping_add(t.driver, b, UNIT, handle));
    CHECK(mapping_set_access(t.device, a, 2 * UNIT, MAPPING_READ_WRITE));
    CHECK(memory_alloc(t.device, sizeof seen, &out));
    struct launch_config one = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    CHECK(stream_launch(t.first, both, &one, (void *[]){&a, &b, &out}));
    CHECK(stream_copy_bytes(t.first, address_of(&seen), out, sizeof seen, true));
    stop(&t);
    for (int i = 0; i < 3; i++)
        assert_int_equal(seen.loaded[i], 0);
    assert_int_equal(seen.after_fence, 7);
    assert_true(seen.second_takes < WALK); /* its page is known by then */
    return seen;
}

/* Each address has its own page, and its own line of L1: a store by one is not seen by the other until a
 * fence empties L1. */
static void virtual_tags_tell_them_apart(void **state)
{
    (void)state;
    struct seen seen = run("sm.l1_tags=virtual");
    assert_int_equal(seen.before_fence, 0);
    assert_true(seen.first_takes > WALK);
}

/* The line is one, but each address has its own page: a hit of L1 waits for the translation. */
static void physical_tags_do_not(void **state)
{
    (void)state;
    struct seen seen = run("sm.l1_tags=physical");
    assert_int_equal(seen.before_fence, 7);
    assert_true(seen.first_takes > WALK);
}

/* A second address, in front of the first, is mapped between two kernels: the page of the first is still
 * known. */
static void a_new_address_leaves_the_old_one_known(void **state)
{
    (void)state;
    struct under_test t;
    struct module *module;
    struct function *both;
    uint64_t at, handle, out;
    struct seen seen;
    const char *settings[] = {"gpu.sm_count=1", "tlb.l1_entries=16", "tlb.l2_entries=64",
                              "tlb.walk_cycles=5000", NULL};
    start_with(&t, (struct driver_options){.settings = settings, .timing.on = true});
    CHECK(module_load(t.driver, "test.ptx", ptx, strlen(ptx), &module));
    CHECK(module_function(module, "both", &both));
    CHECK(mapping_reserve(t.driver, 2 * UNIT, 0, &at));
    CHECK(mapping_physical_new(t.device, UNIT, false, &handle));
    CHECK(memory_alloc(t.device, sizeof seen, &out));
    struct launch_config one = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    uint64_t now = at, before = at + UNIT;
    CHECK(mapping_add(t.driver, before, UNIT, handle));
    CHECK(mapping_set_access(t.device, before, UNIT, MAPPING_READ_WRITE));
    CHECK(stream_launch(t.first, both, &one, (void *[]){&before, &before, &out}));
    CHECK(stream_synchronize(t.first));
    CHECK(mapping_add(t.driver, now, UNIT, handle));
    CHECK(mapping_set_access(t.device, now, UNIT, MAPPING_READ_WRITE));
    CHECK(stream_launch(t.first, both, &one, (void *[]){&now, &before, &out}));
    CHECK(stream_copy_bytes(t.first, address_of(&seen), out, sizeof seen, true));
    stop(&t);
    assert_true(seen.first_takes < WALK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(virtual_tags_tell_them_apart),
                                       cmocka_unit_test(physical_tags_do_not),
                                       cmocka_unit_test(a_new_address_leaves_the_old_one_known)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
