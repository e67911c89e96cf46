#include "study/gputejas/gputejas.h"
#include "base/bits.h"
#include "base/host.h"
#include "base/progress.h"
#include "base/text.h"
#include "driver/driver.h"
#include "workloads/run.h"

#include <math.h>
#include <regex.h>
#include <string.h>

/* Options make our programs as long as the paper's table II says, in warp instructions. They are not
 * Rodinia's: the same computations, written for Heddle (bench/cuda). */
const struct tejas_row tejas_rows[TEJAS_PROGRAMS] = {
    {"hotspot",
     "width=180 height=150",
     "width=120 height=100",
     601355,
     495.70,
     716.34,
     {25.28, 23.44, 43.06, 0.40, 7.82},
     0.85,
     200,
     4.54},
    {"bfs",
     "nodes=146000",
     "nodes=16384",
     4181380,
     724.34,
     1593.54,
     {27.43, 8.24, 0, 37.56, 26.77},
     29.48,
     4517,
     5.36},
    {"lud",
     "tiles=12",
     "tiles=7",
     635968,
     360.43,
     437.24,
     {1.35, 3.50, 16.17, 16.13, 62.85},
     2.22,
     168,
     16.31},
    {"nn", "n=88800", "n=88800", 72172, 159.80, 134.16, {32.48, 13.96, 0, 3.30, 50.26}, 0.12, 3, 0.86},
    {"nw",
     "tiles=123",
     "tiles=12",
     20422464,
     1218.88,
     2166.29,
     {3.70, 12.12, 27.94, 17.94, 38.30},
     6.21,
     1673,
     27.76},
    {"pathfinder",
     "columns=69400",
     "columns=6000",
     2934570,
     609.57,
     1022.46,
     {9.08, 23.92, 46.29, 15.56, 5.15},
     1.02,
     280,
     23.51},
    {"heartwall",
     "points=129 frames=104 width=656 height=744",
     "points=8 frames=4",
     121606107,
     374.14,
     804.04,
     {2.56, 0.99, 32.61, 54.75, 9.09},
     162.77,
     91861,
     151.24},
};

const unsigned tejas_threads[TEJAS_COUNTS] = {1, 2, 4, 8, 16, 32, 64};
const uint64_t tejas_epochs[TEJAS_EPOCHS] = {100, 1000, 10000};
const char *const tejas_machines[TEJAS_MACHINES] = {"m2070", "k20"};

enum { EPOCH = 1000, WAY_MIB = 512, WAY_MIB_QUICK = 64 };
static const char system_name[] = "tesla", phaser_program[] = "pathfinder";

/* ---- traces ---- */

static bool run_workload(const struct tejas_how *how, const struct tejas_row *row, const char *trace,
                         double *seconds, uint64_t *instructions, struct err *err)
{
    uint64_t values[WORKLOAD_OPTIONS_MOST];
    struct workload_result result;
    const struct workload *workload = workload_find(row->name);
    REQUIRE(workload);
    workload_options_of(workload, how->quick ? row->quick : row->options, values);
    struct driver_options options = {
        .system = system_name, .threads = 1, .interrupt = how->interrupt, .record = {.folder = trace}};
    if (!workload_run_driven(workload, values, &options, NULL, NULL, &result, err))
        return false;
    *seconds = result.seconds;
    *instructions = result.counts.warp_instructions;
    return true;
}

/* Figure 3: once without, once with a trace. */
static bool record(const struct tejas_how *how, struct tejas_program *program, const char *trace,
                   struct err *err)
{
    uint64_t plain;
    return run_workload(how, program->row, NULL, &program->functional_s, &plain, err) &&
           run_workload(how, program->row, trace, &program->recording_s, &program->instructions, err);
}

/* ---- runs ---- */

static bool run(struct relaxed_runs *runs, struct itrace_reader *reader, const struct tejas_how *how,
                const char *name, struct relaxed_how what, struct err *err)
{
    struct system system;
    if (!system_load(&system, name, NULL, err))
        return false;
    what.system_name = name;
    what.system = &system;
    what.options.interrupt = how->interrupt;
    bool good = relaxed_runs_make(runs, reader, how->folder, &what, err);
    system_fini(&system);
    return good;
}

static double error_of(const struct relaxed_runs *runs)
{
    return relaxed_runs_figure(runs, relaxed_cycles).mean / (double)runs->exact_cycles - 1;
}

/* Relaxed and exact, with some number of threads. */
static bool run_threads(const struct tejas_how *how, struct tejas_program *program, size_t k,
                        struct itrace_reader *reader, struct err *err)
{
    struct relaxed_runs runs;
    struct tejas_run *made = &program->runs[k];
    struct relaxed_how what = {.options = {.threads = tejas_threads[k], .epoch = EPOCH},
                               .repeats = how->repeats,
                               .compare_exact = true,
                               .exact_threads = tejas_threads[k]};
    bool good = run(&runs, reader, how, system_name, what, err);
    if (good) {
        made->seconds = relaxed_runs_figure(&runs, relaxed_wall).least;
        made->cycles = relaxed_runs_figure(&runs, relaxed_cycles);
        made->ipc = relaxed_runs_figure(&runs, relaxed_ipc);
        made->misses = relaxed_runs_figure(&runs, relaxed_miss_rate);
        made->result = runs.sums[how->repeats - 1];
        made->error = error_of(&runs);
        made->launch_error = relaxed_runs_error(&runs);
        made->exact_seconds = runs.exact_seconds;
        program->exact_cycles = runs.exact_cycles;
    }
    relaxed_runs_fini(&runs);
    if (!good || strcmp(program->row->name, phaser_program) != 0)
        return good;
    what.compare_exact = false;
    what.options.no_phasers = true;
    good = run(&runs, reader, how, system_name, what, err);
    made->barrier_seconds = good ? relaxed_runs_figure(&runs, relaxed_wall).least : 0;
    relaxed_runs_fini(&runs);
    return good;
}

static bool run_epochs(const struct tejas_how *how, struct tejas_program *program,
                       struct itrace_reader *reader, struct err *err)
{
    for (size_t i = 0; i < TEJAS_EPOCHS; i++) {
        struct relaxed_runs runs;
        struct relaxed_how what = {.options = {.threads = 1, .epoch = tejas_epochs[i]}, .repeats = 1};
        bool good = run(&runs, reader, how, system_name, what, err);
        if (good)
            program->epoch_errors[i] = (double)runs.sums[0].cycles / (double)program->exact_cycles - 1;
        relaxed_runs_fini(&runs);
        if (!good)
            return false;
    }
    return true;
}

/* Table III: simulated time of other GPUs, with as many threads as there are. */
static bool run_machine(const struct tejas *study, struct tejas_program *program, size_t machine,
                        struct itrace_reader *reader, struct err *err)
{
    struct relaxed_runs runs;
    struct system system;
    unsigned threads = tejas_threads[study->counts - 1];
    struct relaxed_how what = {.options = {.threads = threads, .epoch = EPOCH},
                               .repeats = 1,
                               .compare_exact = true,
                               .exact_threads = threads};
    if (!system_load(&system, tejas_machines[machine], NULL, err))
        return false;
    double ms = 1000 / (double)system.gpu.clock;
    system_fini(&system);
    bool good = run(&runs, reader, &study->how, tejas_machines[machine], what, err);
    if (good)
        program->machines[machine] = (struct tejas_machine){.exact_ms = (double)runs.exact_cycles * ms,
                                                            .relaxed_ms = (double)runs.sums[0].cycles * ms,
                                                            .exact_s = runs.exact_seconds,
                                                            .relaxed_s = runs.sums[0].wall};
    relaxed_runs_fini(&runs);
    if (!good)
        return false;
    what.compare_exact = false;
    what.options.blocks = RELAXED_IN_TURN;
    good = run(&runs, reader, &study->how, tejas_machines[machine], what, err);
    program->machines[machine].turn_ms = good ? (double)runs.sums[0].cycles * ms : 0;
    relaxed_runs_fini(&runs);
    return good;
}

static bool make_program(struct tejas *study, const struct tejas_row *row, struct progress *progress,
                         struct err *err)
{
    struct tejas_program *program = &study->programs[study->count++];
    struct text trace = {0};
    *program = (struct tejas_program){.row = row};
    text_add(&trace, "%s/%s", study->how.folder, row->name);
    struct itrace_reader *reader = NULL;
    bool good = record(&study->how, program, trace.at, err) && (reader = itrace_reader_new(trace.at, err));
    double parts = (double)study->counts + TEJAS_MACHINES + 1, done = 0;
    program->trace_bytes = reader ? itrace_reader_bytes(reader) : 0;
    for (size_t k = 0; k < study->counts && good; k++) {
        good = run_threads(&study->how, program, k, reader, err);
        if (!study->how.no_progress)
            progress_update(progress, ((double)study->count - 1 + ++done / parts) / TEJAS_PROGRAMS,
                            study->count);
    }
    good = good && run_epochs(&study->how, program, reader, err);
    for (size_t i = 0; i < TEJAS_MACHINES && good; i++)
        good = run_machine(study, program, i, reader, err);
    itrace_reader_free(reader);
    text_fini(&trace);
    if (good && *study->how.interrupt)
        good = err_set(err, "interrupted");
    return good;
}

static size_t choose_counts(unsigned most)
{
    size_t counts = 1;
    while (counts < TEJAS_COUNTS && tejas_threads[counts] <= most)
        counts++;
    return counts;
}

bool tejas_make(struct tejas *study, const struct tejas_how *how, struct err *err)
{
    regex_t only;
    struct progress progress;
    *study = (struct tejas){.how = *how, .counts = choose_counts(how->threads_most)};
    if (regcomp(&only, how->only ? how->only : "", REG_EXTENDED | REG_NOSUB) != 0)
        return err_set(err, "--only: '%.120s' is no regular expression", how->only);
    study->way_bytes = (uint64_t)(how->quick ? WAY_MIB_QUICK : WAY_MIB) << 20;
    bool good = tejas_measure_ways(how->folder, study->way_bytes, study->ways, err);
    progress_init(&progress, "study", "programs");
    for (size_t i = 0; i < TEJAS_PROGRAMS && good; i++)
        if (!regexec(&only, tejas_rows[i].name, 0, NULL, 0))
            good = make_program(study, &tejas_rows[i], &progress, err);
    progress_fini(&progress);
    regfree(&only);
    if (good && !study->count)
        good = err_set(err, "--only: no program of the study is like '%.120s'", how->only);
    return good;
}
