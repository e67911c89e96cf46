/* ptxas_optimize gives the order and form that ptxas gives, and keeps what kernels compute to the last bit.
 */
#include "check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "ptx_run/program.h"
#include "ptxas/ptxas.h"

#define HEAD                                                                                                 \
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u32 n)\n{\n"    \
    ".reg .pred %p<60>; .reg .b32 %r<60>; .reg .b64 %l<60>; .reg .f32 %f<60>;\n.shared .align 4 .b8 "        \
    "s[4096];\n"                                                                                             \
    "ld.param.u64 %l0, [a]; ld.param.u32 %r0, [n]; mov.u32 %r1, %tid.x; mul.wide.u32 %l1, %r1, 64;\n"        \
    "add.s64 %l2, %l0, %l1;\n"

static struct ptx_module *parse(const char *body)
{
    struct text text = {0};
    struct err err;
    text_add(&text, "%s%s\nret;\n}\n", HEAD, body);
    struct ptx_module *module = ptx_parse("test.ptx", text.at, text.length, &err);
    if (!module)
        fail_msg("%s\n%s", body, err.text);
    text_fini(&text);
    return module;
}

/* The opcodes behind the head, up to their first dot, with @ for a guard. */
static void expect_order(const char *expected, const char *body)
{
    struct ptx_module *module = parse(body);
    struct text got = {0};
    ptxas_optimize(module);
    const struct ptx_function *f = &module->functions[0];
    for (uint32_t i = 0; i < f->inst_count; i++) {
        const struct ptx_inst *inst = &f->insts[i];
        if (inst->line < 11)
            continue;
        text_add(&got, "%s%s%.*s", got.length ? " " : "", inst->guard >= 0 ? "@" : "",
                 (int)strcspn(inst->opcode, "."), inst->opcode);
    }
    if (strcmp(got.at, expected) != 0)
        fail_msg("%s\nbecame\n%s, not\n%s", body, got.at, expected);
    text_fini(&got);
    ptx_free(module);
}

static void loads_start_early(void **state)
{
    (void)state;
    expect_order("ld ld add add st ret",
                 "\nld.global.f32 %f1, [%l2]; add.f32 %f2, %f1, %f1;\n"
                 "ld.global.f32 %f3, [%l2+4]; add.f32 %f4, %f2, %f3;\nst.global.f32 [%l2], %f4;");
}

static void loads_do_not_pass_stores_that_may_meet_them(void **state)
{
    (void)state;
    expect_order("st ld st ret",
                 "\nst.global.u32 [%l2], %r1; ld.global.u32 %r2, [%l0]; st.global.u32 [%l2+8], %r2;");
    expect_order("ld st st ret",
                 "\nst.global.u32 [%l2], %r1; ld.global.u32 %r2, [%l2+4]; st.global.u32 [%l2+8], %r2;");
    expect_order("ld st st ret",
                 "\nst.shared.u32 [%r1], %r1; ld.global.u32 %r2, [%l0]; st.global.u32 [%l2+8], %r2;");
    expect_order("ld st st ret",
                 "\nst.global.u32 [%l2], %r1; ld.global.nc.u32 %r2, [%l0]; st.global.u32 [%l2+8], %r2;");
}

static void nothing_passes_clocks_and_barriers(void **state)
{
    (void)state;
    expect_order("mov add mov ld st ret",
                 "\nmov.u32 %r2, %clock; add.s32 %r3, %r2, 1; mov.u32 %r4, %clock;\n"
                 "ld.global.u32 %r5, [%l2]; st.global.v4.u32 [%l2], {%r2, %r3, %r4, %r5};");
    expect_order("bar ld st ret", "\nbar.sync 0; ld.global.u32 %r5, [%l2]; st.global.u32 [%l2], %r5;");
}

static void nothing_passes_atomics_that_acquire_or_release(void **state)
{
    (void)state;
    expect_order("atom ld st ret",
                 "\natom.acquire.gpu.global.add.u32 %r2, [%l2], 1; ld.global.u32 %r3, [%l2+4];\n"
                 "st.global.u32 [%l2+8], %r3;");
    expect_order("ld atom st ret",
                 "\natom.relaxed.gpu.global.add.u32 %r2, [%l2], 1; ld.global.u32 %r3, [%l2+4];\n"
                 "st.global.u32 [%l2+8], %r3;");
    expect_order("ld st red ret", "\nld.global.u32 %r3, [%l2+8]; st.shared.u32 [%r1], %r3;\n"
                                  "red.release.gpu.global.add.u32 [%l2], 1;");
}

static void small_branches_become_guards(void **state)
{
    (void)state;
    expect_order("setp @st st ret", "\nsetp.gt.u32 %p1, %r1, 5; @%p1 bra L;\nst.global.u32 [%l2], %r1;\n"
                                    "L: st.global.u32 [%l2], %r1;");
    expect_order("setp @add @add st ret",
                 "\nsetp.gt.u32 %p1, %r1, 5; @%p1 bra E;\nadd.s32 %r2, %r1, 1; bra M;\n"
                 "E: add.s32 %r2, %r1, 2;\nM: st.global.u32 [%l2], %r2;");
    expect_order("setp @ret st ret", "\nsetp.gt.u32 %p1, %r1, 5; @%p1 bra L;\nst.global.u32 [%l2], %r1;\nL:");
    expect_order("setp @bra red st ret",
                 "\nsetp.gt.u32 %p1, %r1, 5; @%p1 bra L;\nred.global.add.u32 [%l2], %r1;\n"
                 "L: st.global.u32 [%l2+4], %r1;");
}

static uint32_t count_of(const char *body, const char *opcode)
{
    struct ptx_module *module = parse(body);
    uint32_t count = 0;
    ptxas_optimize(module);
    for (uint32_t i = 0; i < module->functions[0].inst_count; i++)
        count += !strcmp(module->functions[0].insts[i].opcode, opcode);
    ptx_free(module);
    return count;
}

#define LOOP(pragma, more)                                                                                   \
    "mov.u32 %r2, %r1; mov.f32 %f1, 0f00000000;\nL:\n" pragma                                                \
    "mul.wide.u32 %l3, %r2, 4; add.s64 %l4, %l0, %l3; ld.global.f32 %f2, [%l4]; add.f32 %f1, %f1, "          \
    "%f2;\n" more "add.s32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, %r0; @%p1 bra L;\nst.global.f32 [%l2], %f1;"

static void loops_are_unrolled(void **state)
{
    (void)state;
    assert_int_equal(count_of(LOOP("", ""), "ld.global.f32"), 8); /* one, four, two, one */
    assert_int_equal(count_of(LOOP(".pragma \"nounroll\";\n", ""), "ld.global.f32"), 1);
    assert_int_equal(count_of(LOOP("", "st.global.f32 [%l4], %f1;\n"), "ld.global.f32"), 1);
    assert_int_equal(count_of(LOOP("", "bar.sync 0;\n"), "ld.global.f32"), 1);
}

/* A loop or a branch that begins with loads that become one begins with that one. */
static void labels_stay_before_loads_that_become_one(void **state)
{
    (void)state;
    struct ptx_module *module =
        parse("mov.u32 %r2, s; mov.u32 %r3, 0;\nL: .pragma \"nounroll\";\n"
              "ld.shared.u32 %r4, [%r2]; ld.shared.u32 %r5, [%r2+4];\nadd.s32 %r3, %r3, %r4;\n"
              "add.s32 %r3, %r3, %r5; add.s32 %r2, %r2, 16;\nsetp.lt.u32 %p1, %r2, %r0; @%p1 bra L;\n"
              "st.global.u32 [%l2], %r3;");
    ptxas_optimize(module);
    const struct ptx_function *f = &module->functions[0];
    assert_string_equal(f->labels[0].name, "L");
    assert_string_equal(f->insts[f->labels[0].inst].opcode, "ld.shared.v2.u32");
    ptx_free(module);
}

/* Random kernels of floats, run as they are and optimized; test_optimize_random.c has all the rest */

enum { THREADS = 64, WORDS = 16 * THREADS, TRIALS = 1500 };
static uint32_t memory[2][WORDS];

static uint64_t no_place(void *context, const struct ptx_variable *variable, uint64_t bytes,
                         uint64_t alignment)
{
    (void)context, (void)variable, (void)bytes, (void)alignment;
    return 0;
}

static void run(struct ptx_module *module, uint32_t *words, uint32_t n, const char *body)
{
    static struct launch_result result;
    struct image *image = image_new();
    struct err err;
    struct program *program = program_new(&module, 1, &ptxas, no_place, NULL, &err);
    if (!program)
        fail_msg("%s\n%s", body, err.text);
    image_add(image, (struct range){(uintptr_t)words, sizeof memory[0], "the test's memory", false});
    struct {
        uint64_t a;
        uint32_t n;
    } params = {(uintptr_t)words, n};
    struct launch launch = {.kernel = program_kernel(program, "k"),
                            .image = image,
                            .params = &params,
                            .grid = {1, 1, 1},
                            .block = {THREADS, 1, 1},
                            .threads = 1,
                            .sm_count = 1,
                            .stack_bytes = 1024,
                            .instruction_limit = 10000000};
    launch_run(&launch, &result);
    if (result.fault.kind != FAULT_NONE)
        fail_msg("%s\n%s", result.fault.text, body);
    program_free(program);
    image_free(image);
}

static uint32_t pick(struct rng *rng, uint32_t count)
{
    return (uint32_t)rng_below(rng, count);
}

/* Instructions on %f10 to %f17 and %r10 to %r13; products and sums close together, so that they are fused. */
static void add_random(struct text *text, struct rng *rng, int depth)
{
    static const char *const floats[] = {"mul.f32", "add.f32", "sub.f32", "mul.f32", "add.f32", "max.f32"};
    static const char *const integers[] = {"add.s32", "sub.s32",    "and.b32",
                                           "xor.b32", "mul.lo.s32", "min.u32"};
    uint32_t label = pick(rng, 1u << 30);
    uint32_t f[3] = {10 + pick(rng, 8), 10 + pick(rng, 8), 10 + pick(rng, 8)};
    uint32_t r[3] = {10 + pick(rng, 4), 10 + pick(rng, 4), 10 + pick(rng, 4)};
    switch (pick(rng, depth < 2 ? 9 : 7)) {
    case 0:
    case 1:
    case 2:
        text_add(text, "%s %%f%u, %%f%u, %%f%u;\n", floats[pick(rng, 6)], f[0], f[1], f[2]);
        break;
    case 3:
        text_add(text, "mul.f32 %%f18, %%f%u, %%f%u; add.f32 %%f%u, %%f18, %%f%u;\n", f[0], f[1], f[2], f[0]);
        break;
    case 4:
        text_add(text, "%s %%r%u, %%r%u, %%r%u;\n", integers[pick(rng, 6)], r[0], r[1], r[2]);
        break;
    case 5:
        text_add(text, "ld.global.%s %%%c%u, [%%l2+%u];\n", r[0] & 1 ? "f32" : "u32", r[0] & 1 ? 'f' : 'r',
                 r[0] & 1 ? f[0] : r[0], 4 * pick(rng, 16));
        break;
    case 6:
        text_add(text, "st.global.f32 [%%l2+%u], %%f%u;\n", 4 * pick(rng, 16), f[0]);
        break;
    case 7:
        text_add(text, "setp.%s.u32 %%p%u, %%r%u, %u; @%%p%u bra A%u;\n", pick(rng, 2) ? "lt" : "ne",
                 10 + depth, r[0], pick(rng, 40), 10 + depth, label);
        for (uint32_t i = pick(rng, 5) + 1; i; i--)
            add_random(text, rng, depth + 1);
        if (pick(rng, 2)) {
            text_add(text, "bra B%u;\nA%u:\n", label, label);
            add_random(text, rng, depth + 1);
            text_add(text, "B%u:\n", label);
        } else {
            text_add(text, "A%u:\n", label);
        }
        break;
    default: { /* a loop of few rounds, by one of the ways that are unrolled */
        static const char *const tests[] = {"lt.u32", "lt.s32", "le.s32", "ne.s32", "gt.s32", "ge.s32"};
        uint32_t way = pick(rng, 6), c = 20 + (uint32_t)depth, step = 1 + pick(rng, 3),
                 rounds = 1 + pick(rng, 12);
        int32_t by = way >= 4 ? -(int32_t)step : (int32_t)step, from = (int32_t)pick(rng, 9) - 4;
        text_add(text, "add.s32 %%r%u, %%r1, %d;\nC%u:\n", c, from, label);
        for (uint32_t i = pick(rng, 6) + 1; i; i--)
            add_random(text, rng, depth + 1);
        text_add(text, "add.s32 %%r%u, %%r%u, %d;\n", c, c, by);
        if (way == 3) /* the limit is met exactly */
            text_add(text, "add.s32 %%r%u, %%r1, %d;\n", c + 5, from + by * (int32_t)rounds);
        text_add(text, "setp.%s %%p%u, %%r%u, %s%d; @%%p%u bra C%u;\n", tests[way], 20 + depth, c,
                 way == 3 ? "%r" : "", way == 3 ? (int)c + 5 : (int)pick(rng, 20) - (way ? 4 : 0), 20 + depth,
                 label);
        break;
    }
    }
}

static void what_is_computed_stays_the_same(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, 7, "optimize");
    for (int trial = 0; trial < TRIALS; trial++) {
        struct text body = {0};
        for (int i = 10; i < 18; i++)
            text_add(&body, "ld.global.f32 %%f%d, [%%l2+%d];\n", i, 4 * (i - 10));
        text_add(&body, "mov.f32 %%f18, 0f3F800000;\n");
        for (int i = 10; i < 14; i++)
            text_add(&body, "ld.global.u32 %%r%d, [%%l2+%d];\n", i, 4 * (i - 2));
        for (uint32_t i = 6 + pick(&rng, 20); i; i--)
            add_random(&body, &rng, 0);
        for (int i = 10; i < 18; i++)
            text_add(&body, "st.global.f32 [%%l2+%d], %%f%d;\n", 4 * (i - 10), i);
        for (int i = 10; i < 14; i++)
            text_add(&body, "st.global.u32 [%%l2+%d], %%r%d;\n", 4 * (i - 2), i);
        for (uint32_t i = 0; i < WORDS; i++) {
            float unit = 1.0f + (float)pick(&rng, 1 << 23) * 0x1p-23f;
            memcpy(&memory[0][i], &unit, 4);
            if (i % 16 >= 8)
                memory[0][i] = pick(&rng, 50);
        }
        memcpy(memory[1], memory[0], sizeof memory[0]);
        struct ptx_module *changed = parse(body.at);
        ptxas_optimize(changed);
        run(parse(body.at), memory[0], 40, body.at);
        run(changed, memory[1], 40, body.at);
        for (uint32_t i = 0; i < WORDS; i++)
            if (memory[0][i] != memory[1][i])
                fail_msg("trial %d: word %u of thread %u is %#x, not %#x\n%.9000s", trial, i % 16, i / 16,
                         memory[1][i], memory[0][i], body.at);
        text_fini(&body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_start_early),
        cmocka_unit_test(loads_do_not_pass_stores_that_may_meet_them),
        cmocka_unit_test(nothing_passes_clocks_and_barriers),
        cmocka_unit_test(nothing_passes_atomics_that_acquire_or_release),
        cmocka_unit_test(small_branches_become_guards),
        cmocka_unit_test(loops_are_unrolled),
        cmocka_unit_test(labels_stay_before_loads_that_become_one),
        cmocka_unit_test(what_is_computed_stays_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
