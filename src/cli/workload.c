#include "cli/workload.h"
#include "cli/check.h"
#include "cli/over_ranks.h"
#include "base/file.h"
#include "base/host.h"
#include "base/unit.h"
#include "cli/folder.h"
#include "cli/stats_launches.h"
#include "report/launches/launches.h"
#include "cli/timing.h"
#include "cli/record.h"
#include "cli/timeline_file.h"
#include "cli/trace_mem.h"
#include "driver/driver.h"
#include "workloads/run.h"

#include <stdio.h>
#include <string.h>

static const struct option_row common[] = {
    {"--threads", "N|all", "threads of the host (1 unless told)"},
    {"--json", "FILE", "write what every launch did"},
    {"--stats", "FILE", NULL}, /* what `run` calls --json */
    STATS_LAUNCHES_OPTION,
    TIMING_OPTIONS,
    TRACE_MEM_OPTION,
    RECORD_OPTIONS,
    CHECK_OPTIONS,
    {NULL, NULL, NULL},
};

struct request {
    const struct workload *workload;
    unsigned threads;
    const char *json, *stats_launches, *trace_mem;
    uint64_t first_line, end_line; /* launches that are kept one by one */
    struct timing_request timing;
    struct check_request check;
    uint64_t values[WORKLOAD_OPTIONS_MOST];
    char names[WORKLOAD_OPTIONS_MOST][40];
    struct option_row rows[WORKLOAD_OPTIONS_MOST + sizeof common / sizeof *common];
};

bool cmd_workload_is(const char *name)
{
    return workload_find(name);
}

/* A value by its name, where the option's help begins with names: "ring|tree|direct: ...". */
static bool take_name(const struct workload_option *option, const char *text, uint64_t *value)
{
    const char *at = option->help;
    size_t all = strcspn(at, ": "), length;
    const char *end = at + (at[all] == ':' && memchr(at, '|', all) ? all : 0); /* "1: warm" names no values */
    for (uint64_t i = 0; at < end; at += length + 1, i++) {
        length = strcspn(at, "|:");
        if (strlen(text) == length && !strncmp(at, text, length)) {
            *value = i;
            return true;
        }
    }
    return false;
}

static bool take_value(const struct workload_option *option, const char *text, uint64_t *value,
                       struct err *err)
{
    struct err why;
    if (take_name(option, text, value))
        return true;
    if (!strcmp(option->name, "bytes") && unit_parse(UNIT_size, text, value, &why))
        return true;
    return unit_parse(UNIT_count, text, value, err);
}

static bool took(void *user, const struct option_row *row, const char *value, struct err *err)
{
    struct request *r = user;
    if (!row)
        return err_set(err, "bench %s: unexpected word '%.120s'", r->workload->name, value);
    bool taken;
    if (!timing_took(&r->timing, row, value, &taken, err))
        return false;
    if (!taken && !cmd_record_took(&r->timing, row, value, &taken, err))
        return false;
    if (!taken && !cmd_check_took(&r->check, row, value, &taken, err))
        return false;
    if (taken)
        return true;
    if (!strcmp(row->name, "--threads"))
        return options_threads(value, &r->threads, err);
    if (!strcmp(row->name, "--json") || !strcmp(row->name, "--stats"))
        r->json = value;
    if (!strcmp(row->name, "--stats-launches"))
        r->stats_launches = value;
    if (!strcmp(row->name, "--trace-mem"))
        r->trace_mem = value;
    for (size_t i = 0; r->workload->options[i].name; i++) {
        const struct workload_option *option = &r->workload->options[i];
        struct err why;
        if (strcmp(row->name, r->names[i]) != 0)
            continue;
        if (!take_value(option, value, &r->values[i], &why))
            return err_set(err, "%s: %s", row->name, why.text);
        if (r->values[i] < option->least || r->values[i] > option->most)
            return err_set(err, "%s: %s is not from %llu to %llu", row->name, value,
                           (unsigned long long)option->least, (unsigned long long)option->most);
    }
    return true;
}

static void fill_rows(struct request *r)
{
    size_t i = 0;
    for (; r->workload->options[i].name; i++) {
        REQUIRE(i < WORKLOAD_OPTIONS_MOST);
        snprintf(r->names[i], sizeof r->names[i], "--%s", r->workload->options[i].name);
        r->values[i] = r->workload->options[i].value;
        r->rows[i] = (struct option_row){r->names[i], "N", r->workload->options[i].help};
    }
    memcpy(&r->rows[i], common, sizeof common);
}

void cmd_workload_nearest(struct nearest *nearest)
{
    for (size_t i = 0; workloads[i]; i++)
        nearest_try(nearest, workloads[i]->name);
}

static void print_line(const struct request *r, const struct workload_result *result)
{
    const struct launch_result *counts = &result->counts;
    const char *kind = result->is_machine_code ? "" : timing_is_on(&r->timing) ? "optimized PTX " : "PTX ";
    printf("%s: ok; %llu launch%s, %llu %swarp instructions, %llu thread instructions, %.3f s: %.2f million "
           "warp instructions/s\n",
           r->workload->name, (unsigned long long)result->launches, result->launches == 1 ? "" : "es",
           (unsigned long long)counts->warp_instructions, kind,
           (unsigned long long)counts->thread_instructions, result->seconds,
           (double)counts->warp_instructions / result->seconds / 1e6);
}

/* What kernels measured with the GPU's clock; it means something in simulated time only. */
static void print_figures(const struct request *r, const struct workload_result *result)
{
    for (size_t i = 0; i < result->figure_count && timing_is_on(&r->timing); i++)
        printf("  %-40s %.6g\n", result->figures[i].name, result->figures[i].value);
}

struct checked {
    const struct request *request;
    const char *folder;
};

static void write_findings(const void *user, struct json_writer *json)
{
    const struct checked *checked = user;
    if (checked->request->check.checks)
        cmd_check_write(checked->folder, json);
}

/* What the driver left in the folder, in words and as JSON; *any: there were launches. */
static bool report(const struct request *r, const struct system *system, const char *folder, double seconds,
                   bool good_run, bool *any, struct err *err)
{
    struct launch_option options[WORKLOAD_OPTIONS_MOST + 1] = {{0}};
    for (size_t i = 0; r->workload->options[i].name; i++)
        options[i] = (struct launch_option){r->workload->options[i].name, r->values[i]};
    struct checked checked = {r, folder};
    struct launch_run how = {.more = write_findings,
                             .user = &checked,
                             .program = r->workload->name,
                             .options = options,
                             .kernels = r->timing.kernels,
                             .max_cycles = timing_max_cycles(&r->timing),
                             .cold_caches = r->timing.cold_caches,
                             .series_cycles = timing_series(&r->timing),
                             .system_name = r->timing.system ? r->timing.system : "h200",
                             .system = system,
                             .timing = timing_is_on(&r->timing),
                             .threads = r->threads,
                             .first_line = r->first_line,
                             .end_line = r->end_line,
                             .exit_status = good_run ? EXIT_GOOD : EXIT_FAILED,
                             .interrupted = interrupted,
                             .wall_s = seconds,
                             .cpu_s = seconds,
                             .hot_places = timing_hot_places(&r->timing)};
    return stats_launches_report(folder, &how, r->json, any, err);
}

/* What a checkpoint can be gone on from with: the same workload and options. */
static void identify(const struct request *r, struct text *identity)
{
    text_add(identity, "workload = %s", r->workload->name);
    for (size_t i = 0; r->workload->options[i].name; i++)
        text_add(identity, " --%s %llu", r->workload->options[i].name, (unsigned long long)r->values[i]);
    text_add(identity, "\n");
}

static bool tell_traces(const char *folder, struct err *err)
{
    struct text text = {0};
    bool good = cmd_trace_mem_tell(folder, &text, err);
    fputs(text.at ? text.at : "", stderr);
    text_fini(&text);
    return good;
}

static bool tell_recorded(const char *folder, struct err *err)
{
    struct text text = {0};
    bool good = cmd_record_tell(folder, &text, err);
    fputs(text.at ? text.at : "", stderr);
    text_fini(&text);
    return good;
}

/* Over a driver: in simulated time, or to know of each launch. */
static int run_driven(const struct request *r, const struct system *system, const char *folder,
                      struct err *err)
{
    struct workload_result result;
    struct err why;
    bool stopped = false;
    struct text identity = {0};
    identify(r, &identity);
    struct driver_options how = {.system = r->timing.system,
                                 .settings = r->timing.settings,
                                 .run_dir = folder,
                                 .first_line = r->first_line,
                                 .end_line = r->end_line,
                                 .threads = r->threads,
                                 .trace_mem = r->trace_mem,
                                 .check = r->check.checks,
                                 .check_show = r->check.show_count,
                                 .record = {.folder = r->timing.record, .limit = r->timing.record_limit},
                                 .interrupt = &interrupted,
                                 .picture = r->timing.picture,
                                 .live = r->timing.live,
                                 .timing = {.on = timing_is_on(&r->timing),
                                            .attach = r->timing.attach,
                                            .seat = (uint32_t)timing_seat(&r->timing),
                                            .over_ranks = over_ranks(),
                                            .series_cycles = r->json ? timing_series(&r->timing) : 0,
                                            .write_load = r->timing.write_load,
                                            .placement = r->timing.placement,
                                            .max_cycles = timing_max_cycles(&r->timing),
                                            .cold_caches = r->timing.cold_caches,
                                            .profile = true,
                                            .checkpoint = r->timing.checkpoint,
                                            .checkpoint_at = timing_checkpoint_at(&r->timing),
                                            .checkpoint_every = timing_checkpoint_every(&r->timing),
                                            .checkpoint_stop = r->timing.checkpoint_stop,
                                            .resume = r->timing.resume,
                                            .identity = identity.at,
                                            .stopped = &stopped,
                                            .progress = !r->timing.no_progress}};
    double start = host_seconds();
    how.kernels = r->timing.kernels;
    bool good = workload_run_driven(r->workload, r->values, &how, NULL, NULL, &result, err);
    text_fini(&identity);
    if (good) {
        print_line(r, &result);
        print_figures(r, &result);
    }
    bool any;
    if (!report(r, system, folder, host_seconds() - start, good, &any, &why))
        return complain(EXIT_FAILED, &why);
    if (!cmd_timeline_tell(folder, &r->timing.picture, false, stderr, &why) && good)
        return complain(EXIT_FAILED, &why);
    if (stopped)
        return EXIT_GOOD;
    if (r->trace_mem && good && !tell_traces(folder, err))
        good = false;
    if (r->timing.record && good && !tell_recorded(folder, err))
        good = false;
    if (interrupted)
        err_set(err, any ? "interrupted: what is known so far was told"
                         : "interrupted before the first kernel began");
    if (good && r->check.checks && cmd_check_count(folder))
        return EXIT_FOUND;
    return good ? EXIT_GOOD : complain(interrupted ? EXIT_SIGNAL + interrupted : EXIT_FAILED, err);
}

static int run_timed(const struct request *r)
{
    struct err err;
    struct system system;
    if (!cmd_trace_mem_check(r->trace_mem, &r->timing, &err) ||
        !timing_load_system(&r->timing, &system, &err) || (r->json && !file_check(r->json, &err)))
        return complain(EXIT_USAGE, &err);
    if (!r->trace_mem) /* the traces of SMs show how many there are */
        timing_tell_unseen(&r->timing);
    char *folder = folder_new(&err);
    int status = folder ? run_driven(r, &system, folder, &err) : complain(EXIT_FAILED, &err);
    folder_free(folder);
    system_fini(&system);
    return status;
}

static int run_plain(const struct request *r)
{
    struct err err;
    struct workload_result result;
    if (!workload_run(r->workload, r->values, r->threads, &interrupted, &result, &err))
        return complain(interrupted ? EXIT_SIGNAL + interrupted : EXIT_FAILED, &err);
    print_line(r, &result);
    return EXIT_GOOD;
}

int cmd_workload(int count, char **words)
{
    struct err err;
    struct request r = {.workload = workload_find(words[0]), .threads = 1};
    int status;
    bool follows = false;
    fill_rows(&r);
    catch_interrupts();
    if (!timing_from_environment(&r.timing, &err) || !cmd_check_from_environment(&r.check, &err) ||
        !options_parse(r.rows, count - 1, words + 1, &r, took, &err) || !over_ranks_begin(&err) ||
        !timing_keeps_series(&r.timing, r.json, &err) ||
        !stats_launches_choose(r.json, r.stats_launches, &r.first_line, &r.end_line, &err) ||
        !cmd_check_goes(&r.check, &r.timing, r.trace_mem, &err) || !timing_check(&r.timing, &err) ||
        !cmd_record_check(&r.timing, &err))
        status = complain(EXIT_USAGE, &err);
    else if (!over_ranks_simulate(timing_is_on(&r.timing), &follows, &status, &err))
        status = complain(EXIT_USAGE, &err);
    else if (follows)
        ;
    else if (timing_is_on(&r.timing) || r.json || r.timing.dump || r.timing.setting_count || r.trace_mem ||
             r.timing.system || r.timing.record || r.check.checks)
        status = run_timed(&r);
    else
        status = run_plain(&r);
    timing_fini(&r.timing);
    return status;
}

bool cmd_workload_check(int count, char **words, struct text *identity, struct err *err)
{
    struct request r = {.workload = workload_find(words[0]), .threads = 1};
    fill_rows(&r);
    bool good = timing_from_environment(&r.timing, err) &&
                options_parse(r.rows, count - 1, words + 1, &r, took, err) &&
                timing_identify(&r.timing, identity, err);
    identify(&r, identity);
    timing_fini(&r.timing);
    return good;
}

/* Its help goes on in further lines where it is long. */
static void print_option(const struct workload_option *option)
{
    enum { WIDTH = 120 };
    const char *help = option->help;
    int indent = printf("  %-26s   --%s N (%llu)  ", "", option->name, (unsigned long long)option->value);
    while (indent + (int)strlen(help) > WIDTH) {
        int at = WIDTH - indent;
        while (at && help[at] != ' ')
            at--;
        if (!at)
            break;
        printf("%.*s\n%*s", at, help, indent, "");
        help += at + 1;
    }
    puts(help);
}

static bool has_ptx(const struct workload *workload)
{
    size_t bytes;
    return workload_code(workload, "", &bytes);
}

static void print_workloads(bool with_ptx)
{
    for (size_t i = 0; workloads[i]; i++) {
        if (has_ptx(workloads[i]) != with_ptx)
            continue;
        printf("  %-26s %s\n", workloads[i]->name, workloads[i]->help);
        for (const struct workload_option *o = workloads[i]->options; o->name; o++)
            print_option(o);
    }
}

void cmd_workload_list(void)
{
    puts("\nCUDA workloads, checked against the CPU (options as of `heddle run`: --mode timing, --system, "
         "--set, "
         "--json FILE ...; and their own):");
    print_workloads(true);
    puts("\nWorkloads for AMD GPUs only, with the same options:");
    print_workloads(false);
}

void cmd_workload_complete(const char *behind)
{
    const struct workload *workload = workload_find(behind);
    for (size_t i = 0; !workload && workloads[i]; i++)
        puts(workloads[i]->name);
    for (size_t i = 0; workload && workload->options[i].name; i++)
        printf("--%s\n", workload->options[i].name);
}
