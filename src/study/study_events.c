/* How much of the model can run at once: in a window, all islands that have something to do. */
#include "study/study.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static void keep_window(void *user, uint64_t time_ps, uint64_t islands)
{
    struct study_events_run *run = user;
    mem_grow(run->windows, run->count, run->capacity);
    run->windows[run->count++] = (struct study_window){time_ps, islands};
}

static int by_islands(const void *a, const void *b)
{
    const struct study_window *x = a, *y = b;
    return x->islands < y->islands ? -1 : x->islands > y->islands;
}

static void sum_up(struct study_events_run *run)
{
    struct study_window *sorted = mem_alloc(run->count, sizeof *sorted);
    memcpy(sorted, run->windows, run->count * sizeof *sorted);
    qsort(sorted, run->count, sizeof *sorted, by_islands);
    for (size_t i = 0; i < run->count; i++)
        run->mean += (double)sorted[i].islands / (double)run->count;
    run->least = sorted[0].islands;
    run->median = sorted[run->count / 2].islands;
    run->most = sorted[run->count - 1].islands;
    mem_free(sorted);
}

static bool make_run(void *user, const struct study_row *row, const struct study_how *how, struct err *err)
{
    struct study_events *study = user;
    struct study_events_run *run = &study->runs[study->count++];
    struct machine_windows windows = {keep_window, run};
    *run = (struct study_events_run){.row = row};
    /* With one thread, islands run ahead of each other, which is not what several threads can do. */
    if (!study_run(row, how, &(struct study_run){.threads = 2, .is_timed = true, .windows = &windows}, err))
        return false;
    if (!run->count)
        return err_set(err, "%s: nothing happened", row->workload);
    sum_up(run);
    return true;
}

bool study_events_make(struct study_events *study, const struct study_how *how, struct err *err)
{
    *study = (struct study_events){.system = how->system};
    return study_each(how, make_run, study, err);
}

void study_events_fini(struct study_events *study)
{
    for (size_t i = 0; i < study->count; i++)
        mem_free(study->runs[i].windows);
}
