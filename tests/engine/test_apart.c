/* Islands apart: each runs as it does otherwise, and a touch of another's memory ends the process with both
 * names. */
#include "check.h"
#include "base/mem.h"
#include "base/zone.h"
#include "engine/engine.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct counter {
    uint64_t count;
    uint64_t *kept;  /* allocated while it runs */
    uint64_t *other; /* of another island, which it must not touch; or NULL */
};

static void start(struct component *self, void *state)
{
    (void)state;
    component_wake(self, 100);
}

static void wake(struct component *self, void *state)
{
    struct counter *counter = state;
    counter->count++;
    counter->kept = mem_resize(counter->kept, counter->count - 1, counter->count, sizeof *counter->kept);
    counter->kept[counter->count - 1] = counter->count;
    if (counter->other && counter->count == 3)
        ++*counter->other;
    if (counter->count < 5)
        component_wake(self, component_now(self) + 100);
}

static const struct component_ops counter_ops = {.type = "counter", .start = start, .wake = wake};

/* Two islands; the second may touch what is the first's. */
static void run(bool touches, struct counter *first, struct err *err)
{
    struct zone *zone = zone_new(8);
    struct engine *engine = engine_new(&(struct engine_spec){.apart = zone});
    struct component *components[2];
    static const char *const names[] = {"first", "second"};
    for (int i = 0; i < 2; i++)
        components[i] = engine_component(engine, engine_island(engine, names[i]), names[i], &counter_ops,
                                         NULL, sizeof(struct counter), "");
    struct counter *state = component_state(components[0]);
    if (touches)
        ((struct counter *)component_state(components[1]))->other = &state->count;
    assert_true(engine_ready(engine, err));
    assert_int_equal(engine_run(engine, &(struct engine_run){.until = 10000, .threads = 4}, err),
                     ENGINE_FINISHED);
    *first = *state;
    assert_int_equal(state->kept[4], 5);
    engine_free(engine);
    zone_free(zone);
}

static void islands_run_as_they_do(void **state)
{
    (void)state;
    struct counter first;
    struct err err;
    run(false, &first, &err);
    assert_int_equal(first.count, 5);
}

static void a_touch_is_told_by_both_names(void **state)
{
    (void)state;
    int pipes[2], status;
    char said[512] = "";
    assert_int_equal(pipe(pipes), 0);
    pid_t child = fork();
    if (!child) {
        struct counter first;
        struct err err;
        dup2(pipes[1], STDERR_FILENO);
        run(true, &first, &err);
        _exit(0);
    }
    close(pipes[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(read(pipes[0], said, sizeof said - 1) > 0);
    close(pipes[0]);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_non_null(strstr(said, "island second has touched memory of island first"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(islands_run_as_they_do),
        cmocka_unit_test(a_touch_is_told_by_both_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
