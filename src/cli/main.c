#include "cli/cli.h"
#include "cli/over_ranks.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct cmd *const commands[] = {&cmd_run,     &cmd_replay,     &cmd_serve,   &cmd_boot,     &cmd_demo,
                                      &cmd_bench,   &cmd_report,     &cmd_compare, &cmd_validate, &cmd_study,
                                      &cmd_caches,  &cmd_ptx,        &cmd_gcn3,    &cmd_trace,    &cmd_params,
                                      &cmd_system,  &cmd_protocol,   &cmd_stats,   &cmd_test,     &cmd_help,
                                      &cmd_version, &cmd_completion, NULL};

_Atomic int interrupted;

static void on_interrupt(int signal_number)
{
    interrupted = signal_number;
    signal(signal_number, SIG_DFL);
}

void catch_interrupts(void)
{
    signal(SIGINT, on_interrupt);
    signal(SIGTERM, on_interrupt); /* batch systems end jobs with these */
    signal(SIGHUP, on_interrupt);
}

static void nothing(int signal_number)
{
    (void)signal_number;
}

/* A file larger than `ulimit -f` lets it be ends no process: the write fails, which is told as any failure
 * is, and what was begun is removed. A handler is ours alone, while what is ignored stays so in programs we
 * start. */
static void let_writes_fail(void)
{
    if (signal(SIGXFSZ, nothing) == SIG_IGN)
        signal(SIGXFSZ, SIG_IGN);
}

int complain(int status, const struct err *err)
{
    struct text line = {0};
    text_add(&line, "heddle: ");
    over_ranks_tell(&line);
    for (const char *at = err->text; *at; at++) {
        /* the lines of a report are indented; any other line break or odd byte is part of what the user typed
         */
        bool odd = iscntrl((unsigned char)*at) && strncmp(at, "\n  ", 3) != 0;
        text_add_bytes(&line, odd ? "?" : at, 1);
    }
    text_add(&line, "\n");
    fwrite(line.at, 1, line.length, stderr); /* at once: who carries it from a rank may be ended next */
    text_fini(&line);
    return status;
}

int complain_unknown(const char *what, const char *word, const char *suggestion, const char *command)
{
    struct err err;
    err_set(&err, "unknown %s '%.120s'", what, word);
    if (suggestion)
        err_add(&err, "; did you mean %s?", suggestion);
    else
        err_add(&err, " (see `heddle %s`)", command);
    return complain(EXIT_USAGE, &err);
}

const struct cmd *cmd_find(const char *name)
{
    for (size_t i = 0; commands[i]; i++) {
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    }
    return NULL;
}

static void no_memory(size_t bytes)
{
    fprintf(stderr, "heddle: out of memory: no room for %zu bytes more; use a smaller model\n", bytes);
    _exit(EXIT_FAILED);
}

/* What was printed has reached its reader, or the run has failed. */
static int with_output_written(int status)
{
    errno = 0;
    if ((fflush(stdout) || ferror(stdout)) && status == EXIT_GOOD) {
        struct err err;
        err_set(&err, "cannot write to standard output: %s",
                errno ? strerror(errno) : "the disk may be full");
        return complain(EXIT_FAILED, &err);
    }
    return status;
}

static int run_command(int count, char **words)
{
    const char *name = count ? words[0] : "help";
    if (!strcmp(name, "--help") || !strcmp(name, "-h"))
        name = "help";
    if (!strcmp(name, "--version"))
        name = "version";
    const struct cmd *command = cmd_find(name);
    if (!command) {
        struct nearest nearest;
        nearest_init(&nearest, name);
        for (size_t i = 0; commands[i]; i++)
            nearest_try(&nearest, commands[i]->name);
        return complain_unknown("command", name, nearest.best, "--help");
    }
    for (int i = 1; i < count && strcmp(words[i], "--") && !(command->passes_words && *words[i] != '-');
         i++) {
        if (strcmp(words[i], "--help") && strcmp(words[i], "-h"))
            continue;
        cmd_print_help(command);
        return EXIT_GOOD;
    }
    if (ranks_job().count > 1 && !command->over_ranks) {
        struct err err;
        err_set(&err, "%s does not run over several ranks: start it without mpirun", command->name);
        return complain(EXIT_USAGE, &err);
    }
    return command->run(count ? count - 1 : 0, words + 1);
}

int main(int count, char **words)
{
    struct err err;
    enum log_level level;
    const char *wanted = getenv("HEDDLE_LOG");
    mem_on_exhaustion(no_memory);
    let_writes_fail();
    over_ranks_introduce(count, words);
    if (wanted) {
        if (!log_level_parse(wanted, &level, &err)) {
            struct err where;
            err_set(&where, "HEDDLE_LOG: %.200s", err.text);
            return complain(EXIT_USAGE, &where);
        }
        log_set_level(level);
    }
    return over_ranks_leave(with_output_written(run_command(count - 1, words + 1)));
}
