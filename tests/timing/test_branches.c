/* Branches that are taken or not, threads that part and meet again, calls. */
#include "timing.h"

/* Fences for the block, of a cycle each here, stand for any instruction: others would be guarded instead of
 * skipped, as few as they are. */
#define SKIP "@%p1 bra skip;\nmembar.cta;\nmembar.cta;\nskip:"

/* A further block of code, in which the parameter that is used behind it is loaded again. */
enum { BLOCK = 1 };

static uint32_t measured(uint32_t control, uint32_t taken, uint32_t diverge, const struct piece *piece)
{
    struct bench bench =
        bench_open("sm.control_latency=%u sm.branch_taken_cycles=%u sm.diverge_cycles=%u "
                   "sm.control_interval=1 sm.fence_block_cycles=0 sm.sync_interval=1 sm.sync_shared=0",
                   control, taken, diverge);
    uint32_t cycles = bench_cycles(&bench, piece);
    bench_close(&bench);
    return cycles;
}

static const uint32_t settings[][3] = {{4, 4, 18}, {5, 4, 18}, {4, 5, 18}, {4, 4, 19}, {9, 0, 0}};
enum { SETTINGS = sizeof settings / sizeof *settings };

/* Behind a branch that is taken a warp waits for the unit's latency and branch_taken_cycles; what is next
 * behind one that is not issues in the next cycle. The predicate is the same for all lanes. */
static void a_branch_of_all_lanes(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SETTINGS; i++) {
        const uint32_t *s = settings[i];
        struct piece piece = {
            .before = "setp.ne.u32 %p1, %arg, 0;", .body = SKIP, .inst = 1 + 1 + BLOCK, .arg = 1};
        assert_int_equal(measured(s[0], s[1], s[2], &piece), 1 + s[0] + s[1]);
        piece.arg = 0;
        piece.inst = 1 + 3 + BLOCK;
        assert_int_equal(measured(s[0], s[1], s[2], &piece), 1 + 3);
    }
}

/* The predicate differs by lane, so the place to meet is prepared first, by an instruction in cycle 1; the
 * branch issues in cycle 2. Lanes from %arg on skip two instructions. When they part, diverge_cycles are
 * added; those that go on issue two instructions; all meet and read the clock. */
static void a_branch_that_parts_lanes(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SETTINGS; i++) {
        const uint32_t *s = settings[i];
        struct piece piece = {
            .before = "setp.ge.u32 %p1, %self, %arg;", .body = SKIP, .inst = 1 + 4 + 1 + BLOCK, .arg = 16};
        assert_int_equal(measured(s[0], s[1], s[2], &piece), 2 + (s[0] + s[1] + s[2]) + 2);
        piece.arg = 32; /* none skips them */
        assert_int_equal(measured(s[0], s[1], s[2], &piece), 2 + 1 + 2);
        piece.arg = 0; /* all do */
        piece.inst = 1 + 2 + 1 + BLOCK;
        assert_int_equal(measured(s[0], s[1], s[2], &piece), 2 + s[0] + s[1]);
    }
}

/* A call is a move (cycle 1) and a jump that needs its result, behind which the warp waits for call_latency.
 * In the function: a barrier of the warp; the return, a branch that is taken to the function's end; and there
 * an instruction that leaves it. */
static void a_call_and_its_return(void **state)
{
    (void)state;
    static const uint32_t rows[][4] = {
        {5, 35, 4, 4}, {6, 35, 4, 4}, {5, 36, 4, 4}, {5, 35, 5, 4}, {5, 35, 4, 5}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const uint32_t *s = rows[i];
        struct bench bench = bench_open("sm.cross_cycles=0 sm.alu_latency=%u sm.call_latency=%u "
                                        "sm.control_latency=%u sm.branch_taken_cycles=%u",
                                        s[0], s[1], s[2], s[3]);
        struct piece piece = {.module = ".func nothing()\n{\nbar.warp.sync -1;\nret;\n}\n",
                              .body = "call nothing;",
                              .inst = 2 + 3};
        assert_int_equal(bench_cycles(&bench, &piece), 1 + s[0] + s[1] + 1 + s[2] + s[3] + 1);
        bench_close(&bench);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_branch_of_all_lanes),
                                       cmocka_unit_test(a_branch_that_parts_lanes),
                                       cmocka_unit_test(a_call_and_its_return)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
