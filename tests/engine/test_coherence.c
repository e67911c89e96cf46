/* Coherent memory in time: random accesses under every protocol and topology, and the same with any number of
 * threads. */
#include "check.h"
#include "coherence/stress.h"

static struct stress_spec spec_of(const struct protocol *protocol, enum topology topology)
{
    return (struct stress_spec){.protocol = protocol,
                                .topology = topology,
                                .cpus = 3,
                                .l1s = protocol_table(protocol, COH_L1) ? 2 : 0,
                                .homes = 2,
                                .lines = 24,
                                .accesses = 1,
                                .round = 3000,
                                .seed = 11,
                                .threads = 1};
}

static void all_that_is_read_was_written_last(void **state)
{
    (void)state;
    for (size_t i = 0; protocols[i]; i++) {
        for (int topology = 0; topology < TOPOLOGY_COUNT && !protocols[i]->is_incoherent; topology++) {
            struct stress_spec spec = spec_of(protocols[i], topology);
            struct stress_result result;
            struct err err = {""};
            if (!stress_run(&spec, &result, &err))
                fail_msg("%s, %s: %s", protocols[i]->name, topology_names[topology], err.text);
            assert_true(result.loads && result.stores && result.adds && result.copies);
            assert_true(result.counters.evictions && result.counters.waits && result.counters.hits);
        }
    }
}

static void threads_change_nothing(void **state)
{
    (void)state;
    static const char *const names[] = {"mesi", "viper"};
    for (size_t i = 0; i < 2; i++) {
        uint64_t digest = 0;
        for (unsigned threads = 1; threads <= 5; threads += threads == 1 ? 1 : 3) {
            struct stress_spec spec = spec_of(protocol_find(names[i]), TOPOLOGY_MESH);
            struct stress_result result;
            struct err err = {""};
            spec.threads = threads;
            spec.round = 100; /* cores may be busy, and windows are short here */
            assert_true(stress_run(&spec, &result, &err));
            if (threads == 1)
                digest = result.digest;
            assert_int_equal(result.digest, digest);
        }
    }
}

/* A tester that finds nothing is none. */
static void incoherence_is_found(void **state)
{
    (void)state;
    struct stress_spec spec = spec_of(protocol_find("none"), TOPOLOGY_CROSSBAR);
    struct stress_result result;
    struct err err = {""};
    assert_false(stress_run(&spec, &result, &err));
    assert_non_null(strstr(err.text, "overwritten"));
}

static void bad_systems_are_refused(void **state)
{
    (void)state;
    struct stress_spec spec = spec_of(protocol_find("mesi"), TOPOLOGY_RING);
    struct stress_result result;
    struct err err = {""};
    spec.l1s = 2;
    assert_false(stress_run(&spec, &result, &err));
    assert_non_null(strstr(err.text, "protocol mesi has no GPU"));
    spec.l1s = 0;
    spec.cpus = 100;
    assert_false(stress_run(&spec, &result, &err));
    assert_non_null(strstr(err.text, "too many"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_that_is_read_was_written_last),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(incoherence_is_found),
        cmocka_unit_test(bad_systems_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
