/* Windows: quiet time and idle islands cost nothing, and cutting a run into several changes nothing. */
#include "pair.h"
#include "bench/bench.h"
#include "base/mem.h"

#include <signal.h>
#include <sys/time.h>

static void quiet_time_is_skipped(void **state)
{
    (void)state;
    struct pair pair = {0};
    pair_send(&pair, 0, 8);
    pair_send(&pair, 1000000000000, 8); /* a second later: 10^10 latencies */
    pair_init(&pair, &(struct link_spec){.latency_ps = 100});
    const struct receiver *receiver = pair_run(&pair);
    assert_int_equal(receiver->times[1], 1000000000100);
    assert_true(engine_windows(pair.engine) < 10);
    engine_free(pair.engine);
}

/* One pair talks all the time, a hundred others not at all. */
static void idle_islands_are_not_run(void **state)
{
    (void)state;
    struct pair pair = {0};
    for (int i = 0; i < 60; i++)
        pair_send(&pair, (uint64_t)i * 100, 8);
    struct engine *engine = pair.engine = engine_new(&(struct engine_spec){.seed = 1});
    struct link *link = engine_link(engine, "wire", &(struct link_spec){.latency_ps = 100});
    struct sender_spec silent = {0};
    for (int i = 0; i < 102; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%d", i);
        const struct component_ops *ops = i == 1 ? &receiver_ops : &sender_ops;
        const void *spec = i == 0 ? (const void *)&pair.sends : i == 1 ? (const void *)&pair.takes : &silent;
        struct component *component =
            engine_component(engine, engine_island(engine, name), name, ops, spec,
                             i == 1 ? sizeof(struct receiver) : sizeof(struct sender), "p");
        must(link_plug(link, component_port(component, 0), err));
    }
    must(engine_ready(engine, err));
    must(run_to(engine, TIME_NEVER, 2, err) == ENGINE_FINISHED);
    assert_true(engine_windows(engine) >= 60);
    assert_true(engine_island_windows(engine) <= 2 * engine_windows(engine));
    engine_free(engine);
}

struct window_sums {
    uint64_t windows, islands, most, time;
};

static void add_window(void *user, uint64_t time, uint64_t islands)
{
    struct window_sums *sums = user;
    assert_true(!sums->windows || time > sums->time);
    sums->time = time;
    sums->windows++;
    sums->islands += islands;
    sums->most = islands > sums->most ? islands : sums->most;
}

/* Each window is told once, in order, with the islands that it ran; also when a run is cut in two. */
static void windows_are_told(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 3; threads++) {
        struct pair pair = {0};
        struct window_sums sums = {0};
        for (int i = 0; i < 60; i++)
            pair_send(&pair, (uint64_t)i * 100, 8);
        pair_init(&pair, &(struct link_spec){.latency_ps = 100});
        for (int part = 0; part < 2; part++) {
            struct engine_run run = {
                .until = part ? TIME_NEVER : 3000, .threads = threads, .window = add_window, .user = &sums};
            must(engine_run(pair.engine, &run, err) == (part ? ENGINE_FINISHED : ENGINE_UNTIL));
        }
        assert_int_equal(sums.windows, engine_windows(pair.engine));
        assert_int_equal(sums.islands, engine_island_windows(pair.engine));
        assert_true(sums.windows >= 30);
        assert_int_equal(sums.most, 2);
        engine_free(pair.engine);
    }
}

/* Nothing gets to one that only sends: on one thread it runs on, as far as the widest window of all. */
static void who_only_sends_runs_ahead(void **state)
{
    (void)state;
    uint64_t windows[2];
    for (int one_way = 0; one_way < 2; one_way++) {
        struct pair pair = {0};
        for (int i = 0; i < 60; i++)
            pair_send(&pair, (uint64_t)i * 100, 8);
        struct engine *engine = engine_new(&(struct engine_spec){.seed = 1});
        struct link *near = engine_link(engine, "near", &(struct link_spec){.latency_ps = 100});
        struct link *far = engine_link(engine, "far", &(struct link_spec){.latency_ps = 1000});
        struct sender_spec silent = {0};
        struct component *all[4];
        for (int i = 0; i < 4; i++) {
            char name[16];
            snprintf(name, sizeof name, "n%d", i);
            const void *spec = i == 0   ? (const void *)&pair.sends
                               : i == 1 ? (const void *)&pair.takes
                                        : &silent;
            all[i] = engine_component(engine, engine_island(engine, name), name,
                                      i == 1 ? &receiver_ops : &sender_ops, spec,
                                      i == 1 ? sizeof(struct receiver) : sizeof(struct sender), "p");
        }
        must(link_plug_one_way(near, component_port(all[0], 0), one_way ? PORT_SENDS : PORT_BOTH, err));
        must(link_plug_one_way(near, component_port(all[1], 0), one_way ? PORT_RECEIVES : PORT_BOTH, err));
        must(link_plug(far, component_port(all[2], 0), err));
        must(link_plug(far, component_port(all[3], 0), err));
        must(engine_ready(engine, err));
        must(run_to(engine, TIME_NEVER, 1, err) == ENGINE_FINISHED);
        const struct receiver *receiver = component_state(all[1]);
        for (int i = 0; i < 60; i++)
            assert_int_equal(receiver->times[i], 100 * i + 100);
        windows[one_way] = engine_windows(engine);
        engine_free(engine);
    }
    assert_true(windows[1] * 3 < windows[0]);
}

/* A link that nobody uses makes windows short, unless it rests; also if that changes between runs. */
static void links_that_rest_do_not_count(void **state)
{
    (void)state;
    uint64_t windows[3];
    for (int rests = 0; rests < 3; rests++) { /* never, always, at first */
        struct pair pair = {0};
        for (int i = 0; i < 60; i++)
            pair_send(&pair, (uint64_t)i * 100, 8);
        struct engine *engine = engine_new(&(struct engine_spec){.seed = 1});
        struct link *wire = engine_link(engine, "wire", &(struct link_spec){.latency_ps = 1000});
        struct link *near = engine_link(engine, "near", &(struct link_spec){.latency_ps = 100});
        struct component *sender = engine_component(engine, engine_island(engine, "a"), "a", &sender_ops,
                                                    &pair.sends, sizeof(struct sender), "p,q");
        struct component *taker = engine_component(engine, engine_island(engine, "b"), "b", &receiver_ops,
                                                   &pair.takes, sizeof(struct receiver), "p,q");
        must(link_plug(wire, component_port(sender, 0), err) &&
             link_plug(wire, component_port(taker, 0), err));
        must(link_plug(near, component_port(sender, 1), err) &&
             link_plug(near, component_port(taker, 1), err));
        link_rest(near, rests != 0);
        must(engine_ready(engine, err));
        must(run_to(engine, 3000, 2, err) == ENGINE_UNTIL);
        link_rest(near, rests == 1);
        must(run_to(engine, TIME_NEVER, 2, err) == ENGINE_FINISHED);
        const struct receiver *receiver = component_state(taker);
        for (int i = 0; i < 60; i++)
            assert_int_equal(receiver->times[i], 100 * i + 1000);
        windows[rests] = engine_windows(engine);
        engine_free(engine);
    }
    assert_true(windows[1] < windows[2] && windows[2] < windows[0] && windows[1] * 3 < windows[0]);
}

static void init_phold(struct bench_model *model, struct config *config, const struct param_group ***groups)
{
    const struct bench *bench = bench_find("phold");
    *groups = bench_groups(bench);
    config_init(config, *groups);
    must(config_set(config, "phold.islands=20", err));
    must(config_set(config, "phold.time=200ns", err));
    must(bench_model_init(model, bench, config, NULL, err));
}

static void fini_phold(struct bench_model *model, struct config *config, const struct param_group **groups)
{
    bench_model_fini(model);
    config_fini(config);
    mem_free(groups);
}

static void a_run_in_pieces_is_the_same_run(void **state)
{
    (void)state;
    uint64_t whole = 0;
    for (int pieces = 0; pieces < 2; pieces++) {
        struct bench_model model;
        struct config config;
        const struct param_group **groups;
        init_phold(&model, &config, &groups);
        /* also with another number of threads each time */
        for (uint64_t time = 777, i = 1; pieces && time < model.until; time += 7919, i++) {
            must(run_to(model.engine, time, 1 + i % 4, err) == ENGINE_UNTIL);
            assert_int_equal(engine_time(model.engine), time);
        }
        must(run_to(model.engine, model.until, 1, err) == ENGINE_UNTIL);
        if (pieces)
            assert_int_equal(bench_checksum(model.engine), whole);
        whole = bench_checksum(model.engine);
        fini_phold(&model, &config, groups);
    }
}

static _Atomic int stop_now;

/* Stops the run a moment after it was told how far it is. */
static void stop_after_a_while(void *user, uint64_t time, uint64_t events)
{
    (void)user, (void)time;
    stop_now = events > 0;
}

static void an_interrupted_run_can_go_on(void **state)
{
    (void)state;
    uint64_t checksums[2];
    for (int interrupts = 0; interrupts < 2; interrupts++) {
        struct bench_model model;
        struct config config;
        const struct param_group **groups;
        init_phold(&model, &config, &groups);
        int times = 0;
        struct err why;
        struct engine_run run = {.until = model.until, .threads = 2, .interrupt = &stop_now};
        run.progress = interrupts ? stop_after_a_while : NULL;
        do {
            stop_now = 0;
            times++;
        } while (engine_run(model.engine, &run, &why) == ENGINE_INTERRUPTED);
        assert_int_equal(times > 1, interrupts);
        checksums[interrupts] = bench_checksum(model.engine);
        fini_phold(&model, &config, groups);
    }
    assert_int_equal(checksums[0], checksums[1]);
}

static void stop_by_signal(int number)
{
    (void)number;
    stop_now = 1;
}

/* As Ctrl-C does it: from a handler, while threads run. */
static void a_signal_may_interrupt(void **state)
{
    (void)state;
    struct bench_model model;
    struct config config;
    const struct param_group **groups;
    struct err why;
    init_phold(&model, &config, &groups);
    signal(SIGALRM, stop_by_signal);
    setitimer(ITIMER_REAL, &(struct itimerval){.it_value.tv_usec = 20000}, NULL);
    stop_now = 0;
    assert_int_equal(
        engine_run(model.engine,
                   &(struct engine_run){.until = PS_PER_SECOND, .threads = 3, .interrupt = &stop_now}, &why),
        ENGINE_INTERRUPTED);
    fini_phold(&model, &config, groups);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quiet_time_is_skipped),
        cmocka_unit_test(idle_islands_are_not_run),
        cmocka_unit_test(windows_are_told),
        cmocka_unit_test(who_only_sends_runs_ahead),
        cmocka_unit_test(links_that_rest_do_not_count),
        cmocka_unit_test(a_run_in_pieces_is_the_same_run),
        cmocka_unit_test(an_interrupted_run_can_go_on),
        cmocka_unit_test(a_signal_may_interrupt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
