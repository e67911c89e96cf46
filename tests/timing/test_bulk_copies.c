/* cp.async.bulk from shared to global memory: a line after another, in groups that can be waited for. */
#include "timing.h"

#define AREA ".shared .align 128 .b8 area[4096];"
/* Both addresses are in registers before the start: %r7 is 0, which nobody knows. */
#define BEFORE                                                                                               \
    "mov.u32 %r8, area;\nshr.u32 %r7, %self, 5;\nmad.lo.u32 %r9, %r7, 4, %r8;\n"                             \
    "mad.wide.u32 %rd9, %r7, 4, %data;\n"
#define KEEP        "st.global.u32 [%out+28], %r9;\nst.global.u64 [%out+24], %rd9;\n"
#define COPY(bytes) "cp.async.bulk.global.shared::cta.bulk_group [%rd9], [%r9], " bytes ";\n"
#define COMMIT      "cp.async.bulk.commit_group;\n"
#define WAIT(left)  "cp.async.bulk.wait_group " left ";\n"

enum { LINE = 4 * 32, END = 50 }; /* each of 32 threads copies */

static uint32_t measured(const char *settings, const char *body, unsigned inst)
{
    struct bench bench =
        bench_open("sm.stores=4096 sm.bulk_write_cycles=4 sm.bulk_write_end_cycles=50 %s", settings);
    struct piece piece = {.module = AREA, .before = BEFORE, .body = body, .after = KEEP, .inst = 8 + inst};
    uint32_t cycles = bench_cycles(&bench, &piece);
    bench_close(&bench);
    return cycles;
}

/* It is issued in cycle 1; the wait is over when its last line was written and the end has come. */
static void a_group_is_done_when_its_last_line_is(void **state)
{
    (void)state;
    static const struct {
        const char *setting, *copy;
        uint32_t cycles;
    } rows[] = {{"", COPY("16") COMMIT WAIT("0"), LINE + END},
                {"", COPY("128") COMMIT WAIT("0"), LINE + END},
                {"", COPY("144") COMMIT WAIT("0"), 2 * LINE + END},
                {"", COPY("2048") COMMIT WAIT("0"), 16 * LINE + END},
                {"sm.bulk_write_cycles=5", COPY("256") COMMIT WAIT("0"), 2 * 5 * 32 + END},
                {"sm.bulk_write_end_cycles=51", COPY("16") COMMIT WAIT("0"), LINE + 51},
                {"", COPY("16") COMMIT "cp.async.bulk.wait_group.read 0;\n", LINE + END}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(measured(rows[i].setting, rows[i].copy, 3), 1 + rows[i].cycles + 1);
}

/* Two groups: the second copy follows the first. */
static void groups_may_be_left(void **state)
{
    (void)state;
    static const char both[] = COPY("256") COMMIT COPY("128") COMMIT;
    static const struct {
        const char *wait;
        uint32_t cycles;
    } rows[] = {
        {WAIT("0"), 1 + 3 * LINE + END + 1}, {WAIT("1"), 1 + 2 * LINE + END + 1}, {WAIT("2"), 4 + 1 + 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char body[1000];
        snprintf(body, sizeof body, "%s%s", both, rows[i].wait);
        assert_int_equal(measured("", body, 5), rows[i].cycles);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_group_is_done_when_its_last_line_is),
                                       cmocka_unit_test(groups_may_be_left)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
