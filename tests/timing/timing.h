/* Exact times of kernels, through heddle.h and PTX alone: nothing here knows how the simulator is made.
 *
 * A test sets the parameters it depends on, so the number it expects follows from its own text. The machine
 * is one SM with clocks of 1 GHz (a cycle is 1000 ps everywhere) and without what would blur a number:
 * all slices are equally near, links have no limit of bandwidth, memory takes a fixed time, reading the clock
 * holds nobody up. A kernel is
 *
 *     before; all results arrive; barrier; start = clock; body; end = clock; barrier; after
 *
 * and it is launched several times: the last launch, which counts, finds its code in the nearest cache, its
 * data in L2 and nothing in L1. An instruction behind the start can issue a cycle later, and the read of the
 * end clock a cycle behind the last instruction, so a body of n instructions that never wait takes n + 1
 * cycles.
 */
#ifndef TESTS_TIMING_TIMING_H
#define TESTS_TIMING_TIMING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <heddle.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SUBCORES = 4,
    WARPS_MOST = 64,      /* of a launch */
    DATA_BYTES = 1 << 20, /* at %data, zeroed */
    CYCLE_PS = 1000,
    L2_HIT = 20,
    NOC = 50,
    TO_NOC = 20,
    FILL = 20,
    DRAM = 300,
    L1 = 32, /* cycles, as set below */
};

static const char plain_machine[] =
    "gpu.sm_count=1 gpu.clock=1GHz "
    /* links without a limit, and all slices as near as others */
    "noc.latency_cycles=50 noc.spread_cycles=0 noc.request_bytes_per_cycle=0 noc.reply_bytes_per_cycle=0 "
    "noc.gpc_bytes_per_cycle=0 "
    /* one slice that takes a cycle for a request, or for a sector */
    "l2.clock=1GHz l2.bytes=2MiB l2.partitions=1 l2.slices=1 l2.islands=1 l2.hit_cycles=20 "
    "l2.request_cycles=1 l2.bytes_per_cycle=32 l2.write_bytes_per_cycle=32 l2.partial_write_cycles=1 "
    "l2.fill_sectors=1 dram.model=fixed dram.latency=300ns dram.channels_per_slice=1 "
    "sm.l1_latency=32 sm.l1_to_noc_cycles=20 sm.l1_fill_cycles=20 sm.l1_tag_cycles=1 sm.l1_line_cycles=2 "
    "sm.lsu_request_cycles=1 sm.lsu_wavefront_cycles=1 sm.lsu_interval=1 sm.lsu_latency=1 "
    "sm.register_ports=16 sm.wide_issue_cycles=1 "
    /* the clock costs its issue alone, warps start together, a sleep lets everything arrive */
    "sm.special_interval=1 sm.special_shared=0 sm.warp_start_cycles=0 sm.sleep_cycles=3000";

struct bench {
    struct heddle *heddle;
    uint64_t out, data;
    uint64_t frame; /* machine instructions of a kernel without a body, of a warp */
};

/* What a test puts into a kernel. Registers: %r, %f, %rd, %d, %h (16 bits), %p from 0 to 99 each; %out,
 * %data, %arg; %self (the thread), %warp. */
struct piece {
    const char *module;     /* declarations around the kernel, or NULL */
    const char *directives; /* of the kernel, or NULL */
    const char *before;     /* or NULL */
    const char *body;
    const char *after; /* uses results, so that they are not dead; or NULL */
    unsigned inst;     /* machine instructions that a warp executes of all this; 0: who knows, as it loops */
    unsigned warps, blocks; /* of a block; of the grid. 0: 1 */
    uint32_t arg;
    bool cold; /* data is in memory alone when the last launch begins, not in L2 */
    bool once; /* the first launch counts: code and constants come from memory */
};

struct times {
    uint32_t start[WARPS_MOST], end[WARPS_MOST]; /* by warp, block by block */
    uint32_t cycles;                             /* from the first start to the last end */
    size_t launch;
};

/* A system with settings, separated by blanks; later ones count. */
static inline struct heddle *open_system(const char *system, const char *usual, const char *format,
                                         va_list list)
{
    char text[4096], *rest = text;
    const char *settings[200];
    size_t count = 0;
    int length = snprintf(text, sizeof text, "%s %s ", plain_machine, usual);
    vsnprintf(text + length, sizeof text - (size_t)length, format, list);
    for (char *word; (word = strtok_r(rest, " ", &rest));)
        settings[count++] = word;
    settings[count] = NULL;
    struct heddle *heddle = heddle_open_timed(system, settings, 1);
    if (!heddle)
        fail_msg("%s", heddle_error());
    return heddle;
}

static inline struct bench bench_open(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    struct bench bench = {.heddle = open_system("h200", "", format, list)};
    va_end(list);
    bench.out = heddle_alloc(bench.heddle, 0, WARPS_MOST * 32);
    bench.data = heddle_alloc(bench.heddle, 0, DATA_BYTES);
    return bench;
}

static inline void bench_close(struct bench *bench)
{
    heddle_close(bench->heddle);
}

static inline double bench_metric(const struct bench *bench, const struct times *times, const char *name)
{
    return heddle_metric(bench->heddle, times->launch, name);
}

static inline struct heddle_module *bench_load(struct bench *bench, const struct piece *piece)
{
    static const char kernel[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n%s\n"
        ".visible .entry test(.param .u64 out, .param .u64 data, .param .u32 arg)\n%s\n{\n"
        ".reg .b32 %%r<100>; .reg .f32 %%f<100>; .reg .b64 %%rd<100>; .reg .f64 %%d<100>; .reg .b16 "
        "%%h<100>;\n"
        ".reg .pred %%p<100>; .reg .b64 %%out, %%data, %%place; .reg .b32 %%arg, %%self, %%warp, %%start, "
        "%%end;\n"
        ".reg .b32 %%block, %%threads, %%all;\n"
        "ld.param.u64 %%out, [out];\nld.param.u64 %%data, [data];\nld.param.u32 %%arg, [arg];\n"
        "mov.u32 %%self, %%tid.x;\nmov.u32 %%block, %%ctaid.x;\nmov.u32 %%threads, %%ntid.x;\n"
        "mad.lo.u32 %%all, %%block, %%threads, %%self;\nshr.u32 %%warp, %%all, 5;\n"
        "mul.wide.u32 %%place, %%warp, 32;\nadd.u64 %%out, %%out, %%place;\n"
        "%s\n"
        "nanosleep.u32 0;\nbar.sync 0;\n"
        "mov.u32 %%start, %%clock;\n%s\nmov.u32 %%end, %%clock;\nbar.sync 0;\n"
        "%s\n"
        "st.global.u32 [%%out], %%start;\nst.global.u32 [%%out+4], %%end;\n"
        "st.global.u64 [%%out+8], %%data;\nst.global.u32 [%%out+16], %%arg;\nret;\n}\n";
    size_t bytes = sizeof kernel + strlen(piece->body) + 1;
    bytes += (piece->module ? strlen(piece->module) : 0) + (piece->before ? strlen(piece->before) : 0);
    bytes += piece->after ? strlen(piece->after) : 0;
    bytes += piece->directives ? strlen(piece->directives) : 0;
    char *text = malloc(bytes);
    snprintf(text, bytes, kernel, piece->module ? piece->module : "",
             piece->directives ? piece->directives : "", piece->before ? piece->before : "", piece->body,
             piece->after ? piece->after : "");
    struct heddle_module *module = heddle_load_text(bench->heddle, "test.ptx", text);
    if (!module)
        fail_msg("%s\nin\n%s", heddle_error(), text);
    free(text);
    return module;
}

static inline void bench_launch(struct bench *bench, struct heddle_module *module, const struct piece *piece)
{
    uint32_t grid[] = {piece->blocks ? piece->blocks : 1, 1, 1};
    uint32_t block[] = {32 * (piece->warps ? piece->warps : 1), 1, 1};
    uint32_t arg = piece->arg;
    if (heddle_launch(bench->heddle, 0, module, "test", grid, block, 0,
                      (void *[]){&bench->out, &bench->data, &arg}) ||
        heddle_wait(bench->heddle))
        fail_msg("%s", heddle_error());
}

static inline void bench_read(struct bench *bench, unsigned warps, struct times *times)
{
    uint32_t words[WARPS_MOST * 8], first = UINT32_MAX, last = 0;
    assert_int_equal(heddle_download(bench->heddle, words, bench->out, warps * 32), 0);
    for (unsigned i = 0; i < warps; i++) {
        times->start[i] = words[8 * i];
        times->end[i] = words[8 * i + 1];
        first = times->start[i] < first ? times->start[i] : first;
        last = times->end[i] > last ? times->end[i] : last;
    }
    times->cycles = last - first;
}

/* Runs it; a body that becomes other machine instructions than the test thinks fails here. */
static inline struct times bench_run(struct bench *bench, const struct piece *piece)
{
    struct times times = {0};
    if (!bench->frame) {
        struct piece nothing = {.body = ""};
        bench->frame = 1; /* not again */
        struct heddle_module *module = bench_load(bench, &nothing);
        bench_launch(bench, module, &nothing);
        times.launch = heddle_launch_count(bench->heddle) - 1;
        bench->frame = (uint64_t)bench_metric(bench, &times, "smsp__inst_executed.sum");
        heddle_unload(bench->heddle, module);
    }
    struct heddle_module *module = bench_load(bench, piece);
    /* warps go to the next sub-core at each launch, and each has an instruction cache of its own */
    for (int i = 0; i < SUBCORES && !piece->once; i++)
        bench_launch(bench, module, piece);
    if (piece->cold)
        assert_int_equal(heddle_fill(bench->heddle, bench->data, 0, DATA_BYTES), 0);
    bench_launch(bench, module, piece);
    times.launch = heddle_launch_count(bench->heddle) - 1;
    heddle_unload(bench->heddle, module);
    unsigned warps = (piece->warps ? piece->warps : 1) * (piece->blocks ? piece->blocks : 1);
    double inst = bench_metric(bench, &times, "smsp__inst_executed.sum") / warps - (double)bench->frame;
    if (piece->inst && inst != piece->inst)
        fail_msg("the test's part of the kernel became %g machine instructions, not %u:\n%s%s%s", inst,
                 piece->inst, piece->before ? piece->before : "", piece->body,
                 piece->after ? piece->after : "");
    bench_read(bench, warps, &times);
    return times;
}

static inline uint32_t bench_cycles(struct bench *bench, const struct piece *piece)
{
    return bench_run(bench, piece).cycles;
}

/* A text n times, with the number of each, from 0 on, in place of every #. The caller frees it. */
static inline char *repeated(const char *text, unsigned n)
{
    size_t length = 0, most = n * 2 * (strlen(text) + 1) + 1;
    char *all = malloc(most);
    for (unsigned i = 0; i < n; i++) {
        for (const char *at = text; *at; at++)
            if (*at == '#')
                length += (size_t)snprintf(all + length, most - length, "%u", i);
            else
                all[length++] = *at;
        all[length++] = '\n';
    }
    all[length] = 0;
    return all;
}

#endif
