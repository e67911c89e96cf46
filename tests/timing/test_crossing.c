/* A result is later at another unit than at its own: cross_cycles, twice that to and from double precision
 * and from special functions. Units with a queue read their operands later, so nothing is added to them; and
 * nothing to what comes from units other than those named. */
#include "timing.h"

enum { LATENCY = 9 };

struct maker { /* of %r1 */
    const char *unit, *text;
};

/* Of %r1. What they read is used behind the end, too: registers that nobody needs any more are taken for
 * other values, such as the clock's, which would then wait for what was in them. */
struct reader {
    const char *unit, *text, *use;
    unsigned uses;
};

/* How many cross_cycles from one to the other. Moves between halves and pairs of 64 bits are only names. */
static const struct maker makers[] = {
    {"alu", "shr.u32 %r1, %self, 1;"},
    {"imad", "mad.lo.u32 %r1, %self, %self, %self;"},
    {"wide", "mul.hi.u32 %r1, %self, %self;"},
    {"fma", "fma.rn.f32 %f1, %f90, %f90, %f90; mov.b32 %r1, %f1;"},
    {"half", "fma.rn.f16x2 %r1, %self, %self, %self;"},
    {"fp64", "fma.rn.f64 %d1, %d90, %d90, %d90; mov.b64 {%r1, %r2}, %d1;"},
    {"sfu", "ex2.approx.ftz.f32 %f1, %f90; mov.b32 %r1, %f1;"},
    {"cvt", "popc.b32 %r1, %self;"},
    {"shuffle", "shfl.sync.idx.b32 %r1, %self, 0, 31, -1;"},
};

static const struct reader readers[] = {
    {"alu", "shr.u32 %r3, %r1, 1;", "st.global.u32 [%out+20], %r3;", 1},
    {"imad", "mad.lo.u32 %r3, %r1, %self, %self;", "st.global.u32 [%out+20], %r3;", 1},
    {"fma", "mov.b32 %f3, %r1; fma.rn.f32 %f4, %f3, %f90, %f90;",
     "st.global.f32 [%out+20], %f4; st.global.f32 [%out+20], %f3;", 2},
    {"half", "fma.rn.f16x2 %r3, %r1, %self, %self;", "st.global.u32 [%out+20], %r3;", 1},
    {"fp64", "mov.b64 %d3, {%r1, %r1}; fma.rn.f64 %d4, %d3, %d90, %d90;",
     "st.global.f64 [%out+24], %d4; st.global.f64 [%out+24], %d3;", 2},
    {"sfu", "mov.b32 %f3, %r1; ex2.approx.ftz.f32 %f4, %f3;",
     "st.global.f32 [%out+20], %f4; st.global.f32 [%out+20], %f3;", 2},
    {"cvt", "popc.b32 %r3, %r1;", "st.global.u32 [%out+20], %r3;", 1},
    {"shuffle", "shfl.sync.idx.b32 %r3, %r1, 0, 31, -1;", "st.global.u32 [%out+20], %r3;", 1},
    {"memory", "st.global.u32 [%out+24], %r1;", "", 0},
};

/* By maker and reader, in their order. */
static const uint32_t crossings[9][9] = {
    /* alu imad fma half fp64 sfu cvt shuffle memory */
    {0, 1, 1, 1, 2, 0, 0, 1, 1}, /* alu */
    {1, 0, 0, 1, 2, 0, 0, 1, 1}, /* imad: products and floats are one unit, as to this */
    {1, 0, 0, 1, 2, 0, 0, 1, 1}, /* wide */
    {1, 0, 0, 1, 2, 0, 0, 1, 1}, /* fma */
    {0, 0, 0, 0, 0, 0, 0, 0, 0}, /* half */
    {2, 2, 2, 2, 0, 0, 0, 2, 2}, /* fp64 */
    {2, 2, 2, 2, 2, 0, 0, 2, 2}, /* sfu */
    {2, 2, 2, 2, 2, 0, 0, 2, 2}, /* cvt */
    {0, 0, 0, 0, 0, 0, 0, 0, 0}, /* shuffle */
};

static void a_result_is_later_at_another_unit(void **state)
{
    (void)state;
    for (uint32_t cross = 0; cross <= 3; cross++)
        for (unsigned m = 0; m < 9; m++) {
            struct bench bench =
                bench_open("sm.cross_cycles=%u sm.%s_latency=%u", cross, makers[m].unit, LATENCY);
            for (unsigned r = 0; r < 9; r++) {
                char body[400], after[400];
                snprintf(body, sizeof body, "%s\n%s", makers[m].text, readers[r].text);
                snprintf(after, sizeof after, "%s\nst.global.u32 [%%out+28], %%r1;", readers[r].use);
                if (!strcmp(makers[m].unit, "fp64")) /* the other half of the pair */
                    strcat(after, "\nst.global.u32 [%out+28], %r2;");
                struct piece piece = {.body = body, .after = after, .inst = 2 + readers[r].uses + 1};
                piece.inst += !strcmp(makers[m].unit, "fp64");
                print_message("%s to %s\n", makers[m].unit, readers[r].unit);
                assert_int_equal(bench_cycles(&bench, &piece), 1 + LATENCY + crossings[m][r] * cross + 1);
            }
            bench_close(&bench);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_result_is_later_at_another_unit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
