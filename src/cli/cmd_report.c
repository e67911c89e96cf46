/* heddle report: runs as one HTML file. */
#include "cli/cli.h"
#include "cli/report_page.h"
#include "base/mem.h"
#include "base/text.h"

#include <string.h>

static const struct option_row options[] = {
    {"-o", "FILE", "where the report goes: RUN.html unless told, - is standard output"},
    {"--ncu", "FILE", "set beside the first run what `ncu --csv --page raw` measured on a GPU"},
    {"--no-sources", NULL, "without lines of sources and code"},
    {NULL, NULL, NULL},
};

struct paths {
    const char **at;
    size_t count, capacity;
};

struct wanted {
    const char *output, *ncu;
    bool no_sources;
    struct paths runs, drawings;
};

static void add_path(struct paths *paths, const char *path)
{
    mem_grow(paths->at, paths->count, paths->capacity);
    paths->at[paths->count++] = path;
}

static bool is_drawing(const char *path)
{
    size_t length = strlen(path);
    return length > 4 && !strcmp(path + length - 4, ".svg");
}

static bool took(void *user, const struct option_row *row, const char *value, struct err *err)
{
    struct wanted *wanted = user;
    (void)err;
    if (!row)
        add_path(is_drawing(value) ? &wanted->drawings : &wanted->runs, value);
    else if (!strcmp(row->name, "-o"))
        wanted->output = value;
    else if (!strcmp(row->name, "--ncu"))
        wanted->ncu = value;
    else
        wanted->no_sources = true;
    return true;
}

/* run.json: run.html, beside it. */
static void add_page_name(const char *run, struct text *to)
{
    size_t length = strlen(run);
    bool ends = length > 5 && !strcmp(run + length - 5, ".json");
    text_add(to, "%.*s.html", (int)(ends ? length - 5 : length), run);
}

static bool make_report(const struct wanted *wanted, struct runfile *runs, struct err *err)
{
    struct report_measured measured = {0};
    bool good = true;
    for (size_t i = 0; i < wanted->runs.count && good; i++)
        good = runfile_read(&runs[i], wanted->runs.at[i], err);
    good = good && (!wanted->ncu || cmd_report_measure(&measured, runs, wanted->ncu, err)) &&
           cmd_report_page(&(struct report_page){.output = wanted->output,
                                                 .no_sources = wanted->no_sources,
                                                 .runs = runs,
                                                 .run_count = wanted->runs.count,
                                                 .measured = wanted->ncu ? &measured.measurement : NULL,
                                                 .drawings = wanted->drawings.at,
                                                 .drawing_count = wanted->drawings.count},
                           err);
    cmd_report_forget(&measured);
    return good;
}

static int run(int count, char **words)
{
    struct err err;
    struct wanted wanted = {0};
    struct text page_name = {0};
    int status = EXIT_GOOD;
    if (!options_parse(options, count, words, &wanted, took, &err) ||
        (!wanted.runs.count &&
         !err_set(&err, "report: expected a file that `heddle run --stats FILE` wrote")))
        status = complain(EXIT_USAGE, &err);
    if (!status && !wanted.output) {
        add_page_name(wanted.runs.at[0], &page_name);
        wanted.output = page_name.at;
    }
    struct runfile *runs = mem_alloc(wanted.runs.count, sizeof *runs);
    if (!status && !make_report(&wanted, runs, &err))
        status = complain(EXIT_FAILED, &err);
    for (size_t i = 0; i < wanted.runs.count; i++)
        runfile_fini(&runs[i]);
    mem_free(runs);
    text_fini(&page_name);
    mem_free(wanted.runs.at);
    mem_free(wanted.drawings.at);
    return status;
}

const struct cmd cmd_report = {
    .name = "report",
    .arguments = "[options] RUN.json... [DRAWING.svg...]",
    .help = "make an HTML report of runs",
    .more = "Each run is a file that `heddle run --stats FILE` or `heddle bench --json FILE` wrote; drawings "
            "are those\n"
            "of studies, sweeps and `heddle system`. The report is one file that any browser shows, and that "
            "needs no\n"
            "network. See docs/report.md.",
    .options = options,
    .run = run,
};
