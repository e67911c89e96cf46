/* Coherent memory in time: random accesses under every protocol and topology, and the same with any number of
 * threads. */
#include "check.h"
#include "base/mem.h"
#include "coherence/stress.h"

#include <stdio.h>
#include <unistd.h>

/* The thread sanitizer takes its time. */
#ifdef __SANITIZE_THREAD__
enum { TOPOLOGY_STEP = TOPOLOGY_COUNT };
#else
enum { TOPOLOGY_STEP = 1 };
#endif

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
        for (int topology = (int)i % TOPOLOGY_STEP; topology < TOPOLOGY_COUNT && !protocols[i]->is_incoherent;
             topology += TOPOLOGY_STEP) {
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

/* Room for one message on each link and at each agent, and for two misses: requests fill what there is. With
 * a virtual network for each class, what they wait for still comes. With one for all, it waits behind them.
 */
static void virtual_networks_free_of_deadlock(void **state)
{
    (void)state;
    for (size_t i = 0; protocols[i]; i++) {
        for (int topology = (int)i % TOPOLOGY_STEP; topology < TOPOLOGY_COUNT && !protocols[i]->is_incoherent;
             topology += TOPOLOGY_STEP) {
            struct stress_spec spec = spec_of(protocols[i], topology);
            struct stress_result result;
            struct err err = {""};
            spec.tight = true;
            spec.round = 1000;
            if (!stress_run(&spec, &result, &err))
                fail_msg("%s, %s: %s", protocols[i]->name, topology_names[topology], err.text);
            spec.one_network = true;
            spec.round = 20000;
            assert_false(stress_run(&spec, &result, &err));
            assert_non_null(strstr(err.text, "the simulation is stuck at"));
        }
    }
}

/* ---- checkpoints ---- */

static char *path_of(const char *what)
{
    static char paths[2][64];
    char *path = paths[what[0] == 'e'];
    snprintf(path, sizeof paths[0], "/tmp/heddle-coherence-%s-%d", what, (int)getpid());
    return path;
}

static size_t read_all(const char *path, char **bytes)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    size_t count = (size_t)ftell(f);
    rewind(f);
    *bytes = mem_alloc(count, 1);
    assert_int_equal(fread(*bytes, 1, count, f), count);
    fclose(f);
    unlink(path);
    return count;
}

/* What a run leaves at its end: the whole state, with all that was read. */
static size_t end_of(struct stress_spec spec, const char *load, unsigned threads, char **bytes)
{
    struct stress_result result;
    struct err err = {""};
    spec.load = load;
    spec.save = path_of("end");
    spec.threads = threads;
    if (!stress_run(&spec, &result, &err))
        fail_msg("%s, %s: %s", spec.protocol->name, topology_names[spec.topology], err.text);
    return read_all(spec.save, bytes);
}

/* A run that is saved in the middle of a round, the second one, and goes on in another system. */
static void resumes(const struct protocol *protocol, enum topology topology)
{
    struct stress_spec spec = spec_of(protocol, topology);
    struct stress_result result;
    struct err err = {""};
    char *whole, *resumed;
    spec.round = 30;
    assert_true(stress_run(&spec, &result, &err));
    uint64_t first_round = result.time_ps;
    spec.accesses = result.accesses + 1; /* two rounds */
    size_t bytes = end_of(spec, NULL, 1, &whole);
    for (unsigned threads = 1; threads <= 5; threads += threads == 1 ? 1 : 3) {
        struct stress_spec middle = spec;
        middle.save = path_of("middle");
        middle.until_ps = first_round * 3 / 2;
        middle.threads = threads;
        if (!stress_run(&middle, &result, &err))
            fail_msg("%s, %s: %s", protocol->name, topology_names[topology], err.text);
        assert_true(result.accesses && result.accesses < spec.accesses); /* one round is checked */
        assert_int_equal(end_of(spec, middle.save, threads, &resumed), bytes);
        assert_memory_equal(resumed, whole, bytes);
        unlink(middle.save);
        mem_free(resumed);
    }
    mem_free(whole);
}

static void checkpoints_change_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; protocols[i]; i++)
        if (!protocols[i]->is_incoherent)
            resumes(protocols[i], TOPOLOGY_MESH);
    for (int topology = 0; topology < TOPOLOGY_COUNT; topology += TOPOLOGY_STEP)
        resumes(protocol_find("viper"), topology);
}

static void bad_checkpoints_are_refused(void **state)
{
    (void)state;
    struct stress_spec spec = spec_of(protocol_find("mesi"), TOPOLOGY_RING);
    struct stress_result result;
    struct err err = {""};
    spec.round = 30;
    spec.save = path_of("middle");
    spec.until_ps = 200000;
    assert_true(stress_run(&spec, &result, &err));
    spec.load = spec.save;
    spec.save = NULL;
    spec.topology = TOPOLOGY_CROSSBAR;
    assert_false(stress_run(&spec, &result, &err));
    assert_non_null(strstr(err.text, "is damaged, or of another system or tester"));
    unlink(spec.load);
    assert_false(stress_run(&spec, &result, &err));
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

/* ---- topologies from files ---- */

static bool read_topology(const char *text, bool has_gpu, struct topology_agents *agents,
                          struct net_graph *graph, struct err *err)
{
    char *path = path_of("middle");
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    bool good = topology_read(path, has_gpu, agents, graph, err);
    unlink(path);
    return good;
}

#define SMALL "[agents]\ncpus = 2\nhomes = 1\nl1s = 2\n[fabric.switch.hub]\n"
#define CPUS  "[fabric.link.c]\nends = cpu* hub\nlatency = 4ns\n"
#define GPU   "[fabric.link.l]\nends = gpu_l1_* hub\n[fabric.link.g]\nends = hub gpu_l2\n"
#define HOMES "[fabric.link.h]\nends = home0 hub\ncredits = 300\n"

static void a_topology_comes_from_a_file(void **state)
{
    (void)state;
    static const struct {
        const char *text, *wanted;
    } bad[] = {
        {SMALL CPUS GPU, ": no link leads to 'home0'"},
        {SMALL CPUS GPU HOMES "[fabric.link.x]\nends = home1 hub\n",
         "[fabric.link.x] ends: there is no 'home1'; expected cpu0, home0, gpu_l2, gpu_l1_0 or"},
        {SMALL CPUS HOMES "[fabric.link.l]\nends = gpu_l1_* gpu_l2\n",
         "fabric: there is no way from cpu0 to gpu_l2"},
        {SMALL CPUS GPU HOMES "[fabric.link.x]\nends = home0\n", "expected two names"},
        {SMALL CPUS GPU HOMES "[fabric.link.x]\nends = hub hub\n", "joins hub to itself"},
        {SMALL "gears = 5\n", "gears"},
    };
    struct topology_agents agents;
    struct net_graph graph;
    struct err err = {""};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(read_topology(bad[i].text, true, &agents, &graph, &err));
        if (!strstr(err.text, bad[i].wanted) || strchr(err.text, '\n'))
            fail_msg("'%s' does not say '%s' in one line", err.text, bad[i].wanted);
    }
    assert_true(read_topology(SMALL CPUS GPU HOMES, true, &agents, &graph, &err));
    assert_int_equal(agents.count, 6);
    assert_int_equal(agents.first_home, 3);
    assert_int_equal(net_find(&graph, "gpu_l1_1"), 5);
    assert_int_equal(graph.link_count, 6);
    assert_int_equal(graph.links[0].latency_ps, 4000);
    struct stress_spec spec = spec_of(protocol_find("viper"), TOPOLOGY_COUNT);
    struct stress_result result;
    spec.graph = &graph, spec.cpus = 2, spec.l1s = 2, spec.homes = 1;
    assert_true(stress_run(&spec, &result, &err));
    net_graph_fini(&graph);
    assert_true(read_topology(SMALL CPUS GPU HOMES, false, &agents, &graph, &err)); /* without its GPU */
    assert_int_equal(agents.count, 3);
    assert_int_equal(graph.link_count, 3);
    assert_int_equal(net_find(&graph, "hub"), 3);
    net_graph_fini(&graph);
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
        cmocka_unit_test(virtual_networks_free_of_deadlock),
        cmocka_unit_test(checkpoints_change_nothing),
        cmocka_unit_test(bad_checkpoints_are_refused),
        cmocka_unit_test(a_topology_comes_from_a_file),
        cmocka_unit_test(incoherence_is_found),
        cmocka_unit_test(bad_systems_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
