#include "relaxed/runs/runs.h"
#include "base/bits.h"
#include "base/demangle.h"
#include "base/file.h"
#include "base/mem.h"
#include "report/json.h"

#include <math.h>

typedef unsigned long long count_t;

/* ---- text ---- */

/* All launches of a kernel. */
struct kernel_sum {
    const char *name;
    uint64_t launches, exact;
    double cycles, least, most;
};

static size_t sum_kernels(const struct relaxed_runs *runs, struct kernel_sum *sums)
{
    size_t count = 0;
    for (size_t i = 0; i < runs->launch_count; i++) {
        const struct relaxed_runs_launch *launch = &runs->launches[i];
        const struct itrace_launch *of = &runs->trace->launches[launch->number];
        const char *name = runs->trace->kernels[of->kernel].facts.name;
        size_t k = 0;
        while (k < count && strcmp(sums[k].name, name) != 0)
            k++;
        if (k == count)
            sums[count++] = (struct kernel_sum){.name = name};
        sums[k].launches++;
        sums[k].exact += launch->exact;
        sums[k].cycles += launch->cycles;
        sums[k].least += (double)launch->least;
        sums[k].most += (double)launch->most;
    }
    return count;
}

static void print_kernel(const struct relaxed_runs *runs, const struct kernel_sum *sum, FILE *f)
{
    fprintf(f, "%-28.28s %8llu %14.0f", demangled(sum->name), (count_t)sum->launches, sum->cycles);
    if (runs->how.repeats > 1)
        fprintf(f, " %12.0f..%.0f", sum->least, sum->most);
    if (runs->exact_cycles)
        fprintf(f, " %14llu %+8.1f%%", (count_t)sum->exact,
                100 * (sum->cycles - (double)sum->exact) / (double)sum->exact);
    fputc('\n', f);
}

static void print_kernels(const struct relaxed_runs *runs, FILE *f)
{
    struct kernel_sum *sums = mem_alloc(runs->launch_count, sizeof *sums), all = {.name = "all"};
    size_t count = sum_kernels(runs, sums);
    fprintf(f, "%-28s %8s %14s", "kernel", "launches", "cycles");
    if (runs->how.repeats > 1)
        fprintf(f, " %20s", "least..most");
    if (runs->exact_cycles)
        fprintf(f, " %14s %9s", "exact", "error");
    fputc('\n', f);
    for (size_t i = 0; i < count; i++) {
        print_kernel(runs, &sums[i], f);
        all.launches += sums[i].launches;
        all.exact += sums[i].exact;
        all.cycles += sums[i].cycles;
        all.least += sums[i].least;
        all.most += sums[i].most;
    }
    if (count > 1)
        print_kernel(runs, &all, f);
    mem_free(sums);
}

static void print_shares(const char *title, const char *const names[], const uint64_t counts[], size_t count,
                         FILE *f)
{
    uint64_t all = 0;
    for (size_t i = 0; i < count; i++)
        all += counts[i];
    fprintf(f, "%-24s", title);
    for (size_t i = 0; i < count; i++)
        fprintf(f, "%s %s %.1f%%", i ? "," : "", names[i], all ? 100 * (double)counts[i] / (double)all : 0.0);
    fputc('\n', f);
}

static void print_lanes(const struct relaxed_counts *counts, uint32_t lanes, FILE *f)
{
    enum { GROUPS = 8 };
    uint64_t all = counts->instructions ? counts->instructions : 1;
    uint32_t each = lanes / GROUPS;
    fprintf(f, "%-24s", "active lanes");
    for (uint32_t group = 0; group < GROUPS; group++) {
        uint64_t sum = group ? 0 : counts->lanes[0];
        for (uint32_t i = 1; i <= each; i++)
            sum += counts->lanes[group * each + i];
        fprintf(f, "%s %u-%u %.1f%%", group ? "," : "", group ? group * each + 1 : 0, (group + 1) * each,
                100 * (double)sum / (double)all);
    }
    fputc('\n', f);
}

static void print_rate(const char *name, double rate, FILE *f)
{
    if (isnan(rate))
        fprintf(f, " %s -", name);
    else
        fprintf(f, " %s %.1f%%", name, 100 * rate);
}

static void print_figure(const struct relaxed_runs *runs, const char *name,
                         double (*of)(const struct relaxed_result *result), FILE *f)
{
    struct relaxed_figure figure = relaxed_runs_figure(runs, of);
    fprintf(f, "%-24s mean %.6g, %.6g..%.6g, standard deviation %.3g (%.2f%%)\n", name, figure.mean,
            figure.least, figure.most, figure.deviation, 100 * figure.deviation / figure.mean);
}

static void print_waits(const struct relaxed_result *sum, FILE *f)
{
    const struct relaxed_port_counts *ports = &sum->counts.ports;
    fprintf(f, "%-24s", "time of threads");
    for (uint32_t i = 0; i < RELAXED_TIMES; i++)
        fprintf(f, "%s %s %.1f%%", i ? "," : "", relaxed_time_names[i], 100 * relaxed_time_share(sum, i));
    fprintf(f, "\n%-24s phaser %llu (%.3f s), barrier %llu (%.3f s), of %llu epochs\n", "waits",
            (count_t)sum->phaser_waits, sum->seconds[RELAXED_TIME_phaser], (count_t)sum->barrier_waits,
            sum->seconds[RELAXED_TIME_barrier], (count_t)sum->epochs);
    fprintf(
        f,
        "%-24s %llu requests, %llu of them to shared ports: %llu late, %llu failed; %llu past, %llu beyond "
        "the window; %.2f cycles of wait each\n",
        "ports", (count_t)ports->requests, (count_t)ports->shared, (count_t)ports->late,
        (count_t)ports->failed, (count_t)ports->past, (count_t)ports->beyond,
        ports->requests ? (double)ports->waited / (double)ports->requests : 0.0);
}

void relaxed_runs_print(const struct relaxed_runs *runs, FILE *f)
{
    const struct relaxed_options *options = &runs->how.options;
    const struct relaxed_result *sum = &runs->sums[runs->how.repeats - 1];
    struct relaxed_figure wall = relaxed_runs_figure(runs, relaxed_wall);
    fprintf(f, "relaxed replay of %s on %s: %u thread%s, epochs of %llu cycles, ", runs->folder,
            runs->how.system_name, options->threads, options->threads == 1 ? "" : "s",
            (count_t)options->epoch);
    if (options->steps > 1)
        fprintf(f, "in %u steps, ", options->steps);
    fprintf(f, "%s%s\n", options->no_phasers ? "barriers" : "phasers",
            options->blocks == RELAXED_IN_TURN ? ", blocks in turn" : "");
    fprintf(f, "%llu warp instructions, %.3f s: %.2f million warp instructions/s\n\n",
            (count_t)sum->counts.warp_instructions, wall.mean,
            (double)sum->counts.warp_instructions / wall.mean / 1e6);
    print_kernels(runs, f);
    fprintf(f, "\n%-24s %llu machine instructions, IPC %.3f\n", "instructions",
            (count_t)sum->counts.instructions, relaxed_ipc(sum));
    print_shares("instruction classes", relaxed_class_names, sum->counts.classes, RELAXED_CLASS_COUNT, f);
    print_shares("memory classes", relaxed_memory_names, sum->counts.memories, RELAXED_MEMORIES, f);
    print_lanes(&sum->counts, runs->trace->lanes, f);
    fprintf(f, "%-24s", "hit rates");
    print_rate("L1", relaxed_l1_rate(sum), f);
    print_rate(", L2", relaxed_l2_rate(sum), f);
    print_rate(", constants", relaxed_constant_rate(sum), f);
    print_rate(", code", relaxed_code_rate(sum), f);
    fputc('\n', f);
    print_waits(sum, f);
    if (runs->how.repeats > 1) {
        fprintf(f, "\nover %u runs:\n", runs->how.repeats);
        print_figure(runs, "  cycles", relaxed_cycles, f);
        print_figure(runs, "  IPC", relaxed_ipc, f);
        print_figure(runs, "  misses of all caches", relaxed_miss_rate, f);
        print_figure(runs, "  seconds", relaxed_wall, f);
    }
    if (runs->exact_cycles) {
        double mean = relaxed_runs_figure(runs, relaxed_cycles).mean, exact = (double)runs->exact_cycles;
        fprintf(f,
                "\nerror against exact: %+.2f%% of all cycles, %.2f%% of a launch's on average\n"
                "exact took %.3f s with %u thread%s; relaxed %.3f s with %u: %.2f times as fast\n",
                100 * (mean - exact) / exact, 100 * relaxed_runs_error(runs), runs->exact_seconds,
                runs->how.exact_threads, runs->how.exact_threads == 1 ? "" : "s", wall.mean, options->threads,
                runs->exact_seconds / wall.mean);
    } else {
        fputs("\nThis is a relaxed result, not exact; --compare-exact says how far off it is.\n", f);
    }
}

/* ---- JSON ---- */

static void put_figure(struct json_writer *json, const struct relaxed_runs *runs, const char *name,
                       double (*of)(const struct relaxed_result *result))
{
    struct relaxed_figure figure = relaxed_runs_figure(runs, of);
    json_open_object(json, name);
    json_put_real(json, "mean", figure.mean);
    json_put_real(json, "least", figure.least);
    json_put_real(json, "most", figure.most);
    json_put_real(json, "deviation", figure.deviation);
    json_close(json);
}

static void put_result(struct json_writer *json, const struct relaxed_result *result, uint32_t lanes)
{
    const struct relaxed_counts *counts = &result->counts;
    json_open_object(json, NULL);
    json_put_count(json, "cycles", result->cycles);
    json_put_real(json, "ipc", relaxed_ipc(result));
    json_put_real(json, "wall_s", result->wall);
#define X(name, help) json_put_count(json, #name, counts->name);
    RELAXED_COUNTS(X)
#undef X
    json_put_real(json, "l1_hit_rate", relaxed_l1_rate(result));
    json_put_real(json, "l2_hit_rate", relaxed_l2_rate(result));
    json_put_real(json, "constant_hit_rate", relaxed_constant_rate(result));
    json_put_real(json, "code_hit_rate", relaxed_code_rate(result));
    json_put_real(json, "miss_rate", relaxed_miss_rate(result));
    json_open_object(json, "instruction_classes");
    for (size_t i = 0; i < RELAXED_CLASS_COUNT; i++)
        json_put_count(json, relaxed_class_names[i], counts->classes[i]);
    json_close(json);
    json_open_object(json, "memory_classes");
    for (size_t i = 0; i < RELAXED_MEMORIES; i++)
        json_put_count(json, relaxed_memory_names[i], counts->memories[i]);
    json_close(json);
    json_open_list(json, "active_lanes");
    for (uint32_t i = 0; i <= lanes; i++)
        json_put_count(json, NULL, counts->lanes[i]);
    json_close(json);
    json_open_object(json, "ports");
    json_put_count(json, "requests", counts->ports.requests);
    json_put_count(json, "shared", counts->ports.shared);
    json_put_count(json, "failed", counts->ports.failed);
    json_put_count(json, "late", counts->ports.late);
    json_put_count(json, "past", counts->ports.past);
    json_put_count(json, "beyond", counts->ports.beyond);
    json_put_count(json, "waited_cycles", counts->ports.waited);
    json_close(json);
    json_open_object(json, "thread_seconds");
#define X(name, text) json_put_real(json, #name, result->seconds[RELAXED_TIME_##name]);
    RELAXED_SHARES(X)
#undef X
    json_close(json);
    json_put_count(json, "phaser_waits", result->phaser_waits);
    json_put_count(json, "barrier_waits", result->barrier_waits);
    json_put_count(json, "epochs", result->epochs);
    json_close(json);
}

static void put_launches(struct json_writer *json, const struct relaxed_runs *runs)
{
    json_open_list(json, "launches");
    for (size_t i = 0; i < runs->launch_count; i++) {
        const struct relaxed_runs_launch *launch = &runs->launches[i];
        const struct itrace_launch *of = &runs->trace->launches[launch->number];
        json_open_object(json, NULL);
        json_put_count(json, "launch", of->number);
        json_put_text(json, "kernel", demangled(runs->trace->kernels[of->kernel].facts.name));
        json_put_count(json, "blocks", (uint64_t)of->grid[0] * of->grid[1] * of->grid[2]);
        json_put_real(json, "cycles", launch->cycles);
        json_put_count(json, "least", launch->least);
        json_put_count(json, "most", launch->most);
        if (runs->exact_cycles)
            json_put_count(json, "exact_cycles", launch->exact);
        json_close(json);
    }
    json_close(json);
}

bool relaxed_runs_write(const struct relaxed_runs *runs, const char *path, struct err *err)
{
    const struct relaxed_options *options = &runs->how.options;
    struct file_writer writer;
    struct json_writer json;
    if (!file_open(&writer, path, err))
        return false;
    json_begin(&json, writer.stream);
    json_open_object(&json, NULL);
    json_put_count(&json, "layout", 2);
    json_put_text(&json, "sync", "relaxed");
    json_put_text(&json, "trace", runs->folder);
    json_put_text(&json, "program", runs->trace->command);
    json_put_text(&json, "system", runs->how.system_name);
    json_put_count(&json, "threads", options->threads);
    json_put_count(&json, "epoch_cycles", options->epoch);
    json_put_count(&json, "steps", options->steps);
    json_put_bool(&json, "phasers", !options->no_phasers);
    json_put_text(&json, "blocks", options->blocks == RELAXED_IN_RUNS ? "runs" : "turn");
    json_open_list(&json, "runs");
    for (unsigned i = 0; i < runs->how.repeats; i++)
        put_result(&json, &runs->sums[i], runs->trace->lanes);
    json_close(&json);
    json_open_object(&json, "over_runs");
    put_figure(&json, runs, "cycles", relaxed_cycles);
    put_figure(&json, runs, "ipc", relaxed_ipc);
    put_figure(&json, runs, "miss_rate", relaxed_miss_rate);
    put_figure(&json, runs, "wall_s", relaxed_wall);
    json_close(&json);
    if (runs->exact_cycles) {
        double mean = relaxed_runs_figure(runs, relaxed_cycles).mean, exact = (double)runs->exact_cycles;
        json_open_object(&json, "exact");
        json_put_count(&json, "cycles", runs->exact_cycles);
        json_put_real(&json, "wall_s", runs->exact_seconds);
        json_put_count(&json, "threads", runs->how.exact_threads);
        json_put_real(&json, "error", (mean - exact) / exact);
        json_put_real(&json, "launch_error", relaxed_runs_error(runs));
        json_close(&json);
    }
    put_launches(&json, runs);
    json_close(&json);
    return file_close(&writer, err);
}
