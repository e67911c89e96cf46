/* Who listens to a machine (heddle_listen): all that begins ends, nothing else changes, and data can be
 * altered. */
#include "check.h"
#include <heddle.h>

#include <string.h>

static const char ptx[] =
    ".version 8.0\n.target sm_75\n.address_size 64\n"
    /* out[i] = in[i] + 1; count[0] += 1 */
    ".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 count)\n{\n"
    ".reg .b32 %r<6>; .reg .b64 %rd<8>;\n"
    "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; ld.param.u64 %rd3, [count];\n"
    "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, %r2, %r3;\n"
    "mul.wide.u32 %rd4, %r4, 4; add.u64 %rd5, %rd1, %rd4; add.u64 %rd6, %rd2, %rd4;\n"
    "ld.global.u32 %r5, [%rd5]; add.u32 %r5, %r5, 1; st.global.u32 [%rd6], %r5;\n"
    "red.global.add.u32 [%rd3], 1;\nret;\n}\n";

enum { BLOCKS = 20, THREADS = 64, N = BLOCKS * THREADS, KINDS = HEDDLE_LINK + 1, ALL = (1 << KINDS) - 1 };

struct seen {
    unsigned counts[KINDS][HEDDLE_ENDS + 1];
    unsigned by_stop[4]; /* that requests passed: l1, l2, dram, host */
    uint64_t last_ps;
    bool flips;
    char fault[256];
};

static void see(void *user, struct heddle_event *event)
{
    static const char *const stops[] = {"l1", "l2", "dram", "host"};
    struct seen *seen = user;
    seen->counts[event->kind][event->phase]++;
    for (int i = 0; i < 4; i++)
        seen->by_stop[i] += event->kind == HEDDLE_REQUEST && !strcmp(event->stop, stops[i]);
    if (event->kind == HEDDLE_KERNEL)
        assert_string_equal(event->what, "k");
    if (event->kind == HEDDLE_FAULT)
        snprintf(seen->fault, sizeof seen->fault, "%s", event->what);
    if (event->kind == HEDDLE_KERNEL && event->phase == HEDDLE_ENDS)
        seen->last_ps = event->time_ps;
    if (seen->flips && event->data && !strcmp(event->stop, "dram")) {
        event->data[0] ^= 1;
        seen->flips = false;
    }
}

/* One run; gives the simulated time. */
static uint64_t run(unsigned kinds, struct seen *seen, uint32_t out[N], bool wild)
{
    static const char *const settings[] = {"gpu.sm_count=4", "tlb.l1_entries=16", NULL};
    static const uint32_t grid[3] = {BLOCKS, 1, 1}, block[3] = {THREADS, 1, 1};
    uint32_t in[N], counted = 0;
    struct heddle *gpu = heddle_open_timed("h200", settings, 2);
    assert_non_null(gpu);
    struct heddle_module *module = heddle_load_text(gpu, "k.ptx", ptx);
    assert_non_null(module);
    for (uint32_t i = 0; i < N; i++)
        in[i] = 2 * i;
    if (kinds)
        assert_int_equal(heddle_listen(gpu, kinds, see, seen), 0);
    uint64_t from = heddle_alloc(gpu, 0, sizeof in), to = heddle_alloc(gpu, 0, sizeof in);
    uint64_t count = heddle_alloc(gpu, 0, 4), nowhere = 4096;
    assert_int_equal(heddle_upload(gpu, from, in, sizeof in), 0);
    assert_int_equal(
        heddle_launch(gpu, 0, module, "k", grid, block, 0, (void *[]){wild ? &nowhere : &from, &to, &count}),
        0);
    assert_int_equal(heddle_wait(gpu), wild ? 700 : 0);
    if (!wild) {
        assert_int_equal(heddle_download(gpu, out, to, sizeof in), 0);
        assert_int_equal(heddle_download(gpu, &counted, count, 4), 0);
        assert_int_equal(counted, N);
    }
    uint64_t time = heddle_time_ps(gpu);
    heddle_close(gpu);
    return time;
}

static void all_that_begins_ends(void **state)
{
    (void)state;
    struct seen seen = {0};
    uint32_t out[N], plain[N];
    uint64_t listened = run(ALL, &seen, out, false);
    assert_int_equal(seen.counts[HEDDLE_KERNEL][HEDDLE_BEGINS], 1);
    assert_int_equal(seen.counts[HEDDLE_KERNEL][HEDDLE_ENDS], 1);
    assert_int_equal(seen.counts[HEDDLE_BLOCK][HEDDLE_BEGINS], BLOCKS);
    assert_int_equal(seen.counts[HEDDLE_BLOCK][HEDDLE_ENDS], BLOCKS);
    assert_int_equal(seen.counts[HEDDLE_COPY][HEDDLE_BEGINS], 3);
    assert_int_equal(seen.counts[HEDDLE_COPY][HEDDLE_ENDS], 3);
    assert_true(seen.counts[HEDDLE_TRANSLATION][HEDDLE_BEGINS] > 0);
    assert_int_equal(seen.counts[HEDDLE_TRANSLATION][HEDDLE_BEGINS],
                     seen.counts[HEDDLE_TRANSLATION][HEDDLE_ENDS]);
    assert_true(seen.counts[HEDDLE_REQUEST][HEDDLE_BEGINS] >= 3 * N * 4 / 128);
    assert_int_equal(seen.counts[HEDDLE_REQUEST][HEDDLE_BEGINS], seen.counts[HEDDLE_REQUEST][HEDDLE_ENDS]);
    assert_true(seen.by_stop[1] > 0 && seen.by_stop[2] > 0);
    assert_int_equal(seen.counts[HEDDLE_FAULT][HEDDLE_BEGINS], 0);
    assert_true(seen.last_ps > 0 && seen.last_ps <= listened);
    assert_true(listened == run(0, NULL, plain, false)); /* it changes nothing */
    assert_memory_equal(out, plain, sizeof out);
}

static void one_kind_alone(void **state)
{
    (void)state;
    struct seen seen = {0};
    uint32_t out[N];
    run(1u << HEDDLE_BLOCK, &seen, out, false);
    assert_int_equal(seen.counts[HEDDLE_BLOCK][HEDDLE_ENDS], BLOCKS);
    assert_int_equal(seen.counts[HEDDLE_REQUEST][HEDDLE_BEGINS] + seen.counts[HEDDLE_KERNEL][HEDDLE_BEGINS],
                     0);
}

static void a_bit_of_dram_flips(void **state)
{
    (void)state;
    struct seen seen = {.flips = true};
    uint32_t out[N], wrong = 0;
    run(1u << HEDDLE_REQUEST, &seen, out, false);
    for (uint32_t i = 0; i < N; i++)
        wrong += out[i] != 2 * i + 1;
    assert_int_equal(wrong, 1);
}

static void faults_are_told(void **state)
{
    (void)state;
    struct seen seen = {0};
    run(ALL, &seen, NULL, true);
    assert_int_equal(seen.counts[HEDDLE_FAULT][HEDDLE_BEGINS], 1);
    assert_non_null(strstr(seen.fault, "kernel k, block"));
}

static void what_cannot_be_listened_to(void **state)
{
    (void)state;
    struct heddle *gpu = heddle_open("h200");
    assert_int_equal(heddle_listen(gpu, 1, see, NULL), 801);
    assert_non_null(strstr(heddle_error(), "heddle_open_timed"));
    assert_int_equal(heddle_listen(gpu, 1, NULL, NULL), 1);
    assert_int_equal(heddle_listen(gpu, 1 << KINDS, see, NULL), 1);
    heddle_close(gpu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_that_begins_ends),       cmocka_unit_test(one_kind_alone),
        cmocka_unit_test(a_bit_of_dram_flips),        cmocka_unit_test(faults_are_told),
        cmocka_unit_test(what_cannot_be_listened_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
