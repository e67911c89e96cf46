/* Values of 128 bits: registers, mov, ld, st, and the atomic operations of sm_90, against what a CPU does.
 * Each test runs functionally on one thread and on two, and in simulated time. */
#include "check.h"

#include "base/rng.h"
#include "heddle.h"

#include <stdio.h>
#include <string.h>

enum { WARPS = 4, THREADS = 32 * WARPS, WAYS = 3 };

struct pair {
    uint64_t low, high;
};

static struct heddle *opened(int way)
{
    static const char *const settings[] = {"gpu.sm_count=4", NULL};
    struct heddle *gpu = way == 2 ? heddle_open_timed("h200", settings, 1)
                                  : heddle_open_with("h200", settings, 1 + (unsigned)way);
    assert_non_null(gpu);
    return gpu;
}

static struct heddle_module *loaded(struct heddle *gpu, const char *body)
{
    static char text[8192];
    snprintf(
        text, sizeof text,
        ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry kernel(.param .u64 data, .param .u64 "
        "out) {\n.reg .b128 %%x<12>;\n.reg .b64 %%rd<40>;\n.reg .b32 %%r<20>;\n.reg .b16 %%h<9>;\n.reg "
        ".pred %%p<4>;\n.shared .align 16 .b8 area[4096];\n.local .align 16 .b8 own[64];\n"
        "ld.param.u64 %%rd1, [data];\nld.param.u64 %%rd2, [out];\nmov.u32 %%r1, %%tid.x;\n"
        "mov.u32 %%r2, %%ctaid.x;\nmov.u32 %%r3, %%ntid.x;\nmad.lo.u32 %%r4, %%r2, %%r3, "
        "%%r1;\n%s\nret;\n}\n",
        body);
    struct heddle_module *module = heddle_load_text(gpu, "wide.ptx", text);
    if (!module)
        fail_msg("%s", heddle_error());
    return module;
}

static int launched(struct heddle *gpu, struct heddle_module *module, uint32_t blocks, uint64_t data,
                    uint64_t out)
{
    void *arguments[] = {&data, &out};
    int error = heddle_launch(gpu, 0, module, "kernel", (uint32_t[]){blocks, 1, 1},
                              (uint32_t[]){THREADS, 1, 1}, 0, arguments);
    return error ? error : heddle_wait(gpu);
}

/* Runs it on `in`, which it may change, and gets `out`. */
static void run(int way, const char *body, uint32_t blocks, void *in, size_t in_bytes, void *out,
                size_t out_bytes)
{
    struct heddle *gpu = opened(way);
    uint64_t data = heddle_alloc(gpu, 0, in_bytes), to = heddle_alloc(gpu, 0, out_bytes);
    assert_int_equal(heddle_upload(gpu, data, in, in_bytes), 0);
    if (launched(gpu, loaded(gpu, body), blocks, data, to))
        fail_msg("%s", heddle_error());
    assert_int_equal(heddle_download(gpu, in, data, in_bytes), 0);
    assert_int_equal(heddle_download(gpu, out, to, out_bytes), 0);
    heddle_close(gpu);
}

/* Each thread has a value, what it compares with, and what it writes: half of them match in both halves, the
 * others in one or none. */
struct step {
    struct pair value, compare, new;
};

static void make_steps(struct step steps[THREADS])
{
    struct rng rng;
    rng_init(&rng, 128, "wide");
    for (uint32_t i = 0; i < THREADS; i++) {
        struct step *s = &steps[i];
        s->value = (struct pair){rng_next(&rng), rng_next(&rng)};
        s->new = (struct pair){rng_next(&rng), rng_next(&rng)};
        s->compare = s->value;
        if (i % 8 == 1 || i % 8 == 5)
            s->compare.low ^= UINT64_C(1) << i % 64;
        if (i % 8 == 3 || i % 8 == 5)
            s->compare.high ^= UINT64_C(1) << i % 64;
    }
}

static bool same(struct pair a, struct pair b)
{
    return a.low == b.low && a.high == b.high;
}

/* cas, then exch of what cas returned; what is there in the end, and both results, go to `out`. */
#define OPERATE(space, at)                                                                                   \
    "atom" space ".cas.b128 %x4, [" at "], %x2, %x3;\natom" space ".exch.b128 %x5, [" at "], %x4;\n"
#define BEGIN                                                                                                \
    "mad.wide.u32 %rd3, %r4, 48, %rd1;\nmad.wide.u32 %rd4, %r4, 48, %rd2;\nld.global.b128 %x1, [%rd3];\n"    \
    "ld.global.v2.b64 {%rd5, %rd6}, [%rd3+16];\nmov.b128 %x2, {%rd5, %rd6};\nld.volatile.global.b128 %x3, "  \
    "[%rd3+32];\n"
#define SHARED_PLACE "mov.u32 %r5, area;\nmad.lo.u32 %r6, %r1, 16, %r5;\nst.shared.b128 [%r6], %x1;\n"
#define END                                                                                                  \
    "mov.b128 {%rd7, %rd8}, %x5;\nst.global.v2.b64 [%rd4], {%rd7, %rd8};\nst.global.b128 [%rd4+16], %x4;\n"  \
    "st.global.b128 [%rd4+32], %x6;\n"

static void check_operations(const char *body)
{
    for (int way = 0; way < WAYS; way++) {
        struct step steps[THREADS];
        struct {
            struct pair exchanged, compared, left;
        } got[THREADS];
        make_steps(steps);
        struct step now[THREADS];
        memcpy(now, steps, sizeof now);
        run(way, body, 1, now, sizeof now, got, sizeof got);
        for (uint32_t i = 0; i < THREADS; i++) {
            const struct step *s = &steps[i];
            bool matches = same(s->value, s->compare);
            assert_true(same(got[i].compared, s->value));
            assert_true(same(got[i].exchanged, matches ? s->new : s->value));
            assert_true(same(got[i].left, s->value));
        }
    }
}

static void in_global_memory(void **state)
{
    (void)state;
    check_operations(BEGIN OPERATE(".global", "%rd3") "ld.global.b128 %x6, [%rd3];\n" END);
    check_operations(BEGIN OPERATE(".acq_rel.gpu", "%rd3") "ld.relaxed.sys.b128 %x6, [%rd3];\n" END);
}

static void in_shared_memory(void **state)
{
    (void)state;
    check_operations(BEGIN SHARED_PLACE OPERATE(".shared", "%r6") "ld.shared.b128 %x6, [%r6];\n" END);
    check_operations(BEGIN SHARED_PLACE "cvt.u64.u32 %rd9, %r6;\ncvta.shared.u64 %rd10, %rd9;\n" OPERATE(
        "", "%rd10") "ld.b128 %x6, [%rd10];\n" END);
}

static void in_local_memory(void **state)
{
    (void)state;
    check_operations(
        BEGIN "st.local.b128 [own+16], %x1;\nmov.u64 %rd9, own;\ncvta.local.u64 %rd10, %rd9;\n" OPERATE(
            "", "%rd10+16") "ld.local.b128 %x6, [own+16];\n" END);
}

/* {n, sum of 0 to n - 1}: whoever sees half of a change writes what does not fit. */
static void all_threads_change_one_value(void **state)
{
    (void)state;
    enum { BLOCKS = 6, ALL = BLOCKS * THREADS };
    static const char body[] =
        "ld.relaxed.gpu.global.b128 %x1, [%rd1];\n"
        "again:\nmov.b128 {%rd3, %rd4}, %x1;\nadd.u64 %rd5, %rd3, 1;\nadd.u64 %rd6, %rd4, "
        "%rd3;\nmov.b128 %x2, {%rd5, %rd6};\n"
        "atom.global.cas.b128 %x3, [%rd1], %x1, %x2;\nmov.b128 {%rd7, %rd8}, %x3;\n"
        "setp.eq.u64 %p1, %rd7, %rd3;\nsetp.eq.and.u64 %p2, %rd8, %rd4, %p1;\n"
        "mov.b128 %x1, %x3;\n@!%p2 bra again;\n"
        "mad.wide.u32 %rd9, %r4, 16, %rd2;\nst.global.b128 [%rd9], %x3;";
    for (int way = 0; way < WAYS; way++) {
        struct pair value = {0, 0}, got[ALL];
        run(way, body, BLOCKS, &value, sizeof value, got, sizeof got);
        assert_int_equal(value.low, ALL);
        assert_int_equal(value.high, (uint64_t)ALL * (ALL - 1) / 2);
        bool seen[ALL] = {false};
        for (uint32_t i = 0; i < ALL; i++) {
            assert_true(got[i].low < ALL && !seen[got[i].low]);
            assert_int_equal(got[i].high, got[i].low * (got[i].low - 1) / 2);
            seen[got[i].low] = true;
        }
    }
}

/* What is not wanted back is changed all the same. */
static void results_that_nobody_wants(void **state)
{
    (void)state;
    for (int way = 0; way < WAYS; way++) {
        struct pair values[THREADS] = {{0}}, got[1];
        run(way,
            "mad.wide.u32 %rd3, %r4, 16, %rd1;\ncvt.u64.u32 %rd4, %r4;\nnot.b64 %rd5, %rd4;\n"
            "mov.b128 %x1, {%rd4, %rd5};\natom.global.exch.b128 _, [%rd3], %x1;\n",
            1, values, sizeof values, got, sizeof got);
        for (uint64_t i = 0; i < THREADS; i++)
            assert_true(same(values[i], (struct pair){i, ~i}));
    }
}

/* Parts of 32 and of 16 bits, and parts that nobody wants. */
static void packing(void **state)
{
    (void)state;
    struct pair in = {UINT64_C(0x0123456789abcdef), UINT64_C(0xfedcba9876543210)}, got[3];
    run(0,
        "setp.ne.u32 %p1, %r4, 0;\n@%p1 ret;\nld.global.b128 %x1, [%rd1];\n"
        "mov.b128 {%r5, %r6, %r7, %r8}, %x1;\nmov.b128 %x2, {%r8, %r7, %r6, %r5};\nst.global.b128 [%rd2], "
        "%x2;\n"
        "mov.b128 {%h1, %h2, %h3, %h4, %h5, %h6, %h7, %h8}, %x1;\n"
        "mov.b128 %x3, {%h8, %h7, %h6, %h5, %h4, %h3, %h2, %h1};\nst.global.b128 [%rd2+16], %x3;\n"
        "mov.b128 {_, %rd5}, %x1;\nmov.b128 %x4, {%rd5, 7};\nst.global.b128 [%rd2+32], %x4;\n",
        1, &in, sizeof in, got, sizeof got);
    assert_true(same(got[0], (struct pair){UINT64_C(0x76543210fedcba98), UINT64_C(0x89abcdef01234567)}));
    assert_true(same(got[1], (struct pair){UINT64_C(0x32107654ba98fedc), UINT64_C(0xcdef89ab45670123)}));
    assert_true(same(got[2], (struct pair){in.high, 7}));
}

/* Both blocks of a cluster exchange with the other's shared memory; 32 lanes need several messages. */
static void between_blocks_of_a_cluster(void **state)
{
    (void)state;
    static const char text[] =
        ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry kernel(.param .u64 data, .param .u64 "
        "out) .explicitcluster .reqnctapercluster 2 {\n.reg .b128 %x<9>;\n.reg .b64 %rd<9>;\n.reg .b32 "
        "%r<12>;\n"
        ".shared .align 16 .b8 area[4096];\nld.param.u64 %rd2, [out];\nmov.u32 %r1, %tid.x;\n"
        "mov.u32 %r2, %cluster_ctarank;\nxor.b32 %r3, %r2, 1;\nmov.u32 %r4, area;\n"
        "mad.lo.u32 %r5, %r1, 16, %r4;\nmapa.shared::cluster.u32 %r6, %r5, %r3;\n"
        "cvt.u64.u32 %rd3, %r1;\ncvt.u64.u32 %rd4, %r2;\nmov.b128 %x1, {%rd3, %rd4};\nst.shared.b128 [%r5], "
        "%x1;\n"
        "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
        "atom.shared::cluster.cas.b128 %x2, [%r6], %x1, %x1;\natom.shared::cluster.exch.b128 %x3, [%r6], "
        "%x1;\n"
        "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
        "ld.shared.b128 %x4, [%r5];\nmad.lo.u32 %r7, %r2, 128, %r1;\nmad.wide.u32 %rd5, %r7, 48, %rd2;\n"
        "st.global.b128 [%rd5], %x2;\nst.global.b128 [%rd5+16], %x3;\nst.global.b128 [%rd5+32], "
        "%x4;\nret;\n}\n";
    for (int way = 0; way < WAYS; way++) {
        struct heddle *gpu = opened(way);
        struct pair got[2][THREADS][3];
        uint64_t out = heddle_alloc(gpu, 0, sizeof got);
        struct heddle_module *module = heddle_load_text(gpu, "cluster.ptx", text);
        if (!module || launched(gpu, module, 2, out, out))
            fail_msg("%s", heddle_error());
        assert_int_equal(heddle_download(gpu, got, out, sizeof got), 0);
        for (uint64_t rank = 0; rank < 2; rank++)
            for (uint64_t i = 0; i < THREADS; i++) {
                struct pair other = {i, !rank};
                assert_true(same(got[rank][i][0], other) && same(got[rank][i][1], other) &&
                            same(got[rank][i][2], other));
            }
        heddle_close(gpu);
    }
}

static void addresses_are_multiples_of_16(void **state)
{
    (void)state;
    enum { MISALIGNED = 716 };
    for (int way = 0; way < WAYS; way++) {
        struct heddle *gpu = opened(way);
        uint64_t data = heddle_alloc(gpu, 0, 64);
        const char *body = "mov.b128 %x1, {%rd1, %rd2};\natom.global.exch.b128 %x2, [%rd1+8], %x1;\n"
                           "st.global.b128 [%rd2], %x2;";
        assert_int_equal(launched(gpu, loaded(gpu, body), 1, data, data), MISALIGNED);
        heddle_close(gpu);
    }
}

static void what_ptxas_refuses(void **state)
{
    (void)state;
    static const char *const bodies[] = {"red.global.exch.b128 [%rd1], %x1;",
                                         "atom.global.add.b128 %x1, [%rd1], %x2;",
                                         "atom.global.exch.b128 %rd3, [%rd1], %x1;",
                                         "atom.global.exch.b128 %x1, [%rd1], %rd3;",
                                         "add.u64 %x1, %x2, %x3;",
                                         "mov.b128 %x1, %rd1;"};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct heddle *gpu = opened(0);
        uint64_t data = heddle_alloc(gpu, 0, 64);
        static char text[1000];
        snprintf(
            text, sizeof text,
            ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry kernel(.param .u64 data, .param "
            ".u64 out) {\n.reg .b128 %%x<4>;\n.reg .b64 %%rd<4>;\nld.param.u64 %%rd1, [data];\n%s\nret;\n}\n",
            bodies[i]);
        struct heddle_module *module = heddle_load_text(gpu, "bad.ptx", text);
        assert_true(!module || launched(gpu, module, 1, data, data) != 0);
        heddle_close(gpu);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_global_memory),
        cmocka_unit_test(in_shared_memory),
        cmocka_unit_test(in_local_memory),
        cmocka_unit_test(all_threads_change_one_value),
        cmocka_unit_test(results_that_nobody_wants),
        cmocka_unit_test(packing),
        cmocka_unit_test(between_blocks_of_a_cluster),
        cmocka_unit_test(addresses_are_multiples_of_16),
        cmocka_unit_test(what_ptxas_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
