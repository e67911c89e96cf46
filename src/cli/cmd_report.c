/* heddle report: runs as one HTML file. */
#include "cli/cli.h"
#include "cli/report_page.h"
#include "base/mem.h"
#include "base/text.h"

#include <string.h>

static const struct option_row options[] = {
    {"-o", "FILE", "where the report goes: FILE.html unless told, - is standard output"},
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
    struct paths files, drawings;
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
        add_path(is_drawing(value) ? &wanted->drawings : &wanted->files, value);
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

/* Files that were read, by what they are. */
struct documents {
    struct runfile *all, *runs;
    struct experiment *experiments;
    size_t count, run_count, experiment_count;
};

static bool read_document(struct documents *to, const char *path, struct err *err)
{
    struct runfile *file = &to->all[to->count];
    *file = (struct runfile){.path = path, .json = json_read(path, err)};
    if (!file->json)
        return false;
    to->count++;
    struct experiment experiment = {path, file->json, experiment_kind(file->json)};
    if (experiment.kind == EXPERIMENT_NONE) {
        to->runs[to->run_count++] = *file;
        return runfile_check(file->json, path, err);
    }
    to->experiments[to->experiment_count++] = experiment;
    return experiment_check(&experiment, err);
}

static bool make_report(const struct wanted *wanted, struct documents *read, struct err *err)
{
    struct report_measured measured = {0};
    bool good = true;
    for (size_t i = 0; i < wanted->files.count && good; i++)
        good = read_document(read, wanted->files.at[i], err);
    if (good && wanted->ncu && !read->run_count)
        good = err_set(err, "--ncu: expected a run to set it beside");
    good = good && (!wanted->ncu || cmd_report_measure(&measured, read->runs, wanted->ncu, err)) &&
           cmd_report_page(&(struct report_page){.output = wanted->output,
                                                 .no_sources = wanted->no_sources,
                                                 .runs = read->runs,
                                                 .run_count = read->run_count,
                                                 .experiments = read->experiments,
                                                 .experiment_count = read->experiment_count,
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
        (!wanted.files.count &&
         !err_set(&err, "report: expected a file that `heddle run --stats FILE` wrote, or a sweep or study")))
        status = complain(EXIT_USAGE, &err);
    if (!status && !wanted.output) {
        add_page_name(wanted.files.at[0], &page_name);
        wanted.output = page_name.at;
    }
    struct documents read = {.all = mem_alloc(wanted.files.count, sizeof *read.all),
                             .runs = mem_alloc(wanted.files.count, sizeof *read.runs),
                             .experiments = mem_alloc(wanted.files.count, sizeof *read.experiments)};
    if (!status && !make_report(&wanted, &read, &err))
        status = complain(EXIT_FAILED, &err);
    for (size_t i = 0; i < read.count; i++)
        runfile_fini(&read.all[i]);
    mem_free(read.all);
    mem_free(read.runs);
    mem_free(read.experiments);
    text_fini(&page_name);
    mem_free(wanted.files.at);
    mem_free(wanted.drawings.at);
    return status;
}

const struct cmd cmd_report = {
    .name = "report",
    .arguments = "[options] FILE.json... [DRAWING.svg...]",
    .help = "make an HTML report of runs, of sweeps and of studies",
    .more =
        "Each file is what `heddle run --stats`, `heddle bench --json`, `heddle caches --json` or `heddle "
        "study --json`\n"
        "wrote; drawings are those of `heddle system`, sweeps and studies. The report is one file that "
        "any browser\n"
        "shows, and that needs no network. See docs/report.md.",
    .options = options,
    .run = run,
};
