/* The launches of processes in words. */
#include "cli/launches.h"
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

bool launch_failed(const struct launch_line *line)
{
    return line->result && line->result != RESULT_DEINITIALIZED; /* the end of its process */
}

void launches_summarize(const struct launch_lines *lines, const struct launch_run *run, struct text *text)
{
    struct names kernels = {0};
    double warps = 0, threads = 0;
    uint64_t failed = 0;
    for (size_t i = 0; i < lines->kernel_count; i++) {
        failed += lines->kernels[i].failed;
        names_add(&kernels,
                  lines->kernels[i].longest.kernel); /* it may be there twice: with and without time */
        warps += (double)lines->kernels[i].warp_instructions;
        threads += (double)lines->kernels[i].thread_instructions;
    }
    if (run->signal)
        text_add(text, "%s was ended by signal %d (%s)%s; ", run->program, run->signal,
                 strsignal(run->signal),
                 run->signal == SIGSEGV || run->signal == SIGABRT || run->signal == SIGBUS
                     ? " in its own code, not in a kernel"
                     : "");
    if (!lines->count) {
        if (run->signal)
            text_add(text, "no launch had ended (%s N ends one that never would)",
                     run->timing ? "--max-cycles" : "--limit");
        else
            text_add(text, "no kernel was launched");
    } else {
        text_add(text, "%zu kernel%s, %llu launch%s, ", kernels.count, kernels.count == 1 ? "" : "s",
                 (unsigned long long)lines->count, lines->count == 1 ? "" : "es");
        if (failed && failed == lines->count)
            text_add(text, "failed, ");
        else if (failed)
            text_add(text, "%llu of them failed, ", (unsigned long long)failed);
        add_count(text, warps);
        text_add(text, " warp instruction%s (", warps == 1 ? "" : "s");
        add_count(text, threads);
        text_add(text, " of threads) in %.2f s", run->wall_s);
        if (run->wall_s > 0.001) {
            text_add(text, ": ");
            add_count(text, warps / run->wall_s);
            text_add(text, " a second");
        }
    }
    names_fini(&kernels);
}
