/* Generators: the same for the same seed and core, in the memory and with the shares that their options say.
 */
#include "check.h"
#include "base/bits.h"
#include "base/mem.h"
#include "trace/generate.h"

#include <math.h>

enum { COUNT = 200000, LINE = 64 };

static struct trace_access *made(const char *description, uint32_t core, uint32_t cores, uint64_t seed,
                                 size_t at_once)
{
    struct err err;
    struct trace_access *accesses = mem_alloc(COUNT, sizeof *accesses);
    struct source *source = source_generate(description, core, cores, COUNT, seed, &err);
    if (!source)
        fail_msg("%s", err.text);
    size_t count = 0;
    for (long got; (got = source_read(source, accesses + count, min_u64(at_once, COUNT - count), &err)) > 0;)
        count += (size_t)got;
    assert_int_equal(count, COUNT);
    assert_int_equal(source_read(source, accesses, 1, &err), 0);
    source_close(source);
    return accesses;
}

static bool same(struct trace_access *a, struct trace_access *b)
{
    bool is_same = !memcmp(a, b, COUNT * sizeof *a);
    mem_free(a);
    mem_free(b);
    return is_same;
}

static void same_for_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; generate_kinds[i]; i++) {
        const char *name = generate_kinds[i]->options->path;
        assert_true(same(made(name, 1, 4, 7, COUNT), made(name, 1, 4, 7, 999)));
        assert_false(same(made(name, 1, 4, 7, COUNT), made(name, 1, 4, 8, COUNT)));
        assert_false(same(made(name, 1, 4, 7, COUNT), made(name, 3, 4, 7, COUNT)));
    }
}

/* Instructions, bytes, alignment, the share of writes: of what all kinds have. */
static void common_options(void **state)
{
    (void)state;
    static const char options[] = "footprint=8KiB,bytes=4B,instructions=7,writes=0.25";
    for (size_t i = 0; generate_kinds[i]; i++) {
        char description[128];
        const char *more = generate_kinds[i] == &generate_producer ? ",shared=0,lag=0B"
                           : generate_kinds[i] == &generate_stream ? ",stride=4B"
                                                                   : "";
        snprintf(description, sizeof description, "%s:%s%s", generate_kinds[i]->options->path, options, more);
        struct trace_access *accesses = made(description, 1, 2, 1, COUNT);
        uint64_t least = UINT64_MAX, most = 0, writes = 0;
        for (uint64_t k = 0; k < COUNT; k++) {
            uint64_t address = accesses[k].address;
            assert_int_equal(trace_instruction(accesses[k]), 7 * k);
            assert_int_equal(trace_bytes(accesses[k]), 4);
            assert_int_equal(address % 4, 0);
            writes += trace_writes(accesses[k]);
            if (address >> 51)
                continue; /* shared */
            least = min_u64(least, address);
            most = max_u64(most, address);
        }
        assert_int_equal(most - least, (8 << 10) - 4);
        assert_true(fabs((double)writes / COUNT - 0.25) < 0.01);
        mem_free(accesses);
    }
}

static void all_or_no_writes(void **state)
{
    (void)state;
    for (int share = 0; share <= 1; share++) {
        for (size_t i = 0; generate_kinds[i]; i++) {
            char description[128];
            snprintf(description, sizeof description, "%s:writes=%d%s", generate_kinds[i]->options->path,
                     share, generate_kinds[i] == &generate_producer ? ",shared=0" : "");
            struct trace_access *accesses = made(description, 0, 2, 1, COUNT);
            for (uint64_t k = 0; k < COUNT; k++)
                assert_int_equal(trace_writes(accesses[k]), share);
            mem_free(accesses);
        }
    }
}

static void memory_of_cores(void **state)
{
    (void)state;
    struct trace_access *a = made("random:footprint=8GiB", 0, 65536, 1, COUNT),
                        *b = made("random:footprint=8GiB", 1, 65536, 1, COUNT),
                        *last = made("random:footprint=8GiB", 65535, 65536, 1, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        assert_true(a[i].address >> 34 == 0 && b[i].address >> 34 == 1);
        assert_true(last[i].address >> 51 == 0);
    }
    mem_free(a);
    mem_free(b);
    mem_free(last);
}

static void stream(void **state)
{
    (void)state;
    struct trace_access *a = made("stream:stride=24B,footprint=1000B", 0, 1, 1, COUNT);
    for (size_t i = 0; i + 1 < COUNT; i++) {
        uint64_t at = a[i].address - a[0].address;
        assert_int_equal(a[i + 1].address - a[0].address, (at + 24) % 1000);
    }
    mem_free(a);
}

/* ---- zipf ---- */

static int downwards(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;
    return *a < *b ? 1 : *a > *b ? -1 : 0;
}

/* How often the n-th line is used beside what its share says, summed up over some first ones. */
static void expect_zipf(double skew, uint32_t lines)
{
    char description[128];
    snprintf(description, sizeof description, "zipf:skew=%g,footprint=%uB", skew, lines * LINE);
    struct trace_access *accesses = made(description, 0, 1, 1, COUNT);
    uint32_t *used = mem_alloc(lines, sizeof *used);
    uint64_t base = UINT64_MAX;
    for (size_t i = 0; i < COUNT; i++)
        base = min_u64(base, accesses[i].address / LINE);
    for (size_t i = 0; i < COUNT; i++)
        used[accesses[i].address / LINE - base]++;
    qsort(used, lines, sizeof *used, downwards);
    double all = 0, wanted = 0, had = 0;
    for (uint32_t i = 1; i <= lines; i++)
        all += pow(i, -skew);
    for (uint32_t i = 1, next = 1; i <= lines; i++) {
        wanted += pow(i, -skew) / all;
        had += (double)used[i - 1] / COUNT;
        if (i != next || wanted * COUNT < 2000)
            continue;
        if (fabs(had / wanted - 1) > 0.08)
            fail_msg("skew %g: the first %u of %u lines are used %.4f, not %.4f", skew, i, lines, had,
                     wanted);
        next = 2 * i;
    }
    mem_free(used);
    mem_free(accesses);
}

static void zipf(void **state)
{
    (void)state;
    expect_zipf(0.5, 1000);
    expect_zipf(0.9, 1000);
    expect_zipf(1, 5000);
    expect_zipf(1.5, 5000);
    expect_zipf(10, 100);
    expect_zipf(0, 64);
    expect_zipf(1, 1);
}

/* ---- shared memory ---- */

/* What the consumer reads was written before, by the producer. */
static void pairs(void **state)
{
    (void)state;
    struct trace_access *producer = made("producer-consumer:shared=1,lag=800B", 2, 4, 1, COUNT),
                        *consumer = made("producer-consumer:shared=1,lag=800B", 3, 4, 1, COUNT),
                        *other = made("producer-consumer:shared=1", 0, 4, 1, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        assert_true(trace_writes(producer[i]) && !trace_writes(consumer[i]));
        assert_int_equal(producer[i].address, consumer[i].address);
        assert_int_equal(trace_instruction(consumer[i]) - trace_instruction(producer[i]), 100 * 3);
        assert_true(other[i].address != producer[i].address);
    }
    mem_free(producer);
    mem_free(consumer);
    mem_free(other);
}

static void ring(void **state)
{
    (void)state;
    struct trace_access *of[3];
    for (uint32_t i = 0; i < 3; i++)
        of[i] = made("producer-consumer:shape=ring,ring=3,shared=1,lag=80B", i, 3, 1, COUNT);
    for (uint32_t i = 0; i < 3; i++) {
        const struct trace_access *before = of[(i + 2) % 3];
        for (size_t k = 20; k + 1 < COUNT; k += 2) {
            assert_true(trace_writes(of[i][k]) && !trace_writes(of[i][k + 1]));
            assert_int_equal(of[i][k + 1].address, before[k - 20].address);
        }
    }
    for (uint32_t i = 0; i < 3; i++)
        mem_free(of[i]);
}

static void false_sharing(void **state)
{
    (void)state;
    struct trace_access *a = made("false-sharing:shared=1,lines=4", 0, 16, 1, COUNT),
                        *b = made("false-sharing:shared=1,lines=4", 7, 16, 1, COUNT),
                        *c = made("false-sharing:shared=1,lines=4", 8, 16, 1, COUNT);
    uint64_t lines[3] = {0};
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(a[i].address % LINE, 0);
        assert_int_equal(b[i].address % LINE, 56);
        assert_true(a[i].address / LINE - generate_shared(0) / LINE < 4);
        assert_true(c[i].address / LINE - generate_shared(1) / LINE < 4);
        lines[0] |= UINT64_C(1) << (a[i].address / LINE & 63);
        lines[1] |= UINT64_C(1) << (b[i].address / LINE & 63);
    }
    assert_int_equal(lines[0], 15);
    assert_int_equal(lines[1], 15);
    mem_free(a);
    mem_free(b);
    mem_free(c);
}

/* ---- what is wrong ---- */

static void errors(void **state)
{
    (void)state;
    static const struct {
        const char *description, *why;
    } cases[] = {
        {"zpif", "unknown generator 'zpif'; did you mean zipf?"},
        {"", "unknown generator '': expected stream, random, zipf, producer-consumer, false-sharing"},
        {"zipf:skw=1", "zipf: unknown option 'skw'; did you mean skew?"},
        {"zipf:skew", "zipf: expected OPTION=VALUE, not 'skew'"},
        {"zipf:", "zipf: expected OPTION=VALUE, not ''"},
        {"zipf:skew=11", "zipf: skew: expected 0..10, not 11"},
        {"random:footprint=8", "random: footprint: expected a size with its unit"},
        {"random:writes=1.5", "random: writes: expected 0..1, not 1.5"},
        {"stream:stride=64MiB", "stream: expected a stride below the footprint"},
        {"producer-consumer:lag=1MiB", "producer-consumer: expected a buffer of at least the lag"},
        {"producer-consumer:shape=star", "producer-consumer: shape: expected one of pairs|ring, not 'star'"},
    };
    struct err err;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_null(source_generate(cases[i].description, 0, 1, 10, 1, &err));
        check_says(&err, cases[i].why);
    }
    assert_null(source_generate("random:instructions=1000000", 0, 1, UINT64_C(1) << 30, 1, &err));
    check_says(&err, "are more than 2^47 instructions");
    assert_null(source_generate("producer-consumer:lag=1GiB,buffer=1GiB,bytes=1B,instructions=1000000", 1, 2,
                                5, 1, &err)); /* the consumer begins later than that */
    check_says(&err, "are more than 2^47 instructions");
    assert_null(source_generate("random", 0, 1, 0, 1, &err));
    assert_null(source_generate("random", 0, 65537, 1, 1, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_for_the_same),
        cmocka_unit_test(common_options),
        cmocka_unit_test(stream),
        cmocka_unit_test(memory_of_cores),
        cmocka_unit_test(zipf),
        cmocka_unit_test(pairs),
        cmocka_unit_test(ring),
        cmocka_unit_test(false_sharing),
        cmocka_unit_test(errors),
        cmocka_unit_test(all_or_no_writes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
