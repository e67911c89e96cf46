/* A predicate is later for what it guards, and for a vote about it, than for what reads it as an operand. */
#include "timing.h"

enum { ALU = 5 };

#define COMPARE "setp.ne.u32 %p1, %self, 3;\n"

static uint32_t measured(uint32_t guard, const char *before, const char *body, const char *after,
                         unsigned inst)
{
    struct bench bench =
        bench_open("sm.alu_latency=%u sm.vote_latency=%u sm.guard_cycles=%u", ALU, ALU, guard);
    uint32_t cycles =
        bench_cycles(&bench, &(struct piece){.before = before, .body = body, .after = after, .inst = inst});
    bench_close(&bench);
    return cycles;
}

/* alu_latency and guard_cycles from the comparison to the guarded instruction, whether or not it is done. */
static void a_guard_takes_longer(void **state)
{
    (void)state;
    for (uint32_t guard = 0; guard <= 10; guard += guard == 0 ? 9 : 1) {
        assert_int_equal(measured(guard, "shr.u32 %r1, %self, 2;", COMPARE "@%p1 shr.u32 %r1, %self, 1;",
                                  "st.global.u32 [%out+20], %r1;", 4),
                         1 + ALU + guard + 1);
        assert_int_equal(measured(guard, "shr.u32 %r1, %self, 2;",
                                  "setp.gt.u32 %p1, %self, 999;\n@%p1 shr.u32 %r1, %self, 1;",
                                  "st.global.u32 [%out+20], %r1;", 4),
                         1 + ALU + guard + 1);
    }
}

static void a_vote_waits_as_a_guarded_instruction_does(void **state)
{
    (void)state;
    for (uint32_t guard = 0; guard <= 10; guard += guard == 0 ? 9 : 1)
        assert_int_equal(measured(guard, "", COMPARE "vote.sync.ballot.b32 %r1, %p1, -1;",
                                  "st.global.u32 [%out+20], %r1;", 3),
                         1 + ALU + guard + 1);
}

static void as_an_operand_it_is_like_any_other(void **state)
{
    (void)state;
    for (uint32_t guard = 0; guard <= 9; guard += 9)
        assert_int_equal(
            measured(guard, "", COMPARE "selp.u32 %r1, %self, 77, %p1;", "st.global.u32 [%out+20], %r1;", 3),
            1 + ALU + 1);
}

static void a_guard_that_is_there_is_not_waited_for(void **state)
{
    (void)state;
    assert_int_equal(measured(9, "shr.u32 %r1, %self, 2;" COMPARE, "@%p1 shr.u32 %r1, %self, 1;",
                              "st.global.u32 [%out+20], %r1;", 4),
                     1 + 1);
}

/* The comparison issues in cycle 1, a barrier of the warp (which takes a cycle, and keeps the order) in cycle
 * 2, the shift whose result is needed, too, in cycle 3. */
static void the_later_of_guard_and_operand_counts(void **state)
{
    (void)state;
    static const char body[] = COMPARE "bar.warp.sync -1;\nshr.u32 %r2, %self, 1;\n@%p1 shr.u32 %r1, %r2, 1;";
    for (uint32_t guard = 0; guard <= 4; guard++)
        assert_int_equal(measured(guard, "shr.u32 %r1, %self, 2;", body, "st.global.u32 [%out+20], %r1;", 6),
                         (guard > 2 ? 1 + ALU + guard : 3 + ALU) + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_guard_takes_longer),
                                       cmocka_unit_test(a_vote_waits_as_a_guarded_instruction_does),
                                       cmocka_unit_test(as_an_operand_it_is_like_any_other),
                                       cmocka_unit_test(a_guard_that_is_there_is_not_waited_for),
                                       cmocka_unit_test(the_later_of_guard_and_operand_counts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
