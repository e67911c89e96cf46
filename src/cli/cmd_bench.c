/* heddle bench: runs a benchmark of Heddle itself. */
#include "cli/cli.h"
#include "bench/bench.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/unit.h"

#include <stdio.h>
#include <string.h>

static const struct option_row options[] = {
    {"--threads", "N|all", "worker threads (1 unless told; the results are the same for any number)"},
    {"--config", "FILE", "read a description; may come several times, later ones win"},
    {"--set", "PATH.KEY=VALUE", "set one parameter"},
    {"--json", "FILE", "write configuration, results and statistics"},
    {"--checkpoint", "FILE", "save the state there at --at, or at Ctrl-C"},
    {"--at", "TIME", "the simulated time to save at, such as 500ns"},
    {"--resume", "FILE", "go on from a checkpoint, with the parameters it was saved with"},
    {"--log", "LEVEL", "error, warn, info or debug"},
    {NULL, NULL, NULL},
};

struct request {
    const struct bench *bench;
    struct config config;
    struct bench_options options;
    const char **configs, **sets; /* in the order given; sets come after all descriptions */
    size_t config_count, config_capacity, set_count, set_capacity;
    const struct param_row *rows; /* the benchmark's own keys, as options */
    size_t row_count;
    const char **keys, **values;
    size_t key_count, key_capacity, value_count, value_capacity;
};

static const struct param_row *own_row(const struct request *r, const char *option)
{
    for (size_t i = 0; i < r->row_count; i++) {
        const char *a = option + 2, *b = r->rows[i].name;
        for (; *a && (*a == *b || (*a == '-' && *b == '_')); a++, b++)
            ;
        if (!*a && !*b)
            return &r->rows[i];
    }
    return NULL;
}

/* The option that sets a key: --latency-cycles for latency_cycles. */
static void option_name(char *name, size_t bytes, const char *key)
{
    snprintf(name, bytes, "--%s", key);
    for (; *name; name++)
        *name = *name == '_' ? '-' : *name;
}

static void append(const char ***list, size_t *count, size_t *capacity, const char *word)
{
    mem_grow(*list, *count, *capacity);
    (*list)[(*count)++] = word;
}

static bool took(void *user, const struct option_row *row, const char *value, struct err *err)
{
    struct request *r = user;
    enum log_level level;
    if (!row)
        return err_set(err, "bench %s: unexpected word '%.120s'", r->bench->name, value);
    const struct param_row *own = own_row(r, row->name);
    if (own) {
        append(&r->keys, &r->key_count, &r->key_capacity, own->name);
        append(&r->values, &r->value_count, &r->value_capacity, value);
    } else if (!strcmp(row->name, "--threads")) {
        return threads_parse(value, &r->options.threads, err);
    } else if (!strcmp(row->name, "--config")) {
        append(&r->configs, &r->config_count, &r->config_capacity, value);
    } else if (!strcmp(row->name, "--set")) {
        append(&r->sets, &r->set_count, &r->set_capacity, value);
    } else if (!strcmp(row->name, "--json")) {
        r->options.json = value;
    } else if (!strcmp(row->name, "--checkpoint")) {
        r->options.save = value;
    } else if (!strcmp(row->name, "--resume")) {
        r->options.resume = value;
    } else if (!strcmp(row->name, "--at")) {
        struct err why;
        return unit_parse(UNIT_time, value, &r->options.save_at, &why) || err_set(err, "--at: %s", why.text);
    } else if (!strcmp(row->name, "--log")) {
        if (!log_level_parse(value, &level, err))
            return false;
        log_set_level(level);
    }
    return true;
}

/* The options of all benchmarks and the keys of this one, in one table. */
static struct option_row *all_options(struct request *r)
{
    const struct param_group *own = r->bench->groups[0];
    size_t common = sizeof options / sizeof *options;
    r->rows = own->rows;
    r->row_count = own->row_count;
    struct option_row *rows = mem_alloc(common + own->row_count, sizeof *rows);
    for (size_t i = 0; i < own->row_count; i++) {
        char name[80];
        option_name(name, sizeof name, own->rows[i].name);
        rows[i] = (struct option_row){mem_text(name), "VALUE", own->rows[i].help};
    }
    memcpy(rows + own->row_count, options, sizeof options);
    return rows;
}

/* The first line of a checkpoint's note says which benchmark wrote it. */
static bool is_of_this_bench(const struct request *r, const struct text *note, struct err *err)
{
    static const char start[] = "# heddle bench ";
    size_t length = sizeof start - 1;
    if (note->length < length || memcmp(note->at, start, length))
        return err_set(err, "%s was not saved by heddle bench", r->options.resume);
    const char *name = note->at + length;
    int name_length = (int)strcspn(name, "\n");
    if (strlen(r->bench->name) == (size_t)name_length && !memcmp(name, r->bench->name, (size_t)name_length))
        return true;
    return err_set(err, "%s was saved by bench %.*s, and bench %s cannot go on from it", r->options.resume, name_length,
                   name, r->bench->name);
}

/* Checkpoint first, then descriptions, then what the command line sets. */
static bool configure(struct request *r, struct err *err)
{
    if (r->options.resume) {
        struct text note = {0};
        bool good = engine_read_note(r->options.resume, &note, err) && is_of_this_bench(r, &note, err) &&
                    config_read_text(&r->config, r->options.resume, note.at, note.length, err);
        text_fini(&note);
        if (!good)
            return false;
    }
    for (size_t i = 0; i < r->config_count; i++) {
        if (!config_read(&r->config, r->configs[i], err))
            return false;
    }
    for (size_t i = 0; i < r->set_count; i++) {
        if (!config_set(&r->config, r->sets[i], err))
            return false;
    }
    for (size_t i = 0; i < r->key_count; i++) {
        char where[80];
        option_name(where, sizeof where, r->keys[i]);
        if (!config_set_key(&r->config, r->bench->groups[0]->path, r->keys[i], r->values[i], where, err))
            return false;
    }
    if (r->bench->described && !r->config_count && !r->options.resume)
        return err_set(err, "bench %s: expected --config FILE, the description of what to simulate (see docs/engine.md)",
                       r->bench->name);
    if (r->options.save_at != TIME_NEVER && !r->options.save)
        return err_set(err, "--at: expected --checkpoint FILE beside it");
    return true;
}

static int run_request(struct request *r)
{
    struct err err;
    catch_interrupts();
    r->options.interrupt = &interrupted;
    if (!configure(r, &err))
        return complain(EXIT_FAILED, &err);
    switch (bench_run(r->bench, &r->config, &r->options, stdout, &err)) {
    case BENCH_DONE:
        return EXIT_GOOD;
    case BENCH_INTERRUPTED:
        err_set(&err, "interrupted: the results are those up to here%s%s", r->options.save ? "; go on with --resume " : "",
                r->options.save ? r->options.save : "");
        return complain(EXIT_INTERRUPTED, &err);
    default:
        return complain(EXIT_FAILED, &err);
    }
}

static void list_benches(void)
{
    puts("\nBenchmarks:");
    for (size_t i = 0; benches[i]; i++) {
        printf("  %-26s %s\n", benches[i]->name, benches[i]->help);
        printf("  %-26s   its own options: `heddle params %s`\n", "", benches[i]->groups[0]->path);
    }
}

static void complete(void)
{
    for (size_t i = 0; benches[i]; i++) {
        puts(benches[i]->name);
        const struct param_group *own = benches[i]->groups[0];
        for (size_t k = 0; k < own->row_count; k++) {
            char name[80];
            option_name(name, sizeof name, own->rows[k].name);
            puts(name);
        }
    }
}

static int run(int count, char **words)
{
    struct err err;
    if (!count || words[0][0] == '-') {
        err_set(&err, "bench: expected the name of a benchmark%s (see `heddle help bench`)",
                count ? " before its options" : "");
        return complain(EXIT_USAGE, &err);
    }
    struct request r = {.bench = bench_find(words[0]), .options = {.threads = 1, .save_at = TIME_NEVER}};
    if (!r.bench) {
        struct nearest nearest;
        nearest_init(&nearest, words[0]);
        for (size_t i = 0; benches[i]; i++)
            nearest_try(&nearest, benches[i]->name);
        return complain_unknown("benchmark", words[0], nearest.best);
    }
    const struct param_group **groups = bench_groups(r.bench);
    struct option_row *rows = all_options(&r);
    config_init(&r.config, groups);
    int status = options_parse(rows, count - 1, words + 1, &r, took, &err) ? run_request(&r) : complain(EXIT_USAGE, &err);
    config_fini(&r.config);
    for (size_t i = 0; i < r.row_count; i++)
        mem_free((char *)(uintptr_t)rows[i].name);
    mem_free(rows);
    mem_free(groups);
    mem_free(r.configs);
    mem_free(r.sets);
    mem_free(r.keys);
    mem_free(r.values);
    return status;
}

const struct command bench_command = {
    .name = "bench",
    .arguments = "NAME [options]",
    .help = "measure Heddle itself",
    .more = "Runs a benchmark and ends with one line: NAME events=N seconds=S rate=R checksum=HEX.\n"
            "The checksum is over every event, the final state and the statistics; it depends on the\n"
            "parameters and on nothing else. Each key of the benchmark's section is an option, too.",
    .options = options,
    .run = run,
    .help_more = list_benches,
    .complete = complete,
};
