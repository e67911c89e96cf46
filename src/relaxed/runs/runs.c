#include "relaxed/runs/runs.h"
#include "base/bits.h"
#include "base/host.h"
#include "base/mem.h"
#include "driver/driver.h"
#include "driver/replaying.h"

#include <math.h>

const char *const relaxed_class_names[RELAXED_CLASS_COUNT] = {
#define C(id, name) name,
    RELAXED_CLASSES(C)
#undef C
};

const char *const relaxed_memory_names[RELAXED_MEMORIES] = {"global", "local", "shared", "constant"};

const char *const relaxed_time_names[RELAXED_TIMES] = {
#define X(name, text) text,
    RELAXED_SHARES(X)
#undef X
};

/* ---- figures ---- */

static double part_of(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : NAN;
}

double relaxed_cycles(const struct relaxed_result *result)
{
    return (double)result->cycles;
}

double relaxed_ipc(const struct relaxed_result *result)
{
    return part_of(result->counts.instructions, result->cycles);
}

double relaxed_wall(const struct relaxed_result *result)
{
    return result->wall;
}

double relaxed_l1_rate(const struct relaxed_result *result)
{
    return part_of(result->counts.l1_hits, result->counts.l1_sectors);
}

double relaxed_l2_rate(const struct relaxed_result *result)
{
    return part_of(result->counts.l2_hits, result->counts.l2_sectors);
}

double relaxed_constant_rate(const struct relaxed_result *result)
{
    return part_of(result->counts.constant_hits, result->counts.constant_requests);
}

double relaxed_code_rate(const struct relaxed_result *result)
{
    return part_of(result->counts.code_hits, result->counts.code_fetches);
}

double relaxed_miss_rate(const struct relaxed_result *result)
{
    const struct relaxed_counts *counts = &result->counts;
    uint64_t lookups =
        counts->l1_sectors + counts->l2_sectors + counts->constant_requests + counts->code_fetches;
    uint64_t hits = counts->l1_hits + counts->l2_hits + counts->constant_hits + counts->code_hits;
    return part_of(lookups - hits, lookups);
}

double relaxed_time_share(const struct relaxed_result *result, enum relaxed_share share)
{
    double all = 0;
    for (uint32_t i = 0; i < RELAXED_TIMES; i++)
        all += result->seconds[i];
    return result->seconds[share] / all;
}

struct relaxed_figure relaxed_runs_figure(const struct relaxed_runs *runs,
                                          double (*of)(const struct relaxed_result *result))
{
    struct relaxed_figure figure = {.least = INFINITY, .most = -INFINITY};
    double squares = 0, count = runs->how.repeats;
    for (unsigned i = 0; i < runs->how.repeats; i++) {
        double value = of(&runs->sums[i]);
        figure.mean += value / count;
        figure.least = fmin(figure.least, value);
        figure.most = fmax(figure.most, value);
    }
    for (unsigned i = 0; i < runs->how.repeats; i++)
        squares += pow(of(&runs->sums[i]) - figure.mean, 2);
    figure.deviation = count > 1 ? sqrt(squares / (count - 1)) : 0;
    return figure;
}

double relaxed_runs_error(const struct relaxed_runs *runs)
{
    double sum = 0;
    for (size_t i = 0; i < runs->launch_count; i++)
        sum += fabs(runs->launches[i].cycles - (double)runs->launches[i].exact) /
               (double)runs->launches[i].exact;
    return runs->exact_cycles ? sum / (double)runs->launch_count : NAN;
}

/* ---- runs ---- */

static void choose_launches(struct relaxed_runs *runs)
{
    const struct itrace *trace = runs->trace;
    runs->launches = mem_alloc(trace->launch_count + 1, sizeof *runs->launches);
    for (size_t i = 0; i < trace->launch_count; i++) {
        const struct itrace_launch *launch = &trace->launches[i];
        if (replaying_takes(&(struct replaying_options){.kernels = runs->how.kernels}, trace, launch))
            runs->launches[runs->launch_count++] =
                (struct relaxed_runs_launch){.number = i, .least = UINT64_MAX};
    }
}

/* A GPU that is new each time: no cache keeps what another repeat left. */
static bool run_once(struct relaxed_runs *runs, struct itrace_reader *reader, const struct relaxed_spec *spec,
                     const struct relaxed_fit *fits, struct relaxed_result *sum, struct err *err)
{
    struct relaxed *gpu = relaxed_new(spec, &runs->how.options);
    bool good = true;
    for (size_t i = 0; i < runs->launch_count && good; i++) {
        struct relaxed_runs_launch *launch = &runs->launches[i];
        struct relaxed_result one;
        good = relaxed_run(gpu, reader, launch->number, &fits[i], &one, err);
        relaxed_result_add(sum, &one);
        launch->cycles += (double)one.cycles / runs->how.repeats;
        launch->least = min_u64(launch->least, one.cycles);
        launch->most = max_u64(launch->most, one.cycles);
    }
    relaxed_free(gpu);
    return good;
}

static bool run_relaxed(struct relaxed_runs *runs, struct itrace_reader *reader, struct err *err)
{
    struct relaxed_spec spec;
    struct relaxed_fit *fits = mem_alloc(runs->launch_count + 1, sizeof *fits);
    bool good = relaxed_describe(runs->how.system, &spec, err);
    for (size_t i = 0; i < runs->launch_count && good; i++)
        good =
            relaxed_describe_launch(runs->how.system, runs->trace, runs->launches[i].number, &fits[i], err);
    for (unsigned i = 0; i < runs->how.repeats && good; i++)
        good = run_once(runs, reader, &spec, fits, &runs->sums[i], err);
    mem_free(fits);
    return good;
}

static void take_cycles(struct relaxed_runs *runs, struct driver *driver)
{
    struct launch_record record;
    for (size_t i = 0; driver_launch(driver, i, &record); i++)
        for (size_t k = 0; k < runs->launch_count && record.timing; k++)
            if (runs->trace->launches[runs->launches[k].number].number == record.launch) {
                runs->launches[k].exact = record.timing->cycles;
                runs->exact_cycles += record.timing->cycles;
                break;
            }
}

/* The same launches, by the engine. */
static bool run_exact(struct relaxed_runs *runs, struct itrace_reader *reader, struct err *err)
{
    const struct relaxed_how *how = &runs->how;
    struct driver_options with = {.system = how->system_name,
                                  .settings = how->settings,
                                  .threads = how->exact_threads,
                                  .keep_launches = true,
                                  .interrupt = how->options.interrupt,
                                  .timing = {.on = true}};
    struct replaying_options which = {.kernels = how->kernels};
    double began = host_seconds();
    struct driver *driver = driver_new(&with, err);
    bool good = driver && replaying_run(driver, reader, &which, err);
    runs->exact_seconds = host_seconds() - began;
    if (good)
        take_cycles(runs, driver);
    driver_free(driver);
    if (good && how->options.interrupt && *how->options.interrupt)
        good = err_set(err, "interrupted");
    return good;
}

bool relaxed_runs_make(struct relaxed_runs *runs, struct itrace_reader *reader, const char *folder,
                       const struct relaxed_how *how, struct err *err)
{
    *runs = (struct relaxed_runs){.trace = itrace_reader_trace(reader), .folder = folder, .how = *how};
    runs->how.options.steps = (unsigned)max_u64(how->options.steps, 1);
    runs->sums = mem_alloc(how->repeats, sizeof *runs->sums);
    choose_launches(runs);
    if (!runs->launch_count)
        return err_set(err, "%s has no launches that were recorded", folder);
    return run_relaxed(runs, reader, err) && (!how->compare_exact || run_exact(runs, reader, err));
}

void relaxed_runs_fini(struct relaxed_runs *runs)
{
    mem_free(runs->launches);
    mem_free(runs->sums);
}
