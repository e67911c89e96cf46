/* heddle compare: runs beside a baseline, or beside what a real GPU's profiler measured. */
#include "cli/cli.h"
#include "cli/report_page.h"
#include "base/mem.h"

#include <stdio.h>
#include <string.h>

static const struct option_row options[] = {
    {"-o", "FILE", "write a report with the comparison, too (HTML)"},
    {"--ncu", "FILE", "compare one run with what `ncu --csv --page raw` measured on a GPU"},
    {NULL, NULL, NULL},
};

struct wanted {
    const char *output, *ncu;
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
        wanted->ncu = value;
    }
    return true;
}

static bool makes_sense(const struct wanted *wanted, struct err *err)
{
    if (wanted->ncu)
        return wanted->count == 1 ||
               err_set(err, "compare: expected one run with --ncu, not %zu", wanted->count);
    return wanted->count > 1 || err_set(err, "compare: expected two runs or more, the baseline first");
}

static void tell(const struct comparison *comparisons, size_t count, const struct measurement *measured)
{
    struct text text = {0}, visible = {0};
    for (size_t i = 0; i < count; i++) {
        text_add(&text, "%s", i ? "\n" : "");
        comparison_tell(&comparisons[i], &text);
    }
    if (measured)
        measure_tell(measured, &text);
    text_add_visible(&visible, text.at); /* names are whatever a file says */
    fputs(visible.at, stdout);
    text_fini(&visible);
    text_fini(&text);
}

static bool compare(const struct wanted *wanted, struct runfile *runs, struct comparison *comparisons,
                    struct err *err)
{
    struct report_measured measured = {0};
    bool good = true;
    for (size_t i = 0; i < wanted->count && good; i++)
        good = runfile_read(&runs[i], wanted->paths[i], err);
    for (size_t i = 0; i + 1 < wanted->count && good; i++)
        comparison_make(&comparisons[i], &runs[0], &runs[i + 1]);
    good = good && (!wanted->ncu || cmd_report_measure(&measured, runs, wanted->ncu, err));
    const struct measurement *measurement = wanted->ncu ? &measured.measurement : NULL;
    good = good &&
           (!wanted->output || cmd_report_page(&(struct report_page){.output = wanted->output,
                                                                     .runs = runs,
                                                                     .run_count = wanted->count,
                                                                     .comparisons = comparisons,
                                                                     .comparison_count = wanted->count - 1,
                                                                     .measured = measurement},
                                               err));
    if (good)
        tell(comparisons, wanted->count - 1, measurement);
    cmd_report_forget(&measured);
    return good;
}

static int run(int count, char **words)
{
    struct err err;
    struct wanted wanted = {0};
    int status = EXIT_GOOD;
    if (!options_parse(options, count, words, &wanted, took, &err) || !makes_sense(&wanted, &err))
        status = complain(EXIT_USAGE, &err);
    struct runfile *runs = mem_alloc(wanted.count, sizeof *runs);
    struct comparison *comparisons = mem_alloc(wanted.count, sizeof *comparisons);
    if (!status && !compare(&wanted, runs, comparisons, &err))
        status = complain(EXIT_FAILED, &err);
    for (size_t i = 0; i < wanted.count; i++) {
        comparison_fini(&comparisons[i]);
        runfile_fini(&runs[i]);
    }
    mem_free(runs);
    mem_free(comparisons);
    mem_free(wanted.paths);
    return status;
}

const struct cmd cmd_compare = {
    .name = "compare",
    .arguments = "[options] BASELINE.json RUN.json... | RUN.json --ncu FILE.csv",
    .help = "what changed between runs, and why; or a run beside a real GPU",
    .more = "Kernels are matched by name, and launches of a kernel in their order. For each kernel: the time "
            "of the\n"
            "baseline and of the run, the change, and what moved with it: instructions, hit rates, bytes, "
            "stalls.\n"
            "With --ncu: errors of each metric that was measured. See docs/report.md.",
    .options = options,
    .run = run,
};
