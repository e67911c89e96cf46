/* The heart of the matter: random systems give the same result to the last bit on any number of threads, and
 * with a checkpoint in the middle. */
#include "random_system.h"

#include <unistd.h>

#if defined(__SANITIZE_THREAD__)
enum { SYSTEMS = 16 }; /* the sanitizers are slow, and look for other things */
#elif defined(__SANITIZE_ADDRESS__)
enum { SYSTEMS = 40 };
#else
enum { SYSTEMS = 240 };
#endif

/* More threads than cores take long: the last ones take turns, by the system. */
enum { COUNTS = 4 };
static unsigned threads_of(uint64_t seed, size_t index)
{
    return (const unsigned[][COUNTS]){{1, 2, 3, 8}, {1, 2, 3, 16}}[seed % 2][index % COUNTS];
}

struct result {
    enum engine_outcome outcome;
    uint64_t checksum, events, time;
    char text[sizeof(struct err)];
};

static void finish(struct system *system, unsigned threads, struct result *result)
{
    struct err why = {.text = ""};
    result->outcome = run_to(system->model.engine, system->model.until, threads, &why);
    result->checksum = bench_checksum(system->model.engine);
    result->events = engine_events(system->model.engine);
    result->time = engine_time(system->model.engine);
    snprintf(result->text, sizeof result->text, "%s", result->outcome == ENGINE_FAILED ? why.text : "");
}

static void compare(const struct result *a, const struct result *b, uint64_t seed, unsigned threads,
                    const char *how)
{
    if (a->outcome != b->outcome || a->checksum != b->checksum || a->events != b->events ||
        a->time != b->time || strcmp(a->text, b->text))
        fail_msg(
            "system %llu with %u threads %s: %llu events, checksum %016llx, not %llu and %016llx; '%s', '%s'",
            (unsigned long long)seed, threads, how, (unsigned long long)b->events,
            (unsigned long long)b->checksum, (unsigned long long)a->events, (unsigned long long)a->checksum,
            b->text, a->text);
}

static void with_checkpoint(const struct text *text, const struct result *serial, uint64_t seed,
                            unsigned threads)
{
    char path[] = "checkpoint-XXXXXX";
    struct system first, second;
    struct result result;
    struct err why;
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    system_init(&first, text);
    run_to(first.model.engine, serial->time / 2 + 1, threads, &why);
    must(engine_save(first.model.engine, path, "", err));
    system_fini(&first);
    system_init(&second, text);
    must(engine_load(second.model.engine, path, err));
    unlink(path);
    finish(&second, threads_of(seed, seed / 2), &result);
    compare(serial, &result, seed, threads, "and a checkpoint");
    system_fini(&second);
}

static void every_number_of_threads_gives_the_same(void **state)
{
    (void)state;
    int stuck = 0;
    uint64_t events = 0;
    for (uint64_t seed = 0; seed < SYSTEMS; seed++) {
        struct text text = {0};
        struct result serial = {0};
        describe_random_system(&text, seed);
        for (size_t i = 0; i < COUNTS; i++) {
            unsigned threads = threads_of(seed, i);
            struct system system;
            struct result result;
            system_init(&system, &text);
            finish(&system, threads, &result);
            if (i == 0)
                serial = result;
            compare(&serial, &result, seed, threads, "");
            system_fini(&system);
            with_checkpoint(&text, &serial, seed, threads);
        }
        stuck += serial.outcome == ENGINE_FAILED;
        events += serial.events;
        text_fini(&text);
    }
    print_message("%d systems, %llu events each time, %d stuck\n", SYSTEMS, (unsigned long long)events,
                  stuck);
    assert_in_range(stuck, 1, SYSTEMS / 2); /* both ends occur */
    assert_true(events > 100 * SYSTEMS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_number_of_threads_gives_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
