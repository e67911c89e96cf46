/* heddle doctor: what of the tools that Heddle can use is there, and what each of them is for. */
#include "cli/cli.h"
#include "cli/doctor.h"
#include "base/file.h"
#include "report/json.h"

#include <stdio.h>
#include <string.h>

static const struct option_row options[] = {
    {"--json", "FILE", "write the same as JSON (-: to standard output, in place of the table)"},
    {NULL, NULL, NULL},
};

static bool took(void *user, const struct option_row *row, const char *value, struct err *err)
{
    const char **json = user;
    if (!row)
        return err_set(err, "doctor: unexpected word '%.120s'", value);
    *json = value;
    return true;
}

static bool is_own(const struct tool_row *row)
{
    return row->kind == TOOL_DATA || row->kind == TOOL_PART || row->kind == TOOL_OPTIONAL;
}

static const char *state_of(const struct tool_found *found)
{
    return found->broken.length ? "broken" : found->is_there ? "yes" : "no";
}

static void print_tool(const struct tool_row *row, const struct tool_found *found)
{
    const char *version = found->version.length ? found->version.at : "";
    printf("  %-6s  %-15s  %-16s  %s\n", state_of(found), row->name, version, row->feature);
    if (found->broken.length)
        printf("          %s\n", found->broken.at);
    else if (found->is_there)
        printf("          %s\n", found->path.at);
    else if (found->lacks.length)
        printf("          it needs %s: apt install %s\n", found->lacks.at, row->package);
    else if (is_own(row))
        printf("          not in this build; install %s and build again\n", row->package);
    else
        printf("          apt install %s\n", row->package);
}

static void write_tool(struct json_writer *json, const struct tool_row *row, const struct tool_found *found)
{
    json_open_object(json, NULL);
    json_put_text(json, "name", row->name);
    json_put_text(json, "of", is_own(row) ? "heddle" : "host");
    json_put_bool(json, "found", found->is_there);
    if (found->version.length)
        json_put_text(json, "version", found->version.at);
    if (found->path.length)
        json_put_text(json, "path", found->path.at);
    if (found->lacks.length)
        json_put_text(json, "lacks", found->lacks.at);
    if (found->broken.length)
        json_put_text(json, "broken", found->broken.at);
    json_put_text(json, "feature", row->feature);
    if (*row->package)
        json_put_text(json, "debian_packages", row->package);
    json_close(json);
}

struct printing {
    bool as_table, as_json;
    struct json_writer json;
};

/* Looks for all; returns how many parts of this build are broken. */
static unsigned look_all(struct printing *printing)
{
    unsigned broken = 0;
    bool was_own = false;
    for (const struct tool_row *row = doctor_tools; row->name; row++) {
        struct tool_found found;
        doctor_look(row, &found);
        if (printing->as_table && (row == doctor_tools || is_own(row) != was_own))
            puts(is_own(row) ? "\nThis build of Heddle:" : "On this host:");
        if (printing->as_table)
            print_tool(row, &found);
        if (printing->as_json)
            write_tool(&printing->json, row, &found);
        was_own = is_own(row);
        broken += found.broken.length > 0;
        doctor_found_fini(&found);
    }
    return broken;
}

static bool look_and_write(const char *path, struct printing *printing, unsigned *broken, struct err *err)
{
    struct file_writer writer;
    if (!file_open(&writer, path, err))
        return false;
    json_begin(&printing->json, writer.stream);
    json_open_object(&printing->json, NULL);
    json_put_text(&printing->json, "heddle", HEDDLE_VERSION);
    json_open_list(&printing->json, "tools");
    *broken = look_all(printing);
    json_close(&printing->json);
    json_close(&printing->json);
    return file_close(&writer, err);
}

static int run(int count, char **words)
{
    struct err err;
    const char *json = NULL;
    unsigned broken = 0;
    if (!options_parse(options, count, words, &json, took, &err))
        return complain(EXIT_USAGE, &err);
    if (json && !file_check(json, &err))
        return complain(EXIT_USAGE, &err);
    struct printing printing = {.as_table = !json || strcmp(json, "-") != 0, .as_json = json};
    if (printing.as_table)
        puts("heddle " HEDDLE_VERSION);
    if (!json)
        broken = look_all(&printing);
    else if (!look_and_write(json, &printing, &broken, &err))
        return complain(EXIT_FAILED, &err);
    if (!broken)
        return EXIT_GOOD;
    err_set(&err, "doctor: %u part%s of this build cannot be used: build or install it again", broken,
            broken > 1 ? "s" : "");
    return complain(EXIT_FAILED, &err);
}

const struct cmd cmd_doctor = {
    .name = "doctor",
    .arguments = "[options]",
    .help = "show what this host has for Heddle, and what to install for the rest",
    .more = "Each line: is it there, its name, its version, what Heddle does with it; then where it is, or "
            "what to\n"
            "install. Nothing of it is needed for `heddle demo`. The exit status is 1 if a part of this "
            "build is\n"
            "missing or does not load, and 0 otherwise.",
    .options = options,
    .run = run,
};
