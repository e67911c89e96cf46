/* wgmma: four warps multiply, each by the tensor core of its sub-core, and go on; wgmma.wait_group waits. */
#include "timing.h"

/* Products of 64 x columns x 16, one group, that the warps wait for. */
static uint32_t measured(unsigned products, unsigned columns, bool a_in_memory, unsigned groups, bool waits,
                         const char *settings)
{
    struct bench bench = bench_open("sm.sync_interval=1 sm.sync_shared=0 sm.tensor_interval=1 %s", settings);
    char list[1024] = "{%r10", body[8192] = "wgmma.fence.sync.aligned;\n";
    for (unsigned i = 1; i < columns / 2; i++)
        sprintf(list + strlen(list), ", %%r%u", 10 + i);
    for (unsigned i = 0; i < products; i++)
        sprintf(body + strlen(body),
                "wgmma.mma_async.sync.aligned.m64n%uk16.f32.f16.f16 %s}, %s, %%rd0, %%p0, 1, 1, %s0;\n"
                "wgmma.commit_group.sync.aligned;\n",
                columns, list, a_in_memory ? "%rd0" : "{%r0, %r1, %r2, %r3}", a_in_memory ? "0, " : "");
    if (waits)
        strcat(body, "wgmma.wait_group.sync.aligned 0;\n");
    struct piece piece = {.module = ".shared .align 1024 .b8 tiles[16384];",
                          .before =
                              "mov.u64 %rd0, 0x4000080000; setp.eq.u32 %p0, %self, %self; mov.u32 %r0, 0; "
                              "mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %r10, 0; "
                              "mov.u32 %r99, tiles;",
                          .body = body,
                          .after = "st.global.u32 [%out+20], %r10; st.global.u32 [%out+24], %r99;",
                          .inst = 8 + 2 * products + waits,
                          .warps = 4 * groups};
    struct times times = bench_run(&bench, &piece);
    bench_close(&bench);
    return times.cycles;
}

static void waiting_takes_the_products_columns_and_a_latency(void **state)
{
    (void)state;
    uint32_t base = measured(1, 64, false, 1, true, "sm.wgmma_latency=100 sm.wgmma_columns_cycles=4");
    assert_int_equal(measured(1, 64, false, 1, true, "sm.wgmma_latency=101 sm.wgmma_columns_cycles=4"),
                     base + 1);
    assert_int_equal(measured(1, 64, false, 1, true, "sm.wgmma_latency=100 sm.wgmma_columns_cycles=5"),
                     base + 8);
    assert_int_equal(measured(1, 128, false, 1, true, "sm.wgmma_latency=100 sm.wgmma_columns_cycles=4"),
                     base + 8 * 4);
}

static void who_does_not_wait_goes_on(void **state)
{
    (void)state;
    uint32_t fast = measured(1, 64, false, 1, false, "sm.wgmma_latency=10");
    assert_int_equal(measured(1, 64, false, 1, false, "sm.wgmma_latency=1000"), fast);
}

static void a_tensor_core_does_one_after_the_other(void **state)
{
    (void)state;
    static const char settings[] = "sm.wgmma_latency=100 sm.wgmma_columns_cycles=4 sm.wgmma_least_cycles=1";
    uint32_t one = measured(1, 64, false, 1, true, settings);
    assert_int_equal(measured(2, 64, false, 1, true, settings), one + 8 * 4);
    assert_int_equal(measured(3, 64, false, 1, true, settings), one + 2 * 8 * 4);
    /* and of two groups on the same sub-cores, whose fences and reads of the clock take turns */
    assert_int_equal(measured(1, 64, false, 2, true, settings), one + 8 * 4 + 2);
}

static void a_small_product_takes_its_least(void **state)
{
    (void)state;
    static const char settings[] = "sm.wgmma_latency=100 sm.wgmma_columns_cycles=1 sm.wgmma_least_cycles=%u";
    for (unsigned least = 20; least <= 21; least++) {
        char text[200];
        sprintf(text, settings, least);
        assert_int_equal(measured(2, 8, false, 1, true, text), measured(1, 8, false, 1, true, text) + least);
    }
}

/* 64 columns of B are 2048 bytes, 64 rows of A as many. */
static void shared_memory_gives_so_many_bytes_a_cycle(void **state)
{
    (void)state;
    static const char settings[] = "sm.wgmma_latency=100 sm.wgmma_columns_cycles=1 sm.wgmma_least_cycles=1 "
                                   "sm.wgmma_memory_bytes=32B";
    uint32_t b = measured(2, 64, false, 1, true, settings) - measured(1, 64, false, 1, true, settings);
    uint32_t both = measured(2, 64, true, 1, true, settings) - measured(1, 64, true, 1, true, settings);
    assert_int_equal(b, 2048 / 32);
    assert_int_equal(both, 4096 / 32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waiting_takes_the_products_columns_and_a_latency),
        cmocka_unit_test(who_does_not_wait_goes_on),
        cmocka_unit_test(a_tensor_core_does_one_after_the_other),
        cmocka_unit_test(a_small_product_takes_its_least),
        cmocka_unit_test(shared_memory_gives_so_many_bytes_a_cycle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
