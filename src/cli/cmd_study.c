/* heddle study: experiments of many runs. */
#include "cli/dealing.h"
#include "cli/study.h"

#include <stdio.h>
#include <string.h>

static const char gputejas[] = "gputejas";

static void print_one(void *user, const char *name, const char *help)
{
    (void)user;
    printf("  %-26s %s\n", name, help);
}

static void list_studies(void)
{
    puts("Studies that come with Heddle (docs/studies.md says how to write others):");
    cmd_study_shipped_each(print_one, NULL);
    puts("\nStudies of how parallel Heddle is:");
    cmd_study_parallel_each(print_one, NULL);
    puts("\nStudies of papers:");
    print_one(NULL, gputejas, "GpuTejas' tables and figures, with the relaxed replay beside the exact one");
}

static int run(int count, char **words)
{
    struct err err;
    int status;
    bool is_file =
        count && *words[0] != '-' && strcmp(words[0], gputejas) && !cmd_study_parallel_is(words[0]);
    if (!is_file && dealing_refused(count ? words[0] : "the list of studies", &status))
        return status;
    if (!count) {
        list_studies();
        return EXIT_GOOD;
    }
    if (*words[0] == '-') {
        err_set(&err, "study: expected a study before its options (`heddle study` lists them)");
        return complain(EXIT_USAGE, &err);
    }
    if (!strcmp(words[0], gputejas))
        return cmd_study_gputejas(count, words);
    return cmd_study_parallel_is(words[0]) ? cmd_study_parallel(count, words) : cmd_study_file(count, words);
}

static void help_more(void)
{
    puts("\nOptions of events and threads:");
    options_print(cmd_study_parallel_options);
    puts("\nOptions of gputejas:");
    options_print(cmd_study_gputejas_options);
    putchar('\n');
    list_studies();
}

static void print_name(void *user, const char *name, const char *help)
{
    (void)user, (void)help;
    puts(name);
}

static void complete(const char *behind)
{
    if (*behind)
        return;
    cmd_study_shipped_each(print_name, NULL);
    cmd_study_parallel_each(print_name, NULL);
    puts(gputejas);
}

const struct cmd cmd_study = {
    .name = "study",
    .arguments = "[FILE|NAME] [options]",
    .help = "experiments of many runs: sweeps that a file describes, on all cores",
    .more =
        "A file (INI) names workloads, systems, and axes of settings; all combinations are run, each in a\n"
        "process of its own. Tables show times, ratios to a baseline, or any metric; --svg draws them.\n"
        "events and threads show how parallel the simulation of a model is. Without a name, all studies\n"
        "are listed.",
    .options = cmd_study_file_options,
    .over_ranks = true,
    .help_more = help_more,
    .complete = complete,
    .run = run,
};
