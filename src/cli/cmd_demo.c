/* heddle demo: a first result in a few seconds. */
#include "cli/cli.h"
#include "bench/bench.h"
#include "base/bits.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/host.h"
#include "workloads/run.h"

#include <stdio.h>

struct shown {
    uint64_t checksum, events;
    double seconds;
};

struct watched {
    const struct bench_model *model;
    struct progress progress;
};

static void show_progress(void *user, uint64_t time, uint64_t events)
{
    struct watched *watched = user;
    (void)time;
    progress_update(&watched->progress, bench_find("gpu-traffic")->share(watched->model), events);
}

static int simulate(const struct config *config, unsigned threads, struct shown *shown, struct err *err)
{
    struct bench_model model;
    if (!bench_model_init(&model, bench_find("gpu-traffic"), config, err))
        return complain(EXIT_FAILED, err);
    double start = host_seconds();
    struct watched watched = {.model = &model};
    progress_init(&watched.progress, "demo", "events");
    struct engine_run how = {.until = model.until,
                             .threads = threads,
                             .interrupt = &interrupted,
                             .progress = watched.progress.terminal ? show_progress : NULL,
                             .user = &watched};
    enum engine_outcome outcome = engine_run(model.engine, &how, err);
    progress_fini(&watched.progress);
    *shown = (struct shown){.checksum = bench_checksum(model.engine),
                            .events = engine_events(model.engine),
                            .seconds = host_seconds() - start};
    double simulated_us = (double)engine_time(model.engine) / 1e6;
    bench_model_fini(&model);
    if (outcome == ENGINE_FAILED)
        return complain(EXIT_FAILED, err);
    if (outcome == ENGINE_INTERRUPTED)
        return EXIT_SIGNAL + interrupted;
    printf("  %7u   %8.2f s   %10.1f M   %12.2f us   %016llx\n", threads, shown->seconds,
           (double)shown->events / shown->seconds / 1e6, simulated_us, (unsigned long long)shown->checksum);
    fflush(stdout);
    return EXIT_GOOD;
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
        for (size_t o = 0; workload->options[o].name; o++)
            values[o] = workload->options[o].value;
        if (!workload_run(workload, values, host_cores(), &interrupted, &result, err))
            return complain(interrupted ? EXIT_SIGNAL + interrupted : EXIT_FAILED, err);
        double threads = (double)result.counts.thread_instructions;
        printf("  %-12s   %17.1f M   %7.3f s   %8.0f M   as expected\n", names[i], threads / 1e6,
               result.seconds, threads / result.seconds / 1e6);
    }
    return EXIT_GOOD;
}

static int run_traffic(struct err *err)
{
    struct config config;
    struct shown serial, parallel = {0};
    const struct param_group **groups = bench_groups(bench_find("gpu-traffic"));
    config_init(&config, groups);
    if (!config_set(&config, "gpu-traffic.requests=20000", err))
        BUG("%s", err->text);
    puts(
        "\nMemory traffic of a GPU the size of an H200: 132 SMs send requests over a crossbar of 100 cycles\n"
        "to 96 memory partitions, which answer; bandwidth, queues and credits are modelled.\n\n"
        "  threads   host time   events per s   simulated time   checksum of every event");
    unsigned all = host_cores();
    int status = simulate(&config, 1, &serial, err);
    if (status == EXIT_GOOD && all > 1)
        status = simulate(&config, all, &parallel, err);
    if (status == EXIT_GOOD && all > 1) {
        printf("\n%u threads are %.2f times as fast as one, and the result is %s.\n", all,
               serial.seconds / parallel.seconds,
               serial.checksum == parallel.checksum ? "the same to the last bit" : "NOT the same");
        status = serial.checksum == parallel.checksum ? EXIT_GOOD : EXIT_FAILED;
    }
    config_fini(&config);
    mem_free(groups);
    return status;
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
        status = run_traffic(&err);
    if (status == EXIT_GOOD)
        puts("\nNext: `heddle run YOUR_CUDA_PROGRAM` (docs/cuda.md), `heddle bench matmul_tiled`, `heddle "
             "help bench`.");
    return status;
}

const struct command demo_command = {
    .name = "demo", .arguments = "", .help = "a first simulation, in a few seconds", .run = run};
