/* Branches that are taken inside of divisions and roots (`jump`): the warp waits until one is over, within
 * the sequence and behind it. */
#include "timing.h"

#define USE "st.global.f32 [%out+20], %f1;"

struct costs {
    uint32_t alu, guard, jump, sfu, fma, cross;
};

/* rcp.rn.f32 as src/isa/ptxas/opcodes.c has it, A/BAA?JSF3J: a comparison of the exponent in three integer
 * instructions (the B, which begins the rare path, stands beside them), a jump that their predicate guards,
 * the approximation, three products, and the jump back. From special functions to products it is 2 *
 * cross_cycles, from products to the jump 1. */
static uint32_t reciprocal(const struct costs *c)
{
    uint32_t to_jump = 3 * c->alu + c->guard, value = c->sfu + 2 * c->cross + 3 * c->fma + c->cross;
    return 1 + to_jump + c->jump + value + c->jump;
}

static void a_reciprocal_jumps_twice(void **state)
{
    (void)state;
    static const struct costs rows[] = {{4, 9, 12, 17, 4, 1}, {5, 9, 12, 17, 4, 1}, {4, 10, 12, 17, 4, 1},
                                        {4, 9, 13, 17, 4, 1}, {4, 9, 12, 18, 4, 1}, {4, 9, 12, 17, 5, 1},
                                        {4, 9, 12, 17, 4, 2}, {4, 9, 40, 17, 4, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct costs *c = &rows[i];
        struct bench bench = bench_open("sm.alu_latency=%u sm.guard_cycles=%u sm.jump_latency=%u "
                                        "sm.sfu_latency=%u sm.fma_latency=%u sm.cross_cycles=%u "
                                        "sm.alu_interval=1 sm.control_interval=1 sm.jump_interval=1",
                                        c->alu, c->guard, c->jump, c->sfu, c->fma, c->cross);
        struct piece piece = {.before = "mov.f32 %f9, 0f40400000;",
                              .body = "rcp.rn.f32 %f1, %f9;",
                              .after = USE "st.global.f32 [%out+24], %f9;",
                              .inst = 1 + 10 + 2};
        assert_int_equal(bench_cycles(&bench, &piece), reciprocal(c));
        bench_close(&bench);
    }
}

/* Every one of these waits for two jumps, so a cycle more of each is two more. */
static void divisions_and_roots_wait_for_their_jumps(void **state)
{
    (void)state;
    static const struct {
        const char *before, *body, *after;
        unsigned inst;
    } rows[] = {
        {"mov.f32 %f9, 0f40400000;", "div.rn.f32 %f1, %f9, %f9;", USE "st.global.f32 [%out+24], %f9;",
         1 + 10 + 2},
        {"mov.f32 %f9, 0f40400000;", "sqrt.rn.f32 %f1, %f9;", USE "st.global.f32 [%out+24], %f9;",
         1 + 10 + 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t before = 0;
        for (uint32_t latency = 12; latency <= 14; latency++) {
            struct bench bench = bench_open("sm.jump_latency=%u", latency);
            uint32_t cycles = bench_cycles(&bench, &(struct piece){.before = rows[i].before,
                                                                   .body = rows[i].body,
                                                                   .after = rows[i].after,
                                                                   .inst = rows[i].inst});
            if (before)
                assert_int_equal(cycles, before + 2);
            before = cycles;
            bench_close(&bench);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_reciprocal_jumps_twice),
                                       cmocka_unit_test(divisions_and_roots_wait_for_their_jumps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
