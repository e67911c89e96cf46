/* Atomic operations on shared memory, where the SM does them, and on global memory, where L2 does. */
#include "timing.h"

#define USE "st.global.u32 [%out+20], %r4;"

/* Groups of lanes go to one word each: %arg + 1 words. Lanes of a word take turns, a pass each. */
static void lanes_of_a_word_take_turns_in_shared_memory(void **state)
{
    (void)state;
    enum { SHARED = 23 };
    for (uint32_t conflict = 2; conflict <= 3; conflict++)
        for (uint32_t more = 2; more <= 3; more++) {
            struct bench bench =
                bench_open("sm.shared_latency=%u sm.conflict_cycles=%u sm.atomic_shared_cycles=%u", SHARED,
                           conflict, more);
            for (uint32_t words = 1; words <= 32; words *= 2) {
                struct piece piece = {.module = ".shared .align 16 .b8 area[1024];",
                                      .before = "mov.u32 %r9, area;\nand.b32 %r8, %self, %arg;\n"
                                                "mad.lo.u32 %r1, %r8, 4, %r9;",
                                      .body = "atom.shared.add.u32 %r3, [%r1], %self;\nshr.u32 %r4, %r3, 1;",
                                      .after = USE,
                                      .inst = 3 + 1 + 1 + 3,
                                      .arg = words - 1};
                assert_int_equal(bench_cycles(&bench, &piece),
                                 1 + SHARED + (32 / words - 1) * conflict + more + 1);
            }
            bench_close(&bench);
        }
}

/* To L2 and back. A message has 16 lanes at most, so those of a warp come in two, and L2 does one after the
 * other. Each takes atomic_sector_cycles a sector and atomic_lane_cycles a lane; but atomic_same_cycles a
 * lane when all are of one word; and atomic_cycles follow. */
static const uint32_t rows[][4] = {{3, 2, 1, 2}, {4, 2, 1, 2}, {3, 3, 1, 2}, {3, 2, 2, 2}, {3, 2, 1, 3}};
enum { WAY = TO_NOC + NOC + NOC + FILL };

static struct bench open_row(const uint32_t *row)
{
    return bench_open("l2.atomic_cycles=%u l2.atomic_sector_cycles=%u l2.atomic_lane_cycles=%u "
                      "l2.atomic_same_cycles=%u",
                      row[0], row[1], row[2], row[3]);
}

static uint32_t of_words(struct bench *bench, uint32_t mask)
{
    struct piece piece = {.before = "and.b32 %r8, %self, %arg;\nmad.wide.u32 %rd1, %r8, 4, %data;",
                          .body = "atom.global.add.u32 %r3, [%rd1], %self;\nshr.u32 %r4, %r3, 1;",
                          .after = USE,
                          .inst = 2 + 3,
                          .arg = mask};
    return bench_cycles(bench, &piece);
}

static void l2_does_atomics_one_after_the_other(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const uint32_t *row = rows[i];
        struct bench bench = open_row(row);
        assert_int_equal(of_words(&bench, 31), 1 + WAY + 2 * (2 * row[1] + 16 * row[2]) + row[0] + 1);
        assert_int_equal(of_words(&bench, 0), 1 + WAY + 2 * (16 * row[3]) + row[0] + 1);
        bench_close(&bench);
    }
}

static void a_single_lane(void **state)
{
    (void)state;
    static const struct {
        const char *setting, *body, *after;
        uint32_t takes;
    } forms[] = {
        {"l2.atomic_same_cycles=2", "@%p1 atom.global.add.u32 %r3, [%rd1], %self;\nshr.u32 %r4, %r3, 1;", USE,
         2},
        {"l2.atomic_same_cycles=3", "@%p1 atom.global.add.u32 %r3, [%rd1], %self;\nshr.u32 %r4, %r3, 1;", USE,
         3},
        {"l2.atomic_float_cycles=5",
         "@%p1 atom.global.add.f32 %f3, [%rd1], %f90;\nfma.rn.f32 %f4, %f3, %f3, %f3;",
         "st.global.f32 [%out+20], %f4;", 5},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct bench bench = bench_open("l2.atomic_cycles=3 %s", forms[i].setting);
        struct piece piece = {.before = "setp.eq.u32 %p1, %self, 7;\nmad.wide.u32 %rd1, %self, 4, %data;",
                              .body = forms[i].body,
                              .after = forms[i].after,
                              .inst = 2 + 3};
        assert_int_equal(bench_cycles(&bench, &piece), 1 + WAY + forms[i].takes + 3 + 1);
        bench_close(&bench);
    }
}

/* Without a result nobody waits, up to so many lanes under way. The second one waits until the first message
 * of the first is acknowledged: that leaves 16 lanes. */
static void reductions_are_waited_for_when_there_are_too_many(void **state)
{
    (void)state;
    for (uint32_t most = 31; most <= 32; most++) {
        struct bench bench = bench_open("sm.reductions=%u l2.atomic_cycles=3 l2.atomic_sector_cycles=2 "
                                        "l2.atomic_lane_cycles=1",
                                        most);
        struct piece piece = {.before = "mad.wide.u32 %rd1, %self, 4, %data;",
                              .body =
                                  "red.global.add.u32 [%rd1], %self;\nred.global.add.u32 [%rd1+128], %self;",
                              .inst = 1 + 2};
        uint32_t acknowledged = 1 + TO_NOC + NOC + (2 * 2 + 16 * 1) + 3 + NOC;
        assert_int_equal(bench_cycles(&bench, &piece), (most == 32 ? 2 : acknowledged) + 1);
        bench_close(&bench);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lanes_of_a_word_take_turns_in_shared_memory),
                                       cmocka_unit_test(l2_does_atomics_one_after_the_other),
                                       cmocka_unit_test(a_single_lane),
                                       cmocka_unit_test(reductions_are_waited_for_when_there_are_too_many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
