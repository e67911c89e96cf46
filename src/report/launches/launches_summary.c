/* The launches of processes in words. */
#include "report/launches/launches.h"
#include "driver/result.h"

#include <signal.h>
#include <string.h>

static void add_count(struct text *text, double count)
{
    static const char *const units[] = {"", " thousand", " million", " billion", " trillion"};
    int unit = 0;
    while (count >= 10000 && unit < 4) {
        count /= 1000;
        unit++;
    }
    text_add(text, unit ? "%.4g%s" : "%.0f%s", count, units[unit]);
}

bool launches_failed(const struct launch_one *line)
{
    return line->numbers.result && line->numbers.result != RESULT_DEINITIALIZED; /* the end of its process */
}

/* Instructions of one kind. */
struct tally {
    double warps, threads;
};

static void add_tally(struct text *text, const struct tally *tally, const char *kind)
{
    add_count(text, tally->warps);
    text_add(text, " %s warp instruction%s (", kind, tally->warps == 1 ? "" : "s");
    add_count(text, tally->threads);
    text_add(text, " of threads)");
}

/* How long it all took, and how fast kernels ran: host code is not counted. Processes may overlap, so the sum
 * of their times is capped at the wall time. */
static void add_rate(struct text *text, const struct launches *lines, const struct launch_run *run,
                     double instructions)
{
    double busy_s = (double)lines->busy_ns * 1e-9;
    busy_s = busy_s < run->wall_s ? busy_s : run->wall_s;
    text_add(text, " in %.2f s", run->wall_s);
    if (busy_s > 0.0001) {
        text_add(text, " (%.2g s in kernels, ", busy_s);
        add_count(text, instructions / busy_s);
        text_add(text, " instructions/s)");
    }
}

void launches_summarize(const struct launches *lines, const struct launch_run *run, struct text *text)
{
    struct names kernels = {0};
    struct tally machine = {0}, ptx = {0};
    uint64_t failed = 0;
    for (size_t i = 0; i < lines->kernel_count; i++) {
        const struct launch_kernel *kernel = &lines->kernels[i];
        failed += kernel->failed;
        names_add(&kernels, kernel->longest.kernel); /* it may be there twice: with and without time */
        if (kernel->longest.timed) {
            machine.warps += (double)kernel->sum.sm.instructions;
            machine.threads += (double)kernel->sum.sm.thread_instructions;
        } else {
            ptx.warps += (double)kernel->warp_instructions;
            ptx.threads += (double)kernel->thread_instructions;
        }
    }
    if (run->signal)
        text_add(text, "%s was ended by signal %d (%s)%s; ", run->program, run->signal,
                 strsignal(run->signal),
                 run->signal == SIGSEGV || run->signal == SIGABRT || run->signal == SIGBUS
                     ? " in its own code, not in a kernel"
                     : "");
    if (!lines->count) {
        if (lines->lost_sums)
            text_add(text, "%llu launches, of which nothing is known", (unsigned long long)lines->lost_sums);
        else if (run->interrupted)
            text_add(text, "no launch had finished; %s N stops a kernel that runs forever",
                     run->timing ? "--max-cycles" : "--limit");
        else if (run->signal)
            text_add(text, "no launch had finished");
        else
            text_add(text, "no kernel was launched");
    } else {
        text_add(text, "%zu kernel%s, %llu launch%s, ", kernels.count, kernels.count == 1 ? "" : "s",
                 (unsigned long long)lines->count, lines->count == 1 ? "" : "es");
        if (failed && failed == lines->count)
            text_add(text, "failed, ");
        else if (failed)
            text_add(text, "%llu of them failed, ", (unsigned long long)failed);
        if (machine.warps > 0)
            add_tally(text, &machine, "machine");
        if (machine.warps > 0 && ptx.warps > 0)
            text_add(text, " and ");
        if (ptx.warps > 0 || !(machine.warps > 0))
            add_tally(text, &ptx, *run->system->gpu.target ? "machine" : "PTX");
        add_rate(text, lines, run, machine.warps + ptx.warps);
    }
    names_fini(&kernels);
}
