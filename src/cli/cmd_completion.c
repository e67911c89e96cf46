/* heddle completion: scripts for shells, which ask for the words of the tables. */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

/* ---- what may follow `heddle COMMAND [WORD]`, a line each ---- */

/* `tells`: with what each is, behind a tab. */
static void print_line(const char *word, const char *help, bool tells)
{
    printf("%s%s%s\n", word, tells ? "\t" : "", tells ? help : "");
}

static void print_commands(bool tells)
{
    for (size_t i = 0; commands[i]; i++)
        print_line(commands[i]->name, commands[i]->help, tells);
}

static void print_words(const char *name, const char *behind, bool tells)
{
    const struct cmd *command = cmd_find(name);
    if (!command) {
        print_commands(tells);
        return;
    }
    for (const struct option_row *row = command->options; row && row->name; row++) {
        if (row->help)
            print_line(row->name, row->help, tells);
    }
    if (command->complete)
        command->complete(behind);
}

/* ---- the shells ---- */

static const struct shell {
    const char *name, *script;
} shells[] = {
    {"bash", "_heddle()\n"
             "{\n"
             "    local word=${COMP_WORDS[COMP_CWORD]} command= behind=\n"
             "    ((COMP_CWORD > 1)) && command=${COMP_WORDS[1]}\n"
             "    ((COMP_CWORD > 2)) && behind=${COMP_WORDS[2]}\n"
             "    mapfile -t COMPREPLY < <(compgen -W \\\n"
             "        \"$(\"${COMP_WORDS[0]}\" completion words \"$command\" \"$behind\" 2>/dev/null)\" -- "
             "\"$word\")\n"
             "}\n"
             "complete -o default -F _heddle heddle ./heddle"},
    {"zsh",
     "#compdef heddle\n"
     "_heddle()\n"
     "{\n"
     "    local -a lines\n"
     "    local command= behind=\n"
     "    ((CURRENT > 2)) && command=${words[2]}\n"
     "    ((CURRENT > 3)) && behind=${words[3]}\n"
     "    lines=(\"${(@f)$(\"${(Q)words[1]}\" completion lines \"$command\" \"$behind\" 2>/dev/null)}\")\n"
     "    lines=(\"${(@)lines//:/\\\\:}\")\n"
     "    lines=(\"${(@)lines//$'\\t'/:}\")\n"
     "    _describe heddle lines || _files\n"
     "}\n"
     "if [[ ${funcstack[1]-} == _heddle ]]; then # autoloaded\n"
     "    _heddle \"$@\"\n"
     "else\n"
     "    compdef _heddle heddle\n"
     "fi"},
    {"fish", "function __heddle_lines\n"
             "    set -l words (commandline -opc)\n"
             "    set -l command ''\n"
             "    set -l behind ''\n"
             "    test (count $words) -gt 1; and set command $words[2]\n"
             "    test (count $words) -gt 2; and set behind $words[3]\n"
             "    $words[1] completion lines \"$command\" \"$behind\" 2>/dev/null\n"
             "end\n"
             "complete -c heddle -a '(__heddle_lines)'"},
};

enum { SHELLS = sizeof shells / sizeof *shells };

static int run(int count, char **words)
{
    struct err err;
    bool tells = count && !strcmp(words[0], "lines");
    if (count == 3 && (tells || !strcmp(words[0], "words"))) {
        print_words(words[1], words[2], tells);
        return EXIT_GOOD;
    }
    for (size_t i = 0; count == 1 && i < SHELLS; i++) {
        if (!strcmp(words[0], shells[i].name)) {
            puts(shells[i].script);
            return EXIT_GOOD;
        }
    }
    err_set(&err, "completion: expected the name of the shell:");
    for (size_t i = 0; i < SHELLS; i++)
        err_add(&err, "%s %s", !i ? "" : i + 1 < SHELLS ? "," : " or", shells[i].name);
    return complain(EXIT_USAGE, &err);
}

static void complete(const char *behind)
{
    (void)behind;
    for (size_t i = 0; i < SHELLS; i++)
        puts(shells[i].name);
}

const struct cmd cmd_completion = {
    .name = "completion",
    .arguments = "SHELL",
    .help = "print the shell's completion script: bash, zsh or fish",
    .more = "For this shell:  eval \"$(heddle completion bash)\"           (in bash)\n"
            "                 source <(heddle completion zsh)              (in zsh, after compinit)\n"
            "                 heddle completion fish | source              (in fish)\n"
            "For all of them: heddle completion bash >>~/.bash_completion\n"
            "                 heddle completion zsh >DIR/_heddle           (DIR: one of zsh's $fpath)\n"
            "                 heddle completion fish >~/.config/fish/completions/heddle.fish",
    .run = run,
    .complete = complete,
};
