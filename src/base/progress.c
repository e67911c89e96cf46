#include "base/progress.h"
#include "base/host.h"

#include <stdio.h>
#include <unistd.h>

void progress_init(struct progress *progress, const char *what, const char *unit)
{
    *progress = (struct progress){
        .what = what, .unit = unit, .terminal = isatty(STDERR_FILENO), .start = host_seconds()};
}

static void print_count(double count)
{
    static const char *const prefix[] = {"", " K", " M", " G", " T"};
    int i = 0;
    for (; count >= 999.5 && i < 4; i++) /* which three digits would show as 1e+03 */
        count /= 1000;
    fprintf(stderr, "%.3g%s", count, prefix[i]);
}

void progress_update(struct progress *progress, double share, uint64_t count)
{
    if (!progress->terminal)
        return;
    double now = host_seconds(), spent = now - progress->start;
    if (spent < 1 || now - progress->last < 0.2)
        return;
    progress->last = now;
    progress->shown = true;
    fprintf(stderr, "\r\033[K%s: ", progress->what);
    if (share >= 0)
        fprintf(stderr, "%.1f%% done, ", 100 * share);
    print_count((double)count / spent);
    fprintf(stderr, " %s/s", progress->unit);
    if (share > 0.001) {
        double left = spent / share - spent;
        if (left < 90)
            fprintf(stderr, ", %.0f s left", left);
        else
            fprintf(stderr, ", %.0f min left", left / 60);
    }
    fflush(stderr);
}

void progress_fini(struct progress *progress)
{
    if (progress->shown)
        fputs("\r\033[K", stderr);
    progress->shown = false;
}
