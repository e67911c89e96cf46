/* Banks of shared memory: lanes that want different words of a bank take a pass each. */
#include "timing.h"

#define AREA ".shared .align 16 .b8 area[32768];"
#define USE  "st.global.u32 [%out+20], %r5;\n"

enum { SHARED = 23 };

static uint32_t gcd(uint32_t a, uint32_t b)
{
    return b ? gcd(b, a % b) : a;
}

/* Lanes at `stride` units of 4, 8 or 16 bytes. A pass goes to every bank once, so to `groups` units, and
 * lanes that share a unit count once: 32 lanes at a stride fall on groups / gcd(stride, groups) different
 * groups. Of 16 bytes, half of the warp goes at a time. */
static uint32_t passes_of(uint32_t stride, uint32_t bytes, uint32_t banks)
{
    uint32_t groups = banks * 4 / bytes, together = bytes == 16 ? 16 : 32;
    uint32_t used = stride ? groups / gcd(stride, groups) : together;
    uint32_t each = together / used ? together / used : 1;
    return stride ? each * (32 / together) : 32 / together;
}

static uint32_t measured(struct bench *bench, uint32_t stride, uint32_t bytes, bool twice)
{
    static const char *const loads[] = {[4] = "ld.shared.u32 %r4, [%r1",
                                        [8] = "ld.shared.v2.u32 {%r4, %r6}, [%r1",
                                        [16] = "ld.shared.v4.u32 {%r4, %r6, %r7, %r8}, [%r1"};
    char body[400];
    if (twice) /* of one word alone */
        snprintf(body, sizeof body,
                 "ld.shared.u32 %%r4, [%%r1];\nld.shared.u32 %%r3, [%%r1+128];\n"
                 "and.b32 %%r5, %%r3, %%r4;");
    else
        snprintf(body, sizeof body, "%s];\nshr.u32 %%r5, %%r4, 1;", loads[bytes]);
    struct piece piece = {.module = AREA,
                          .before =
                              "mov.u32 %r9, area;\nmul.lo.u32 %r10, %self, %arg;\nadd.u32 %r1, %r9, %r10;",
                          .body = body,
                          .after = USE,
                          .inst = (twice ? 3 : 2) + 3 + 1 + 1,
                          .arg = stride * bytes};
    return bench_cycles(bench, &piece);
}

static void each_further_pass_is_later(void **state)
{
    (void)state;
    for (uint32_t conflict = 1; conflict <= 3; conflict++)
        for (uint32_t banks = 16; banks <= 32; banks *= 2) {
            struct bench bench = bench_open("sm.shared_latency=%u sm.conflict_cycles=%u sm.shared_banks=%u",
                                            SHARED, conflict, banks);
            for (uint32_t bytes = 4; bytes <= 16; bytes *= 2)
                for (uint32_t stride = 0; stride <= 32; stride += stride < 8 ? 1 : 8) {
                    uint32_t passes = passes_of(stride, bytes, banks);
                    print_message("%u bytes, stride %u, %u banks: %u passes\n", bytes, stride, banks, passes);
                    assert_int_equal(measured(&bench, stride, bytes, false),
                                     1 + SHARED + (passes - 1) * conflict + 1);
                }
            bench_close(&bench);
        }
}

/* A second load issues in cycle 2, and begins when all passes of the first have gone through. */
static void passes_keep_the_pipeline_busy(void **state)
{
    (void)state;
    for (uint32_t wavefront = 1; wavefront <= 3; wavefront++) {
        struct bench bench = bench_open(
            "sm.shared_latency=%u sm.conflict_cycles=2 sm.lsu_wavefront_cycles=%u", SHARED, wavefront);
        for (uint32_t stride = 1; stride <= 32; stride *= 2) {
            uint32_t passes = passes_of(stride, 4, 32);
            assert_int_equal(measured(&bench, stride, 4, true),
                             1 + passes * wavefront + SHARED + (passes - 1) * 2 + 1);
        }
        bench_close(&bench);
    }
}

static void latency_is_that_of_shared_memory(void **state)
{
    (void)state;
    for (uint32_t latency = SHARED; latency <= SHARED + 1; latency++) {
        struct bench bench = bench_open("sm.shared_latency=%u", latency);
        assert_int_equal(measured(&bench, 1, 4, false), 1 + latency + 1);
        bench_close(&bench);
        bench = bench_open("sm.shared_latency=5 sm.lsu_latency=%u", latency); /* which is the least */
        assert_int_equal(measured(&bench, 1, 4, false), 1 + latency + 1);
        bench_close(&bench);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_further_pass_is_later),
                                       cmocka_unit_test(passes_keep_the_pipeline_busy),
                                       cmocka_unit_test(latency_is_that_of_shared_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
