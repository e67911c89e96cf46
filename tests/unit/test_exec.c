/* Kernels that go wrong, and those that only end when threads make progress on their own. */
#include "check.h"
#include "base/mem.h"
#include "ptx_run/program.h"
#include "ptxas/ptxas.h"

#include <stdlib.h>

enum { WORDS = 64 };
static uint32_t memory[WORDS];

static uint64_t place(void *context, const struct ptx_variable *variable, uint64_t bytes, uint64_t alignment)
{
    static _Alignas(64) char variables[4][64];
    static int used;
    assert_true(bytes <= 64 && alignment <= 64);
    void *at = variables[used++ % 4];
    memset(at, 0, 64);
    image_add(context, (struct range){(uintptr_t)at, bytes, variable->name, false});
    return (uintptr_t)at;
}

struct run {
    const char *body; /* of kernel k(.param .u64 p), which has registers r, rd, f, and predicates p */
    const char *head; /* before the kernel; or NULL */
    uint32_t blocks, threads;
    uint32_t host_threads, resident, dynamic; /* of the host; blocks; bytes of shared memory */
    uint64_t limit;
    struct heap *heap;
    FILE *print;
    const char *ptx, *sm; /* versions; NULL: 7.0, 75 */
    struct text *stuck;   /* what is told of threads that only wait; or NULL */
};

static void note_stuck(void *user, const char *text)
{
    text_add(user, "%s\n", text);
}

static struct image *image;

static struct launch_result *go(struct run run)
{
    static struct launch_result result;
    struct text text = {0};
    struct err err;
    text_add(&text, ".version %s\n.target sm_%s\n.address_size 64\n%s\n", run.ptx ? run.ptx : "7.0",
             run.sm ? run.sm : "75", run.head ? run.head : "");
    text_add(
        &text,
        ".visible .entry k(.param .u64 p)\n{\n.reg .pred %%p<9>; .reg .b32 %%r<20>; .reg .b64 %%rd<20>;\n"
        "ld.param.u64 %%rd1, [p]; mov.u32 %%r1, %%tid.x;\n");
    text_add(&text, "%s\nret;\n}\n", run.body);
    struct ptx_module *module = ptx_parse("test.ptx", text.at, text.length, &err);
    if (!module)
        fail_msg("%s", err.text);
    struct program *program = program_new(&module, 1, &ptxas, place, image, &err);
    if (!program)
        fail_msg("%s", err.text);
    uint64_t pointer = (uintptr_t)memory;
    struct launch launch = {.kernel = program_kernel(program, "k"),
                            .image = image,
                            .heap = run.heap,
                            .params = &pointer,
                            .grid = {run.blocks ? run.blocks : 1, 1, 1},
                            .block = {run.threads ? run.threads : 32, 1, 1},
                            .threads = run.host_threads ? run.host_threads : 1,
                            .resident_blocks = run.resident,
                            .shared_bytes = run.dynamic,
                            .sm_count = 1,
                            .stack_bytes = 1024,
                            .instruction_limit = run.limit,
                            .print = run.print,
                            .stuck = run.stuck ? note_stuck : NULL,
                            .stuck_seconds = 0.01,
                            .user = run.stuck};
    launch_run(&launch, &result);
    program_free(program);
    text_fini(&text);
    return &result;
}

static void expect_fault(struct run run, enum fault_kind kind, const char *says)
{
    struct launch_result *result = go(run);
    if (result->fault.kind != kind || !strstr(result->fault.text, says))
        fail_msg("fault %d: '%s' should be %d and say '%s'", result->fault.kind, result->fault.text, kind,
                 says);
}

static void expect_good(struct run run)
{
    struct launch_result *result = go(run);
    if (result->fault.kind != FAULT_NONE)
        fail_msg("%s", result->fault.text);
}

static int set_up(void **state)
{
    (void)state;
    memset(memory, 0, sizeof memory);
    image = image_new();
    image_add(image, (struct range){(uintptr_t)memory, sizeof memory, "the test's memory", false});
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    image_free(image);
    return 0;
}

static void test_names_the_thread_and_the_line(void **state)
{
    (void)state;
    expect_fault(
        (struct run){.body = "setp.ne.u32 %p1, %r1, 5;\n@%p1 bra END;\nst.global.u32 [%rd1+256], %r1;\nEND:",
                     .blocks = 2},
        FAULT_ADDRESS,
        "kernel k, block (0,0,0), thread (5,0,0), PTX line 11 of test.ptx (st.global.u32): a write of 4 "
        "bytes");
    expect_fault((struct run){.body = "st.global.u32 [%rd1+256], %r1;"}, FAULT_ADDRESS,
                 "0 bytes behind the 256 bytes of the test's memory");
}

/* Instructions with several addresses are named as well. */
static void test_names_copies_and_matrices(void **state)
{
    (void)state;
    expect_fault((struct run){.head = ".shared .align 16 .b8 s[64];",
                              .body = "mov.u32 %r2, s;\ncp.async.ca.shared.global [%r2], [%rd1+256], 4;",
                              .sm = "80"},
                 FAULT_ADDRESS, "PTX line 10 of test.ptx (cp.async.ca.shared.global): a read of 4 bytes");
    expect_fault((struct run){.head = ".shared .align 16 .b8 s[64];",
                              .body = "mov.u32 %r2, s;\n"
                                      "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%r2], "
                                      "{%r3,%r4,%r5,%r6,%r7,%r8,%r9,%r10}, 16;"},
                 FAULT_ADDRESS, "PTX line 10 of test.ptx (wmma.store");
}

static void test_finds_the_last_byte(void **state)
{
    (void)state;
    expect_good((struct run){.body = "st.global.u8 [%rd1+255], 7;"});
    expect_fault((struct run){.body = "st.global.u8 [%rd1+256], 7;"}, FAULT_ADDRESS, "0 bytes behind");
    expect_fault((struct run){.body = "st.global.u16 [%rd1+255], 7;"}, FAULT_MISALIGNED, "2 bytes");
    expect_fault((struct run){.body = "ld.global.v4.u32 {%r2,%r3,%r4,%r5}, [%rd1+8];"}, FAULT_MISALIGNED,
                 "16 bytes");
    expect_fault((struct run){.body = "ld.global.u32 %r2, [%rd1+-4];"}, FAULT_ADDRESS, "4 bytes before");
}

static void test_knows_what_was_freed(void **state)
{
    (void)state;
    image_remove(image, (uintptr_t)memory);
    expect_fault((struct run){.body = "st.global.u32 [%rd1+8], %r1;"}, FAULT_ADDRESS,
                 "8 bytes into the 256 bytes of the test's memory at");
    expect_fault((struct run){.body = "st.global.u32 [%rd1+8], %r1;"}, FAULT_ADDRESS, "which were freed");
}

static void test_shared_and_local_memory_end(void **state)
{
    (void)state;
    expect_good((struct run){.head = ".shared .align 4 .b8 s[64];",
                             .body = "mov.u32 %r2, s; st.shared.u32 [%r2+60], %r1;"});
    expect_fault((struct run){.head = ".shared .align 4 .b8 s[64];",
                              .body = "mov.u32 %r2, s; st.shared.u32 [%r2+64], %r1;"},
                 FAULT_ADDRESS, "of the block's 64 bytes of shared memory");
    expect_fault(
        (struct run){.body = ".local .align 4 .b8 l[16]; mov.u64 %rd2, l; st.local.u32 [%rd2+16], %r1;"},
        FAULT_ADDRESS, "of the thread's 16 bytes of local memory");
}

static void test_traps_and_unknown_instructions(void **state)
{
    (void)state;
    expect_fault((struct run){.body = "trap;"}, FAULT_TRAP, "PTX line 9 of test.ptx (trap)");
    expect_fault((struct run){.body = "frob.u32 %r2, %r1;"}, FAULT_INSTRUCTION,
                 "kernel k: test.ptx, PTX line 9: frob.u32: Heddle does not know this instruction");
    expect_fault((struct run){.head = ".extern .func nowhere();", .body = "call nowhere;"}, FAULT_INSTRUCTION,
                 "function nowhere is not defined in any module");
    expect_fault((struct run){.body = "mov.u64 %rd2, 5;\nPROTO: .callprototype _ ();\ncall %rd2, PROTO;"},
                 FAULT_INSTRUCTION, "a call through a pointer to no function");
}

static void test_finds_deadlocks_and_endless_loops(void **state)
{
    (void)state;
    expect_fault((struct run){.body = "setp.lt.u32 %p1, %r1, 32;\n@%p1 bar.sync 1, 96;", .threads = 64},
                 FAULT_DEADLOCK, "waits at a barrier");
    expect_fault((struct run){.body = "L: bra L;", .limit = 100000}, FAULT_LIMIT,
                 "more than 100000 warp instructions");
    expect_fault((struct run){.head = ".func rec() { call rec; ret; }", .body = "call rec;"}, FAULT_STACK,
                 "calls deep");
}

/* Lane by lane, a lock is taken that another lane of the warp holds. */
static void test_lanes_make_progress_alone(void **state)
{
    (void)state;
    expect_good((struct run){
        .body = "L: atom.global.cas.b32 %r2, [%rd1], 0, 1;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra L;\n"
                "ld.volatile.global.u32 %r3, [%rd1+4]; add.u32 %r3, %r3, 1;\n"
                "st.volatile.global.u32 [%rd1+4], %r3; membar.gl;\natom.global.exch.b32 %r4, [%rd1], 0;",
        .blocks = 3,
        .threads = 70});
    assert_int_equal(memory[1], 210);
}

/* Blocks wait for a later one. */
static void test_blocks_make_progress_alone(void **state)
{
    (void)state;
    expect_good((struct run){
        .body = "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %nctaid.x; sub.u32 %r3, %r3, 1;\n"
                "setp.eq.u32 %p1, %r2, %r3;\n@%p1 bra LAST;\n"
                "L: ld.acquire.gpu.u32 %r4, [%rd1];\nsetp.eq.u32 %p2, %r4, 0;\n@%p2 bra L;\nbra END;\n"
                "LAST: st.release.gpu.u32 [%rd1], 1;\nEND: atom.global.add.u32 %r5, [%rd1+4], 1;",
        .blocks = 20});
    assert_int_equal(memory[1], 20 * 32);
}

/* Both sides of a branch wait at the same barrier, at different instructions. */
static void test_barrier_in_both_branches(void **state)
{
    (void)state;
    expect_good((struct run){
        .body = "and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0;\n@%p1 bra EVEN;\nbar.sync 0;\nbra END;\n"
                "EVEN: bar.sync 0;\nEND: bar.red.popc.u32 %r3, 0, %p1;\nst.global.u32 [%rd1], %r3;",
        .threads = 48});
    assert_int_equal(memory[0], 24);
}

static void test_recursion(void **state)
{
    (void)state;
    expect_good((struct run){
        .head = ".func (.param .b32 out) fact(.param .b32 in)\n{ .reg .b32 %r<9>; .reg .pred %p;\n"
                "ld.param.u32 %r1, [in]; mov.u32 %r2, 1; setp.lt.u32 %p, %r1, 2;\n@%p bra END;\n"
                "sub.u32 %r3, %r1, 1;\n{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r3;\n"
                "call (b), fact, (a); ld.param.b32 %r4, [b]; }\nmul.lo.u32 %r2, %r1, %r4;\nEND: st.param.b32 "
                "[out], %r2; ret; }",
        .body = "and.b32 %r2, %r1, 7;\n{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call (b), "
                "fact, (a); "
                "ld.param.b32 %r3, [b]; }\nmul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd2, %rd1; "
                "st.global.u32 [%rd2], %r3;"});
    static const uint32_t factorials[] = {1, 1, 2, 6, 24, 120, 720, 5040};
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(memory[i], factorials[i % 8]);
}

/* Limits hold for loops that no branch closes. */
static void test_limits_of_loops_with_barriers(void **state)
{
    (void)state;
    expect_fault((struct run){.body = "L: bar.sync 0;\nbra L;", .threads = 64, .limit = 10000}, FAULT_LIMIT,
                 "the limit given");
    expect_fault(
        (struct run){.body = "mov.u32 %r2, 0;\nL: brx.idx %r2, T;\nT: .branchtargets L;", .limit = 10000},
        FAULT_LIMIT, "the limit given");
}

/* Blocks that wait for each other are all begun, on however many threads of the host. */
static void test_resident_blocks_all_begin(void **state)
{
    (void)state;
    for (uint32_t host_threads = 1; host_threads <= 4; host_threads++) {
        memset(memory, 0, sizeof memory);
        expect_good(
            (struct run){.body = "atom.global.add.u32 %r2, [%rd1], 1;\nL: ld.acquire.gpu.u32 %r3, [%rd1];\n"
                                 "setp.lt.u32 %p1, %r3, 4;\n@%p1 bra L;",
                         .blocks = 4,
                         .threads = 1,
                         .resident = 4,
                         .host_threads = host_threads,
                         .limit = 1000000});
    }
}

/* nvcc extends signs within one register. */
static void test_conversions_in_wider_registers(void **state)
{
    (void)state;
    expect_good((struct run){
        .body = "mov.u64 %rd2, 0x180000080; cvt.s64.s32 %rd3, %rd2; st.global.u64 [%rd1], %rd3;\n"
                "cvt.u64.u8 %rd3, %rd2; st.global.u64 [%rd1+8], %rd3;\n"
                "mov.u32 %r2, 0x1ff80; cvt.s32.s8 %r3, %r2; st.global.u32 [%rd1+16], %r3;\n"
                "cvt.u32.u16 %r3, %r2; st.global.u32 [%rd1+20], %r3;\n"
                "cvt.s64.s16 %rd3, %r2; st.global.u64 [%rd1+24], %rd3;\n"
                "setp.lt.u32 %p1, %r1, 8; mov.u32 %r4, 5; @%p1 cvt.u32.u8 %r4, %r2;\n"
                "setp.eq.u32 %p1, %r1, 9; @%p1 st.global.u32 [%rd1+32], %r4;"});
    static const uint32_t expected[] = {0x80000080, 0xffffffff, 0x80,       0, 0xffffff80,
                                        0xff80,     0xffffff80, 0xffffffff, 5};
    assert_memory_equal(memory, expected, sizeof expected);
}

static void test_policies_of_the_l2(void **state)
{
    (void)state;
    expect_good((struct run){
        .body = "createpolicy.range.global.L2::evict_last.L2::evict_unchanged.b64 %rd2, [%rd1], 64, 128;\n"
                "createpolicy.fractional.L2::evict_first.b64 %rd3, 0.5;\n"
                "mov.u32 %r2, 7; st.global.L2::cache_hint.u32 [%rd1], %r2, %rd2;\n"
                "ld.global.L2::cache_hint.u32 %r3, [%rd1], %rd3; st.global.u32 [%rd1+4], %r3;",
        .ptx = "8.0",
        .sm = "90"});
    assert_int_equal(memory[1], 7);
    /* ranges: blocks 1 to 3 of 4 KiB, one of 8 KiB, the most blocks that there can be; fractions */
    expect_good((struct run){
        .body =
            "mov.u64 %rd2, 4100; createpolicy.range.global.L2::evict_last.b64 %rd3, [%rd2], 8190, 24000;\n"
            "st.global.u64 [%rd1], %rd3;\n"
            "mov.u32 %r2, 0x100000; mov.u32 %r3, 1;\n"
            "createpolicy.range.L2::evict_normal.L2::evict_first.b64 %rd3, [%rd2+4092], %r3, %r2;\n"
            "st.global.u64 [%rd1+8], %rd3; mov.u64 %rd2, 0;\n"
            "createpolicy.range.L2::evict_first.b64 %rd3, [%rd2], 0x80000, 0x80000; st.global.u64 [%rd1+16], "
            "%rd3;\n"
            "createpolicy.fractional.L2::evict_last.L2::evict_first.b64 %rd3, 0.25; st.global.u64 [%rd1+24], "
            "%rd3;\n"
            "createpolicy.fractional.L2::evict_unchanged.b64 %rd3; st.global.u64 [%rd1+32], %rd3;",
        .ptx = "8.0",
        .sm = "90"});
    static const uint64_t expected[] = {UINT64_C(0x1c00106000000000), UINT64_C(0x1f10102000000000),
                                        UINT64_C(0x1a000fe000000000), UINT64_C(0x1530000000000000),
                                        UINT64_C(0x10f0000000000000)};
    assert_memory_equal(memory, expected, sizeof expected);
}

static void test_constants_of_functions(void **state)
{
    (void)state;
    expect_good((struct run){
        .head = ".func (.param .b32 out) f()\n{ .reg .pred %p<3>; .reg .b32 %r<3>;\nmov.pred %p1, -1;\n"
                "selp.u32 %r1, 1, 0, %p1; st.param.b32 [out], %r1; ret; }",
        .body = "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra END;\n{ .param .b32 a; call (a), f; ld.param.b32 %r2, "
                "[a]; }\n"
                "st.global.u32 [%rd1], %r2;\nEND:"});
    assert_int_equal(memory[0], 1); /* lane 0 did not call */
}

static void test_special_registers_by_block(void **state)
{
    (void)state;
    expect_good((struct run){
        .body = "mov.u32 %r2, %clusterid.x; mul.wide.u32 %rd2, %r2, 4; add.u64 %rd2, %rd2, %rd1; "
                "st.global.u32 [%rd2], 7;",
        .blocks = 4});
    for (int i = 0; i < 4; i++)
        assert_int_equal(memory[i], 7);
}

static void test_aliases_and_tables(void **state)
{
    (void)state;
    expect_good(
        (struct run){.head = ".func f();\n.func g();\n.func f() { ret; }\n.alias g, f;", .body = "call g;"});
    expect_good((struct run){
        .body = "mov.u32 %r2, 0;\n{ brx.idx %r2, T;\nT: .branchtargets A; }\nA: { brx.idx %r2, T;\n"
                "T: .branchtargets B; }\nB: st.global.u32 [%rd1], 5;",
        .limit = 1000});
    assert_int_equal(memory[0], 5);
}

static void test_dynamic_shared_memory(void **state)
{
    (void)state;
    expect_good((struct run){
        .head = ".shared .align 4 .b8 s[20];\n.extern .shared .align 128 .b8 d[];",
        .body = "mov.u32 %r2, s; mov.u32 %r3, d; st.shared.u32 [%r3+60], %r2; st.global.u32 [%rd1], %r3;",
        .dynamic = 64});
    assert_int_equal(memory[0] % 128, 0);
    expect_fault((struct run){.head = ".extern .shared .align 4 .b8 d[];",
                              .body = "mov.u32 %r3, d; st.shared.u32 [%r3+64], %r3;",
                              .dynamic = 64},
                 FAULT_ADDRESS, "of the block's 64 bytes of shared memory");
}

/* What is not possible is refused before it runs. */
static void test_refuses(void **state)
{
    (void)state;
    static const char *const bodies[][2] = {
        {"ld.global.u32 %p1, [%rd1];", "is a predicate"},
        {"cvt.u32.u32 %p1, %r1;", "is a predicate"},
        {"st.global.u32 [%rd1], %p1;", "is a predicate"},
        {"ld.global.v2.u32 {%r2, %rd2}, [%rd1];", "different widths"},
        {"st.global.u32 [%rd1];", "2 operands were expected"},
        {"@%r1 mov.u32 %r2, 1;", "its guard is not a predicate"},
        {"add.u32 %r2, %clock, 0;", "clocks can only be moved"},
        {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {5}, [%r1];", "a register was expected"},
        {"call k, (p);", "must be variables of .param space"},
        {"call k;", "a kernel cannot be called"},
        {".reg .b128 %q; .local .b8 l[1099511627776]; mov.u32 %r2, 1;", "local memory"},
        {"setmaxnreg.inc.sync.aligned.u32 20;", "a multiple of 8 from 24 to 256"},
        {"mma.sp.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%r2,%r2,%r2,%r2}, {%r2,%r2}, {%r2,%r2}, "
         "{%r2,%r2,%r2,%r2}, %r2, 4;",
         "sparsity selector"},
        {"tex.grad.2d.v4.f32.f32 {%r2,%r3,%r4,%r5}, [%rd1, {%r2,%r3}], {%r2}, {};", "gradients"},
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        expect_fault((struct run){.body = bodies[i][0]}, FAULT_INSTRUCTION, bodies[i][1]);
    expect_fault((struct run){.head = ".extern .func free(.param .b64 p);", .body = "call free;"},
                 FAULT_INSTRUCTION, "free has other parameters");
}

#define GROUP_PRODUCT                                                                                        \
    "setp.eq.u32 %p1, %r1, %r1; wgmma.fence.sync.aligned; "                                                  \
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "                                                     \
    "{%r2, %r3, %r4, %r5}, %rd2, %rd2, %p1, 1, 1, 0, 0; wgmma.commit_group.sync.aligned; "                   \
    "wgmma.wait_group.sync.aligned 0;"

/* wgmma: what cannot be is a fault, or refused before it runs. */
static void test_refuses_group_products(void **state)
{
    (void)state;
    static const char *const bodies[][2] = {
        {"wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 {%r2,%r3,%r4,%r5}, %rd1, %rd1, %p1, 1, 1, 0, 0;",
         "does not know this matrix instruction"},
        {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r2,%r3,%r4}, %rd1, %rd1, %p1, 1, 1, 0, 0;",
         "4 registers were expected"},
        {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r2,%r3,%r4,%r5}, %rd1, %rd1, %p1, 1, 0, 0, 0;",
         "1 or -1 was expected"},
        {"wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%r2,%r3,%r4,%r5}, %rd1, %rd1, %p1, 1, 1, 0, 0;",
         "6 operands were expected"},
        {"wgmma.mma_async.sp.sync.aligned.m64n8k64.f32.e4m3.e4m3 {%r2,%r3,%r4,%r5}, %rd1, %rd1, %r1, 1, %p1, "
         "1, 1;",
         "sparsity selector"},
        {"wgmma.mma_async.sync.aligned.m64n40k32.s32.s8.s8 {%r1}, %rd1, %rd1, %p1;",
         "does not know this matrix instruction"},
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        expect_fault((struct run){.body = bodies[i][0], .ptx = "8.0", .sm = "90a"}, FAULT_INSTRUCTION,
                     bodies[i][1]);
    expect_fault((struct run){.head = ".shared .align 128 .b8 s[2048];",
                              .body = "mov.u64 %rd2, 0; " GROUP_PRODUCT,
                              .threads = 96,
                              .ptx = "8.0",
                              .sm = "90a"},
                 FAULT_INSTRUCTION, "group of four warps is not whole");
    expect_fault(
        (struct run){.head = ".shared .align 128 .b8 s[2048];",
                     .body = "mov.u32 %r1, s; mov.u64 %rd2, 0x4000000008; " GROUP_PRODUCT, /* stride 1024 */
                     .threads = 128,
                     .ptx = "8.0",
                     .sm = "90a"},
        FAULT_ADDRESS, "a matrix descriptor leads to 0x");
}

static void test_malloc_and_free(void **state)
{
    (void)state;
    static const char head[] =
        ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);";
    static const char take[] = "{ .param .b64 n; .param .b64 r; st.param.b64 [n], 24; call (r), malloc, (n); "
                               "ld.param.b64 %rd2, [r]; }\n";
    static const char give[] = "{ .param .b64 q; st.param.b64 [q], %rd2; call free, (q); }\n";
    char *room = mem_alloc(1, 4096);
    struct heap *heap = heap_new(image, (uintptr_t)room, 4096, 1);
    char body[1024];
    snprintf(body, sizeof body, "%sst.u32 [%%rd2+20], %%r1;\n%s", take, give);
    expect_good((struct run){.head = head, .body = body, .heap = heap});
    snprintf(body, sizeof body, "%sst.u32 [%%rd2+24], %%r1;", take);
    expect_fault((struct run){.head = head, .body = body, .heap = heap, .threads = 1}, FAULT_ADDRESS,
                 "behind the 24 bytes of malloc in a kernel");
    snprintf(body, sizeof body, "%s%s%s", take, give, give);
    expect_fault((struct run){.head = head, .body = body, .heap = heap, .threads = 1}, FAULT_ADDRESS,
                 "free of 0x");
    snprintf(body, sizeof body, "%ssetp.eq.u64 %%p1, %%rd2, 0; @%%p1 st.global.u32 [%%rd1], 1;", take);
    expect_good((struct run){.head = head, .body = body, .heap = heap, .threads = 256});
    assert_int_equal(memory[0], 1); /* there was not room for all */
    heap_free(heap);
    mem_free(room);
}

static void test_printf(void **state)
{
    (void)state;
    char *printed = NULL;
    size_t bytes = 0;
    FILE *stream = open_memstream(&printed, &bytes);
    static const char head[] =
        ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
        ".global .align 1 .b8 f[22] = "
        "{37,100,32,37,53,46,50,102,32,37,115,32,37,37,32,37,108,108,117,10,0};\n" /* %d %5.2f %s %% %llu\n */
        ".global .align 1 .b8 s[4] = {97,98,99,0};";
    static const char body[] =
        ".local .align 8 .b8 l[32]; .reg .b64 %a<9>; mov.u64 %rd2, l; cvta.local.u64 %rd3, %rd2;\n"
        "st.local.u32 [%rd2], %r1; mov.b64 %a1, 0d4004000000000000; st.local.u64 [%rd2+8], %a1;\n"
        "mov.u64 %a2, s; cvta.global.u64 %a2, %a2; st.local.u64 [%rd2+16], %a2;\n"
        "st.local.u64 [%rd2+24], -1; mov.u64 %a3, f; cvta.global.u64 %a3, %a3;\n"
        "{ .param .b64 x; .param .b64 y; .param .b32 z; st.param.b64 [x], %a3; st.param.b64 [y], %rd3;\n"
        "call (z), vprintf, (x, y); ld.param.b32 %r2, [z]; }\n"
        "mul.wide.u32 %rd4, %r1, 4; add.u64 %rd4, %rd1, %rd4; st.global.u32 [%rd4], %r2;";
    expect_good((struct run){.head = head, .body = body, .threads = 2, .print = stream});
    fclose(stream);
    assert_string_equal(printed, "0  2.50 abc % 18446744073709551615\n1  2.50 abc % 18446744073709551615\n");
    assert_int_equal(memory[0], 4); /* arguments, not characters */
    assert_int_equal(memory[1], 4);
    free(printed);
    static const char nothing[] =
        "{ .param .b64 x; .param .b64 y; .param .b32 z; st.param.b64 [x], 0; st.param.b64 [y], 0;\n"
        "call (z), vprintf, (x, y); ld.param.b32 %r2, [z]; } st.global.u32 [%rd1], %r2;";
    expect_good((struct run){.head = head, .body = nothing, .threads = 1});
    assert_int_equal(memory[0], UINT32_MAX); /* no format: -1, as on an H200 */
}

/* What is inlined from the toolkit's headers is told by the line that calls it, through headers that call
 * headers. */
static void test_lines_of_inlined_functions(void **state)
{
    (void)state;
    static const char head[] = ".file 1 \"/home/me/own.cu\"\n"
                               ".file 2 \"/usr/local/cuda-13.0/include/wrapper.hpp\"\n"
                               ".file 3 \"/usr/local/cuda-13.0/include/device_atomic_functions.hpp\"\n";
    static const char body[] = ".loc 1 20 3\n"
                               ".loc 2 7 1, function_name $label, inlined_at 1 20 3\n"
                               ".loc 3 112 2, function_name $label, inlined_at 2 7 1\n"
                               "mov.u64 %rd2, 16; st.global.u32 [%rd2], 1;";
    expect_fault((struct run){.head = head, .body = body, .threads = 1}, FAULT_ADDRESS,
                 "/home/me/own.cu:20, PTX line ");
}

/* Opcodes in other orders do what they do in the usual one. */
static void test_order_of_modifiers(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "cvt.rn.f32.u32 %f1, %r1; add.rn.ftz.sat.f32 %f2, %f1, 0f3DCCCCCD; lg2.approx.ftz.f32 %f3, %f1;\n"
        "setp.lt.and.ftz.f32 %p1, %f3, %f1, %p0; cvt.rzi.ftz.s32.f32 %r3, %f3; mad.lo.cc.u32 %r4, %r1, 3, "
        "%r3;\n"
        "redux.sync.add.s32 %r5, %r4, -1; atom.global.add.u32 %r6, [%rd1+128], %r5; ld.global.u32 %r7, "
        "[%rd1+128];\n",
        "cvt.f32.u32.rn %f1, %r1; add.f32.sat.ftz.rn %f2, %f1, 0f3DCCCCCD; lg2.approx.f32.ftz %f3, %f1;\n"
        "setp.ftz.and.f32.lt %p1, %f3, %f1, %p0; cvt.s32.ftz.f32.rzi %r3, %f3; mad.lo.u32.cc %r4, %r1, 3, "
        "%r3;\n"
        "redux.s32.add.sync %r5, %r4, -1; atom.add.u32.global %r6, [%rd1+128], %r5; ld.u32.global %r7, "
        "[%rd1+128];\n"};
    uint32_t results[2][WORDS];
    for (int i = 0; i < 2; i++) {
        char body[2048];
        snprintf(body, sizeof body,
                 ".reg .f32 %%f<5>; setp.lt.u32 %%p0, %%r1, 20;\n%sselp.u32 %%r8, 100, 200, %%p1;\n"
                 "mov.b32 %%r9, %%f2; xor.b32 %%r9, %%r9, %%r8; xor.b32 %%r9, %%r9, %%r4; xor.b32 %%r9, "
                 "%%r9, %%r7;\n"
                 "mul.wide.u32 %%rd4, %%r1, 4; add.u64 %%rd4, %%rd1, %%rd4; st.global.u32 [%%rd4], %%r9;",
                 bodies[i]);
        memset(memory, 0, sizeof memory);
        expect_good((struct run){.body = body, .ptx = "7.0", .sm = "80"});
        memcpy(results[i], memory, sizeof memory);
    }
    assert_memory_equal(results[0], results[1], sizeof results[0]);
    assert_true(results[0][0] != results[0][1]);
}

/* Each thread has its own, whatever the width. */
static void test_atomics_on_local_memory(void **state)
{
    (void)state;
    static const char body[] =
        ".local .align 8 .b8 l[16]; .reg .b64 %a<9>; mov.u64 %a1, l; cvta.local.u64 %a1, %a1;\n"
        "cvt.u64.u32 %a2, %r1; shl.b64 %a2, %a2, 32; st.u64 [%a1], %a2; st.u32 [%a1+8], 5;\n"
        "atom.add.u64 %a3, [%a1], 4294967297; atom.cas.b64 %a4, [%a1], 1, 2; red.add.u32 [%a1+8], %r1;\n"
        "atom.exch.b64 %a5, [%a1], 7; ld.u32 %r2, [%a1+8]; ld.u64 %a6, [%a1];\n"
        "shr.u64 %a3, %a3, 32; shr.u64 %a4, %a4, 32; shr.u64 %a5, %a5, 32;\n" /* t, t + 1, t + 1 */
        "cvt.u32.u64 %r3, %a3; cvt.u32.u64 %r4, %a4; cvt.u32.u64 %r5, %a5; cvt.u32.u64 %r6, %a6;\n"
        "mad.lo.u32 %r3, %r3, 100, %r4; mad.lo.u32 %r3, %r3, 100, %r5; mad.lo.u32 %r3, %r3, 100, %r2;\n"
        "mad.lo.u32 %r3, %r3, 10, %r6; mul.wide.u32 %rd4, %r1, 4; add.u64 %rd4, %rd1, %rd4;\n"
        "st.global.u32 [%rd4], %r3;";
    expect_good((struct run){.body = body});
    for (uint32_t t = 0; t < 32; t++)
        assert_int_equal(memory[t], (((t * 100 + t + 1) * 100 + t + 1) * 100 + 5 + t) * 10 + 7);
}

/* Every warp reads what warp 0 made, works on its own a while, then writes the same word or its own, without
 * a barrier between: on a GPU all have read long before. */
static void test_all_read_before_one_writes(void **state)
{
    (void)state;
    static const char body[] =
        ".shared .align 4 .b8 s[32]; mov.u32 %r2, s; shr.u32 %r3, %r1, 5; setp.eq.u32 %p1, %r1, 0;\n"
        "@%p1 st.shared.u32 [%r2], 77; bar.sync 0;\n"
        "ld.shared.u32 %r4, [%r2]; mov.u32 %r5, 0;\n"
        "LOOP: add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 100; @%p2 bra LOOP;\n"
        "and.b32 %r6, %r1, 31; setp.ne.u32 %p3, %r6, 0; mad.lo.u32 %r7, %r3, 4, %r2;\n"
        "@%p3 bra OVER; st.shared.u32 [%r7], %r5; OVER: bar.sync 0;\n"
        "mul.wide.u32 %rd4, %r3, 4; add.u64 %rd4, %rd1, %rd4; st.global.u32 [%rd4], %r4;";
    expect_good((struct run){.body = body, .threads = 256});
    for (int i = 0; i < 8; i++)
        assert_int_equal(memory[i], 77);
}

/* A barrier in memory is made anew as soon as the first warp is through: the others are, too. */
static void test_all_wake_when_a_phase_ends(void **state)
{
    (void)state;
    static const char body[] =
        ".shared .align 8 .b64 b; mov.u32 %r2, b; setp.eq.u32 %p1, %r1, 0; mov.u32 %r9, 0;\n"
        "AGAIN: @%p1 mbarrier.init.shared.b64 [%r2], 256; bar.sync 0;\n"
        "mbarrier.arrive.shared.b64 %rd3, [%r2];\n"
        "LOOP: mbarrier.try_wait.shared.b64 %p2, [%r2], %rd3; @!%p2 bra LOOP;\n"
        "add.u32 %r9, %r9, 1; setp.lt.u32 %p3, %r9, 5; @%p3 bra AGAIN;\n"
        "shr.u32 %r3, %r1, 5; mul.wide.u32 %rd4, %r3, 4; add.u64 %rd4, %rd1, %rd4;\n"
        "st.global.u32 [%rd4], %r9;";
    expect_good((struct run){.body = body, .threads = 256, .limit = 1000000, .sm = "90", .ptx = "8.0"});
    for (int i = 0; i < 8; i++)
        assert_int_equal(memory[i], 5);
}

/* Warp 0 ends two phases, and the barrier, before warp 1 looks for the first. */
static void test_a_phase_is_seen_before_the_next_ends(void **state)
{
    (void)state;
    static const char body[] =
        ".shared .align 8 .b64 b; mov.u32 %r2, b; setp.eq.u32 %p1, %r1, 0;\n"
        "@%p1 mbarrier.init.shared.b64 [%r2], 32; bar.sync 0; setp.ge.u32 %p2, %r1, 32; @%p2 bra CONSUME;\n"
        "bar.sync 1, 64; mbarrier.arrive.shared.b64 _, [%r2]; mbarrier.arrive.shared.b64 _, [%r2];\n"
        "mbarrier.arrive.shared.b64 _, [%r2]; @%p1 mbarrier.inval.shared.b64 [%r2]; bra OUT;\n"
        "CONSUME: bar.sync 1, 64;\n"
        "FIRST: mbarrier.try_wait.parity.shared.b64 %p3, [%r2], 0; @!%p3 bra FIRST;\n"
        "SECOND: mbarrier.try_wait.parity.shared.b64 %p3, [%r2], 1; @!%p3 bra SECOND;\n"
        "LAST: mbarrier.try_wait.parity.shared.b64 %p3, [%r2], 0; @!%p3 bra LAST;\n"
        "st.global.u32 [%rd1], 1; OUT:";
    expect_good((struct run){.body = body, .threads = 64, .limit = 1000000, .sm = "90", .ptx = "8.0"});
    assert_int_equal(memory[0], 1);
}

static void test_tells_where_all_wait(void **state)
{
    (void)state;
    static const char body[] = "setp.ge.u32 %p1, %r1, 32; @%p1 bra OUT;\n"
                               "LOOP: ld.volatile.global.u32 %r2, [%rd1]; setp.eq.u32 %p2, %r2, 0;\n"
                               "@%p2 bra LOOP;\nOUT: bar.sync 0;";
    struct text said = {0};
    expect_fault((struct run){.body = body, .threads = 96, .limit = 20000000, .stuck = &said}, FAULT_LIMIT,
                 "the limit given; block (0,0,0) has warp 0 (32 threads) at PTX line 10 of test.ptx "
                 "(ld.volatile.global.u32); warps 1-2 (64 threads) waiting at the barrier of PTX line 12");
    assert_non_null(said.at);
    assert_non_null(strstr(said.at, "kernel k: for 0.01 seconds its threads have only waited for others; "
                                    "block (0,0,0) has warp 0 (32 threads) at PTX line 10"));
    assert_null(strchr(strchr(said.at, '\n') + 1, '\n')); /* once */
    text_fini(&said);
}

/* Kernel `put` stores pointers, kernel k calls through what it finds. */
static void test_pointers_of_other_kernels(void **state)
{
    (void)state;
    static const char text[] =
        ".version 7.0\n.target sm_75\n.address_size 64\n"
        ".func (.param .b32 r) three(.param .b32 x)\n"
        "{ .reg .b32 %r<3>; ld.param.b32 %r1, [x]; mul.lo.u32 %r1, %r1, 3; st.param.b32 [r], %r1; ret; }\n"
        ".func (.param .b32 r) odd(.param .b32 x)\n" /* which Heddle does not know */
        "{ .reg .b32 %r<3>; .reg .b64 %rd<3>; cp.reduce.async.bulk.nonsense [%rd1], [%rd2], %r1; ret; }\n"
        ".visible .entry put(.param .u64 p)\n"
        "{ .reg .b64 %rd<4>; ld.param.u64 %rd1, [p]; mov.u64 %rd2, three; st.global.u64 [%rd1], %rd2;\n"
        "ret; }\n"
        ".visible .entry never(.param .u64 p) { .reg .b64 %rd<4>; mov.u64 %rd2, odd; ret; }\n"
        ".visible .entry k(.param .u64 p, .param .u32 which)\n"
        "{ .reg .b32 %r<4>; .reg .b64 %rd<5>; ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [which];\n"
        "mul.wide.u32 %rd2, %r1, 8; add.u64 %rd2, %rd1, %rd2; ld.global.u64 %rd3, [%rd2];\n"
        "{ .param .b32 x; .param .b32 r; st.param.b32 [x], 14;\n"
        "P: .callprototype (.param .b32 _) _ (.param .b32 _); call (r), %rd3, (x), P;\n"
        "ld.param.b32 %r2, [r]; } st.global.u32 [%rd1+64], %r2; ret; }\n";
    struct program *programs[2];
    struct err err;
    for (int i = 0; i < 2; i++) {
        struct ptx_module *module = ptx_parse("test.ptx", text, strlen(text), &err);
        if (!module || !(programs[i] = program_new(&module, 1, &ptxas, place, image, &err)))
            fail_msg("%s", err.text);
    }
    struct {
        uint64_t p;
        uint32_t which;
    } params = {(uintptr_t)memory, 0};
    struct launch launch = {.image = image, .params = &params, .threads = 1, .sm_count = 1};
    struct launch_result result;
    launch.stack_bytes = 1024;
    for (int i = 0; i < 3; i++)
        launch.grid[i] = launch.block[i] = 1;
    launch.kernel = program_kernel(programs[0], "put");
    if (!launch_run(&launch, &result))
        fail_msg("%s", result.fault.text);
    launch.kernel = program_kernel(programs[0], "k");
    if (!launch_run(&launch, &result))
        fail_msg("%s", result.fault.text);
    assert_int_equal(memory[16], 42);
    ((uint64_t *)memory)[1] = *(uint64_t *)memory + 16; /* the next function: odd */
    static const struct {
        uint32_t which;
        int program;
        const char *says;
    } wrong[] = {{1, 0, "a call of odd, which cannot run: test.ptx, PTX line 7: cp.reduce"},
                 {2, 0, "a call through a pointer to no function"},
                 {0, 1, "a call through a pointer to a function of another module"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        params.which = wrong[i].which;
        launch.kernel = program_kernel(programs[wrong[i].program], "k");
        assert_false(launch_run(&launch, &result));
        if (!strstr(result.fault.text, wrong[i].says))
            fail_msg("'%s' does not say '%s'", result.fault.text, wrong[i].says);
    }
    program_free(programs[0]);
    program_free(programs[1]);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {TEST(test_names_the_thread_and_the_line),
                                       TEST(test_names_copies_and_matrices),
                                       TEST(test_finds_the_last_byte),
                                       TEST(test_knows_what_was_freed),
                                       TEST(test_shared_and_local_memory_end),
                                       TEST(test_traps_and_unknown_instructions),
                                       TEST(test_finds_deadlocks_and_endless_loops),
                                       TEST(test_lanes_make_progress_alone),
                                       TEST(test_blocks_make_progress_alone),
                                       TEST(test_barrier_in_both_branches),
                                       TEST(test_recursion),
                                       TEST(test_limits_of_loops_with_barriers),
                                       TEST(test_resident_blocks_all_begin),
                                       TEST(test_conversions_in_wider_registers),
                                       TEST(test_policies_of_the_l2),
                                       TEST(test_constants_of_functions),
                                       TEST(test_special_registers_by_block),
                                       TEST(test_aliases_and_tables),
                                       TEST(test_dynamic_shared_memory),
                                       TEST(test_refuses),
                                       TEST(test_refuses_group_products),
                                       TEST(test_malloc_and_free),
                                       TEST(test_printf),
                                       TEST(test_lines_of_inlined_functions),
                                       TEST(test_order_of_modifiers),
                                       TEST(test_atomics_on_local_memory),
                                       TEST(test_all_read_before_one_writes),
                                       TEST(test_all_wake_when_a_phase_ends),
                                       TEST(test_a_phase_is_seen_before_the_next_ends),
                                       TEST(test_tells_where_all_wait),
                                       TEST(test_pointers_of_other_kernels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
