/* heddle bench: runs a benchmark of Heddle itself. */
#include "cli/cli.h"
#include "bench/bench.h"
#include "base/bits.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/unit.h"
#include "cli/bench_timeline.h"
#include "cli/over_ranks.h"
#include "cli/workload.h"

#include <stdio.h>
#include <string.h>

static const struct option_row options[] = {
    {"--threads", "N|all", "worker threads (1 unless told; the results are the same for any number)"},
    {"--ranks", "N", "run on N processes of this machine, by MPI (docs/mpi.md); the results are the same"},
    HOSTS_OPTION,
    {"--config", "FILE", "read a description; may come several times, later ones win"},
    {"--set", "PATH.KEY=VALUE", "set one parameter; wins over descriptions"},
    {"--until", "TIME", "stop at this simulated time, such as 2us, whatever the parameters say"},
    {"--json", "FILE", "write configuration, results and statistics"},
    {"--dump-config", "FILE", "write the effective configuration, as a description"},
    {"--checkpoint", "FILE", "save the state: at the time --at, or else at the end; at Ctrl-C too"},
    {"--at", "TIME", "the simulated time to save at, such as 500ns"},
    {"--resume", "FILE", "go on from a checkpoint, with the parameters it was saved with"},
    {"--log", "LEVEL", "error, warn, info or debug"},
    {NULL, NULL, NULL},
};

/* A setting from the command line: --config, --set, or a key of the benchmark as an option. */
struct given {
    const char *option, *value;
    const struct param_row *own; /* the benchmark's key, or NULL */
};

struct request {
    const struct bench *bench;
    struct config config;
    struct bench_options options;
    const char *dump;    /* where the effective configuration goes, or NULL */
    struct given *given; /* in the order of the command line */
    size_t given_count, given_capacity;
};

/* The option of a key: latency_cycles is --latency-cycles. */
static void option_name(char *name, size_t bytes, const char *key)
{
    snprintf(name, bytes, "--%s", key);
    for (char *at = name; *at; at++)
        *at = *at == '_' ? '-' : *at;
}

static const struct param_row *own_row(const struct request *r, const char *option)
{
    const struct param_group *own = r->bench->groups[0];
    for (size_t i = 0; i < own->row_count; i++) {
        char name[80];
        option_name(name, sizeof name, own->rows[i].name);
        if (strcmp(name, option) == 0)
            return &own->rows[i];
    }
    return NULL;
}

static bool take_time(const char *option, const char *value, uint64_t *time, struct err *err)
{
    struct err why;
    return unit_parse(UNIT_time, value, time, &why) || err_set(err, "%s: %s", option, why.text);
}

static bool took(void *user, const struct option_row *row, const char *value, struct err *err)
{
    struct request *r = user;
    enum log_level level;
    if (!row)
        return err_set(err, "bench %s: unexpected word '%.120s'", r->bench->name, value);
    const struct param_row *own = own_row(r, row->name);
    bool of_ranks;
    if (!over_ranks_took(row, value, &of_ranks, err))
        return false;
    if (of_ranks)
        return true;
    if (own || !strcmp(row->name, "--config") || !strcmp(row->name, "--set")) {
        mem_grow(r->given, r->given_count, r->given_capacity);
        r->given[r->given_count++] = (struct given){.option = row->name, .value = value, .own = own};
    } else if (!strcmp(row->name, "--threads")) {
        return options_threads(value, &r->options.threads, err);
    } else if (!strcmp(row->name, "--until")) {
        return take_time(row->name, value, &r->options.until, err);
    } else if (!strcmp(row->name, "--json")) {
        r->options.json = value;
    } else if (!strcmp(row->name, "--dump-config")) {
        r->dump = value;
    } else if (!strcmp(row->name, "--checkpoint")) {
        r->options.save = value;
    } else if (!strcmp(row->name, "--at")) {
        return take_time(row->name, value, &r->options.save_at, err);
    } else if (!strcmp(row->name, "--resume")) {
        r->options.resume = value;
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
    return err_set(err, "%s was saved by bench %.*s, and bench %s cannot go on from it", r->options.resume,
                   name_length, name, r->bench->name);
}

/* A resumed run has the parameters of its checkpoint: others would make it one that never was. */
static bool configure_resumed(struct request *r, struct err *err)
{
    struct text note = {0};
    bool good = engine_read_note(r->options.resume, &note, err) && is_of_this_bench(r, &note, err) &&
                config_read_text(&r->config, r->options.resume, note.at, note.length, err);
    text_fini(&note);
    return good;
}

/* Descriptions first ... */
static bool configure_given(struct request *r, struct err *err)
{
    bool described = false;
    for (size_t i = 0; i < r->given_count; i++) {
        if (strcmp(r->given[i].option, "--config"))
            continue;
        if (!config_read(&r->config, r->given[i].value, err))
            return false;
        described = true;
    }
    if (r->bench->described && !described)
        return err_set(err,
                       "bench %s: expected --config FILE, the description of what to simulate (see "
                       "docs/descriptions.md)",
                       r->bench->name);
    return true;
}

/* ... and then what the command line sets, whatever the order there. */
static bool configure_set(struct request *r, struct err *err)
{
    for (size_t i = 0; i < r->given_count; i++) {
        const struct given *given = &r->given[i];
        const char *path = r->bench->groups[0]->path;
        if (given->own &&
            !config_set_key(&r->config, path, given->own->name, given->value, given->option, err))
            return false;
        if (!strcmp(given->option, "--set") && !config_set(&r->config, given->value, err))
            return false;
    }
    return true;
}

/* The files that a run writes; NULL where there is none. */
struct output {
    const char *option, *file;
};

enum { OUTPUTS = 3 };

static void list_outputs(const struct request *r, struct output outputs[OUTPUTS])
{
    const struct output all[OUTPUTS] = {
        {"--json", r->options.json}, {"--checkpoint", r->options.save}, {"--dump-config", r->dump}};
    for (size_t i = 0; i < OUTPUTS; i++) {
        bool stands_apart = all[i].file && (file_is_endless(all[i].file) || !strcmp(all[i].file, "-"));
        outputs[i] = (struct output){all[i].option, stands_apart ? NULL : all[i].file};
    }
}

/* No output may be another one, nor (but for a checkpoint that is renewed) the checkpoint that is resumed. */
static bool outputs_are_apart(const struct request *r, struct err *err)
{
    struct output outputs[OUTPUTS];
    list_outputs(r, outputs);
    for (size_t i = 0; i < OUTPUTS; i++) {
        const struct output *output = &outputs[i];
        for (size_t k = 0; output->file && k < i; k++) {
            if (outputs[k].file && file_same(outputs[k].file, output->file))
                return err_set(err, "%s and %s name the same file, %s", outputs[k].option, output->option,
                               output->file);
        }
        if (output->file && output->file != r->options.save && r->options.resume &&
            file_same(r->options.resume, output->file))
            return err_set(err, "%s would write over the checkpoint %s", output->option, output->file);
    }
    return true;
}

/* No output may be the description that this section stands in ("file:line"). */
static bool description_is_safe(const struct request *r, const char *where, struct err *err)
{
    struct output outputs[OUTPUTS];
    char *file = mem_text(where), *colon = strrchr(file, ':');
    bool safe = true;
    list_outputs(r, outputs);
    if (colon) /* not set by an option */
        *colon = 0;
    for (size_t i = 0; colon && safe && i < OUTPUTS; i++) {
        if (outputs[i].file && file_same(file, outputs[i].file))
            safe = err_set(err, "%s would write over the description %s", outputs[i].option, outputs[i].file);
    }
    mem_free(file);
    return safe;
}

/* Of all descriptions that were read, included ones too. */
static bool descriptions_are_safe(const struct request *r, struct err *err)
{
    size_t i = r->options.resume ? r->config.paths.count : 0; /* a resumed run reads its checkpoint only */
    while (i < r->config.paths.count &&
           description_is_safe(r, config_where(&r->config, r->config.paths.at[i]), err))
        i++;
    return i == r->config.paths.count;
}

static bool configure(struct request *r, struct err *err)
{
    return r->options.resume ? configure_resumed(r, err) : configure_given(r, err);
}

/* What can be said of the command line without reading a file. */
static bool makes_sense(const struct request *r, struct err *err)
{
    if (r->options.save_at != TIME_NEVER && !r->options.save)
        return err_set(err, "--at needs --checkpoint FILE");
    if (r->options.resume && r->given_count)
        return err_set(err, "%s: a resumed run has the parameters it was saved with", r->given[0].option);
    return outputs_are_apart(r, err);
}

static bool dump_config(const struct request *r, struct err *err)
{
    struct file_writer writer;
    struct text text = {0};
    if (!file_open(&writer, r->dump, err))
        return false;
    config_dump(&r->config, &text);
    fputs(text.at, writer.stream);
    text_fini(&text);
    return file_close(&writer, err);
}

static int run_request(struct request *r)
{
    struct err err;
    catch_interrupts();
    r->options.interrupt = &interrupted;
    if (!makes_sense(r, &err))
        return complain(EXIT_USAGE, &err);
    if (!over_ranks_join(&r->options.ranks, &err))
        return complain(EXIT_FAILED, &err);
    if (!configure(r, &err))
        return complain(EXIT_FAILED, &err);
    if (!configure_set(r, &err) || !descriptions_are_safe(r, &err))
        return complain(EXIT_USAGE, &err);
    if (r->dump && !ranks_number(r->options.ranks) && !dump_config(r, &err))
        return complain(EXIT_FAILED, &err);
    switch (bench_run(r->bench, &r->config, &r->options, stdout, &err)) {
    case BENCH_DONE:
        return EXIT_GOOD;
    case BENCH_INTERRUPTED:
        err_set(&err, "interrupted: the results are those up to here%s%s",
                r->options.save ? "; go on with --resume " : "", r->options.save ? r->options.save : "");
        return complain(EXIT_SIGNAL + interrupted, &err);
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
    printf("  %-26s how fast a timeline is written: --slices N, --timeline FILE\n", "timeline");
    cmd_workload_list();
}

/* Names of benchmarks or, behind one, its own options. */
static void complete(const char *behind)
{
    const struct bench *bench = bench_find(behind);
    for (size_t i = 0; !bench && benches[i]; i++)
        puts(benches[i]->name);
    if (!bench)
        puts("timeline");
    for (size_t k = 0; bench && k < bench->groups[0]->row_count; k++) {
        char name[80];
        option_name(name, sizeof name, bench->groups[0]->rows[k].name);
        puts(name);
    }
    if (!bench)
        cmd_workload_complete(behind);
}

static int run(int count, char **words)
{
    struct err err;
    if (!count || words[0][0] == '-') {
        err_set(&err, "bench: expected the name of a benchmark%s (see `heddle help bench`)",
                count ? " before its options" : "");
        return complain(EXIT_USAGE, &err);
    }
    if (!strcmp(words[0], "timeline"))
        return cmd_bench_timeline(count, words);
    if (cmd_workload_is(words[0]))
        return cmd_workload(count, words);
    struct request r = {.bench = bench_find(words[0]),
                        .options = {.threads = 1, .save_at = TIME_NEVER, .until = TIME_NEVER}};
    if (!r.bench) {
        struct nearest nearest;
        nearest_init(&nearest, words[0]);
        for (size_t i = 0; benches[i]; i++)
            nearest_try(&nearest, benches[i]->name);
        cmd_workload_nearest(&nearest);
        return complain_unknown("benchmark", words[0], nearest.best, "help bench");
    }
    const struct param_group **groups = bench_groups(r.bench);
    struct option_row *rows = all_options(&r);
    config_init(&r.config, groups);
    bool good = options_parse(rows, count - 1, words + 1, &r, took, &err) && over_ranks_begin(&err);
    int status = good ? run_request(&r) : complain(EXIT_USAGE, &err);
    config_fini(&r.config);
    for (size_t i = 0; i < r.bench->groups[0]->row_count; i++)
        mem_free((char *)(uintptr_t)rows[i].name);
    mem_free(rows);
    mem_free(groups);
    mem_free(r.given);
    return status;
}

const struct cmd cmd_bench = {
    .name = "bench",
    .arguments = "NAME [options]",
    .help = "run a bundled CUDA workload, or measure Heddle itself",
    .more = "The options below are those of the benchmarks of Heddle itself (phold, gpu-traffic, network);\n"
            "bundled workloads have those of `heddle run`, and their own.\n\n"
            "Runs a benchmark and ends with one line: NAME events=N seconds=S rate=R checksum=HEX.\n"
            "The checksum is over every event, the final state and the statistics; it depends on the\n"
            "parameters and on nothing else. Each key of the benchmark's section is an option, too.",
    .options = options,
    .over_ranks = true,
    .run = run,
    .help_more = list_benches,
    .complete = complete,
};
