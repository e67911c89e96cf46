/* Manual pages, made from the tables of commands and options. */
#include "cli/cli.h"
#include "base/file.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- text as roff has it ---- */

static void put_text(FILE *page, const char *text)
{
    bool line_begins = true;
    for (; *text; text++) {
        if (line_begins && (*text == '.' || *text == '\''))
            fputs("\\&", page);
        if (*text == '\\')
            fputs("\\e", page);
        else if (*text == '-')
            fputs("\\-", page);
        else
            fputc(*text, page);
        line_begins = *text == '\n';
    }
}

static void put_line(FILE *page, const char *macro, const char *text)
{
    fputs(macro, page);
    put_text(page, text);
    fputc('\n', page);
}

/* Lines that stay as they are. */
static void put_literal(FILE *page, const char *text)
{
    fputs(".nf\n", page);
    put_text(page, text);
    if (*text && text[strlen(text) - 1] != '\n')
        fputc('\n', page);
    fputs(".fi\n", page);
}

/* ---- parts of a page ---- */

/* "trace info" is the page heddle-trace-info. */
static void add_page_name(struct text *name, const struct cmd *command)
{
    text_add(name, "heddle%s%s", command ? "-" : "", command ? command->name : "");
    for (char *at = name->at; *at; at++)
        *at = *at == ' ' ? '-' : *at;
}

static void put_title(FILE *page, const struct cmd *command, const char *help)
{
    struct text name = {0};
    add_page_name(&name, command);
    fputs(".TH ", page);
    for (const char *at = name.at; *at; at++)
        fputs(*at == '-' ? "\\-" : (char[]){(char)toupper((unsigned char)*at), 0}, page);
    fputs(" 1 \"\" \"heddle " HEDDLE_VERSION "\" \"Heddle\"\n.SH NAME\n", page);
    put_text(page, name.at);
    fputs(" \\- ", page);
    put_text(page, help);
    fputc('\n', page);
    text_fini(&name);
}

static void put_options(FILE *page, const struct option_row *rows)
{
    if (!rows || !rows->name)
        return;
    fputs(".SH OPTIONS\n", page);
    for (; rows->name; rows++) {
        if (!rows->help)
            continue;
        fputs(".TP\n\\fB", page);
        put_text(page, rows->name);
        fputs("\\fR", page);
        if (rows->value) {
            fputs(" \\fI", page);
            put_text(page, rows->value);
            fputs("\\fR", page);
        }
        put_line(page, "\n", rows->help);
    }
}

static void put_commands(FILE *page, const struct cmd *const *list)
{
    fputs(".SH COMMANDS\n", page);
    for (; *list; list++) {
        struct text name = {0};
        add_page_name(&name, *list);
        put_line(page, ".TP\n\\fB", name.at);
        fputs("\\fR", page);
        put_line(page, "", (*list)->help);
        text_fini(&name);
    }
}

/* What help_more prints. */
static void put_more(FILE *page, void (*help_more)(void))
{
    char *text = NULL;
    size_t length = 0;
    FILE *own = stdout, *kept = open_memstream(&text, &length);
    if (!kept)
        return;
    stdout = kept; /* as glibc allows */
    help_more();
    stdout = own;
    fclose(kept);
    fputs(".SH DETAILS\n", page);
    put_literal(page, *text == '\n' ? text + 1 : text);
    free(text);
}

static void put_command(FILE *page, const struct cmd *command)
{
    put_title(page, command, command->help);
    fputs(".SH SYNOPSIS\n\\fBheddle ", page);
    put_text(page, command->name);
    fputs("\\fR ", page);
    put_line(page, "", command->arguments);
    if (command->more) {
        fputs(".SH DESCRIPTION\n", page);
        put_literal(page, command->more);
    }
    put_options(page, command->options);
    if (command->subcommands)
        put_commands(page, command->subcommands);
    if (command->help_more)
        put_more(page, command->help_more);
    fputs(".SH SEE ALSO\n\\fBheddle\\fR(1)\n", page);
}

static void put_overview(FILE *page)
{
    put_title(page, NULL, "simulate GPU systems");
    put_line(page, ".SH SYNOPSIS\n", "heddle COMMAND [options]");
    put_line(
        page, ".SH DESCRIPTION\n",
        "Heddle runs CUDA, HIP and OpenCL programs on simulated GPUs, and tells how long they take, and why. "
        "It simulates in parallel, and the same to the last bit on any number of threads. Begin with "
        "heddle demo; heddle help COMMAND describes a command.");
    put_commands(page, commands);
    fputs(".SH EXIT STATUS\n", page);
    put_line(page, ".TP\n0\n", "All is well.");
    put_line(page, ".TP\n1\n", "A run has failed.");
    put_line(page, ".TP\n2\n", "The command line or a description is wrong.");
    put_line(page, ".PP\n",
             "heddle run ends with the status of the program, or with 126 or 127 if it cannot "
             "be started, or with 128 and the number of the signal that ended it.");
    fputs(".SH SEE ALSO\n", page);
    put_text(page, "The documentation in the folder share/doc of the installation.");
    fputc('\n', page);
}

/* ---- files ---- */

static bool write_page(const char *folder, const struct cmd *command, struct err *err)
{
    struct file_writer writer;
    struct text path = {0}, name = {0};
    add_page_name(&name, command);
    text_add(&path, "%s/%s.1", folder, name.at);
    bool good = file_open(&writer, path.at, err);
    if (good && command)
        put_command(writer.stream, command);
    else if (good)
        put_overview(writer.stream);
    good = good && file_close(&writer, err);
    text_fini(&path);
    text_fini(&name);
    return good;
}

bool manual_write(const char *folder, struct err *err)
{
    bool good = write_page(folder, NULL, err);
    for (size_t i = 0; good && commands[i]; i++) {
        const struct cmd *const *sub = commands[i]->subcommands;
        good = write_page(folder, commands[i], err);
        for (; good && sub && *sub; sub++)
            good = write_page(folder, *sub, err);
    }
    return good;
}
