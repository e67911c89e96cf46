/* heddle demo: a first result in a few seconds. */
#include "cli/cli.h"
#include "base/bits.h"
#include "base/host.h"
#include "cli/folder.h"
#include "report/launches/launches.h"
#include "driver/driver.h"
#include "workloads/run.h"

#include <stdio.h>
#include <string.h>

static void fill_values(const struct workload *workload, uint64_t values[WORKLOAD_OPTIONS_MOST])
{
    for (size_t i = 0; workload->options[i].name; i++)
        values[i] = workload->options[i].value;
}

static int failed(const struct err *err)
{
    return complain(interrupted ? EXIT_SIGNAL + interrupted : EXIT_FAILED, err);
}

/* CUDA kernels, as nvcc compiled them, each checked against the CPU. */
static int run_kernels(struct err *err)
{
    static const char *const names[] = {"saxpy", "matmul_tiled", "radixsort", "nbody", "spinlock"};
    puts("CUDA kernels run without a GPU, from their PTX; what they compute is compared with the CPU's "
         "result.\n\n"
         "  kernel         thread instructions   host time   per second   result");
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const struct workload *workload = workload_find(names[i]);
        uint64_t values[WORKLOAD_OPTIONS_MOST];
        struct workload_result result;
        fill_values(workload, values);
        if (!workload_run(workload, values, host_cores(), &interrupted, &result, err))
            return failed(err);
        double threads = (double)result.counts.thread_instructions;
        printf("  %-12s   %17.1f M   %7.3f s   %8.0f M   as expected\n", names[i], threads / 1e6,
               result.seconds, threads / result.seconds / 1e6);
    }
    return EXIT_GOOD;
}

/* ---- in time ---- */

/* Runs a workload on a simulated H200, and adds its launches to the lines. */
static bool time_one(const char *name, unsigned threads, struct launches *lines, struct err *err)
{
    const struct workload *workload = workload_find(name);
    uint64_t values[WORKLOAD_OPTIONS_MOST];
    struct workload_result result;
    struct driver_options how = {.threads = threads,
                                 .interrupt = &interrupted,
                                 .run_dir = folder_new(err),
                                 .timing = {.on = true, .profile = true, .progress = true}};
    if (!how.run_dir)
        return false;
    fill_values(workload, values);
    bool good = workload_run_driven(workload, values, &how, NULL, NULL, &result, err) &&
                launches_read(how.run_dir, lines, err);
    folder_free((char *)(uintptr_t)how.run_dir);
    return good;
}

static bool time_all(unsigned threads, struct launches *lines, double *seconds, struct err *err)
{
    static const char *const names[] = {"saxpy", "matmul_tiled", "transpose", "spmv"};
    double start = host_seconds();
    bool good = true;
    for (size_t i = 0; i < COUNT_OF(names) && good; i++)
        good = time_one(names[i], threads, lines, err);
    *seconds = host_seconds() - start;
    return good;
}

static bool is_same(const struct launches *a, const struct launches *b)
{
    bool same = a->kernel_count == b->kernel_count && a->count == b->count;
    for (size_t i = 0; same && i < a->kernel_count; i++)
        same = !memcmp(&a->kernels[i].sum, &b->kernels[i].sum, sizeof a->kernels[i].sum);
    return same;
}

static int run_timed(struct err *err)
{
    struct launches serial = {0}, parallel = {0};
    struct system system;
    struct text words = {0};
    unsigned all = host_cores();
    double serial_s, parallel_s;
    puts("\nBundled programs on a simulated H200, cycle by cycle: how long each takes there, and why.\n");
    fflush(stdout);
    if (!system_load(&system, NULL, NULL, err))
        return complain(EXIT_FAILED, err);
    bool good = time_all(1, &serial, &serial_s, err), same = true;
    if (good) {
        launches_explain(&serial, &(struct launch_run){.system = &system, .timing = true}, &words);
        fputs(words.at, stdout);
        printf("\nThis took %.1f s on one thread", serial_s);
        fflush(stdout);
    }
    if (good && all > 1 && (good = time_all(all, &parallel, &parallel_s, err))) {
        same = is_same(&serial, &parallel);
        printf(", %.1f s on %u, and every figure is %s", parallel_s, all,
               same ? "the same to the last bit" : "NOT the same");
    }
    puts(".");
    text_fini(&words);
    system_fini(&system);
    launches_fini(&serial);
    launches_fini(&parallel);
    return !good ? failed(err) : same ? EXIT_GOOD : EXIT_FAILED;
}

static int run(int count, char **words)
{
    struct err err;
    (void)words;
    if (count) {
        err_set(&err, "demo takes no further words");
        return complain(EXIT_USAGE, &err);
    }
    catch_interrupts();
    int status = run_kernels(&err);
    if (status == EXIT_GOOD)
        status = run_timed(&err);
    if (status == EXIT_GOOD)
        puts(
            "\nNext: `heddle run --mode timing YOUR_CUDA_PROGRAM` (docs/timing.md), `heddle bench bfs --mode "
            "timing`.");
    return status;
}

const struct cmd cmd_demo = {.name = "demo",
                             .arguments = "",
                             .help = "bundled CUDA programs, and how long they take on an H200",
                             .run = run};
