/* heddle help, version and completion: all made from the table of commands. */
#include "cli/cli.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

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
        printf("  %-26s %s\n", left, commands[i]->help);
    }
    puts("\nStart with `heddle demo`. `heddle help COMMAND` tells more.");
}

static int surplus(const char *command, const char *word)
{
    struct err err;
    err_set(&err, "%s: unexpected word '%.120s'", command, word);
    return complain(EXIT_USAGE, &err);
}

static int run_help(int count, char **words)
{
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

/* Prints the words that may follow `heddle COMMAND [WORD]`, one a line; the shell's function below asks for
 * them. */
static void print_words(const char *name, const char *behind)
{
    const struct cmd *command = cmd_find(name);
    if (!command) {
        complete_commands("");
        return;
    }
    for (const struct option_row *row = command->options; row && row->name; row++) {
        if (row->help)
            puts(row->name);
    }
    if (command->complete)
        command->complete(behind);
}

static int run_completion(int count, char **words)
{
    if (count == 3 && !strcmp(words[0], "words")) {
        print_words(words[1], words[2]);
        return EXIT_GOOD;
    }
    if (count != 1 || strcmp(words[0], "bash")) {
        struct err err;
        err_set(&err, "completion: expected the name of the shell: bash");
        return complain(EXIT_USAGE, &err);
    }
    puts("_heddle()\n"
         "{\n"
         "    local word=${COMP_WORDS[COMP_CWORD]} command= behind=\n"
         "    ((COMP_CWORD > 1)) && command=${COMP_WORDS[1]}\n"
         "    ((COMP_CWORD > 2)) && behind=${COMP_WORDS[2]}\n"
         "    mapfile -t COMPREPLY < <(compgen -W \\\n"
         "        \"$(\"${COMP_WORDS[0]}\" completion words \"$command\" \"$behind\" 2>/dev/null)\" -- "
         "\"$word\")\n"
         "}\n"
         "complete -o default -F _heddle heddle ./heddle");
    return EXIT_GOOD;
}

static void complete_shells(const char *behind)
{
    (void)behind;
    puts("bash");
}

const struct cmd cmd_completion = {
    .name = "completion",
    .arguments = "bash",
    .help = "print the shell's completion script",
    .more = "For this shell:      eval \"$(./heddle completion bash)\"\n"
            "For all your shells: ./heddle completion bash >> ~/.bash_completion",
    .run = run_completion,
    .complete = complete_shells,
};
