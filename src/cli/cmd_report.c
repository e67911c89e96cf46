/* heddle report: runs as one HTML file. */
#include "cli/cli.h"
#include "cli/report_code.h"
#include "base/file.h"
#include "base/mem.h"
#include "report/run_file.h"

#include <stdio.h>
#include <string.h>

static const struct option_row options[] = {
    {"-o", "FILE", "where the report goes; run.html unless told, - is standard output"},
    {"--no-sources", NULL, "without lines of sources and code"},
    {NULL, NULL, NULL},
};

struct wanted {
    const char *output;
    bool no_sources;
    const char **paths;
    size_t count, capacity;
};

static bool took(void *user, const struct option_row *row, const char *value, struct err *err)
{
    struct wanted *wanted = user;
    (void)err;
    if (!row) {
        mem_grow(wanted->paths, wanted->count, wanted->capacity);
        wanted->paths[wanted->count++] = value;
    } else if (!strcmp(row->name, "-o")) {
        wanted->output = value;
    } else {
        wanted->no_sources = true;
    }
    return true;
}

/* "9.0" is 90. */
static uint32_t arch_of(const struct run_file *run)
{
    const struct json_value *gpu = json_at(run->json, "config.gpu");
    return (uint32_t)(10 * json_number_at(gpu, "major", 9) + json_number_at(gpu, "minor", 0));
}

static bool write_report(const struct wanted *wanted, const struct run_file *runs, struct err *err)
{
    struct file_writer writer;
    uint32_t arch = arch_of(runs);
    for (size_t i = 0; i < wanted->count; i++)
        if (strcmp(wanted->output, "-") && file_same(wanted->output, wanted->paths[i]))
            return err_set(err, "-o would write over %.300s", wanted->paths[i]);
    if (!file_open(&writer, wanted->output, err))
        return false;
    page_write(&(struct page_request){.runs = runs,
                                      .run_count = wanted->count,
                                      .no_sources = wanted->no_sources,
                                      .code = cmd_report_code,
                                      .user = &arch},
               writer.stream);
    return file_close(&writer, err);
}

static int run(int count, char **words)
{
    struct err err;
    struct wanted wanted = {.output = "run.html"};
    int status = EXIT_GOOD;
    if (!options_parse(options, count, words, &wanted, took, &err) ||
        (!wanted.count && !err_set(&err, "report: expected a file that `heddle run --stats FILE` wrote")))
        status = complain(EXIT_USAGE, &err);
    struct run_file *runs = mem_alloc(wanted.count, sizeof *runs);
    for (size_t i = 0; i < wanted.count && !status; i++)
        if (!run_file_read(&runs[i], wanted.paths[i], &err))
            status = complain(EXIT_FAILED, &err);
    if (!status && !write_report(&wanted, runs, &err))
        status = complain(EXIT_FAILED, &err);
    for (size_t i = 0; i < wanted.count; i++)
        run_file_fini(&runs[i]);
    mem_free(runs);
    mem_free(wanted.paths);
    return status;
}

const struct cmd cmd_report = {
    .name = "report",
    .arguments = "[options] RUN.json...",
    .help = "make an HTML report of runs",
    .more = "Each file is one that `heddle run --stats FILE` or `heddle bench --json FILE` wrote. The report is one\n"
            "file that any browser shows, and that needs no network. See docs/report.md.",
    .options = options,
    .run = run,
};
