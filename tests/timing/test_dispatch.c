/* From a launch to its first block, from block to block on an SM, and to the end of the kernel. */
#include "timing.h"

enum { LAUNCH = 600, LATENCY = 100, BLOCK_END = 60, NOTE = 3, END = 1900, START = 40 };

struct dispatch {
    uint32_t launch, latency, block_end, note, end, start;
};

static struct bench open_with(const struct dispatch *d, const char *more)
{
    return bench_open("dispatch.launch_cycles=%u dispatch.latency_cycles=%u sm.block_end_cycles=%u "
                      "dispatch.block_cycles=%u dispatch.end_cycles=%u sm.block_start_cycles=%u %s",
                      d->launch, d->latency, d->block_end, d->note, d->end, d->start, more);
}

/* The values above, and each of them one more. */
static struct dispatch dispatch_of(unsigned i)
{
    struct dispatch d = {LAUNCH, LATENCY, BLOCK_END, NOTE, END, START};
    uint32_t *const all[] = {NULL, &d.launch, &d.latency, &d.block_end, &d.note, &d.end, &d.start};
    if (i)
        (*all[i])++;
    return d;
}
enum { DISPATCHES = 7 };

/* Of a kernel of one block that writes nothing: the time around the cycles in which its SM held the block. It
 * is on the SM latency_cycles behind launch_cycles; its end is reported block_end_cycles later, is at the
 * dispatcher latency_cycles after that, which takes block_cycles to note it; end_cycles follow. */
static void a_kernel_takes_time_around_its_blocks(void **state)
{
    (void)state;
    static const uint32_t one[] = {1, 1, 1}, warp[] = {32, 1, 1};
    double held[DISPATCHES];
    for (unsigned i = 0; i < DISPATCHES; i++) {
        struct dispatch d = dispatch_of(i);
        struct bench bench = open_with(&d, "");
        struct heddle_module *module =
            heddle_load_text(bench.heddle, "empty.ptx",
                             ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry "
                             "empty()\n{\nbar.warp.sync -1;\nret;\n}\n");
        assert_non_null(module);
        for (int k = 0; k <= SUBCORES; k++) {
            assert_int_equal(heddle_launch(bench.heddle, 0, module, "empty", one, warp, 0, NULL), 0);
            assert_int_equal(heddle_wait(bench.heddle), 0);
        }
        held[i] = heddle_metric(bench.heddle, SUBCORES, "sm__cycles_active.max");
        assert_int_equal((int)heddle_metric(bench.heddle, SUBCORES, "gpc__cycles_elapsed.max") - (int)held[i],
                         d.launch + d.latency + d.block_end + d.latency + d.note + d.end);
        /* the block's first instruction comes block_start_cycles behind its arrival */
        assert_int_equal((int)(held[i] - held[0]), d.start - START);
        bench_close(&bench);
    }
}

/* Blocks that an SM has room for come at once. Each starts when the warps of the one before have: a gap and
 * warp_start_cycles a warp, and block_least_cycles at least. (Special registers and constants, that a kernel
 * begins with, must not hold the next block up.) */
static void blocks_of_an_sm_start_one_after_the_other(void **state)
{
    (void)state;
    static const struct {
        uint32_t least, gap, warp, warps;
    } rows[] = {{22, 6, 3, 1}, {23, 6, 3, 1}, {22, 30, 3, 1}, {22, 30, 4, 1}, {22, 6, 10, 2}, {22, 7, 10, 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench bench =
            bench_open("sm.block_least_cycles=%u sm.block_gap_cycles=%u sm.warp_start_cycles=%u",
                       rows[i].least, rows[i].gap, rows[i].warp);
        struct piece piece = {.body = "", .warps = rows[i].warps, .blocks = 5};
        struct times times = bench_run(&bench, &piece);
        uint32_t takes = rows[i].gap + rows[i].warps * rows[i].warp;
        takes = takes > rows[i].least ? takes : rows[i].least;
        for (uint32_t b = 0; b < 5; b++)
            assert_int_equal(times.start[b * rows[i].warps] - times.start[0], b * takes);
        bench_close(&bench);
    }
}

/* An SM with room for one block: the next one is on its way when the dispatcher has noted the end. How long
 * the rest of the kernel takes, behind its end clock and before its start clock, is not derived; it is the
 * same for all, so differences are. */
static void a_block_takes_the_place_of_one_that_ended(void **state)
{
    (void)state;
    uint32_t between[DISPATCHES];
    for (unsigned i = 0; i < DISPATCHES; i++) {
        struct dispatch d = dispatch_of(i);
        struct bench bench = open_with(&d, "gpu.blocks_per_sm=1");
        struct times times = bench_run(&bench, &(struct piece){.body = "", .blocks = 6});
        between[i] = times.start[1] - times.start[0];
        for (uint32_t b = 2; b < 6; b++)
            assert_int_equal(times.start[b] - times.start[b - 1], between[i]);
        assert_int_equal(between[i] - between[0], (d.latency - LATENCY) * 2 + d.block_end - BLOCK_END +
                                                      d.note - NOTE + d.start - START);
        bench_close(&bench);
    }
}

/* The end of a kernel waits for its writes to be acknowledged, and that to be reported as an end of a block
 * is. A store issues `early` cycles before the block would end without it. */
static void the_end_waits_for_writes(void **state)
{
    (void)state;
    static const uint32_t one[] = {1, 1, 1}, warp[] = {32, 1, 1};
    static const char kernel[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry writes(.param .u64 to)\n{\n.reg .b64 %rd1;\n.reg .b32 %r1;\n"
        "ld.param.u64 %rd1, [to];\nmov.u32 %r1, %tid.x;\nnanosleep.u32 0;\n"
        "st.global.u32 [%rd1], %r1;\nret;\n}\n";
    int elapsed[2];
    for (uint32_t more = 0; more < 2; more++) {
        struct bench bench =
            bench_open("noc.latency_cycles=%u dispatch.latency_cycles=100", NOC + 500 * more);
        struct heddle_module *module = heddle_load_text(bench.heddle, "writes.ptx", kernel);
        assert_non_null(module);
        for (int k = 0; k <= SUBCORES; k++) {
            assert_int_equal(
                heddle_launch(bench.heddle, 0, module, "writes", one, warp, 0, (void *[]){&bench.data}), 0);
            assert_int_equal(heddle_wait(bench.heddle), 0);
        }
        elapsed[more] = (int)heddle_metric(bench.heddle, SUBCORES, "gpc__cycles_elapsed.max");
        bench_close(&bench);
    }
    assert_int_equal(elapsed[1] - elapsed[0], 2 * 500); /* to L2, and back */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_kernel_takes_time_around_its_blocks),
                                       cmocka_unit_test(blocks_of_an_sm_start_one_after_the_other),
                                       cmocka_unit_test(a_block_takes_the_place_of_one_that_ended),
                                       cmocka_unit_test(the_end_waits_for_writes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
