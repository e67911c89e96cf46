/* heddle replay: what a trace of instructions takes on a system. */
#include "cli/timeline_file.h"
#include "cli/over_ranks.h"
#include "cli/cli.h"
#include "cli/folder.h"
#include "cli/replay_sample.h"
#include "cli/stats_launches.h"
#include "cli/timing.h"
#include "base/bits.h"
#include "base/demangle.h"
#include "base/file.h"
#include "base/host.h"
#include "base/mem.h"
#include "base/unit.h"
#include "driver/driver.h"
#include "driver/replaying.h"
#include "itrace/reader.h"
#include "relaxed/runs/runs.h"
#include "report/launches/launches.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct option_row options[] = {
    TIMING_OPTIONS,
    {"--threads", "N|all",
     "threads of this machine (1 unless told); results are the same for any number, unless relaxed"},
    {"--stats", "FILE", "write what every kernel and launch did, as JSON"},
    {"--json", "FILE", NULL},
    STATS_LAUNCHES_OPTION,
    {"--sample", "PERCENT", "estimate times from a part of the trace, with about this error"},
    {"--sync", "HOW",
     "exact; or relaxed: after GpuTejas, SMs with clocks of their own (docs/relaxed.md), for what follows"},
    {"--epoch", "CYCLES", "relaxed: threads wait for each other after so many (1000 unless told)"},
    {"--steps", "N",
     "relaxed: an epoch has N steps; threads show after each how far they are (1 unless told)"},
    {"--no-phasers", NULL, "relaxed: by plain barriers"},
    {"--blocks", "HOW",
     "relaxed: runs (as many as fit an SM, then the next; unless told) or turn (SM after SM)"},
    {"--repeat", "R", "relaxed: run it R times, and show how much results vary"},
    {"--compare-exact", NULL, "relaxed: run it exactly, too, and show how far off it is"},
    {NULL, NULL, NULL},
};

struct replay_request {
    const char *folder, *json, *stats_launches;
    unsigned threads;
    uint64_t first_line, end_line;
    struct timing_request timing;
    double sample; /* percent; 0: all is simulated */
    bool wants_help;
    bool relaxed, compare_exact;
    const char *relaxed_option; /* one that was given, of those that only relaxed has */
    struct relaxed_options how;
    unsigned repeats;
};

static bool take_percent(const char *text, double *value, struct err *err)
{
    char *end;
    *value = strtod(text, &end);
    if (*end == '%')
        end++;
    return (!*end && *value >= 0.1 && *value <= 50) ||
           err_set(err, "--sample: expected percent from 0.1 to 50, such as 5, not '%.40s'", text);
}

static bool take_number(const char *option, const char *text, uint64_t most, uint64_t *number,
                        struct err *err)
{
    struct err why;
    return (unit_parse(UNIT_count, text, number, &why) && *number && *number <= most) ||
           err_set(err, "%s: expected a number from 1 to %llu, not '%.80s'", option, (unsigned long long)most,
                   text);
}

static bool took_relaxed(struct replay_request *r, const struct option_row *row, const char *value,
                         struct err *err)
{
    uint64_t number = 1;
    if (!strcmp(row->name, "--sync")) {
        r->relaxed = !strcmp(value, "relaxed");
        return r->relaxed || !strcmp(value, "exact") ||
               err_set(err, "--sync: expected exact or relaxed, not '%.80s'", value);
    }
    r->relaxed_option = row->name;
    if (!strcmp(row->name, "--epoch"))
        return take_number(row->name, value, 1000000, &r->how.epoch, err);
    if (!strcmp(row->name, "--steps")) {
        bool good = take_number(row->name, value, 1000, &number, err);
        r->how.steps = (unsigned)number;
        return good;
    }
    if (!strcmp(row->name, "--repeat")) {
        bool good = take_number(row->name, value, 1000, &number, err);
        r->repeats = (unsigned)number;
        return good;
    }
    if (!strcmp(row->name, "--blocks")) {
        r->how.blocks = !strcmp(value, "turn") ? RELAXED_IN_TURN : RELAXED_IN_RUNS;
        return !strcmp(value, "turn") || !strcmp(value, "runs") ||
               err_set(err, "--blocks: expected runs or turn, not '%.80s'", value);
    }
    r->how.no_phasers |= !strcmp(row->name, "--no-phasers");
    r->compare_exact |= !strcmp(row->name, "--compare-exact");
    return true;
}

static bool took(void *user, const struct option_row *row, const char *value, struct err *err)
{
    struct replay_request *r = user;
    bool taken;
    if (!row && r->folder)
        return err_set(err, "replay: unexpected word '%.120s'", value);
    if (!row) {
        r->folder = value;
        return true;
    }
    if (!timing_took(&r->timing, row, value, &taken, err))
        return false;
    if (taken)
        return true;
    if (!strcmp(row->name, "--help"))
        r->wants_help = true;
    else if (!strcmp(row->name, "--threads"))
        return options_threads(value, &r->threads, err);
    else if (!strcmp(row->name, "--stats") || !strcmp(row->name, "--json"))
        r->json = value;
    else if (!strcmp(row->name, "--stats-launches"))
        r->stats_launches = value;
    else if (!strcmp(row->name, "--sample"))
        return take_percent(value, &r->sample, err);
    else
        return took_relaxed(r, row, value, err);
    return true;
}

/* The system that it was recorded for, unless told. */
static const char *system_name(const struct replay_request *r, const struct itrace *trace)
{
    return r->timing.system ? r->timing.system : trace->system ? trace->system : "h200";
}

/* What may be different in another time is told: results are those of the recorded instructions. */
static void tell_doubts(const struct itrace *trace, const struct replaying_options *how)
{
    for (uint32_t doubt = 0; doubt < DOUBT_COUNT; doubt++) {
        const char *first = NULL;
        uint64_t count = 0;
        for (size_t i = 0; i < trace->launch_count; i++) {
            const struct itrace_launch *launch = &trace->launches[i];
            bool is_replayed = replaying_takes(how, trace, launch);
            if (!is_replayed || !(launch->doubts >> doubt & 1))
                continue;
            first = first ? first : trace->kernels[launch->kernel].facts.name;
            count++;
        }
        if (count)
            fprintf(stderr,
                    "heddle: %llu launch%s, first of %s: %s, so its instructions may depend on time; the "
                    "recorded ones are replayed\n",
                    (unsigned long long)count, count == 1 ? "" : "es", demangled(first),
                    itrace_doubt_text(doubt));
    }
    uint64_t questions = 0, managed = 0, lent = 0;
    for (size_t i = 0; i < trace->call_count; i++) {
        managed += trace->calls[i].kind == CALL_MANAGE;
        lent += trace->calls[i].kind == CALL_LENDS;
    }
    if (lent)
        fputs("heddle: the program has shared virtual memory; copies of it are not recorded, so the replay "
              "takes "
              "less time than execution\n",
              stderr);
    if (managed)
        fputs("heddle: the program has managed memory; what it wrote there itself while kernels ran is not "
              "recorded\n",
              stderr);
    for (size_t i = 0; i < trace->call_count; i++)
        if (trace->calls[i].kind == CALL_TIME && trace->calls[i].field[0] == TIME_QUESTION)
            questions += 1 + trace->calls[i].field[1];
    if (questions)
        fprintf(stderr,
                "heddle: the program asked %llu time%s whether work was done; in another time it may ask "
                "more or less often\n",
                (unsigned long long)questions, questions == 1 ? "" : "s");
    uint64_t threads = itrace_threads(trace);
    if (threads > 1)
        fprintf(stderr,
                "heddle: %llu threads of the program made calls; they are made again in the recorded order, "
                "which may be another one in each run of the program\n",
                (unsigned long long)threads);
    if (trace->why_cut)
        fprintf(stderr, "heddle: the trace ends before the program did: %s\n", trace->why_cut);
}

static bool report(const struct replay_request *r, const struct system *system, const struct itrace *trace,
                   const char *folder, double seconds, bool good_run, struct err *err)
{
    struct launch_run how = {.program = r->folder,
                             .options = (const struct launch_option[]){{0}},
                             .kernels = r->timing.kernels,
                             .max_cycles = timing_max_cycles(&r->timing),
                             .cold_caches = r->timing.cold_caches,
                             .series_cycles = timing_series(&r->timing),
                             .system_name = system_name(r, trace),
                             .system = system,
                             .timing = true,
                             .threads = r->threads,
                             .first_line = r->first_line,
                             .end_line = r->end_line,
                             .exit_status = good_run ? EXIT_GOOD : EXIT_FAILED,
                             .interrupted = interrupted,
                             .wall_s = seconds,
                             .cpu_s = seconds,
                             .hot_places = timing_hot_places(&r->timing)};
    bool any;
    return stats_launches_report(folder, &how, r->json, &any, err);
}

/* What a checkpoint can be gone on from with: the same trace. */
static void identify(const struct itrace_reader *reader, struct text *identity)
{
    text_add(identity, "trace = %016llx, %llu bytes\n",
             (unsigned long long)itrace_reader_trace(reader)->digest,
             (unsigned long long)itrace_reader_bytes(reader));
}

static void tell_line(const struct itrace *trace, const struct replaying_options *how, double seconds)
{
    uint64_t launches = 0, instructions = 0;
    for (size_t i = 0; i < trace->launch_count; i++) {
        const struct itrace_launch *launch = &trace->launches[i];
        bool is_replayed = replaying_takes(how, trace, launch);
        launches += is_replayed;
        instructions += is_replayed ? launch->counts.warp_instructions : 0;
    }
    printf(
        "replayed %llu of %zu launches, %llu warp instructions, %.3f s: %.2f million warp instructions/s\n",
        (unsigned long long)launches, trace->launch_count, (unsigned long long)instructions, seconds,
        (double)instructions / seconds / 1e6);
}

static int replay(const struct replay_request *r, struct itrace_reader *reader, const struct system *system,
                  const char *folder, struct err *err)
{
    const struct itrace *trace = itrace_reader_trace(reader);
    struct err why;
    struct text identity = {0};
    struct replaying_options how = {0};
    bool stopped = false;
    identify(reader, &identity);
    struct driver_options with = {.system = system_name(r, trace),
                                  .settings = r->timing.settings,
                                  .run_dir = folder,
                                  .first_line = r->first_line,
                                  .end_line = r->end_line,
                                  .threads = r->threads,
                                  .interrupt = &interrupted,
                                  .picture = r->timing.picture,
                                  .live = r->timing.live,
                                  .timing = {.on = true,
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
    struct choice kernels;
    if (!timing_kernels(&r->timing, &kernels, err))
        return complain(EXIT_USAGE, err);
    how.kernels = &kernels;
    if (r->sample > 0) {
        text_fini(&identity);
        tell_doubts(trace, &how);
        return cmd_replay_sample(reader, &with, r->sample, r->json);
    }
    double start = host_seconds();
    struct driver *driver = driver_new(&with, err);
    bool good = driver && replaying_run(driver, reader, &how, err);
    driver_free(driver);
    text_fini(&identity);
    double seconds = host_seconds() - start;
    if (good && !interrupted)
        tell_line(trace, &how, seconds);
    if (driver && !report(r, system, trace, folder, seconds, good, &why))
        return complain(EXIT_FAILED, &why);
    if (!cmd_timeline_tell(folder, &r->timing.picture, false, stderr, &why) && good)
        return complain(EXIT_FAILED, &why);
    if (stopped)
        return EXIT_GOOD;
    if (good && !interrupted)
        tell_doubts(trace, &how);
    if (interrupted)
        good = err_set(err, "interrupted: what is known so far was told");
    return good ? EXIT_GOOD : complain(interrupted ? EXIT_SIGNAL + interrupted : EXIT_FAILED, err);
}

static int replay_relaxed(const struct replay_request *r, struct itrace_reader *reader,
                          const struct system *system, struct err *err)
{
    struct relaxed_runs runs;
    struct relaxed_how how = {.system_name = system_name(r, itrace_reader_trace(reader)),
                              .settings = r->timing.settings,
                              .system = system,
                              .options = r->how,
                              .repeats = r->repeats,
                              .compare_exact = r->compare_exact,
                              .exact_threads = r->threads};
    how.options.threads = r->threads;
    how.options.interrupt = &interrupted;
    struct choice kernels;
    if (!timing_kernels(&r->timing, &kernels, err))
        return complain(EXIT_USAGE, err);
    how.kernels = &kernels;
    bool good = relaxed_runs_make(&runs, reader, r->folder, &how, err);
    if (good)
        relaxed_runs_print(&runs, stdout);
    if (good && r->json)
        good = relaxed_runs_write(&runs, r->json, err);
    if (good)
        tell_doubts(itrace_reader_trace(reader), &(struct replaying_options){.kernels = &kernels});
    relaxed_runs_fini(&runs);
    return good ? EXIT_GOOD : complain(interrupted ? EXIT_SIGNAL + interrupted : EXIT_FAILED, err);
}

static int replay_folder(struct replay_request *r)
{
    struct err err;
    struct system system;
    struct itrace_reader *reader = itrace_reader_new(r->folder, &err);
    if (!reader)
        return complain(EXIT_FAILED, &err);
    const struct itrace *trace = itrace_reader_trace(reader);
    if (!r->timing.system)
        timing_recorded(&r->timing, system_name(r, trace), trace->settings ? trace->settings : "");
    char *folder = NULL;
    int status = EXIT_USAGE;
    if (!timing_load_system(&r->timing, &system, &err)) {
        complain(EXIT_USAGE, &err);
    } else {
        if (r->json && !file_check(r->json, &err))
            complain(EXIT_USAGE, &err);
        else if (r->relaxed)
            status = replay_relaxed(r, reader, &system, &err);
        else if (!(folder = folder_new(&err)))
            status = complain(EXIT_FAILED, &err);
        else
            status = replay(r, reader, &system, folder, &err);
        system_fini(&system);
    }
    folder_free(folder);
    itrace_reader_free(reader);
    return status;
}

static int run(int count, char **words)
{
    struct err err;
    struct replay_request r = {
        .threads = 1, .timing.mode = "timing", .repeats = 1, .how = {.epoch = 1000, .steps = 1}};
    int status = EXIT_GOOD;
    bool follows = false;
    catch_interrupts();
    if (!options_parse(options, count, words, &r, took, &err) || !over_ranks_begin(&err) ||
        (!r.wants_help && !r.folder && !err_set(&err, "replay: expected the folder of a trace")) ||
        !timing_keeps_series(&r.timing, r.json, &err) ||
        !stats_launches_choose(r.json, r.stats_launches, &r.first_line, &r.end_line, &err) ||
        !timing_check(&r.timing, &err))
        status = complain(EXIT_USAGE, &err);
    else if (r.timing.attach || r.timing.shared || strcmp(r.timing.mode, "timing") != 0) {
        err_set(&err, "replay: a trace is replayed with time, on a machine of its own");
        status = complain(EXIT_USAGE, &err);
    } else if (r.sample > 0 && (r.timing.checkpoint || r.timing.resume || r.timing.kernels || r.relaxed)) {
        err_set(&err, "--sample does not go with --kernels, --checkpoint, --resume and --sync relaxed");
        status = complain(EXIT_USAGE, &err);
    } else if (r.relaxed_option && !r.relaxed && !r.wants_help) {
        err_set(&err, "%s needs --sync relaxed", r.relaxed_option);
        status = complain(EXIT_USAGE, &err);
    } else if (r.how.epoch % r.how.steps && !r.wants_help) {
        err_set(&err, "--steps: epochs of %llu cycles have no %u equal steps",
                (unsigned long long)r.how.epoch, r.how.steps);
        status = complain(EXIT_USAGE, &err);
    } else if (r.relaxed && (r.timing.checkpoint || r.timing.resume || r.timing.hot_places)) {
        err_set(&err, "--sync relaxed: there are no checkpoints and no profiles");
        status = complain(EXIT_USAGE, &err);
    } else if (r.wants_help) {
        cmd_print_help(&cmd_replay);
    } else if ((r.sample > 0 || r.relaxed) && ranks_job().count > 1) {
        err_set(&err, "replay: --sample and --sync relaxed run on one rank");
        status = complain(EXIT_USAGE, &err);
    } else if (!over_ranks_simulate(true, &follows, &status, &err)) {
        status = complain(EXIT_FAILED, &err);
    } else if (!follows) {
        status = replay_folder(&r);
    }
    timing_fini(&r.timing);
    return status;
}

const struct cmd cmd_replay = {
    .name = "replay",
    .arguments = "FOLDER",
    .help = "simulate a trace of instructions, made by `heddle run --record FOLDER PROGRAM`",
    .more = "The program is not needed, nor its kernels or a compiler. Unless told, the system is the one "
            "that it\n"
            "was recorded for.",
    .options = options,
    .over_ranks = true,
    .run = run,
};
