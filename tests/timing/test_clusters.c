/* Clusters of two blocks, on an SM each: loads and atomics on the other's shared memory, stores that a
 * barrier waits for, the cluster's barrier, and copies that one block reads for both. */
#include "timing.h"

enum { HOPS = 50, SHARED = 23, SYNC = 10 };

#define MODULE ".shared .align 128 .b8 area[4096];\n.shared .align 8 .b64 done;"
#define PAIR   ".explicitcluster .reqnctapercluster 2"
#define MEET   "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
/* %r9: the same place in the other block's shared memory, %r10: 16 bytes of it for each thread. Both blocks
 * begin together behind this. */
#define BEFORE                                                                                               \
    "mov.u32 %r8, area;\nmov.u32 %r1, %cluster_ctarank;\nxor.b32 %r2, %r1, 1;\n"                             \
    "mapa.shared::cluster.u32 %r9, %r8, %r2;\nmad.lo.u32 %r10, %self, 16, %r9;\nmov.u32 %r3, "               \
    "7;\nst.shared.u32 [area], %r3;\n" MEET

struct both {
    uint32_t first, second; /* cycles of each block */
};

static struct both measured_behind(const char *settings, const char *more, const char *body,
                                   const char *after, unsigned inst)
{
    struct bench bench = bench_open("gpu.sm_count=2 sm.cluster_cycles=50 sm.cluster_bytes_per_cycle=0 "
                                    "sm.multicast_bytes_per_cycle=0 sm.shared_latency=23 sm.sync_latency=10 "
                                    "sm.sync_interval=1 sm.sync_shared=0 sm.atomic_shared_cycles=2 %s",
                                    settings);
    char rest[500], before[1000];
    snprintf(rest, sizeof rest, "%s%s", after, MEET);
    snprintf(before, sizeof before, "%s%s", more, BEFORE);
    struct piece piece = {.module = MODULE,
                          .directives = PAIR,
                          .before = before,
                          .body = body,
                          .after = rest,
                          .inst = inst,
                          .blocks = 2};
    struct times times = bench_run(&bench, &piece);
    bench_close(&bench);
    return (struct both){times.end[0] - times.start[0], times.end[1] - times.start[1]};
}

static struct both measured(const char *settings, const char *body, const char *after, unsigned inst)
{
    return measured_behind(settings, "", body, after, inst);
}

/* It is issued in cycle 1. The message takes one hop, the other SM reads its shared memory, the answer takes
 * one hop; then its user issues, and the clock is read a cycle later. */
static void a_load_of_another_block(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        uint32_t cycles;
    } rows[] = {{"", 2 * HOPS + SHARED},
                {"sm.cluster_cycles=51", 2 * 51 + SHARED},
                {"sm.shared_latency=24", 2 * HOPS + 24}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct both got =
            measured(rows[i].settings, "ld.shared::cluster.u32 %r7, [%r9];\nadd.u32 %r6, %r7, %r1;\n",
                     "st.global.u32 [%out+28], %r6;\n", 15);
        assert_int_equal(got.first, 1 + rows[i].cycles + 1);
        assert_int_equal(got.second, 1 + rows[i].cycles + 1);
    }
}

/* 32 lanes that want four spans of 128 bytes send four messages, a cycle after another. */
static void spans_of_a_load(void **state)
{
    (void)state;
    struct both got =
        measured("sm.lsu_wavefront_cycles=1",
                 "ld.shared::cluster.v4.u32 {%r4, %r5, %r6, %r7}, [%r10];\nadd.u32 %r6, %r7, %r1;\n",
                 "st.global.u32 [%out+28], %r6;\n", 16);
    assert_int_equal(got.first, 1 + 2 * HOPS + SHARED + 3 + 1);
}

/* All lanes change one word: one after another. */
static void an_atomic_on_another_block(void **state)
{
    (void)state;
    static const char body[] = "atom.shared::cluster.add.u32 %r7, [%r9], %r1;\nadd.u32 %r6, %r7, %r1;\n";
    struct both got = measured("sm.lsu_wavefront_cycles=1", body, "st.global.u32 [%out+28], %r6;\n", 15);
    struct both later = measured("sm.lsu_wavefront_cycles=1 sm.atomic_shared_cycles=3", body,
                                 "st.global.u32 [%out+28], %r6;\n", 15);
    assert_int_equal(later.first, got.first + 1);
    assert_true(got.first > 1 + 2 * HOPS + SHARED + 2 + 1);
}

/* A block's arrival is told a cycle after its instruction, and its threads go on when the other's has come,
 * as from a barrier of the block. */
static void the_barrier(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        uint32_t cycles;
    } rows[] = {{"", HOPS + SYNC}, {"sm.cluster_cycles=51", 51 + SYNC}, {"sm.sync_latency=11", HOPS + 11}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct both got = measured(rows[i].settings, MEET, "", 14);
        assert_int_equal(got.first, 2 + rows[i].cycles);
        assert_int_equal(got.second, 2 + rows[i].cycles);
    }
}

/* An arrival that releases waits until the store is acknowledged; a relaxed one does not. */
static void a_store_before_the_barrier(void **state)
{
    (void)state;
    static const char wait[] = "barrier.cluster.wait.aligned;\n";
    char released[200], relaxed[200];
    snprintf(released, sizeof released,
             "st.shared::cluster.u32 [%%r9], %%r1;\nbarrier.cluster.arrive.aligned;\n%s", wait);
    snprintf(relaxed, sizeof relaxed,
             "st.shared::cluster.u32 [%%r9], %%r1;\nbarrier.cluster.arrive.relaxed.aligned;\n%s", wait);
    assert_int_equal(measured("", relaxed, "", 15).first, 1 + 2 + HOPS + SYNC);
    assert_int_equal(measured("", released, "", 15).first, 1 + 2 * HOPS + 1 + HOPS + SYNC);
}

/* The first block reads 16 bytes of memory for both, whose barriers count them; then it does what `behind`
 * says. */
static struct both copied(const char *settings, const char *behind)
{
    static const char before[] =
        "mov.u32 %r20, done;\nsetp.eq.u32 %p2, %self, 0;\nmov.u32 %r21, %cluster_ctarank;\n"
        "setp.eq.and.u32 %p3, %r21, 0, %p2;\nmov.u16 %h1, 3;\n"
        "@%p2 mbarrier.init.shared.b64 [%r20], 1;\nbar.sync 0;\n"
        "@%p2 mbarrier.arrive.expect_tx.shared.b64 _, [%r20], 16;\n";
    static const char copy[] =
        "@%p3 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r8], "
        "[%data], "
        "16, [%r20], %h1;\n"
        "again:\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [%r20], 0;\n@!%p1 bra again;\n";
    char body[1000];
    snprintf(body, sizeof body, "%s%s", copy, behind);
    return measured_behind(settings, before, body, "", 0);
}

/* The second block has them a hop later, as far as a loop that looks at its barrier can tell. */
static void a_copy_for_both(void **state)
{
    (void)state;
    enum { FAR = 1000, LOOP = 60 };
    struct both got = copied("sm.cluster_cycles=1000", "");
    assert_in_range(got.second - got.first, FAR - LOOP, FAR + LOOP);
}

/* Barriers alone tell of its bytes: a fence of the block that sends them does not wait until they are there.
 */
static void no_fence_waits_for_a_copy(void **state)
{
    (void)state;
    uint32_t alone = copied("sm.cluster_cycles=5000", "").first;
    assert_in_range(copied("sm.cluster_cycles=5000", "fence.acq_rel.gpu;\n").first, alone + 1, alone + 2500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_load_of_another_block),    cmocka_unit_test(spans_of_a_load),
        cmocka_unit_test(an_atomic_on_another_block), cmocka_unit_test(the_barrier),
        cmocka_unit_test(a_store_before_the_barrier), cmocka_unit_test(a_copy_for_both),
        cmocka_unit_test(no_fence_waits_for_a_copy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
