/* How much faster more threads are, without time and with it. The results must be the same. */
#include "study/study.h"

#include <math.h>

const char *const study_modes[STUDY_MODES] = {"functional", "timed"};

/* The fastest of several runs, all of which must do the same as `first` did (if it did anything). */
static bool measure(const struct study_row *row, const struct study_how *how, struct study_run *run,
                    struct study_run *first, struct err *err)
{
    double best = INFINITY;
    for (unsigned i = 0; i < how->repeats; i++) {
        if (!study_run(row, how, run, err))
            return false;
        best = fmin(best, run->seconds);
        if (!first->instructions)
            *first = *run;
        if (run->instructions != first->instructions || run->cycles != first->cycles)
            return err_set(err, "%s: with %u threads %llu instructions and %llu cycles, not %llu and %llu",
                           row->workload, run->threads, (unsigned long long)run->instructions,
                           (unsigned long long)run->cycles, (unsigned long long)first->instructions,
                           (unsigned long long)first->cycles);
    }
    run->seconds = best;
    return true;
}

static bool make_run(void *user, const struct study_row *row, const struct study_how *how, struct err *err)
{
    struct study_threads *study = user;
    struct study_threads_run *made = &study->runs[study->count++];
    made->row = row;
    for (int mode = 0; mode < STUDY_MODES; mode++) {
        struct study_run first = {0};
        for (size_t i = 0; i < study->counts; i++) {
            struct study_run run = {.threads = study->threads[i], .is_timed = mode == 1};
            if (!measure(row, how, &run, &first, err))
                return false;
            made->seconds[mode][i] = run.seconds;
        }
    }
    return true;
}

bool study_threads_make(struct study_threads *study, const struct study_how *how, struct err *err)
{
    *study = (struct study_threads){.system = how->system};
    for (unsigned threads = 1; threads <= how->threads_most && study->counts < STUDY_COUNTS_MOST;
         threads *= 2)
        study->threads[study->counts++] = threads;
    return study_each(how, make_run, study, err);
}

double study_speedup(const struct study_threads *study, size_t run, int mode, size_t threads)
{
    double product = 1;
    if (run < study->count)
        return study->runs[run].seconds[mode][0] / study->runs[run].seconds[mode][threads];
    for (size_t i = 0; i < study->count; i++)
        product *= study_speedup(study, i, mode, threads);
    return pow(product, 1 / (double)study->count);
}
