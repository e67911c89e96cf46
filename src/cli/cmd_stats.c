/* heddle stats: the documentation of every statistic, made from their rows. */
#include "cli/cli.h"
#include "bench/bench.h"

#include <stdio.h>

static void print_type(const struct component_ops *ops)
{
    printf("  %s\n", ops->type);
    for (size_t i = 0; i < ops->stats->count; i++) {
        const struct stat_row *row = &ops->stats->rows[i];
        printf("    %-14s %-10s %s\n", row->name, row->unit, row->help);
    }
}

static int run(int count, char **words)
{
    struct err err;
    const struct bench *wanted = count ? bench_find(words[0]) : NULL;
    if (count > 1) {
        err_set(&err, "stats: expected one benchmark at most, not '%.120s' too", words[1]);
        return complain(EXIT_USAGE, &err);
    }
    if (count && !wanted)
        return complain_unknown("benchmark", words[0], bench_nearest(words[0]), "help bench");
    for (size_t i = 0; benches[i]; i++) {
        if (wanted && benches[i] != wanted)
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
    for (size_t i = 0; benches[i]; i++)
        puts(benches[i]->name);
}

const struct command stats_command = {
    .name = "stats",
    .arguments = "[BENCHMARK]",
    .help = "describe all statistics",
    .more =
        "Prints each statistic with its unit and meaning, by type of component. --json FILE of a run holds\n"
        "them as `stats`: the sums of each type, and those of each component.",
    .run = run,
    .complete = complete,
};
