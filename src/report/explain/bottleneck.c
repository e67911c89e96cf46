#include "report/explain/causes.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum {
    SECOND = 25, /* percent of the time that the second cause must account for to be told */
};

/* ---- places ---- */

static int by_text(const char *a, const char *b)
{
    return a == b ? 0 : !a || !b ? (a != NULL) - (b != NULL) : strcmp(a, b);
}

/* Places of one line of the source are the same, wherever they are in the code. */
static int compare_lines(const struct code_place *a, const struct code_place *b)
{
    int order = by_text(a->file, b->file);
    if (!order && a->file)
        order = (a->line > b->line) - (a->line < b->line);
    if (!order && !a->file)
        order = place_compare_code(a, b);
    order = order ? order : by_text(a->module, b->module);
    order = order ? order : by_text(a->function, b->function);
    return order ? order : by_text(a->instruction, b->instruction);
}

static int by_line(const void *left, const void *right)
{
    const struct code_place *a = ((const struct metric_place *)left)->at,
                            *b = ((const struct metric_place *)right)->at;
    int order = compare_lines(a, b);
    return order ? order : place_compare_code(a, b);
}

size_t bottleneck_merge_places(struct metric_place *places, size_t count)
{
    size_t kept = 0;
    if (count)
        qsort(places, count, sizeof *places, by_line);
    for (size_t i = 0; i < count; i++) {
        if (kept && !compare_lines(places[kept - 1].at, places[i].at)) {
            op_profile_sum(&places[kept - 1].counts, &places[i].counts);
            places[kept - 1].copies += 1 + places[i].copies;
        } else {
            places[kept++] = places[i];
        }
    }
    return kept;
}

static const struct metric_place *place_of(const struct evidence *e, const struct cause *cause)
{
    const struct metric_place *most = NULL;
    double most_shows = 0;
    for (size_t i = 0; cause->at_place && i < e->place_count; i++) {
        double shows = cause->at_place(e, cause, &e->places[i]);
        if (shows > most_shows) {
            most_shows = shows;
            most = &e->places[i];
        }
    }
    return most;
}

/* ---- what is known ---- */

static void gather(struct evidence *e, const struct metric_source *source)
{
    const struct gpu_kernel_stats *k = e->k = source->timing;
    const struct {
        const char *name;
        double *value;
    } values[] = {
        {"dram__throughput.avg.pct_of_peak_sustained_elapsed", &e->dram},
        {"lts__throughput.avg.pct_of_peak_sustained_elapsed", &e->l2},
        {"l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_active", &e->data},
        {"smsp__issue_active.avg.pct_of_peak_sustained_active", &e->issue},
        {"heddle__load_imbalance.pct", &e->imbalance},
        {"heddle__l2_atomic_wait.avg", &e->atomic_wait},
        {"sm__warps_active.avg.pct_of_peak_sustained_active", &e->occupancy},
    };
    double *all = metric_values(source);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        *values[i].value = all[metric_find(source, values[i].name) - metric_rows];
    mem_free(all);
    e->source = source;
    sm_unit_costs(source->sm, e->costs);
    e->at_work = k->cycles ? (double)k->busiest_sm_cycles / (double)k->cycles : 0;
    for (int i = 0; i < STALL_COUNT; i++)
        e->stalls += (double)k->sm.stalls[i];
    double waited = 0, whole = 0; /* places may be those of several launches */
    for (size_t i = 0; i < e->place_count; i++) {
        waited += atomics_waited_at(&e->places[i]);
        for (int stall = 0; stall < STALL_COUNT; stall++)
            whole += (double)e->places[i].counts.stalls[stall];
    }
    e->atomics_waited = whole > 0 ? 100 * waited / whole : 0;
}

/* ---- telling ---- */

/* Rows that apply, by their shares; those that another one accounts for do not. */
static void judge(const struct evidence *e, double shares[])
{
    uint32_t accounted_for = 0;
    for (size_t i = 0; i < cause_count; i++) {
        shares[i] = causes[i].is & accounted_for ? 0 : causes[i].share(e, &causes[i]);
        if (shares[i] > 0)
            accounted_for |= causes[i].accounts_for;
    }
}

static size_t largest(const double shares[])
{
    size_t most = 0;
    for (size_t i = 1; i < cause_count; i++) {
        if (shares[i] > shares[most])
            most = i;
    }
    return most;
}

static void tell(const struct evidence *e, const struct cause *cause, struct text *text)
{
    const struct metric_place *place = place_of(e, cause);
    cause->tell(e, cause, text);
    if (place) {
        text_add(text, ", most at ");
        place_tell_short(place->at, text);
    }
}

void bottleneck_tell(const struct metric_source *source, const struct metric_place *places,
                     size_t place_count, struct text *text)
{
    struct metric_place *merged = mem_alloc(place_count, sizeof *merged);
    double *shares = mem_alloc(cause_count, sizeof *shares);
    struct evidence e = {.places = merged};
    if (place_count)
        memcpy(merged, places, place_count * sizeof *merged);
    e.place_count = bottleneck_merge_places(merged, place_count);
    gather(&e, source);
    judge(&e, shares);
    size_t first = largest(shares);
    tell(&e, &causes[first], text);
    uint32_t told = causes[first].is;
    for (size_t i = 0; i < cause_count; i++) {
        if (causes[i].is & causes[first].is)
            shares[i] = 0;
    }
    size_t second = largest(shares);
    if (second && shares[second] >= SECOND) {
        text_add(text, "; then ");
        tell(&e, &causes[second], text);
        told |= causes[second].is;
    }
    if (told & (IS_GLOBAL_WAIT | IS_SHARED_WAIT | IS_COMPUTE_WAIT | IS_OTHER_WAIT))
        text_add(text, "; occupancy %.0f%%", e.occupancy);
    mem_free(merged);
    mem_free(shares);
}
