#include "study/gputejas/gputejas.h"
#include "base/bits.h"
#include "report/cell.h"

#include <math.h>

static void head(FILE *f, const char *number, const char *title)
{
    fprintf(f, "\n%s: %s\n", number, title);
}

static double mean_of(const struct tejas *study, double (*of)(const struct tejas_program *program, size_t k),
                      size_t k)
{
    double sum = 0;
    for (size_t i = 0; i < study->count; i++)
        sum += of(&study->programs[i], k);
    return sum / (double)study->count;
}

/* ---- table II ---- */

static void print_speed(const struct tejas *study, FILE *f)
{
    size_t last = study->counts - 1;
    char a[CELL], b[CELL];
    head(f, "Table II",
         "speed (thousand warp instructions a second) and where threads spend their time; the paper's at 64 "
         "threads");
    fprintf(f, "%-11s %-10s %12s %9s %9s %9s %7s %7s %7s %7s %7s\n", "program", "", "instructions", "16 thr.",
            "64 thr.", "most", "sched.", "pipel.", "memory", "phaser", "barrier");
    for (size_t i = 0; i < study->count; i++) {
        const struct tejas_program *program = &study->programs[i];
        const struct tejas_row *row = program->row;
        fprintf(f, "%-11s %-10s %12s %9.1f %9.1f %9s", row->name, "paper", cell_whole(a, row->instructions),
                row->kips16, row->kips64, "");
        for (size_t k = 0; k < RELAXED_TIMES; k++)
            fprintf(f, " %6.2f%%", row->shares[k]);
        fprintf(f, "\n%-11s %-10s %12s", "", "relaxed", cell_whole(b, program->instructions));
        for (unsigned threads = 16; threads <= 64; threads *= 4) {
            size_t k = 0;
            while (k < study->counts && tejas_threads[k] != threads)
                k++;
            if (k < study->counts)
                fprintf(f, " %9.1f", (double)program->instructions / program->runs[k].seconds / 1e3);
            else
                fprintf(f, " %9s", "-");
        }
        fprintf(f, " %9.1f", (double)program->instructions / program->runs[last].seconds / 1e3);
        for (size_t k = 0; k < RELAXED_TIMES; k++)
            fprintf(f, " %6.2f%%", 100 * relaxed_time_share(&program->runs[last].result, k));
        fprintf(f, "\n%-11s %-10s %12s %9s %9s %9.1f\n", "", "exact", "", "", "",
                (double)program->instructions / program->runs[last].exact_seconds / 1e3);
    }
    fprintf(f, "(most: %u thread%s here)\n", tejas_threads[last], last ? "s" : "");
}

/* ---- table III ---- */

static void print_times(const struct tejas *study, FILE *f)
{
    head(f, "Table III",
         "simulated time (ms) on an M2070 and a K20, and the host's time (s) for the M2070's. The paper's "
         "are of "
         "other inputs. Relaxed by algorithm 1; in turn: blocks go to SM after SM, as in the exact model");
    fprintf(f, "%-11s | %9s %11s %10s | %9s %9s %9s %8s %8s | %9s %9s %9s\n", "program", "native ms",
            "GPGPU-Sim s", "GpuTejas s", "exact ms", "relax. ms", "in turn", "exact s", "relax. s",
            "K20 exact", "relax. ms", "in turn");
    for (size_t i = 0; i < study->count; i++) {
        const struct tejas_program *program = &study->programs[i];
        const struct tejas_machine *m2070 = &program->machines[0], *k20 = &program->machines[1];
        fprintf(f, "%-11s | %9.2f %11.0f %10.2f | %9.3f %9.3f %9.3f %8.2f %8.2f | %9.3f %9.3f %9.3f\n",
                program->row->name, program->row->native_ms, program->row->gpgpusim_s,
                program->row->gputejas_s, m2070->exact_ms, m2070->relaxed_ms, m2070->turn_ms, m2070->exact_s,
                m2070->relaxed_s, k20->exact_ms, k20->relaxed_ms, k20->turn_ms);
    }
}

/* ---- figures ---- */

static void print_recording(const struct tejas *study, FILE *f)
{
    char a[CELL];
    head(f, "Figure 3",
         "functional simulation without and with a trace (the paper's Ocelot is 30 times as slow "
         "with one)");
    fprintf(f, "%-11s %12s %12s %10s %16s\n", "program", "plain, s", "recording, s", "slowdown",
            "trace, bytes");
    for (size_t i = 0; i < study->count; i++) {
        const struct tejas_program *program = &study->programs[i];
        fprintf(f, "%-11s %12.3f %12.3f %10.2f %16s\n", program->row->name, program->functional_s,
                program->recording_s, program->recording_s / program->functional_s,
                cell_whole(a, program->trace_bytes));
    }
    head(f, "Figure 4", "moving packets to another process");
    for (size_t i = 0; i < TEJAS_WAYS; i++)
        fprintf(f, "%-14s %8.0f MB/s\n", study->ways[i].name, study->ways[i].mb_per_s);
}

static void print_phasers(const struct tejas *study, FILE *f)
{
    for (size_t i = 0; i < study->count; i++) {
        const struct tejas_program *program = &study->programs[i];
        if (!(program->runs[0].barrier_seconds > 0))
            continue;
        head(f, "Figure 8",
             "barriers in place of phasers: pathfinder (the paper: over 100% slower at 64 threads)");
        fprintf(f, "%-11s %12s %12s %10s\n", "threads", "phasers, s", "barriers, s", "slowdown");
        for (size_t k = 0; k < study->counts; k++)
            fprintf(f, "%-11u %12.3f %12.3f %+9.1f%%\n", tejas_threads[k], program->runs[k].seconds,
                    program->runs[k].barrier_seconds,
                    100 * (program->runs[k].barrier_seconds / program->runs[k].seconds - 1));
    }
}

static void print_shares(const struct tejas *study, const char *figure, const char *title,
                         const char *const *names, size_t count, const double *paper,
                         void (*shares)(const struct tejas_program *program, double *to), FILE *f)
{
    double means[TEJAS_LANES] = {0}, own[TEJAS_LANES];
    head(f, figure, title);
    fprintf(f, "%-11s", "program");
    for (size_t k = 0; k < count; k++)
        fprintf(f, " %9s", names[k]);
    for (size_t i = 0; i < study->count; i++) {
        shares(&study->programs[i], own);
        fprintf(f, "\n%-11s", study->programs[i].row->name);
        for (size_t k = 0; k < count; k++) {
            fprintf(f, " %8.2f%%", own[k]);
            means[k] += own[k] / (double)study->count;
        }
    }
    fprintf(f, "\n%-11s", "mean");
    for (size_t k = 0; k < count; k++)
        fprintf(f, " %8.2f%%", means[k]);
    if (paper) {
        fprintf(f, "\n%-11s", "the paper's");
        for (size_t k = 0; k < count; k++)
            fprintf(f, " %8.2f%%", paper[k]);
    }
    fprintf(f, "\n");
}

void tejas_classes(const struct tejas_program *program, double *to)
{
    const struct relaxed_counts *counts = &program->runs[0].result.counts;
    for (size_t k = 0; k < RELAXED_CLASS_COUNT; k++)
        to[k] = 100 * (double)counts->classes[k] / (double)counts->instructions;
}

void tejas_memories(const struct tejas_program *program, double *to)
{
    const struct relaxed_counts *counts = &program->runs[0].result.counts;
    double all = 0;
    for (size_t k = 0; k < RELAXED_MEMORIES; k++)
        all += (double)counts->memories[k];
    for (size_t k = 0; k < RELAXED_MEMORIES; k++)
        to[k] = all > 0 ? 100 * (double)counts->memories[k] / all : 0;
}

void tejas_lanes(const struct tejas_program *program, double *to)
{
    const struct relaxed_counts *counts = &program->runs[0].result.counts;
    for (size_t k = 0; k < TEJAS_LANES; k++) {
        uint64_t sum = k ? 0 : counts->lanes[0];
        for (size_t i = 1; i <= 4; i++)
            sum += counts->lanes[4 * k + i];
        to[k] = 100 * (double)sum / (double)counts->instructions;
    }
}

const char *const tejas_lane_names[TEJAS_LANES] = {"0-4",   "5-8",   "9-12",  "13-16",
                                                   "17-20", "21-24", "25-28", "29-32"};

static double relaxed_speedup(const struct tejas_program *program, size_t k)
{
    return program->runs[0].seconds / program->runs[k].seconds;
}

static double exact_speedup(const struct tejas_program *program, size_t k)
{
    return program->runs[0].exact_seconds / program->runs[k].exact_seconds;
}

static void print_scaling(const struct tejas *study, FILE *f)
{
    head(f, "Figure 12",
         "simulation speed: how much faster than one thread (the paper's mean at 64 threads: 17.33)");
    fprintf(f, "%-11s %-8s %10s", "program", "", "1 thr., s");
    for (size_t k = 1; k < study->counts; k++)
        fprintf(f, " %7u", tejas_threads[k]);
    fprintf(f, "\n");
    for (size_t i = 0; i <= study->count; i++)
        for (int exact = 0; exact < 2; exact++) {
            bool is_mean = i == study->count;
            const struct tejas_program *program = &study->programs[is_mean ? 0 : i];
            fprintf(f, "%-11s %-8s",
                    exact     ? ""
                    : is_mean ? "mean"
                              : program->row->name,
                    exact ? "exact" : "relaxed");
            if (is_mean)
                fprintf(f, " %10s", "");
            else
                fprintf(f, " %10.3f", exact ? program->runs[0].exact_seconds : program->runs[0].seconds);
            for (size_t k = 1; k < study->counts; k++) {
                double (*of)(const struct tejas_program *, size_t) = exact ? exact_speedup : relaxed_speedup;
                fprintf(f, " %7.2f", is_mean ? mean_of(study, of, k) : of(program, k));
            }
            fprintf(f, "\n");
        }
}

double tejas_ipc_deviation(const struct tejas_program *program, size_t k)
{
    return 100 * fabs(program->runs[k].ipc.mean / program->runs[0].ipc.mean - 1);
}

double tejas_miss_deviation(const struct tejas_program *program, size_t k)
{
    return 100 * fabs(program->runs[k].misses.mean / program->runs[0].misses.mean - 1);
}

static double variance(const struct tejas_program *program, size_t k)
{
    return 100 * program->runs[k].ipc.deviation / program->runs[k].ipc.mean;
}

static double error_against_exact(const struct tejas_program *program, size_t k)
{
    return 100 * fabs(program->runs[k].error);
}

static void print_deviation(const struct tejas *study, FILE *f)
{
    head(f, "Figure 14",
         "how far results of several threads are from those of one (the paper: IPC 3.4 to 7.67%, misses 2.1 "
         "to 5.2%, between runs < 0.95%), and from exact");
    fprintf(f, "%-8s %10s %10s %16s %16s\n", "threads", "IPC", "misses", "between runs", "cycles to exact");
    for (size_t k = 0; k < study->counts; k++)
        fprintf(f, "%-8u %9.2f%% %9.2f%% %15.2f%% %15.2f%%\n", tejas_threads[k],
                mean_of(study, tejas_ipc_deviation, k), mean_of(study, tejas_miss_deviation, k),
                mean_of(study, variance, k), mean_of(study, error_against_exact, k));
    fprintf(f,
            "\nError of all cycles against exact; and with one thread, by the length of an epoch\n%-11s %12s",
            "program", "exact cycles");
    for (size_t k = 0; k < study->counts; k++)
        fprintf(f, " %5u thr.", tejas_threads[k]);
    for (size_t k = 0; k < TEJAS_EPOCHS; k++)
        fprintf(f, " %9llu", (unsigned long long)tejas_epochs[k]);
    fprintf(f, "\n");
    for (size_t i = 0; i < study->count; i++) {
        const struct tejas_program *program = &study->programs[i];
        char a[CELL];
        fprintf(f, "%-11s %12s", program->row->name, cell_whole(a, program->exact_cycles));
        for (size_t k = 0; k < study->counts; k++)
            fprintf(f, " %+9.2f%%", 100 * program->runs[k].error);
        for (size_t k = 0; k < TEJAS_EPOCHS; k++)
            fprintf(f, " %+8.2f%%", 100 * program->epoch_errors[k]);
        fprintf(f, "\n");
    }
}

void tejas_print(const struct tejas *study, FILE *f)
{
    static const double classes[] = {69.84, 7.89, 7.81, 14.46}, memories[] = {36.19, 0, 49.57, 14.24};
    fprintf(f, "GpuTejas (Malhotra et al., 2014) beside Heddle's relaxed and exact replay, model tesla%s\n",
            study->how.quick ? " (quick: small inputs)" : "");
    if (study->counts < TEJAS_COUNTS) {
        fprintf(f, "Up to %u thread%s (cores of this machine, or --threads); skipped:",
                tejas_threads[study->counts - 1], study->counts > 1 ? "s" : "");
        for (size_t k = study->counts; k < TEJAS_COUNTS; k++)
            fprintf(f, "%s %u", k > study->counts ? "," : "", tejas_threads[k]);
        fprintf(f, "\n");
    }
    print_speed(study, f);
    print_times(study, f);
    print_recording(study, f);
    print_phasers(study, f);
    print_shares(study, "Figure 9", "instruction classes", relaxed_class_names, RELAXED_CLASS_COUNT, classes,
                 tejas_classes, f);
    print_shares(study, "Figure 10", "memory instructions", relaxed_memory_names, RELAXED_MEMORIES, memories,
                 tejas_memories, f);
    print_shares(study, "Figure 11", "warp occupancy: instructions by their active lanes", tejas_lane_names,
                 TEJAS_LANES, NULL, tejas_lanes, f);
    print_scaling(study, f);
    print_deviation(study, f);
}
