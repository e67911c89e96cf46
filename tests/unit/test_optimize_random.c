/* Random kernels compute the same, to the last bit, as they are and as ptxas_optimize leaves them. A thread
 * has 64 bytes of global and 64 of shared memory to itself; `t` is read by all and written before a barrier
 * alone; what threads exchange stands between two barriers. So there are no races, and one right result. */
#include "check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "ptx_run/program.h"
#include "ptxas/ptxas.h"

#include <stdlib.h>

enum { THREADS = 96, WORDS = 16 * THREADS, TRIALS = 300, DEPTH_MOST = 3 };
static uint32_t memory[2][WORDS];

/* %f10 to %f17, %r10 to %r13 and %l10, %l11 are computed with. %l2: the thread's global memory, %l3: the same
 * 16 bytes on; %r3: its shared memory, %r4: the same 16 bytes on; %r5: its warp. */
#define REGISTERS                                                                                            \
    ".reg .pred %%p<99>, %%q<9999>; .reg .b32 %%r<99>, %%n<9999>; .reg .b64 %%l<99>, %%w<9999>; .reg .f32 "  \
    "%%f<99>;\n"
#define HEAD                                                                                                 \
    ".version 8.0\n.target sm_90\n.address_size 64\n"                                                        \
    ".shared .align 4 .b8 s[6144];\n.shared .align 4 .b8 t[2304];\n"
#define ADDRESSES                                                                                            \
    "mov.u32 %%r1, %%tid.x; shr.u32 %%r5, %%r1, 5; shl.b32 %%r6, %%r1, 6; mov.u32 %%r7, s;\n"                \
    "add.s32 %%r3, %%r7, %%r6; add.s32 %%r4, %%r3, 16; add.s64 %%l3, %%l2, 16;\n"

/* %n, %w and %q are numbered through: each is for one purpose. */
struct writing {
    struct text *text;
    struct rng *rng;
    uint32_t named; /* registers and labels that are used once */
    bool can_call;  /* it is not the function itself */
    bool is_last;   /* no barrier follows: threads may end */
};

static uint32_t pick(struct writing *w, uint32_t count)
{
    return (uint32_t)rng_below(w->rng, count);
}

static const char *one_of(struct writing *w, const char *const *names, size_t count)
{
    return names[pick(w, (uint32_t)count)];
}
#define ONE_OF(w, ...)                                                                                       \
    one_of(w, (const char *const[]){__VA_ARGS__},                                                            \
           sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void add_body(struct writing *w, int depth, uint32_t count);

static uint32_t any_float(struct writing *w)
{
    return 10 + pick(w, 8);
}

static uint32_t any_word(struct writing *w)
{
    return 10 + pick(w, 4);
}

static void add_integer(struct writing *w)
{
    uint32_t d = any_word(w), a = any_word(w), b = any_word(w), c = any_word(w), n = pick(w, 34);
    switch (pick(w, 9)) {
    case 0:
        text_add(w->text, "%s %%r%u, %%r%u, %u;\n",
                 ONE_OF(w, "shl.b32", "shr.u32", "shr.s32", "and.b32", "or.b32", "mul.hi.u32", "add.s32"), d,
                 a, n);
        break;
    case 1:
        text_add(w->text, "%s %%r%u, %%r%u;\n",
                 ONE_OF(w, "not.b32", "neg.s32", "popc.b32", "brev.b32", "mov.u32"), d, a);
        break;
    case 2:
        text_add(w->text, "%s %%r%u, %%r%u, %%r%u, %%r%u;\n",
                 ONE_OF(w, "mad.lo.s32", "mad.lo.u32", "bfe.u32"), d, a, b, c);
        break;
    case 3:
        text_add(w->text, "add.cc.u32 %%r%u, %%r%u, %%r%u;\naddc.u32 %%r%u, %%r%u, 0;\n", d, a, b, c, d);
        break;
    case 4:
        text_add(w->text, "%s %%r%u, %%r%u, %u;\n", ONE_OF(w, "div.u32", "rem.u32", "div.s32"), d, a, n + 1);
        break;
    case 5:
        text_add(w->text, "%s %%l%u, %%r%u, %%r%u;\n", ONE_OF(w, "mul.wide.u32", "mul.wide.s32"),
                 10 + (d & 1), a, b);
        text_add(w->text, "%s %%l11, %%l10, %%l11;\ncvt.u32.u64 %%r%u, %%l11;\n",
                 ONE_OF(w, "add.s64", "xor.b64", "sub.s64"), c);
        break;
    case 6: /* a comparison that guards others */
        text_add(w->text, "setp.%s.u32 %%p10, %%r%u, %u;\n", ONE_OF(w, "lt", "eq", "gt"), a, n);
        text_add(w->text, "@%s%%p10 add.s32 %%r%u, %%r%u, %u;\n", pick(w, 2) ? "!" : "", d, b, n);
        break;
    case 7:
        text_add(w->text, "setp.lt.s32 %%p11, %%r%u, %%r%u;\nselp.b32 %%r%u, %%r%u, %u, %%p11;\n", a, b, d, c,
                 n);
        break;
    default:
        text_add(w->text, "%s %%r%u, %%r%u, %%r%u;\n",
                 ONE_OF(w, "add.s32", "sub.s32", "and.b32", "xor.b32", "mul.lo.s32", "min.u32"), d, a, b);
    }
}

static void add_float(struct writing *w)
{
    static const char *const floats[] = {"mul.f32", "add.f32", "sub.f32", "mul.f32", "add.f32", "max.f32"};
    uint32_t d = any_float(w), a = any_float(w), b = any_float(w);
    if (pick(w, 4)) /* products and sums close together, so that they are fused */
        text_add(w->text, "%s %%f%u, %%f%u, %%f%u;\n", floats[pick(w, 6)], d, a, b);
    else
        text_add(w->text, "mul.f32 %%f18, %%f%u, %%f%u; add.f32 %%f%u, %%f18, %%f%u;\n", d, a, b, d);
}

/* A thread's own word, in one of the ways to name it; `words`: so many that lie together. */
static void add_place(struct writing *w, bool shared, uint32_t words)
{
    uint32_t at = 4 * words * pick(w, 16 / words);
    bool second = at >= 16 && pick(w, 2);
    text_add(w->text, "[%%%c%u+%u]", shared ? 'r' : 'l', (shared ? 3u : 2u) + second, at - (second ? 16 : 0));
}

static void add_load(struct writing *w)
{
    bool shared = pick(w, 2);
    const char *space = shared ? "shared" : "global";
    switch (pick(w, 5)) {
    case 0:
        text_add(w->text, "ld.%s.v2.u32 {%%r%u, %%r%u}, ", space, 10 + pick(w, 2), 12 + pick(w, 2));
        add_place(w, shared, 2);
        break;
    case 1:
        text_add(w->text, "ld.%s.u8 %%r%u, ", space, any_word(w));
        add_place(w, shared, 1);
        break;
    case 2:
        text_add(w->text, "ld.%s%s.u32 %%r%u, ", pick(w, 4) ? "" : "volatile.", space, any_word(w));
        add_place(w, shared, 1);
        break;
    default:
        text_add(w->text, "ld.%s.f32 %%f%u, ", space, any_float(w));
        add_place(w, shared, 1);
    }
    text_add(w->text, ";\n");
}

static void add_store(struct writing *w)
{
    bool shared = pick(w, 2);
    const char *space = shared ? "shared" : "global";
    switch (pick(w, 6)) {
    case 0:
        text_add(w->text, "st.%s.v2.u32 ", space);
        add_place(w, shared, 2);
        text_add(w->text, ", {%%r%u, %%r%u};\n", any_word(w), any_word(w));
        break;
    case 1:
        text_add(w->text, "st.%s.u8 ", space);
        add_place(w, shared, 1);
        text_add(w->text, ", %%r%u;\n", any_word(w));
        break;
    case 2:
        text_add(w->text, "atom.%s%s.add.u32 %%r%u, ", pick(w, 2) ? "" : "acq_rel.gpu.", space, any_word(w));
        add_place(w, shared, 1);
        text_add(w->text, ", %%r%u;\n", any_word(w));
        break;
    default:
        text_add(w->text, "st.%s.f32 ", space);
        add_place(w, shared, 1);
        text_add(w->text, ", %%f%u;\n", any_float(w));
    }
}

/* Neighbours in shared memory, each to a register of its own, in any order: they become one vector. From `t`,
 * or from where a register points that is known to be aligned. */
static void add_neighbours(struct writing *w, const char *base)
{
    uint32_t first = w->named, count = 2 + pick(w, 3), from = pick(w, 4), turn = pick(w, 4);
    w->named += 8;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t word = (from + (i * (2 * (turn & 1) + 1) + turn)) % 4;
        text_add(w->text, "ld.shared.u32 %%n%u, [%s+%u];\n", first + word, base, 4 * word);
        if (!pick(w, 6)) /* some other thing in between */
            add_body(w, DEPTH_MOST, 1);
        text_add(w->text, pick(w, 2) ? "add.s32 %%r%u, %%r%u, %%n%u;\n" : "xor.b32 %%r%u, %%r%u, %%n%u;\n",
                 10 + i, 10 + i, first + word);
    }
}

static void add_choice(struct writing *w, int depth)
{
    uint32_t label = w->named++, p = w->named++;
    text_add(w->text, "setp.%s.u32 %%q%u, %%r%u, %u;\n@%s%%q%u bra A%u;\n", ONE_OF(w, "lt", "ne", "gt"), p,
             pick(w, 3) ? any_word(w) : 5, pick(w, 3) ? pick(w, 40) : pick(w, 3), pick(w, 3) ? "" : "!", p,
             label);
    add_body(w, depth + 1, pick(w, 5) + 1);
    if (pick(w, 2)) {
        text_add(w->text, "bra B%u;\nA%u:\n", label, label);
        add_body(w, depth + 1, pick(w, 4) + 1);
        text_add(w->text, "B%u:\n", label);
    } else {
        text_add(w->text, "A%u:\n", label);
    }
}

static void add_switch(struct writing *w, int depth)
{
    uint32_t label = w->named++;
    text_add(w->text, "and.b32 %%r30, %%r%u, 1;\nV%u: .branchtargets X%u, Y%u;\nbrx.idx %%r30, V%u;\nX%u:\n",
             any_word(w), label, label, label, label, label);
    add_body(w, depth + 1, pick(w, 3) + 1);
    text_add(w->text, "bra Z%u;\nY%u:\n", label, label);
    add_body(w, depth + 1, pick(w, 3) + 1);
    text_add(w->text, "Z%u:\n", label);
}

/* A loop of few rounds, in one of the ways that are unrolled; the number of rounds may differ by lane or by
 * warp. */
static void add_loop(struct writing *w, int depth)
{
    static const char *const tests[] = {"lt.u", "lt.s", "le.s", "ne.s", "gt.s", "ge.s"};
    uint32_t label = w->named++, way = pick(w, 6), c = w->named++, limit = w->named++, p = w->named++,
             step = 1 + pick(w, 3), rounds = 1 + pick(w, 12), pointer = w->named++;
    int32_t by = way >= 4 ? -(int32_t)step : (int32_t)step, from = (int32_t)pick(w, 9) - 4;
    bool wide = !pick(w, 4), moves = pick(w, 2), down = !pick(w, 3);
    int bits = wide ? 64 : 32;
    char kind = wide ? 'w' : 'n';
    if (down) { /* as front ends write loops that they unrolled: down to zero by a multiple, which the warp
                   tells */
        way = 3, by = -4;
        text_add(w->text, "and.b32 %%n%u, %%r%u, 3;\nadd.s32 %%n%u, %%n%u, 1;\nshl.b32 %%n%u, %%n%u, 2;\n",
                 limit, pick(w, 2) ? 5 : any_word(w), limit, limit, limit, limit);
        text_add(w->text, wide ? "cvt.u64.u32 %%w%u, %%n%u;\n" : "mov.u32 %%n%u, %%n%u;\n", c, limit);
    } else {
        text_add(w->text, "add.s32 %%n%u, %%r%u, %d;\n", limit, pick(w, 2) ? 5 : 1, from);
        text_add(w->text, wide ? "cvt.s64.s32 %%w%u, %%n%u;\n" : "mov.u32 %%n%u, %%n%u;\n", c, limit);
        if (way == 3) /* the limit is met exactly */
            text_add(w->text, "add.s%d %%%c%u, %%%c%u, %d;\n", bits, kind, p, kind, c, by * (int32_t)rounds);
    }
    text_add(w->text, "mov.u32 %%n%u, t;\nC%u:\n", pointer, label);
    if (moves) {
        char base[24];
        snprintf(base, sizeof base, "%%n%u", pointer);
        add_neighbours(w, base);
    }
    add_body(w, depth + 1, pick(w, 6));
    if (!pick(w, 5)) /* break */
        text_add(w->text, "setp.eq.u32 %%q%u, %%r%u, %u;\n@%%q%u bra D%u;\n", limit, any_word(w), pick(w, 30),
                 limit, label);
    text_add(w->text, "add.s32 %%n%u, %%n%u, 16;\n", pointer, pointer);
    text_add(w->text, "add.s%d %%%c%u, %%%c%u, %d;\nsetp.%s%d %%q%u, %%%c%u, ", bits, kind, c, kind, c, by,
             tests[way], bits, p, kind, c);
    if (down)
        text_add(w->text, "0");
    else if (way == 3)
        text_add(w->text, "%%%c%u", kind, p);
    else
        text_add(w->text, "%d", (int)pick(w, 20) - (way ? 4 : 0));
    text_add(w->text, ";\n@%%q%u bra C%u;\nD%u:\n", p, label, label);
}

/* What all threads come to together. */
static void add_exchange(struct writing *w)
{
    if (pick(w, 2)) {
        text_add(w->text, "shfl.sync.bfly.b32 %%r%u, %%r%u, %u, 31, -1;\n", any_word(w), any_word(w),
                 1u << pick(w, 5));
        return;
    }
    text_add(
        w->text,
        "st.shared.u32 [%%r3+%u], %%r%u;\nbar.sync 0;\nadd.s32 %%r31, %%r1, %u;\nrem.u32 %%r31, %%r31, %u;\n"
        "shl.b32 %%r31, %%r31, 6;\nadd.s32 %%r32, %%r7, %%r31;\nld.shared.u32 %%r%u, [%%r32+%u];\nbar.sync "
        "0;\n",
        4 * pick(w, 4), any_word(w), 1 + pick(w, 60), (uint32_t)THREADS, any_word(w), 4 * pick(w, 4));
}

static void add_one(struct writing *w, int depth)
{
    switch (pick(w, depth < DEPTH_MOST ? 18 : 9)) {
    case 0:
    case 1:
        add_float(w);
        break;
    case 2:
    case 3:
        add_integer(w);
        break;
    case 4:
    case 5:
        add_load(w);
        break;
    case 6:
        add_store(w);
        break;
    case 7:
    case 8:
        if (depth < DEPTH_MOST)
            add_neighbours(w, ONE_OF(w, "t", "t", "%r3", "%r4"));
        break;
    case 9:
    case 10:
    case 11:
        add_choice(w, depth);
        break;
    case 12:
    case 13:
    case 14:
        add_loop(w, depth);
        break;
    case 15:
        if (w->can_call)
            text_add(
                w->text,
                "{\n.param .b32 in; .param .b64 place; .param .b32 out;\nst.param.b32 [in], %%r%u;\n"
                "st.param.b64 [place], %%l2;\ncall (out), g, (in, place);\nld.param.b32 %%r%u, [out];\n}\n",
                any_word(w), any_word(w));
        break;
    case 16:
        add_switch(w, depth);
        break;
    default:
        if (w->is_last)
            text_add(w->text, "setp.eq.u32 %%p12, %%r%u, %u;\n@%%p12 bra END;\n", any_word(w), pick(w, 9));
        else if (!depth && w->can_call)
            add_exchange(w);
    }
}

static void add_body(struct writing *w, int depth, uint32_t count)
{
    for (; count; count--)
        add_one(w, depth);
}

/* Everything that is computed with begins as what lies in the thread's memory, and goes there in the end. */
static void add_function(struct writing *w)
{
    text_add(w->text, ".func (.param .b32 out) g(.param .b32 in, .param .b64 place)\n{\n" REGISTERS
                      "ld.param.u32 %%r13, [in]; ld.param.u64 %%l2, [place];\n" ADDRESSES);
    for (int i = 10; i < 18; i++)
        text_add(w->text, "ld.global.f32 %%f%d, [%%l2+%d];\n", i, 4 * (i - 10));
    text_add(w->text, "mov.f32 %%f18, 0f3F800000; mov.b64 %%l10, 1; mov.b64 %%l11, 2;\n"
                      "mov.u32 %%r10, 10; mov.u32 %%r11, 11; mov.u32 %%r12, 12;\n");
    add_body(w, 1, 2 + pick(w, 6));
    text_add(w->text, "END:\nadd.s32 %%r13, %%r13, %%r10;\nst.param.b32 [out], %%r13;\nret;\n}\n");
}

static void add_kernel(struct writing *w)
{
    text_add(w->text, ".visible .entry k(.param .u64 a)\n{\n" REGISTERS
                      "ld.param.u64 %%l0, [a]; mov.u32 %%r2, %%tid.x; mul.wide.u32 %%l1, %%r2, 64;\n"
                      "add.s64 %%l2, %%l0, %%l1;\n" ADDRESSES "shl.b32 %%r34, %%r1, 2; mov.u32 %%r35, t;\n"
                      "add.s32 %%r35, %%r35, %%r34; mul.lo.u32 %%r34, %%r34, 77777;\n");
    for (int i = 0; i < 6; i++)
        text_add(w->text, "st.shared.u32 [%%r35+%d], %%r34; mul.lo.u32 %%r34, %%r34, 37;\n", 4 * THREADS * i);
    for (int i = 0; i < 16; i++)
        text_add(w->text, "ld.global.u32 %%r40, [%%l2+%d];\nst.shared.u32 [%%r3+%d], %%r40;\n", 4 * i, 4 * i);
    text_add(w->text, "bar.sync 0;\n");
    for (int i = 10; i < 18; i++)
        text_add(w->text, "ld.global.f32 %%f%d, [%%l2+%d];\n", i, 4 * (i - 10));
    text_add(w->text, "mov.f32 %%f18, 0f3F800000; mov.b64 %%l10, 1; mov.b64 %%l11, 2;\n");
    for (int i = 10; i < 14; i++)
        text_add(w->text, "ld.global.u32 %%r%d, [%%l2+%d];\n", i, 4 * (i - 2));
    add_body(w, 0, 4 + pick(w, 14));
    w->is_last = true;
    add_body(w, 0, pick(w, 3));
    for (int i = 10; i < 18; i++)
        text_add(w->text, "st.global.f32 [%%l2+%d], %%f%d;\n", 4 * (i - 10), i);
    for (int i = 10; i < 14; i++)
        text_add(w->text, "st.global.u32 [%%l2+%d], %%r%d;\n", 4 * (i - 2), i);
    text_add(w->text,
             "ld.shared.v4.u32 {%%r10, %%r11, %%r12, %%r13}, [%%r3+%u];\n"
             "st.global.v4.u32 [%%l2+48], {%%r10, %%r11, %%r12, %%r13};\nEND: ret;\n}\n",
             16 * pick(w, 4));
}

static uint64_t no_place(void *context, const struct ptx_variable *variable, uint64_t bytes,
                         uint64_t alignment)
{
    (void)context, (void)variable, (void)bytes, (void)alignment;
    return 0;
}

/* Whether it ended: loops in loops may be too long. */
static bool run(const struct text *text, bool optimized, uint32_t *words, uint64_t limit)
{
    static struct launch_result result;
    struct image *image = image_new();
    struct err err;
    struct ptx_module *module = ptx_parse("test.ptx", text->at, text->length, &err);
    if (!module)
        fail_msg("%s\n%s", err.text, text->at);
    if (optimized)
        ptxas_optimize(module);
    struct program *program = program_new(&module, 1, &ptxas, no_place, NULL, &err);
    if (!program)
        fail_msg("%s\n%s", err.text, text->at);
    image_add(image, (struct range){(uintptr_t)words, sizeof memory[0], "the test's memory", false});
    uint64_t params = (uintptr_t)words;
    struct launch launch = {.kernel = program_kernel(program, "k"),
                            .image = image,
                            .params = &params,
                            .grid = {1, 1, 1},
                            .block = {THREADS, 1, 1},
                            .threads = 1,
                            .sm_count = 1,
                            .stack_bytes = 1024,
                            .instruction_limit = limit};
    launch_run(&launch, &result);
    if (result.fault.kind != FAULT_NONE && result.fault.kind != FAULT_LIMIT)
        fail_msg("%s\n%s", result.fault.text, text->at);
    program_free(program);
    image_free(image);
    return result.fault.kind == FAULT_NONE;
}

static void try_one(uint64_t seed)
{
    struct rng rng;
    struct text text = {0};
    rng_init(&rng, seed, "optimize");
    struct writing w = {.text = &text, .rng = &rng};
    text_add(&text, "%s", HEAD);
    add_function(&w);
    w.can_call = true;
    add_kernel(&w);
    for (uint32_t i = 0; i < WORDS; i++) {
        float unit = 1.0f + (float)pick(&w, 1 << 23) * 0x1p-23f;
        memcpy(&memory[0][i], &unit, 4);
        if (i % 16 >= 8)
            memory[0][i] = pick(&w, 50);
    }
    memcpy(memory[1], memory[0], sizeof memory[0]);
    bool ended = run(&text, false, memory[0], 2000000);
    if (ended && !run(&text, true, memory[1], 20000000))
        fail_msg("seed %llu does not end\n%.30000s", (unsigned long long)seed, text.at);
    for (uint32_t i = 0; i < WORDS && ended; i++)
        if (memory[0][i] != memory[1][i])
            fail_msg("seed %llu: word %u of thread %u is %#x, not %#x\n%.30000s", (unsigned long long)seed,
                     i % 16, i / 16, memory[1][i], memory[0][i], text.at);
    text_fini(&text);
}

static void what_is_computed_stays_the_same(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= TRIALS; seed++)
        try_one(seed);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_computed_stays_the_same)};
    if (argc > 1) {
        uint64_t first = strtoull(argv[1], NULL, 10), count = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
        for (uint64_t seed = first; seed < first + count; seed++)
            try_one(seed);
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
