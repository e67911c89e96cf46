/* Instructions whose operands come from several banks of registers. Which bank a register is of is not asked
 * here: it is found out with pairs, and then says what all other instructions must take. */
#include "timing.h"

enum { REGISTERS = 5 };

#define OPERANDS                                                                                             \
    "shr.u32 %r1, %self, 1;\nshr.u32 %r2, %self, 2;\nshr.u32 %r3, %self, 3;\nshr.u32 %r4, %self, 4;\n"       \
    "shr.u32 %r5, %self, 5;\n"
#define USE                                                                                                  \
    "st.global.u32 [%out+20], %r1;\nst.global.u32 [%out+20], %r2;\nst.global.u32 [%out+20], %r3;\n"          \
    "st.global.u32 [%out+20], %r4;\nst.global.u32 [%out+20], %r5;\nst.global.u32 [%out+20], %r6;"

/* Cycles that its operands hold the sub-core up: `c` is 0 for an instruction of two. */
static uint32_t held_up(struct bench *bench, unsigned a, unsigned b, unsigned c)
{
    char body[200];
    if (c)
        snprintf(body, sizeof body, "mad.lo.u32 %%r6, %%r%u, %%r%u, %%r%u;", a, b, c);
    else
        snprintf(body, sizeof body, "min.u32 %%r6, %%r%u, %%r%u;", a, b);
    struct piece piece = {.before = OPERANDS, .body = body, .after = USE, .inst = 5 + 1 + 6};
    return bench_cycles(bench, &piece) - (1 + 1);
}

static struct bench open_banks(unsigned ports)
{
    return bench_open("sm.register_banks=2 sm.register_ports=%u sm.operand_reuse=no", ports);
}

/* Two registers of one bank hold it up by a cycle when the bank gives one at a time. */
static unsigned pairs_of_a_bank(struct bench *bench, bool same[REGISTERS + 1][REGISTERS + 1])
{
    unsigned pairs = 0;
    for (unsigned a = 1; a <= REGISTERS; a++)
        for (unsigned b = a + 1; b <= REGISTERS; b++) {
            uint32_t more = held_up(bench, a, b, 0);
            assert_in_range(more, 0, 1);
            same[a][b] = more;
            pairs += more;
        }
    return pairs;
}

/* Of two banks with one port, three operands wait for a cycle if two are of one bank, for two if all are;
 * with two ports, they wait for a cycle if all are of one bank. */
static void banks_are_read_side_by_side(void **state)
{
    (void)state;
    struct bench one = open_banks(1), two = open_banks(2);
    bool same[REGISTERS + 1][REGISTERS + 1] = {{0}};
    /* five registers of two banks, as even as can be: three and two, which are 3 + 1 pairs */
    assert_int_equal(pairs_of_a_bank(&one, same), 3 + 1);
    for (unsigned a = 1; a <= REGISTERS; a++)
        for (unsigned b = a + 1; b <= REGISTERS; b++)
            for (unsigned c = b + 1; c <= REGISTERS; c++) {
                unsigned pairs = (unsigned)same[a][b] + same[b][c] + same[a][c];
                assert_true(pairs == 1 || pairs == 3); /* of three, two are of one bank */
                assert_int_equal(held_up(&one, a, b, c), pairs == 3 ? 2 : 1);
                assert_int_equal(held_up(&two, a, b, c), pairs == 3 ? 1 : 0);
            }
    bench_close(&one);
    bench_close(&two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(banks_are_read_side_by_side)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
