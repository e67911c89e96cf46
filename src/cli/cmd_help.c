/* heddle help and version: made from the table of commands. */
#include "cli/cli.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

enum { HELP_COLUMN = 26 };

void cmd_print_help(const struct cmd *command)
{
    printf("heddle %s%s%s: %s\n", command->name, *command->arguments ? " " : "", command->arguments,
           command->help);
    if (command->more)
        printf("\n%s\n", command->more);
    if (command->options) {
        puts("\nOptions:");
        options_print(command->options);
    }
    if (command->help_more)
        command->help_more();
}

static void print_overview(void)
{
    puts("Heddle simulates GPU systems: in parallel, and the same to the last bit on any number of "
         "threads.\n\n"
         "Usage: heddle COMMAND [options]\n");
    for (size_t i = 0; commands[i]; i++) {
        char left[80];
        snprintf(left, sizeof left, "%s %s", commands[i]->name, commands[i]->arguments);
        if (strlen(left) > HELP_COLUMN)
            printf("  %s\n  %-*s %s\n", left, HELP_COLUMN, "", commands[i]->help);
        else
            printf("  %-*s %s\n", HELP_COLUMN, left, commands[i]->help);
    }
    puts("\nStart with `heddle demo`. `heddle help COMMAND` tells more.");
}

static int surplus(const char *command, const char *word)
{
    struct err err;
    err_set(&err, "%s: unexpected word '%.120s'", command, word);
    return complain(EXIT_USAGE, &err);
}

static const struct option_row help_options[] = {
    {"--man", "FOLDER", "write manual pages into this folder: heddle.1, heddle-run.1, ..."},
    {NULL, NULL, NULL},
};

struct help_request {
    const char *man;
    char *words[2];
    int count;
};

static bool took_help(void *user, const struct option_row *row, const char *value, struct err *err)
{
    struct help_request *request = user;
    if (row)
        request->man = value;
    else if (request->count == 2)
        return err_set(err, "help: unexpected word '%.120s'", value);
    else
        request->words[request->count++] = (char *)(uintptr_t)value;
    return true;
}

static int write_manual(const struct help_request *request)
{
    struct err err;
    if (request->count)
        return surplus("help --man", request->words[0]);
    return manual_write(request->man, &err) ? EXIT_GOOD : complain(EXIT_FAILED, &err);
}

static int run_help(int given, char **given_words)
{
    struct help_request request = {0};
    struct err err;
    if (!options_parse(help_options, given, given_words, &request, took_help, &err))
        return complain(EXIT_USAGE, &err);
    if (request.man)
        return write_manual(&request);
    int count = request.count;
    char **words = request.words;
    if (count == 2 && !strcmp(words[0], cmd_trace.name)) /* one that has commands of its own */
        return cmd_trace.run(2, (char *[]){words[1], (char *)"--help", NULL});
    if (count > 1)
        return surplus("help", words[1]);
    if (!count) {
        print_overview();
        return EXIT_GOOD;
    }
    const struct cmd *command = cmd_find(words[0]);
    if (!command) {
        struct nearest nearest;
        nearest_init(&nearest, words[0]);
        for (size_t i = 0; commands[i]; i++)
            nearest_try(&nearest, commands[i]->name);
        return complain_unknown("command", words[0], nearest.best, "--help");
    }
    cmd_print_help(command);
    return EXIT_GOOD;
}

static void complete_commands(const char *behind)
{
    (void)behind;
    for (size_t i = 0; commands[i]; i++)
        puts(commands[i]->name);
}

const struct cmd cmd_help = {.name = "help",
                             .arguments = "[COMMAND]",
                             .help = "describe a command",
                             .options = help_options,
                             .run = run_help,
                             .complete = complete_commands};

static int run_version(int count, char **words)
{
    if (count)
        return surplus("version", words[0]);
    puts("heddle " HEDDLE_VERSION);
    return EXIT_GOOD;
}

const struct cmd cmd_version = {
    .name = "version", .arguments = "", .help = "print the version", .run = run_version};
