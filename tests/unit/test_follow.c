/* Accesses that are followed one at a time: against the timed agents, and under random load. */
#include "check.h"
#include "base/rng.h"
#include "coherence/coherence.h"
#include "coherence/follow/follow.h"

enum { CPUS = 3, GPUS = 1, AGENTS = CPUS + GPUS, LINES = 24, LINE = 64, HOMES = 2 };

static const struct topology_spec plain = {.latency_ps = 3000};

static struct follow_spec spec_of(const struct protocol *protocol, enum topology shape, uint32_t gpus)
{
    struct follow_spec spec = {.protocol = protocol,
                               .cpus = CPUS,
                               .gpus = gpus,
                               .homes = HOMES,
                               .line_bytes = LINE,
                               .cpu = {.latency_ps = 1000},
                               .gpu = {.sets = 2, .ways = 2, .latency_ps = 2000},
                               .home = {.sets = 2, .ways = 2, .latency_ps = 5000},
                               .memory_latency_ps = 50000,
                               .topology = plain};
    spec.topology.shape = shape;
    return spec;
}

/* ---- random accesses ---- */

/* A CPU's private caches: what it may do with lines, and whether it has changed them. */
struct cpus {
    bool has[CPUS][LINES], may_write[CPUS][LINES], dirty[CPUS][LINES];
};

static bool is_dirty(void *user, uint32_t cpu, uint64_t line)
{
    const struct cpus *cpus = user;
    return cpus->dirty[cpu][line];
}

static void lose(void *user, uint32_t cpu, uint64_t line, bool invalidate)
{
    struct cpus *cpus = user;
    assert_true(cpus->has[cpu][line]);
    cpus->has[cpu][line] = !invalidate;
    cpus->may_write[cpu][line] = cpus->dirty[cpu][line] = false;
}

static void use_cpu(struct follow *follow, struct cpus *cpus, struct rng *rng, uint32_t cpu, uint64_t line,
                    uint64_t time)
{
    uint32_t what = (uint32_t)rng_below(rng, 8);
    if (what == 0) {
        if (cpus->has[cpu][line])
            follow_leave(follow, cpu, line, cpus->dirty[cpu][line], time);
        cpus->has[cpu][line] = cpus->may_write[cpu][line] = cpus->dirty[cpu][line] = false;
    } else if (what < 4) {
        if (!cpus->has[cpu][line]) {
            struct follow_reply reply = follow_access(follow, cpu, line, COH_LOAD, time);
            assert_false(reply.stale);
            assert_true(reply.done_ps >= time);
            cpus->has[cpu][line] = true;
            cpus->may_write[cpu][line] = reply.may_write;
        }
    } else {
        if (!cpus->may_write[cpu][line]) {
            struct follow_reply reply = follow_access(follow, cpu, line, COH_STORE, time);
            assert_true(reply.may_write);
            cpus->has[cpu][line] = cpus->may_write[cpu][line] = true;
        }
        cpus->dirty[cpu][line] = true; /* nobody is told */
    }
}

static void check_copies(const struct follow *follow, const struct protocol *protocol, uint64_t line)
{
    uint32_t readers = 0, writers = 0;
    for (uint32_t i = 0; i < AGENTS; i++) {
        uint8_t flags = follow_flags(follow, i, line);
        readers += (flags & COH_READ) != 0;
        writers += (flags & COH_WRITE) != 0;
    }
    assert_true(writers <= 1 && (!writers || readers == 1));
    assert_string_equal(follow_failure(follow), "");
    (void)protocol;
}

static void play(const struct protocol *protocol, enum topology shape, uint64_t seed)
{
    struct cpus cpus = {0};
    struct rng rng;
    struct err err;
    struct follow_spec spec = spec_of(protocol, shape, GPUS);
    struct follow *follow = follow_new(&spec, &(struct follow_client){is_dirty, lose, &cpus}, &err);
    assert_non_null(follow);
    rng_init(&rng, seed, protocol->name);
    for (uint32_t i = 0; i < 4000; i++) {
        uint64_t line = rng_below(&rng, LINES), time = i * 1000;
        uint32_t agent = (uint32_t)rng_below(&rng, AGENTS + 1);
        if (agent < CPUS) {
            use_cpu(follow, &cpus, &rng, agent, line, time);
        } else if (agent < AGENTS) {
            struct follow_reply reply =
                follow_access(follow, agent, line, rng_below(&rng, 3) ? COH_LOAD : COH_STORE, time);
            assert_false(reply.stale);
        } else {
            struct follow_reply reply =
                follow_access(follow, follow_home_of(follow, line), line,
                              rng_below(&rng, 2) ? COH_DMA_READ : COH_DMA_WRITE, time);
            assert_false(reply.stale);
        }
        check_copies(follow, protocol, line);
    }
    assert_int_equal(follow_counts(follow)->stale, 0);
    follow_free(follow);
}

static void never_stale(void **state)
{
    (void)state;
    for (size_t i = 0; protocols[i]; i++)
        for (unsigned shape = 0; !protocols[i]->is_incoherent && shape < TOPOLOGY_COUNT; shape++)
            for (uint64_t seed = 0; seed < 4; seed++)
                play(protocols[i], shape, shape + seed * TOPOLOGY_COUNT);
}

/* ---- against the timed agents ---- */

struct timed {
    uint64_t asked, done;
};

static void ask_now(struct agent *agent, void *client, uint64_t what)
{
    struct timed *timed = client;
    timed->asked = agent_now(agent);
    timed->done = 0;
    agent_ask(agent, &(struct coherence_op){.address = what >> 8, .op = (uint8_t)what, .value = 7});
}

static void note_done(struct agent *agent, void *client, const struct coherence_op *op)
{
    struct timed *timed = client;
    (void)op;
    timed->done = agent_now(agent);
    *(uint64_t *)agent_user(agent) = timed->done - timed->asked;
}

static const struct coherence_client timing = {
    .state_bytes = sizeof(struct timed), .event = ask_now, .done = note_done};

static void take_as_long(const struct protocol *protocol, enum topology shape)
{
    struct err err;
    struct cpus cpus = {0};
    struct rng rng;
    uint64_t took = 0;
    struct follow_spec spec = spec_of(protocol, shape, 0);
    spec.home = (struct follow_cache){
        .latency_ps = 5000, .sets = protocol->memory_apart ? 64 : 0, .ways = protocol->memory_apart ? 4 : 0};
    struct coherence_spec other = {.protocol = protocol,
                                   .cpus = CPUS,
                                   .homes = HOMES,
                                   .line_bytes = LINE,
                                   .memory_bytes = LINES * LINE,
                                   .cache_sets = 64,
                                   .cache_ways = 4,
                                   .home_sets = 64,
                                   .home_ways = 4,
                                   .cache_latency_ps = 1000,
                                   .home_latency_ps = 5000,
                                   .memory_latency_ps = 50000,
                                   .topology = spec.topology};
    const struct coherence_client *clients[CPUS + HOMES] = {&timing, &timing, &timing};
    void *users[CPUS + HOMES] = {&took, &took, &took};
    struct engine *engine = engine_new(&(struct engine_spec){.payload_bytes = coherence_payload_bytes()});
    struct coherence *timed = coherence_new(engine, &other, clients, users, &err);
    struct follow *follow = follow_new(&spec, &(struct follow_client){is_dirty, lose, &cpus}, &err);
    assert_non_null(timed);
    assert_non_null(follow);
    rng_init(&rng, shape, protocol->name);
    assert_true(engine_ready(engine, &err));
    for (uint32_t i = 0; i < 100; i++) {
        uint64_t line = rng_below(&rng, LINES);
        uint32_t cpu = (uint32_t)rng_below(&rng, CPUS);
        enum coh_op op = rng_below(&rng, 2) ? COH_LOAD : COH_STORE;
        coherence_post(timed, engine, cpu, line * LINE << 8 | op);
        engine_run(engine, &(struct engine_run){.until = TIME_NEVER}, &err);
        struct follow_reply reply = follow_access(follow, cpu, line, op, i * 1000000);
        cpus.has[cpu][line] = true;
        if (reply.done_ps - i * 1000000 != took)
            fail_msg("%s, %s: access %u took %llu ps, and %llu by timed agents", protocol->name,
                     topology_names[shape], i, (unsigned long long)(reply.done_ps - i * 1000000),
                     (unsigned long long)took);
    }
    follow_free(follow);
    engine_free(engine);
    coherence_free(timed);
}

static void as_long_as_timed_agents(void **state)
{
    (void)state;
    for (size_t i = 0; protocols[i]; i++)
        for (unsigned shape = 0; shape < TOPOLOGY_COUNT; shape++)
            take_as_long(protocols[i], shape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(never_stale),
        cmocka_unit_test(as_long_as_timed_agents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
