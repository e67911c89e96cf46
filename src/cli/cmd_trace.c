/* heddle trace: traces of memory accesses. What it can do is a table of commands of their own. */
#include "cli/trace.h"
#include "base/text.h"
#include "base/unit.h"

#include <stdio.h>
#include <string.h>

/* Their names are "trace NAME". */
static const struct cmd *const subcommands[] = {&cmd_trace_record,
                                                &cmd_trace_info,
                                                &cmd_trace_print,
                                                &cmd_trace_convert,
                                                &cmd_trace_cut,
                                                &cmd_trace_generate,
                                                NULL};

bool cmd_trace_count_parse(const char *option, const char *text, uint64_t least, uint64_t *count,
                           struct err *err)
{
    struct err why;
    if (unit_parse(UNIT_count, text, count, &why) && *count >= least)
        return true;
    return err_set(err, "%s: expected a number of accesses%s, not '%.80s'", option,
                   least ? ", at least 1" : "", text);
}

static const char *own_name(const struct cmd *command)
{
    return strchr(command->name, ' ') + 1;
}

static const struct cmd *find(const char *name)
{
    for (size_t i = 0; subcommands[i]; i++) {
        if (strcmp(own_name(subcommands[i]), name) == 0)
            return subcommands[i];
    }
    return NULL;
}

static int unknown(const char *name)
{
    struct nearest nearest;
    nearest_init(&nearest, name);
    for (size_t i = 0; subcommands[i]; i++)
        nearest_try(&nearest, own_name(subcommands[i]));
    return complain_unknown("command of trace", name, nearest.best, "help trace");
}

/* Whether help is asked for before what is not ours. */
static bool wants_help(const struct cmd *command, int count, char **words)
{
    for (int i = 0; i < count && strcmp(words[i], "--"); i++) {
        if (command->passes_words && *words[i] != '-')
            return false;
        if (!strcmp(words[i], "--help") || !strcmp(words[i], "-h"))
            return true;
    }
    return false;
}

static int run(int count, char **words)
{
    struct err err;
    if (!count) {
        err_set(&err, "trace: expected what to do:");
        for (size_t i = 0; subcommands[i]; i++)
            err_add(&err, "%s %s", i ? "," : "", own_name(subcommands[i]));
        return complain(EXIT_USAGE, &err);
    }
    const struct cmd *command = find(words[0]);
    if (!command)
        return unknown(words[0]);
    if (wants_help(command, count - 1, words + 1)) {
        cmd_print_help(command);
        return EXIT_GOOD;
    }
    return command->run(count - 1, words + 1);
}

static void help_more(void)
{
    puts("\nWhat to do:");
    for (size_t i = 0; subcommands[i]; i++) {
        char left[80];
        snprintf(left, sizeof left, "%s %s", own_name(subcommands[i]), subcommands[i]->arguments);
        printf("  %-46s %s\n", left, subcommands[i]->help);
    }
    puts("\n`heddle trace WHAT --help` tells more.");
}

static void complete(const char *behind)
{
    const struct cmd *command = find(behind);
    for (size_t i = 0; !command && subcommands[i]; i++)
        puts(own_name(subcommands[i]));
    if (!command)
        return;
    for (const struct option_row *row = command->options; row && row->name; row++) {
        if (row->help)
            puts(row->name);
    }
    if (command->complete)
        command->complete("");
}

const struct cmd cmd_trace = {
    .name = "trace",
    .arguments = "WHAT ...",
    .help = "traces of memory accesses and of instructions: look into them, make and convert them",
    .more = "A file has the accesses of one core: address, bytes, whether it writes, and the instruction "
            "count.\n"
            "`heddle caches` simulates caches with them. docs/traces.md tells about the formats. A folder "
            "has the\n"
            "instructions of a GPU program (`heddle run --record FOLDER`): docs/replay-exchange.md.",
    .passes_words = true,
    .run = run,
    .help_more = help_more,
    .complete = complete,
    .subcommands = subcommands,
};
