/* heddle stats: the documentation of every statistic, made from their rows. */
#include "cli/cli.h"
#include "bench/bench.h"
#include "gpu/metrics.h"

#include <stdio.h>
#include <string.h>

static const char of_launches[] = "launch";

static const struct option_row options[] = {
    {"--markdown", NULL, "print tables of the metrics of launches, as docs/statistics.md has them"},
    {NULL, NULL, NULL},
};

struct wanted {
    const char *name; /* NULL: all */
    bool markdown;
};

static void print_type(const struct component_ops *ops)
{
    printf("  %s\n", ops->type);
    for (size_t i = 0; i < ops->stats->count; i++) {
        const struct stat_row *row = &ops->stats->rows[i];
        printf("    %-14s %-10s %s\n", row->name, row->unit, row->help);
    }
}

/* ---- metrics of launches ---- */

static const char *const section_titles[] = {
    [METRIC_LAUNCH] = "of every launch",
    [METRIC_COUNTED] = "of a launch in functional mode",
    [METRIC_TIMED] = "of a launch in timing mode",
};

static void print_metrics(enum metric_section section, bool markdown)
{
    printf(markdown ? "\n### Metrics %s\n\n| metric | unit | |\n| --- | --- | --- |\n" : "  %s\n",
           section_titles[section]);
    for (const struct metric_row *row = metric_rows; row->name; row++) {
        if (row->section == section)
            printf(markdown ? "| `%s` | %s | %s |\n" : "    %-70s %-11s %s\n", row->name, row->unit,
                   row->help);
    }
}

static void print_tables(bool markdown)
{
    puts(markdown ? "\n### Stall reasons\n\n| reason | a warp does not issue because |\n| --- | --- |"
                  : "  why a warp does not issue (\"stall_cycles\")");
    for (int i = 0; i < STALL_COUNT; i++)
        printf(markdown ? "| `%s` | %s |\n" : "    %-20s %s\n", stall_name(i), stall_help(i));
}

static void print_launch(bool markdown)
{
    if (!markdown)
        puts(of_launches);
    for (int section = METRIC_LAUNCH; section <= METRIC_TIMED; section++)
        print_metrics((enum metric_section)section, markdown);
    print_tables(markdown);
}

/* ---- the command ---- */

static bool took(void *user, const struct option_row *row, const char *value, struct err *err)
{
    struct wanted *wanted = user;
    if (row) {
        wanted->markdown = true;
        return true;
    }
    if (wanted->name)
        return err_set(err, "stats: expected one name at most, not '%.120s' too", value);
    wanted->name = value;
    return true;
}

static int run(int count, char **words)
{
    struct err err;
    struct wanted wanted = {0};
    if (!options_parse(options, count, words, &wanted, took, &err))
        return complain(EXIT_USAGE, &err);
    bool launch = wanted.markdown || !wanted.name || !strcmp(wanted.name, of_launches);
    const struct bench *bench = wanted.name && !launch ? bench_find(wanted.name) : NULL;
    if (wanted.name && !launch && !bench)
        return complain_unknown("benchmark", wanted.name, bench_nearest(wanted.name), "help bench");
    if (launch)
        print_launch(wanted.markdown);
    for (size_t i = 0; benches[i] && !wanted.markdown; i++) {
        if (wanted.name && benches[i] != bench)
            continue;
        printf("%s\n", benches[i]->name);
        for (size_t k = 0; benches[i]->types[k]; k++)
            print_type(benches[i]->types[k]);
    }
    return EXIT_GOOD;
}

static void complete(const char *behind)
{
    (void)behind;
    puts(of_launches);
    for (size_t i = 0; benches[i]; i++)
        puts(benches[i]->name);
}

const struct cmd cmd_stats = {
    .name = "stats",
    .arguments = "[launch|BENCHMARK]",
    .help = "describe all statistics",
    .more =
        "Prints each statistic with its unit and meaning. `launch`: the metrics of a kernel's launch, which\n"
        "`heddle run --stats FILE` writes. Others: by type of component; --json FILE of a run holds them as\n"
        "`stats`: the sums of each type, and those of each component.",
    .options = options,
    .run = run,
    .complete = complete,
};
