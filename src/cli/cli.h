/* The subcommands of `heddle`, and the options they take. The cli is the only room that prints errors and
 * ends the process. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum { EXIT_GOOD = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_SIGNAL = 128 /* plus its number */ };

struct option_row {
    const char *name; /* "--threads" */
    const char
        *value; /* what follows it, as help calls it: "N"; "[N]": a number that may; NULL for a switch */
    const char *help; /* NULL: it is another name of an option, and is not listed */
};

struct cmd {
    const char *name, *arguments, *help;
    const char *more;                 /* further lines of its help, or NULL */
    const struct option_row *options; /* ends with a NULL name; or NULL */
    bool passes_words;                /* its options end at the first other word, and the rest is not ours */
    bool over_ranks;                  /* it can run over several ranks (cli/over_ranks.h) */
    int (*run)(int count, char **words); /* words behind the command's name; returns the exit status */
    void (*help_more)(void);             /* prints what tables know, behind the rest of the help; or NULL */
    /* Prints words for completion, one a line, behind this word (empty for the first); or NULL. */
    void (*complete)(const char *behind);
    const struct cmd *const *subcommands; /* whose names are "trace info"; ends in NULL; or NULL */
};

extern const struct cmd *const commands[]; /* ends in NULL */

extern const struct cmd cmd_caches, cmd_validate, cmd_study, cmd_bench, cmd_params, cmd_stats, cmd_demo,
    cmd_report, cmd_compare, cmd_system, cmd_protocol, cmd_test, cmd_ptx, cmd_gcn3, cmd_trace, cmd_run,
    cmd_replay, cmd_serve, cmd_boot, cmd_doctor, cmd_help, cmd_version, cmd_completion;

const struct cmd *cmd_find(const char *name);
void cmd_print_help(const struct cmd *command);
void options_print(const struct option_row *rows);

/* Writes manual pages, heddle.1 and heddle-NAME.1, into a folder. */
bool manual_write(const char *folder, struct err *err);

/* Prints "heddle: TEXT" to stderr and returns the status given. */
int complain(int status, const struct err *err);

/* ... for a word that names nothing: with the nearest name that does, or the command that lists them. */
int complain_unknown(const char *what, const char *word, const char *suggestion, const char *command);

/* Takes words apart. For each option `took` is called with its row and value, for any other word with a NULL
 * row. "--" ends the options; --help is always known and is given as a row named so. */
bool options_parse(const struct option_row *rows, int count, char **words, void *user,
                   bool (*took)(void *user, const struct option_row *row, const char *value, struct err *err),
                   struct err *err);

/* How many words come before the first that is no option, nor the value of one. */
int options_own_words(const struct option_row *rows, int count, char **words);

/* The signal that asked to end (Ctrl-C, SIGTERM, SIGHUP), once catch_interrupts was called; a second one ends
 * the process at once. */
extern _Atomic int interrupted;
void catch_interrupts(void);

/* How many GPUs an option asks for. */
bool options_gpus(const char *option, const char *text, uint64_t *gpus, struct err *err);

bool options_threads(const char *text, unsigned *threads, struct err *err);

#endif
