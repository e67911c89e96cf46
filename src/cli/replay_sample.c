#include "cli/replay_sample.h"
#include "cli/cli.h"
#include "base/demangle.h"
#include "base/file.h"
#include "base/host.h"
#include "base/mem.h"
#include "base/text.h"
#include "driver/replaying.h"
#include "mem/message.h"
#include "report/json.h"
#include "sampling/sampling.h"

#include <math.h>
#include <stdio.h>

struct sample_run {
    struct itrace_reader *reader;
    const struct itrace *trace;
    const struct driver_options *with;
    struct sampling_launch *launches;
    struct sampling *sampling;
    double seconds;
};

/* What is asked of the system before anything is simulated. */
static bool describe_launches(struct sample_run *run, struct err *err)
{
    struct driver_options plain = *run->with;
    plain.timing.on = false;
    struct driver *driver = driver_new(&plain, err);
    bool good = driver;
    for (size_t i = 0; i < run->trace->launch_count && good; i++) {
        const struct itrace_launch *launch = &run->trace->launches[i];
        if (!launch->recorded)
            good = err_set(err, "--sample: launch %llu was not recorded: expected a trace of all launches",
                           (unsigned long long)launch->number);
        if (!good)
            break;
        run->launches[i] = (struct sampling_launch){
            .kernel = launch->kernel,
            .threads = launch->block[0] * launch->block[1] * launch->block[2],
            .blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2],
            .instructions = launch->counts.warp_instructions,
            .resident = replaying_resident(driver, run->reader, i),
            .whole = launch->cooperative || launch->place_count || itrace_launch_cluster(launch) > 1};
    }
    driver_free(driver);
    return good;
}

static void take_measured(struct sample_run *run, struct driver *driver, const uint64_t *blocks)
{
    size_t at = 0;
    for (size_t i = 0; i < driver_launch_count(driver); i++) {
        struct launch_record record;
        if (!driver_launch(driver, i, &record) || !record.timing)
            continue;
        while (at < run->trace->launch_count && run->trace->launches[at].number < record.launch)
            at++;
        const struct memsys_counters *mem = &record.timing->mem;
        const struct system *system = driver_system(driver);
        uint64_t all = mem->l2_sectors_read + mem->l2_sectors_written + mem->l2_sectors_atomic;
        uint64_t missed = all - mem->l2_sectors_hit + mem->l2_sectors_written;
        struct sampling_measured measured = {.blocks = blocks[at],
                                             .ps = (double)(record.timing->end_ps - record.timing->start_ps),
                                             .cache_bytes = (double)system->l2.bytes,
                                             .cache_missed = MEM_SECTOR * (double)missed,
                                             .cache_traffic = MEM_SECTOR * (double)all,
                                             .memory_read = (double)mem->dram_bytes_read,
                                             .memory_rate = (double)system->dram.bandwidth * 1e-12};
        for (int m = 0; m < SAMPLING_MARKS; m++)
            measured.marks[m] = (double)record.timing->marks[m];
        sampling_take(run->sampling, at, &measured);
        at = 0; /* launches of several streams end in any order */
    }
}

static bool simulate(struct sample_run *run, const uint64_t *blocks, struct err *err)
{
    struct driver *driver = driver_new(run->with, err);
    struct replaying_options how = {.blocks = blocks};
    bool good = driver && replaying_run(driver, run->reader, &how, err);
    if (good && !interrupted)
        take_measured(run, driver, blocks);
    driver_free(driver);
    return good && !interrupted;
}

/* ---- results ---- */

static void tell_row(const char *name, const struct sampling_estimate *e)
{
    printf("%-36.36s %9llu %9llu %14.3f %8.1f%%\n", name, (unsigned long long)e->launches,
           (unsigned long long)e->simulated, e->ps * 1e-6, 100 * e->error);
}

static void tell(const struct sample_run *run)
{
    struct sampling_estimate e;
    sampling_total(run->sampling, &e);
    printf("%-36s %9s %9s %14s %9s\n", "kernel", "launches", "measured", "time, us", "error");
    for (size_t i = 0; i < run->trace->kernel_count; i++) {
        struct sampling_estimate one;
        sampling_kernel(run->sampling, (uint32_t)i, &one);
        if (one.launches)
            tell_row(demangled(run->trace->kernels[i].facts.name), &one);
    }
    tell_row("all kernels", &e);
    printf(
        "\nestimated from %.2f%% of all instructions, in %.2f s; the error is about one standard deviation\n",
        100 * (double)e.simulated_instructions / fmax((double)e.instructions, 1), run->seconds);
}

static void put_estimate(struct json_writer *json, const struct sampling_estimate *e)
{
    json_put_count(json, "launches", e->launches);
    json_put_count(json, "measured", e->simulated);
    json_put_count(json, "instructions", e->instructions);
    json_put_real(json, "time_ps", e->ps);
    json_put_real(json, "error", e->error);
}

static bool write_json(const struct sample_run *run, const char *path, struct err *err)
{
    struct file_writer writer;
    struct json_writer json;
    struct sampling_estimate e;
    if (!file_open(&writer, path, err))
        return false;
    sampling_total(run->sampling, &e);
    json_begin(&json, writer.stream);
    json_open_object(&json, NULL);
    json_open_object(&json, "sample");
    put_estimate(&json, &e);
    json_put_count(&json, "simulated_instructions", e.simulated_instructions);
    json_close(&json);
    json_open_list(&json, "kernels");
    for (size_t i = 0; i < run->trace->kernel_count; i++) {
        sampling_kernel(run->sampling, (uint32_t)i, &e);
        json_open_object(&json, NULL);
        json_put_text(&json, "kernel", demangled(run->trace->kernels[i].facts.name));
        put_estimate(&json, &e);
        json_close(&json);
    }
    json_close(&json);
    json_close(&json);
    return file_close(&writer, err);
}

static bool run_passes(struct sample_run *run, struct err *err)
{
    uint64_t *blocks = mem_alloc(run->trace->launch_count + 1, sizeof *blocks);
    double start = host_seconds();
    bool good = true;
    while (good && sampling_plan(run->sampling, blocks))
        good = simulate(run, blocks, err);
    run->seconds = host_seconds() - start;
    mem_free(blocks);
    if (good && sampling_why(run->sampling))
        good = err_set(err, "--sample: no estimate with such an error: %s; replay without it",
                       sampling_why(run->sampling));
    return good;
}

int cmd_replay_sample(struct itrace_reader *reader, const struct driver_options *with, double percent,
                      const char *json)
{
    struct err err = {.text = "interrupted"};
    struct driver_options options = *with;
    options.keep_launches = true;
    options.run_dir = NULL;
    options.timing.profile = false;
    options.timing.share_code = !options.timing.cold_caches;
    struct sample_run run = {.reader = reader, .trace = itrace_reader_trace(reader), .with = &options};
    run.launches = mem_alloc(run.trace->launch_count + 1, sizeof *run.launches);
    bool good = run.trace->launch_count || err_set(&err, "--sample: the trace has no launches");
    good = good && describe_launches(&run, &err);
    if (good) {
        run.sampling = sampling_new(run.launches, run.trace->launch_count, percent / 100);
        good = run_passes(&run, &err);
    }
    if (good)
        tell(&run);
    if (good && json)
        good = write_json(&run, json, &err);
    sampling_free(run.sampling);
    mem_free(run.launches);
    return good ? EXIT_GOOD : complain(interrupted ? EXIT_SIGNAL + interrupted : EXIT_FAILED, &err);
}
