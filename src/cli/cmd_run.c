/* heddle run: runs a CUDA, HIP or OpenCL program on a simulated system. */
#include "cli/stats_launches.h"
#include "report/launches/launches.h"
#include "cli/over_ranks.h"
#include "cli/run.h"
#include "cli/record.h"
#include "cli/timeline_file.h"
#include "cli/trace_mem.h"
#include "cli/process.h"
#include "base/bits.h"
#include "base/file.h"
#include "base/host.h"
#include "base/mem.h"
#include "driver/ledger_format.h"
#include "base/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <string.h>

static const struct option_row options[] = {
    TIMING_OPTIONS,
    {"--region", "profiler|nvtx:NAME",
     "and only launches from cudaProfilerStart to Stop, or inside NVTX ranges of such a name (a pattern)"},
    {"--cpu", "NAME",
     "run it on simulated CPU cores (docs/cpu.md), such as epyc; none: not on those of the system"},
    {"--threads", "N|all", "threads of this machine to run kernels on (all unless told)"},
    {"--stats", "FILE", "write what every kernel and launch did, as JSON"},
    {"--csv", "FILE", "write the metrics of launches as CSV, in the layout of `ncu --csv --page raw`"},
    {"--json", "FILE", NULL}, /* what `bench` calls --stats */
    STATS_LAUNCHES_OPTION,
    TRACE_MEM_OPTION,
    RECORD_OPTIONS,
    CHECK_OPTIONS,
    {"--shared", NULL, "one machine for all processes that the program starts (docs/serve.md)"},
    {"--bounds", "exact|padded", "padded: kernels may overrun allocations, as far as a GPU lets them"},
    {"--limit", "N", "functional mode: warp instructions after which a launch fails, as if endless"},
    {NULL, NULL, NULL},
};

static void take_cpu_setting(struct run_request *request, const char *value)
{
    for (int i = 0; i < 2; i++) /* the end, too */
        mem_grow(request->cpu_settings, request->cpu_setting_count + (size_t)i,
                 request->cpu_setting_capacity);
    request->cpu_settings[request->cpu_setting_count++] = value;
    request->cpu_settings[request->cpu_setting_count] = NULL;
}

static bool took(void *user, const struct option_row *row, const char *value, struct err *err)
{
    struct run_request *request = user;
    unsigned threads;
    bool taken;
    if (!strcmp(row->name, "--set") && !strncmp(value, "cpu.", 4)) {
        take_cpu_setting(request, value);
        return true;
    }
    if (!timing_took(&request->timing, row, value, &taken, err))
        return false;
    if (!taken && !cmd_record_took(&request->timing, row, value, &taken, err))
        return false;
    if (!taken && !cmd_check_took(&request->check, row, value, &taken, err))
        return false;
    if (taken)
        return true;
    if (!strcmp(row->name, "--help")) {
        request->wants_help = true;
    } else if (!strcmp(row->name, "--threads")) {
        request->threads = value;
        return options_threads(value, &threads, err);
    } else if (!strcmp(row->name, "--stats") || !strcmp(row->name, "--json")) {
        request->stats = value;
    } else if (!strcmp(row->name, "--csv")) {
        request->csv = value;
    } else if (!strcmp(row->name, "--stats-launches")) {
        request->stats_launches = value;
    } else if (!strcmp(row->name, "--trace-mem")) {
        request->trace_mem = value;
    } else if (!strcmp(row->name, "--cpu")) {
        request->cpu = value;
    } else if (!strcmp(row->name, "--shared")) {
        request->timing.shared = true;
    } else if (!strcmp(row->name, "--bounds")) {
        request->bounds = value;
        return !strcmp(value, "exact") || !strcmp(value, "padded") ||
               err_set(err, "--bounds: expected exact or padded, not '%.80s'", value);
    } else if (!strcmp(row->name, "--limit")) {
        uint64_t limit;
        struct err why;
        request->limit = value;
        return unit_parse(UNIT_count, value, &limit, &why) || err_set(err, "--limit: %s", why.text);
    }
    return true;
}

static bool output_is_safe(const struct run *run, const char *option, const char *file, struct err *err)
{
    if (!file)
        return true;
    if (strcmp(file, "-") && file_same(file, run->path))
        return err_set(err, "%s would write over the program %s", option, file);
    return file_check(file, err);
}

static bool outputs_are_safe(const struct run *run, struct err *err)
{
    const char *stats = run->request->stats, *csv = run->request->csv,
               *checkpoint = run->request->timing.checkpoint;
    if (checkpoint && (file_same(checkpoint, run->path) || (stats && file_same(checkpoint, stats))))
        return err_set(err, "--checkpoint would write over %s", checkpoint);
    if (checkpoint && !file_check(checkpoint, err))
        return false;
    if (stats && csv && strcmp(csv, "-") && file_same(stats, csv))
        return err_set(err, "--stats and --csv name one file: %.300s", csv);
    return output_is_safe(run, "--stats", stats, err) && output_is_safe(run, "--csv", csv, err);
}

static unsigned thread_count(const struct run_request *request)
{
    const char *asked = request->threads ? request->threads : getenv("HEDDLE_THREADS");
    return asked && strcmp(asked, "all") ? (unsigned)strtoul(asked, NULL, 10) : host_cores();
}

/* An OpenCL or HIP program without --system has one of its own choice. False: it has not, or there is no such
 * one.
 */
static bool chose_system(const struct run *run, struct text *name, struct system *system)
{
    struct text path = {0};
    struct err unused;
    text_add(&path, "%s/" LEDGER_SYSTEM, run->folder);
    bool good = !run->request->timing.system && !access(path.at, R_OK) &&
                file_read(path.at, 200, name, &unused) && system_load(system, name->at, NULL, &unused);
    for (const char *const *set = run->request->timing.settings; good && set && *set; set++)
        system_set(system, *set, &unused); /* the program has them, too: they are good */
    text_fini(&path);
    return good;
}

static void write_more(const void *user, struct json_writer *json)
{
    const struct run *run = user;
    if (run->cpu)
        cmd_cpu_write(run->cpu, json);
    if (run->request->check.checks)
        cmd_check_write(run->folder, json);
}

static int tell(struct run *run, const struct system *system, const char *system_name)
{
    const struct run_request *request = run->request;
    struct launch_run how = {.program = request->words[0],
                             .arguments = request->words + 1,
                             .kernels = request->timing.kernels,
                             .max_cycles = timing_max_cycles(&request->timing),
                             .cold_caches = request->timing.cold_caches,
                             .series_cycles = timing_series(&request->timing),
                             .system_name = system_name,
                             .system = system,
                             .timing = timing_is_on(&request->timing),
                             .threads = thread_count(request),
                             .wall_s = run->wall_s,
                             .cpu_s = run->cpu_s,
                             .signal = run->signal,
                             .exit_status = run->status,
                             .interrupted = run->interrupted,
                             .first_line = run->first_line,
                             .end_line = run->end_line,
                             .hot_places = timing_hot_places(&request->timing),
                             .more = write_more,
                             .user = run};
    struct launches lines = {0};
    struct text summary = {0};
    struct err err;
    int status = run->status;
    bool good = launches_read(run->folder, &lines, &err);
    if (good && request->stats)
        good = launches_write(&lines, &how, request->stats, &err);
    if (good && request->csv)
        good = launches_write_csv(&lines, &how, request->csv, &err);
    if (!good || !launches_are_whole(&lines, run->folder, &err))
        status = complain(status ? status : EXIT_FAILED, &err);
    if (run->cpu && !cmd_cpu_check(run->cpu, request->words[0], status, &err))
        status = complain(status ? status : EXIT_FAILED, &err);
    if (run->cpu)
        cmd_cpu_tell(run->cpu, run->wall_s, run->cpu_s, &summary);
    if (!run->cpu || lines.count) {
        text_add(&summary, "heddle: ");
        launches_summarize(&lines, &how, &summary);
        text_add(&summary, "\n");
        launches_explain(&lines, &how, &summary);
    }
    if (request->trace_mem && !cmd_trace_mem_tell(run->folder, &summary, &err))
        status = complain(status ? status : EXIT_FAILED, &err);
    if (request->timing.record && !cmd_record_tell(run->folder, &summary, &err))
        status = complain(status ? status : EXIT_FAILED, &err);
    if (request->check.checks && !status && cmd_check_count(run->folder))
        status = EXIT_FOUND;
    if (how.signal && isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr); /* the progress line that the program could not wipe */
    fputs(summary.at, stderr);
    if (!cmd_timeline_tell(run->folder, &request->timing.picture, run->picture.plan.path, stderr, &err))
        status = complain(status ? status : EXIT_FAILED, &err);
    text_fini(&summary);
    launches_fini(&lines);
    return status;
}

static int tell_by_system(struct run *run, const struct system *system)
{
    const char *asked = run->request->timing.system;
    struct text name = {0};
    struct system chosen;
    bool chose = chose_system(run, &name, &chosen);
    int status = chose ? tell(run, &chosen, name.at) : tell(run, system, asked ? asked : "h200");
    if (chose)
        system_fini(&chosen);
    text_fini(&name);
    return status;
}

/* What does not go together. */
static bool makes_sense(const struct run_request *request, struct err *err)
{
    bool limited = request->limit || getenv("HEDDLE_INSTRUCTION_LIMIT");
    if (limited && timing_is_on(&request->timing))
        return err_set(err, "--limit: expected --max-cycles instead of it in timing mode");
    if (ranks_job().count > 1 && request->cpu)
        return err_set(err, "--cpu does not go with several ranks");
    return cmd_check_goes(&request->check, &request->timing, request->trace_mem, err) &&
           timing_check(&request->timing, err) && cmd_record_check(&request->timing, err) &&
           timing_keeps_series(&request->timing, request->stats, err) &&
           cmd_trace_mem_check(request->trace_mem, &request->timing, err);
}

/* The same, once it is known whether there are simulated cores. */
static bool goes_with_cores(const struct run_request *request, struct err *err)
{
    const struct timing_request *timing = &request->timing;
    if (!request->cpu)
        return !request->cpu_setting_count ||
               err_set(err, "--set %.80s: expected --cpu NAME with it", request->cpu_settings[0]);
    if (request->check.checks)
        return err_set(err, "--check has no timing, so it does not go with --cpu");
    if (timing->live && !timing->shared)
        return err_set(err, "--live shows a GPU, and this program with --cpu names none: expected --system");
    return !(timing->checkpoint || timing->resume || timing->record || timing->attach) ||
           err_set(err,
                   "run: simulated CPU cores (%.80s) do not go with --checkpoint, --resume, --record or "
                   "--attach; "
                   "--cpu none is without them",
                   request->cpu);
}

/* On several nodes. */
static bool goes_with_nodes(const struct run_request *request, struct err *err)
{
    const struct timing_request *timing = &request->timing;
    return !(timing->checkpoint || timing->resume || timing->record || request->cpu) ||
           err_set(err,
                   "run: a system of several nodes (system.nodes) does not go with --checkpoint, --resume, "
                   "--record or --cpu");
}

/* Whatever the reason is that the program is not alone with its machine. */
static bool goes_with_ranks(const struct run_request *request, struct err *err)
{
    return !request->timing.shared || ranks_job().count == 1 ||
           err_set(err, "run: programs on a system of several nodes, or with cores of its own, attach to a "
                        "machine that one process simulates: use --threads N instead of ranks");
}

static int run_request(struct run_request *request)
{
    struct err err;
    struct system system;
    struct run run = {0};
    struct run_cpu cpu;
    /* A program may use a GPU by way of a library that it names: then it says so by --system. */
    enum cpu_program uses = request->cpu ? cmd_cpu_program(request->words[0]) : CPU_PROGRAM_ALONE;
    if (uses == CPU_PROGRAM_AMD && !request->timing.system)
        request->timing.system = "r9nano"; /* as such programs choose without simulated cores */
    if (!makes_sense(request, &err) || !timing_load_system(&request->timing, &system, &err))
        return complain(EXIT_USAGE, &err);
    bool of_system = !request->cpu && *system.spec.cpu && timing_is_on(&request->timing);
    if (of_system)
        request->cpu = system.spec.cpu;
    if (request->cpu && !strcmp(request->cpu, "none")) /* not those of the system */
        request->cpu = NULL, of_system = false;
    if (request->cpu && (of_system || request->timing.system || uses != CPU_PROGRAM_ALONE))
        request->timing.shared = true; /* kernels are not to be emulated: the machine is outside */
    bool has_nodes = system.spec.nodes > 1 && timing_is_on(&request->timing);
    if (has_nodes && !request->timing.attach) /* processes of several nodes are in one machine */
        request->timing.shared = true;
    int status;
    if (!timing_check_series(&request->timing, &err) || !goes_with_cores(request, &err) ||
        !timing_check_picture(&request->timing, &err) || !timing_check_live(&request->timing, &err) ||
        (has_nodes && !goes_with_nodes(request, &err)) || !goes_with_ranks(request, &err)) {
        system_fini(&system);
        return complain(EXIT_USAGE, &err);
    }
    if (request->cpu && !cmd_cpu_load(&cpu, request->cpu, request->cpu_settings, &err)) {
        system_fini(&system);
        cmd_cpu_fini(&cpu);
        return complain(EXIT_USAGE, &err);
    }
    if (!request->trace_mem) /* the traces of SMs show how many there are */
        timing_tell_unseen(&request->timing);
    if (!cmd_run_prepare(&run, request, &system, thread_count(request), request->cpu ? &cpu : NULL, &err))
        status = complain(run.status, &err);
    else if (!outputs_are_safe(&run, &err))
        status = complain(EXIT_USAGE, &err);
    else if (!cmd_run_wait(&run, &err))
        status = complain(run.status, &err);
    else
        status = tell_by_system(&run, &system);
    if (run.folder && !over_ranks_after(run.folder, &err))
        status = complain(EXIT_FAILED, &err);
    cmd_run_clean(&run);
    if (request->cpu)
        cmd_cpu_fini(&cpu);
    system_fini(&system);
    return status;
}

/* The program's own part of what a result depends on. */
static bool identify_program(char **words, struct text *identity, struct err *err)
{
    static const size_t most = (size_t)1 << 34; /* bytes */
    int status;
    struct text content = {0};
    char *path = process_find("run", words[0], &status, err);
    bool good = path && file_read(path, most, &content, err);
    text_add(identity, "program = %016llx\n",
             (unsigned long long)digest_bytes(0, content.at, content.length));
    for (char **word = words; *word; word++)
        text_add(identity, "word = %s\n", *word);
    text_fini(&content);
    mem_free(path);
    return good;
}

/* The CPU cores that the program runs on, if it does. */
static bool identify_cpu(const struct run_request *request, struct text *identity, struct err *err)
{
    struct system system;
    struct run_cpu cpu;
    if (!timing_load_system(&request->timing, &system, err))
        return false;
    const char *name = request->cpu ? request->cpu : system.spec.cpu;
    bool is_used = request->cpu || (*name && timing_is_on(&request->timing)), good = true;
    if (is_used) {
        good = cmd_cpu_load(&cpu, name, request->cpu_settings, err);
        text_add(identity, "cpu =\n");
        config_dump(&cpu.config, identity);
        cmd_cpu_fini(&cpu);
    } else if (request->cpu_setting_count) {
        good = err_set(err, "--set %.80s: expected --cpu NAME with it", request->cpu_settings[0]);
    }
    system_fini(&system);
    return good;
}

bool cmd_run_check(int count, char **words, struct text *identity, struct err *err)
{
    struct run_request request = {0};
    int own = options_own_words(options, count, words);
    bool good = timing_from_environment(&request.timing, err) &&
                cmd_check_from_environment(&request.check, err) &&
                options_parse(options, own, words, &request, took, err) &&
                timing_identify(&request.timing, identity, err) && identify_cpu(&request, identity, err) &&
                (own < count || err_set(err, "run: expected a program")) &&
                identify_program(words + own, identity, err);
    text_add(identity, "bounds = %s, limit %s\n", request.bounds ? request.bounds : "",
             request.limit ? request.limit : "");
    timing_fini(&request.timing);
    mem_free((void *)request.cpu_settings);
    return good;
}

/* A program of MPI has ranks of its own. */
static bool check_ranks(const char *program, struct err *err)
{
    static const char *const starters[] = {"mpirun", "mpiexec", "orterun", "srun"};
    const char *slash = program ? strrchr(program, '/') : NULL;
    for (size_t i = 0; i < COUNT_OF(starters) && program && over_ranks_are_asked(); i++)
        if (!strcmp(slash ? slash + 1 : program, starters[i]))
            return err_set(err,
                           "run: --ranks spreads one program's simulation; what %s starts attaches to one "
                           "simulation of its own: leave --ranks out, and use --threads (docs/cluster.md)",
                           starters[i]);
    return true;
}

static int run(int count, char **words)
{
    struct err err;
    struct run_request request = {0};
    int own = options_own_words(options, count, words);
    int status;
    bool follows = false;
    request.words = words + own;
    if (!timing_from_environment(&request.timing, &err) ||
        !cmd_check_from_environment(&request.check, &err) ||
        !options_parse(options, own, words, &request, took, &err) || !check_ranks(words[own], &err) ||
        !over_ranks_begin(&err)) {
        status = complain(EXIT_USAGE, &err);
    } else if (request.wants_help) {
        cmd_print_help(&cmd_run);
        status = EXIT_GOOD;
    } else if (own == count) {
        err_set(&err, "run: expected a program, such as `heddle run ./a.out`");
        status = complain(EXIT_USAGE, &err);
    } else if (!over_ranks_run(timing_is_on(&request.timing), &follows, &status, &err)) {
        status = complain(EXIT_USAGE, &err);
    } else if (!follows) {
        status = run_request(&request);
    }
    timing_fini(&request.timing);
    mem_free((void *)request.cpu_settings);
    return status;
}

const struct cmd cmd_run = {
    .name = "run",
    .over_ranks = true,
    .arguments = "[options] PROGRAM [ARGUMENTS]",
    .help = "run a CUDA, HIP or OpenCL program, with no GPU",
    .more =
        "Runs a program as nvcc built it: it needs no change, but must hold PTX, which is nvcc's default.\n"
        "An OpenCL program finds an AMD GPU, the R9 Nano unless --system says another. A HIP program finds "
        "the\n"
        "GPU that its kernels are built for.\n"
        "Its exit status becomes that of heddle. It ends with a line on stderr that sums up what it "
        "launched.\n"
        "Options stand before the program; all words behind it are its own. See docs/cuda.md.\n"
        "With --system, or any option that only timing has, the mode is timing (docs/timing.md); else it is\n"
        "functional, which is faster by far. --mode says it outright.",
    .options = options,
    .passes_words = true,
    .run = run,
};
