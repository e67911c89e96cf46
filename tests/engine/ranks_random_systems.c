/* Random systems on several ranks: a line of results for each, which must be the same for any number of ranks
 * and threads (ranks.sh compares them).
 *
 *   ranks_random_systems FOLDER FROM END THREADS
 *
 * Each system also goes on from a checkpoint in FOLDER, if it is there; else one is written in the middle. */
#include "random_system.h"
#include "ranks/ranks.h"

#include <unistd.h>

static void print_result(const struct system *system, uint64_t seed, enum engine_outcome outcome,
                         struct err *why)
{
    for (char *at = why->text; *at; at++) /* a line each */
        *at = *at == '\n' ? ' ' : *at;
    const struct engine *engine = system->model.engine;
    printf("%llu %d %016llx %llu %llu %s\n", (unsigned long long)seed, outcome,
           (unsigned long long)bench_checksum(engine), (unsigned long long)engine_events(engine),
           (unsigned long long)engine_time(engine), outcome == ENGINE_FAILED ? why->text : "");
}

/* How many islands there are: a system with fewer than ranks cannot be spread over them. */
static bool has_work(struct ranks *ranks, const struct text *text)
{
    struct system system;
    system_init(&system, text);
    bool has = engine_island_count(system.model.engine) >= ranks_count(ranks);
    system_fini(&system);
    return has;
}

static void run_whole(struct ranks *ranks, const struct text *text, uint64_t seed, unsigned threads)
{
    struct system system;
    struct err why = {.text = ""};
    system_init_over(&system, text, ranks);
    enum engine_outcome outcome = run_to(system.model.engine, system.model.until, threads, &why);
    must(engine_gather(system.model.engine, err));
    if (!ranks_number(ranks))
        print_result(&system, seed, outcome, &why);
    system_fini(&system);
}

static void run_in_two(struct ranks *ranks, const struct text *text, const char *path, uint64_t seed,
                       unsigned threads)
{
    struct system system;
    struct err why = {.text = ""};
    if (access(path, R_OK)) {
        system_init_over(&system, text, ranks);
        if (run_to(system.model.engine, system.model.until / 3 + 1, threads, &why) == ENGINE_FAILED) {
            system_fini(&system); /* it was stuck already */
            return;
        }
        must(engine_save(system.model.engine, path, "", err));
        system_fini(&system);
    }
    system_init_over(&system, text, ranks);
    must(engine_load(system.model.engine, path, err));
    enum engine_outcome outcome = run_to(system.model.engine, system.model.until, threads, &why);
    must(engine_gather(system.model.engine, err));
    if (!ranks_number(ranks))
        print_result(&system, seed, outcome, &why);
    system_fini(&system);
}

int main(int count, char **words)
{
    struct err err;
    struct ranks *ranks = ranks_job().count > 1 ? ranks_start(&err) : NULL;
    if (count != 5 || (ranks_job().count > 1 && !ranks))
        return 1;
    uint64_t end = strtoull(words[3], NULL, 10);
    unsigned threads = (unsigned)strtoul(words[4], NULL, 10);
    for (uint64_t seed = strtoull(words[2], NULL, 10); seed < end; seed++) {
        struct text text = {0}, path = {0};
        describe_random_system(&text, seed);
        text_add(&path, "%s/%llu", words[1], (unsigned long long)seed);
        if (has_work(ranks, &text)) {
            run_whole(ranks, &text, seed, threads);
            if (seed % 4 == 0)
                run_in_two(ranks, &text, path.at, seed, threads);
        } else if (!ranks_number(ranks)) {
            printf("%llu too small\n", (unsigned long long)seed);
        }
        text_fini(&text);
        text_fini(&path);
    }
    ranks_end(ranks);
    return 0;
}
