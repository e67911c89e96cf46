/* heddle validate: the model beside a real GPU. */
#include "cli/timing.h"
#include "base/file.h"
#include "base/unit.h"
#include "report/svg.h"
#include "validate/validate.h"

#include <string.h>

static const struct option_row options[] = {
    {"--only", "REGEX",
     "points whose names match, such as '^alu_' (bench/points.def has them; AMD: points_gcn3.def)"},
    {"--most", "N", "leave out points of more warp instructions than this (3 million unless told)"},
    {"--all", NULL, "leave out none"},
    {"--jobs", "N|all", "points at a time, each in a process of its own (1 unless told)"},
    {"--threads", "N|all", "threads of each (1 unless told)"},
    {"--system", "NAME|FILE", "the model (h200 unless told)"},
    {"--set", "PATH.KEY=VALUE", "change it, such as l2.bytes=30MiB; may come several times"},
    {"--measured", "FOLDER", "what was measured (bench/SYSTEM unless told, or else bench/h200)"},
    {"--json", "FILE", "write all figures"},
    {"--svg", "FILE", "write a plot: of cycles, or of curves"},
    {"--markdown", "FILE", "write a page, as docs/accuracy.md is one"},
    {"--no-progress", NULL, "no line on the terminal that shows how far it is"},
    {NULL, NULL, NULL},
};

enum { MOST_UNLESS_TOLD = 3000000 };

struct request {
    const char *only, *measured, *json, *svg, *markdown;
    uint64_t most; /* 0: no limit */
    unsigned jobs, threads;
    struct timing_request timing;
};

static bool take_jobs(const char *value, unsigned *jobs, struct err *err)
{
    struct err why;
    return (options_threads(value, jobs, &why) && *jobs <= VALIDATE_JOBS_MOST) ||
           err_set(err, "--jobs: expected a number from 1 to %d, or all, not '%.80s'", VALIDATE_JOBS_MOST,
                   value);
}

static bool take_most(const char *value, uint64_t *most, struct err *err)
{
    struct err why;
    return unit_parse(UNIT_count, value, most, &why) && *most
               ? true
               : err_set(err,
                         "--most: expected a number from 1 on, "
                         "not '%.80s'",
                         value);
}

static bool took(void *user, const struct option_row *row, const char *value, struct err *err)
{
    struct request *r = user;
    bool taken;
    if (!row)
        return err_set(err, "validate: unexpected word '%.120s' (--only '%.120s'?)", value, value);
    if (!timing_took(&r->timing, row, value, &taken, err))
        return false;
    if (taken)
        return true;
    if (!strcmp(row->name, "--jobs"))
        return take_jobs(value, &r->jobs, err);
    if (!strcmp(row->name, "--threads"))
        return options_threads(value, &r->threads, err);
    if (!strcmp(row->name, "--most"))
        return take_most(value, &r->most, err);
    if (!strcmp(row->name, "--all"))
        r->most = 0;
    else if (!strcmp(row->name, "--only"))
        r->only = value;
    else if (!strcmp(row->name, "--measured"))
        r->measured = value;
    else if (!strcmp(row->name, "--json"))
        r->json = value;
    else if (!strcmp(row->name, "--svg"))
        r->svg = value;
    else if (!strcmp(row->name, "--markdown"))
        r->markdown = value;
    return true;
}

/* The words as a shell takes them. */
static void keep_command(struct text *command, int count, char **words)
{
    text_add(command, "heddle validate");
    for (int i = 0; i < count; i++) {
        bool plain = words[i][0] && !words[i][strcspn(words[i], " '\"\\$^()[]{}|*?&;<>~#`!")];
        text_add(command, plain ? " %s" : " '%s'", words[i]);
    }
}

/* All that can be wrong before an hour of work. */
static bool prepare(const struct request *r, struct validation *validation, struct err *err)
{
    const char *const files[] = {r->json, r->svg, r->markdown};
    if (r->svg && !svg_check_name("--svg", r->svg, err))
        return false;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (files[i] && !file_check(files[i], err))
            return false;
    }
    if (!timing_load_system(&r->timing, &validation->system, err))
        return false;
    if (!validation_select(validation, r->only, err) || !measured_read(validation, r->measured, err))
        return false;
    if (!validation->count)
        return err_set(err, "--only: no point of bench/points%s.def is like '%.120s'",
                       *validation->system.gpu.target ? "_gcn3" : "", r->only);
    validation_limit(validation, r->most);
    return validation->count ||
           err_set(
               err,
               "validate: all points are left out: %zu of more than %llu warp instructions, %zu not measured",
               validation->too_long, (unsigned long long)r->most, validation->not_measured);
}

typedef void write_form(const struct validation *validation, const struct summary *summary, FILE *stream);

static bool write_file(const char *path, write_form *form, const struct validation *validation,
                       const struct summary *summary, struct err *err)
{
    struct file_writer writer;
    if (!path)
        return true;
    if (!file_open(&writer, path, err))
        return false;
    form(validation, summary, writer.stream);
    return file_close(&writer, err);
}

static bool write_files(const struct request *r, const struct validation *validation,
                        const struct summary *summary, struct err *err)
{
    return write_file(r->json, validation_json, validation, summary, err) &&
           write_file(r->svg, validation_svg, validation, summary, err) &&
           write_file(r->markdown, validation_markdown, validation, summary, err);
}

static int validate(const struct request *r, struct validation *validation)
{
    struct err err;
    struct summary summary;
    if (!prepare(r, validation, &err))
        return complain(EXIT_USAGE, &err);
    validation_run(validation, &(struct validation_run){.system = validation->system_name,
                                                        .settings = r->timing.settings,
                                                        .threads = r->threads,
                                                        .jobs = r->jobs,
                                                        .profiled = validation->profiled,
                                                        .no_progress = r->timing.no_progress,
                                                        .interrupt = &interrupted});
    summary_make(&summary, validation);
    validation_print(validation, &summary, stdout);
    if (!write_files(r, validation, &summary, &err))
        return complain(EXIT_FAILED, &err);
    if (interrupted) {
        err_set(&err, "interrupted: what is known so far was told");
        return complain(EXIT_SIGNAL + interrupted, &err);
    }
    if (summary.failed) {
        err_set(&err, "validate: %zu of %zu points failed", summary.failed, validation->count);
        return complain(EXIT_FAILED, &err);
    }
    return EXIT_GOOD;
}

static int run(int count, char **words)
{
    struct err err;
    struct request r = {.most = MOST_UNLESS_TOLD, .jobs = 1, .threads = 1};
    struct validation validation = {0};
    int status;
    catch_interrupts();
    if (options_parse(options, count, words, &r, took, &err)) {
        validation.system_name = r.timing.system ? r.timing.system : "h200";
        validation.picture = r.svg && strrchr(r.svg, '/') ? strrchr(r.svg, '/') + 1 : r.svg;
        keep_command(&validation.command, count, words);
        status = validate(&r, &validation);
    } else
        status = complain(EXIT_USAGE, &err);
    validation_fini(&validation);
    timing_fini(&r.timing);
    return status;
}

const struct cmd cmd_validate = {
    .name = "validate",
    .arguments = "[options]",
    .help = "lay the model beside a real GPU",
    .more =
        "Runs workloads and microbenchmarks in the model, as they were measured on an H200 (bench/h200), "
        "and\n"
        "prints errors of cycles, warp instructions, hit rates and bytes, and what all of them come to.\n"
        "Measurements follow the system: for --system r9nano they are curves and figures of microbenchmarks\n"
        "on an R9 Nano (bench/r9nano), and --svg draws the curves.\n"
        "docs/accuracy.md was made by it. How near it comes is no reason to fail.",
    .options = options,
    .run = run,
};
